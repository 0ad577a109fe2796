// The account and the key that are signed in, for every page.

import { createContext, useContext } from "react";
import type { Status } from "../api/role.ts";

/** Provides the status to all pages. */
export const StatusContext = createContext<Status | null>(null);

/** Returns who is signed in. Only pages call it, and a page exists only for somebody who is. */
export function useStatus(): Status {
  const status = useContext(StatusContext);
  if (status === null) throw new Error("a page is shown to nobody");
  return status;
}
