// Why a request did not end with a complete answer, as one of a bounded list of words, which metrics and lines of logs may
// hold: a provider's own code of a rejected request may be anything.

import { ERROR_CODES, isErrorCode } from "../../base/error-codes.ts";
import { FAILURE_RULES } from "../../upstream/upstream-failure.ts";
import type { EndedContext } from "../ended-context.ts";

/** The provider rejected the content of the request, with a code of its own. */
const REJECTED = "rejected";

/** The client disconnected before anything was delivered. */
const CLIENT_GONE = "client_gone";

/** All codes with which requests can end. */
export const REFUSAL_CODES: readonly string[] = [...Object.keys(ERROR_CODES), CLIENT_GONE, REJECTED];

/**
 * Returns the code of a request's error, or the kind of failure that broke a charged answer off; null for a complete
 * answer.
 */
export function codeOf({ end, charge }: Pick<EndedContext, "end" | "charge">): string | null {
  if (end !== null) return end.code === null || isKnown(end.code) ? end.code : REJECTED;
  const last = charge?.attempts[charge.attempts.length - 1];
  return last === undefined || last.signal === "ok" ? null : last.signal;
}

const isKnown = (code: string): boolean => isErrorCode(code) || Object.hasOwn(FAILURE_RULES, code);
