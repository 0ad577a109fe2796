// The configuration of an Owner as a form begins with it, and what happens to a form when somebody else saves a version
// meanwhile: what is typed stays, and is not sent until it was looked at beside the new version.

import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "./answers.ts";
import { callApi } from "./call.ts";
import { newestVersion } from "./config-writes.ts";
import type { CallFailed } from "./failure.ts";

/** How often the configuration is asked for while a page shows it. */
const ASK_MS = 30_000;

/** All settings of `/x-config`, and a version that they have at least. */
export interface Configuration {
  readonly version: number;
  readonly settings: Answers["/x-config"]["configs"];
}

async function readConfiguration(signal: AbortSignal): Promise<Configuration> {
  // The version goes first: a change in between is then taken for a later one, and never overlooked.
  const version = await newestVersion();
  const answer = await callApi({ method: "GET", path: "/x-config", signal });
  return { version, settings: (answer as Answers["/x-config"]).configs };
}

/** Asks for the configuration, and again every 30 s while the page is visible. */
export const useConfiguration = (): UseQueryResult<Configuration, CallFailed> =>
  useQuery<Configuration, CallFailed>({
    queryKey: ["configuration"],
    queryFn: ({ signal }) => readConfiguration(signal),
    refetchInterval: ASK_MS,
  });

/** What a form of the configuration is about. */
export interface Basis {
  /** The configuration that the form began with: the newest one until something is typed. */
  readonly former: Configuration;
  /** What was saved since; null: nothing. */
  readonly newer: Configuration | null;
  /** Goes on with the newest one, under what is typed. */
  readonly takeNewer: () => void;
}

/** Keeps the configuration that a form began with while something is typed in it. */
export function useBasis(newest: Configuration, isTyped: boolean): Basis {
  const [kept, setKept] = useState(newest);
  if (!isTyped && kept !== newest) setKept(newest);
  const former = isTyped ? kept : newest;
  return {
    former,
    newer: former.version === newest.version ? null : newest,
    takeNewer: () => setKept(newest),
  };
}
