// What is known of one request, from three places that keep requests for different times: the ledger, explanations, and the latest
// requests in memory.

import type { Answers } from "../../api/answers.ts";

/** An explanation of a request. */
export type Explanation = Answers["/dashboard/explain"];
/** The line of a charge. */
export type ChargeLine = Answers["/dashboard/ledger"]["lines"][number];
/** A row of the latest requests. */
export type RecentRequest = Answers["/dashboard/requests"]["requests"][number];

/** What is known of a request: each part is null where it is not kept. */
export interface KnownRequest {
  /** The id by which it was asked for: the service's own, or the `x-request-id` that its client saw. */
  readonly id: string;
  readonly line: ChargeLine | null;
  readonly explained: Explanation | null;
  readonly row: RecentRequest | null;
}

/** Returns what a request asked for, as the parameters of a question about the same now. */
export const askedOf = ({ line, explained, row }: KnownRequest) => ({
  model: explained?.model ?? row?.model ?? line?.model ?? null,
  path: explained?.request?.path ?? row?.path ?? line?.path,
  api_key: row?.api_key ?? line?.api_key,
});

/** Returns the code and the words of a refusal, or null for a request that was answered. */
export function refusalOf({ row, explained }: KnownRequest): { code: string; message: string | null } | null {
  const refusal = explained?.decision.refusal;
  if (refusal !== null && refusal !== undefined) return refusal;
  if (row === null || row.code === null || row.cost > 0n) return null;
  return { code: row.code, message: null };
}
