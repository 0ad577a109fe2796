// Questions of pages: what is asked, how often it is asked again, and when a write makes answers old. Answers are kept by
// TanStack Query under [account of the key, path, query]; the browser revalidates them with their entity tags.

import { keepPreviousData, type QueryClient, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { AnswerPath, Answers } from "./answers.ts";
import { callApi, callList, type Query } from "./call.ts";
import type { CallFailed } from "./failure.ts";

/** Gauges and the pool of provider keys are asked again so often while the page is visible. */
export const GAUGE_MS = 2_000;
/** Every other answer. */
const FIGURE_MS = 30_000;

/** How a page asks. */
export interface Asking {
  /** Milliseconds until it is asked again; 0: never by itself. */
  readonly everyMs?: number;
  /** false: not yet. */
  readonly enabled?: boolean;
  /** false: the answer to the question before is not shown while this one has none. */
  readonly keepsPrevious?: boolean;
}

/** The result of a question: its data, or the failure of the last attempt. */
export type Asked<P extends AnswerPath> = UseQueryResult<Answers[P], CallFailed>;

/** Asks GET `path`, and again every 30 s while the page is visible. The previous page stays while the next one loads. */
export const useGet = <P extends AnswerPath>(path: P, query: Query = {}, asking: Asking = {}): Asked<P> =>
  useQuery<Answers[P], CallFailed>({
    queryKey: [path, query],
    queryFn: async ({ signal }) => (await callApi({ method: "GET", path, query, signal })) as Answers[P],
    refetchInterval: asking.everyMs === 0 ? false : (asking.everyMs ?? FIGURE_MS),
    enabled: asking.enabled ?? true,
    ...(asking.keepsPrevious === false ? {} : { placeholderData: keepPreviousData }),
  });

/** The same for a list that is a bare array and whose total is in its headers. */
export const useGetList = <P extends AnswerPath>(path: P, query: Query = {}, asking: Asking = {}) =>
  useQuery<{ readonly rows: Answers[P]; readonly total: number }, CallFailed>({
    queryKey: [path, "list", query],
    queryFn: async ({ signal }) => {
      const { rows, total } = await callList({ method: "GET", path, query, signal });
      return { rows: rows as Answers[P], total };
    },
    refetchInterval: asking.everyMs === 0 ? false : (asking.everyMs ?? FIGURE_MS),
    enabled: asking.enabled ?? true,
    placeholderData: keepPreviousData,
  });

/** After a write every figure may have changed: what is on the page is asked again, the rest with its next use. */
export const refreshAll = (client: QueryClient): Promise<void> => client.invalidateQueries();
