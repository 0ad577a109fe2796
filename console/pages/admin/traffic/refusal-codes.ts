// What was refused of an account's latest requests, by code.

import type { Answers } from "../../../api/answers.ts";

type RequestRow = Answers["/x-requests"]["requests"][number];

/** All refusals with one code. */
export interface RefusalsOfCode {
  readonly code: string;
  readonly count: number;
  /** That of the newest one; null: the client got no answer. */
  readonly status: number | null;
  readonly lastAt: string;
  readonly lastId: string;
  readonly models: readonly string[];
}

/** Whether the client got an error, or nothing. */
const isRefused = ({ status, code }: RequestRow): boolean =>
  code !== null && (status === null || status >= 400);

/** Returns the codes with their counts, the most frequent first. `requests` are the newest first. */
export const refusalsOf = (requests: readonly RequestRow[]): readonly RefusalsOfCode[] =>
  [...Map.groupBy(requests.filter(isRefused), ({ code }) => code!)]
    .map(([code, rows]) => ({
      code,
      count: rows.length,
      status: rows[0]!.status,
      lastAt: rows[0]!.at,
      lastId: rows[0]!.id,
      models: [...new Set(rows.flatMap(({ model }) => model ?? []))],
    }))
    .sort((one, other) => other.count - one.count || (one.code < other.code ? -1 : 1));
