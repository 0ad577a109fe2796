// The bill of the page Usage. One that has a fee is asked once, when somebody says so: never by a poll, a change of the window, or
// a repeat after a broken connection.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { questionAbout, useAccountView } from "../../api/account-view.ts";
import type { Answers } from "../../api/answers.ts";
import { callApi, type Query } from "../../api/call.ts";
import type { CallFailed } from "../../api/failure.ts";
import type { Asked } from "../../api/queries.ts";

/** A bill of one account, with the groups that were asked for. */
export type Bill = Answers["/dashboard/bill"];
/** One of its groups. */
export type UsageGroup = NonNullable<Bill["groups"]>[number];

const POLL_MS = 30_000;

/** Asks for a bill; one that is not free waits for `refetch`, and what was paid for is kept as long as the tab. */
export function useBill(query: Query, isFree: boolean): Asked<"/dashboard/bill"> {
  const { path, query: whole } = questionAbout(useAccountView(), "bill", query);
  return useQuery<Bill, CallFailed>({
    queryKey: [path, whole],
    queryFn: async ({ signal }) => (await callApi({ method: "GET", path, query: whole, signal })) as Bill,
    enabled: isFree,
    refetchInterval: isFree ? POLL_MS : false,
    retry: false,
    ...(isFree
      ? { placeholderData: keepPreviousData }
      : { staleTime: Number.POSITIVE_INFINITY, gcTime: Number.POSITIVE_INFINITY }),
  });
}
