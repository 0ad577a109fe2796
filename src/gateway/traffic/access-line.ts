// A line of the access log: what a request was and how it ended, in plain values. It holds ids, names of models, times and
// counts. It must never hold content, a secret, a query, a part of a path that names an object, or any other text that
// only the client or the provider chose, but for the request id.

import { toUsd } from "../../../actors/money.ts";
import type { EndedContext } from "../ended-context.ts";
import { codeOf } from "./outcome-code.ts";

/** One line of the access log. Null stands for what is not known, or does not apply. */
export interface AccessLine {
  /** When the request arrived, in ISO 8601. */
  readonly time: string;
  readonly request_id: string;
  readonly method: string;
  /** The pattern of the route; null for a path that there is not. */
  readonly path: string | null;
  /** The HTTP status; null when the client was gone. */
  readonly status: number | null;
  readonly code: string | null;
  readonly account: number | null;
  /** The id of the API key; 0 is the main key. Null also when the account refused the request. */
  readonly api_key: number | null;
  /** The name of the price that applies; see `modelLabelOf`. */
  readonly model: string | null;
  readonly level: number | null;
  readonly provider_key: number | null;
  readonly stream: boolean;
  /** Milliseconds from arrival to end. */
  readonly ms: number;
  /** Milliseconds of the attempt that answered until its first byte, or the first content of a stream. */
  readonly upstream_first_ms: number | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  /** US dollars. */
  readonly cost: number | null;
  /** Bytes of the answer's body; null for errors. */
  readonly bytes: number | null;
}

/** Where lines of the access log go. */
export interface AccessLog {
  /** Takes a line. Never waits: when too much is unwritten, the line is dropped and counted. */
  write(line: AccessLine): void;
  /** Returns how many lines were dropped since the start. */
  dropped(): number;
}

/** What is known of a request that goes to no model. */
export type PlainRequest = Pick<
  AccessLine,
  "time" | "request_id" | "method" | "path" | "status" | "code" | "account" | "api_key" | "ms"
>;

/** Returns the line of a request that goes to no model. */
export const plainLineOf = ({ ms, ...request }: PlainRequest): AccessLine => ({
  ...request,
  ...{ model: null, level: null, provider_key: null, stream: false },
  ms: rounded(ms),
  ...{ upstream_first_ms: null, prompt_tokens: null, completion_tokens: null, cost: null, bytes: null },
});

/** Returns the line of a gateway request that ended at `endedMs`, monotonic ms. */
export function accessLineOf(context: EndedContext, endedMs: number): AccessLine {
  const { end, route, upstream } = context;
  const charge = end === null ? context.charge : null;
  return {
    time: new Date(context.startedAtMs).toISOString(),
    request_id: context.requestId,
    method: context.method,
    path: context.path,
    status: end === null ? 200 : end.status,
    code: codeOf(context),
    account: context.identifiedAs?.account ?? null,
    api_key: context.admittedKey,
    model: context.modelLabel,
    level: route?.level ?? null,
    provider_key: context.answeredBy,
    stream: context.isStream,
    ms: rounded(endedMs - context.arrivedMs),
    upstream_first_ms: upstream === null ? null : rounded(upstream.firstMs),
    prompt_tokens: charge?.prompt ?? null,
    completion_tokens: charge?.completion ?? null,
    cost: charge === null ? null : toUsd(charge.cost),
    bytes: context.bodyBytes(),
  };
}

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;
