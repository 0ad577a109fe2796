// Where pages of administration are: here, or where `ADMIN_PORT` sets, at an address of its own. The server says in the page which
// of the two it is.

import { isAllowed, type Status } from "./role.ts";

/** Whether this address serves pages of administration. */
export const isAdministrationHere = (): boolean =>
  document.querySelector<HTMLMetaElement>('meta[name="administration"]')?.content !== "elsewhere";

/** Whether the page at this path, below /console, is one of administration. */
export const isAdministration = (path: string): boolean => /^\/admin(\/|$)/.test(path);

/** Whether the page at this path is served here. */
export const isServedHere = (path: string): boolean => isAdministrationHere() || !isAdministration(path);

/** Returns where administration is, for an account that has some; null where it is here. */
export const administrationElsewhere = (status: Status): string | null =>
  isAdministrationHere() || !isAllowed(status, "admin") ? null : (status.admin_url ?? null);
