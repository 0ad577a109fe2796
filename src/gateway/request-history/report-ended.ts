// Tells the history of a request that ends without a charge. It reads the request's context and changes nothing but the mark that
// the request was reported.

import { ZERO } from "../../../actors/money.ts";
import type { CancelSignal } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { errorRowOf, isErrorCode } from "../../base/error-codes.ts";
import type { Refusal } from "../../base/errors.ts";
import type { ProviderRejection } from "../call.ts";
import type { RequestContext } from "../context.ts";
import type { RequestEnd } from "../ended-context.ts";
import type { EndedRequest } from "./recent-requests.ts";
import type { RequestHistory } from "./request-history.ts";

/** The services that a report needs. */
export interface ReportEndedParts {
  readonly requestHistory: Pick<RequestHistory, "report">;
  readonly clock: Pick<Clock, "wall">;
}

/** The end of an answer that costs nothing. */
export const FREE_ANSWER: RequestEnd = { status: 200, code: null };
/** The end of a request whose client disconnected before anything was delivered. */
export const CLIENT_LEFT: RequestEnd = { status: null, code: "client_gone" };

/** Returns the end of a request that got this error. */
export function endOf(error: { refusal: Refusal } | { rejection: ProviderRejection }): RequestEnd {
  if ("rejection" in error) return { status: error.rejection.status, code: short(error.rejection.code) };
  const { code, status } = error.refusal;
  return isErrorCode(code)
    ? { status: errorRowOf(code, status).status, code }
    : { status: 500, code: "internal_error" };
}

/** Returns how a request ended for its client, which did not get `end` when it had disconnected by then. */
export const endForClient = ({ aborted }: Pick<CancelSignal, "aborted">, end: RequestEnd): RequestEnd =>
  aborted ? CLIENT_LEFT : end;

/** Hex digits of a key's hash, as many as its public form has. */
const KEY_HASH_DIGITS = 16;

/** The part of a request's context that a report reads. */
type ReportedContext = Pick<
  RequestContext,
  "id" | "requestId" | "startedAtMs" | "identifiedAs" | "modelSoFar" | "admittedKey" | "isReported" | "end"
> & { readonly call: { readonly path: string } };

/**
 * Reports how a request without a charge ended, after so many attempts, and notes it in the context. Only the first report
 * of a request counts. One whose account is not known belongs to nobody's list.
 */
export function reportEnded(
  { requestHistory, clock }: ReportEndedParts,
  context: ReportedContext,
  end: RequestEnd,
  attempts: number,
): void {
  context.end ??= end;
  const { status, code } = end;
  const caller = context.identifiedAs;
  if (caller === null || context.isReported) return;
  context.isReported = true;
  const at = clock.wall();
  const ended: EndedRequest = {
    id: context.id,
    at,
    request: context.requestId,
    path: context.call.path,
    model: context.modelSoFar,
    status,
    code,
    ms: Math.max(0, at - context.startedAtMs),
    cost: ZERO,
    attempts,
    apiKey: context.admittedKey,
    keyHash: context.admittedKey === null ? shortHash(caller.keyHash) : null,
  };
  requestHistory.report(caller.account, ended);
}

/** A copy, because a part of a text keeps the whole text in memory. */
const shortHash = (hash: string): string => Buffer.from(hash.slice(0, KEY_HASH_DIGITS)).toString();

/** A provider's code may be long, and a part of a text keeps the whole text in memory. */
const CODE_CHARACTERS_MAX = 64;

const short = (code: string): string =>
  code.length <= CODE_CHARACTERS_MAX ? code : Buffer.from(code.slice(0, CODE_CHARACTERS_MAX)).toString();
