// A whole answer: meters it, keeps it for repeats, charges it and returns it. The charge is durable before
// the first byte is sent, since the body is sent at once.

import type { Idempotency } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { formatUsd, ZERO } from "../../../actors/money.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import type { Log } from "../../base/log.ts";
import type { Json } from "../../dialect/json.ts";
import { cutBy } from "../../upstream/upstream-failure.ts";
import { cancelHold, chargeHold } from "../admission/hold-duty.ts";
import type { Settlement } from "../admission/settlement.ts";
import { rowOf } from "../attempt/attempt.ts";
import type { Outcome } from "../call.ts";
import type { WholeProviderBody } from "../codec/provider-answer.ts";
import type { AnsweredContext } from "../context.ts";
import { type Metered, meterUsage } from "../metering/usage-meter.ts";
import { FREE_ANSWER, reportEnded } from "../request-history/report-ended.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";
import { CreatedObjects, factsOf, noteAnsweredModel, readingOf } from "./charge.ts";
import { type FailedResponseParts, failedResponse } from "./failed-response.ts";
import { headersOf, wordsType } from "./headers.ts";

/** The services that a whole answer is charged with. */
export interface WholeAnswerParts extends FailedResponseParts {
  readonly settlement: Pick<Settlement, "charge" | "cancel">;
  readonly storedObjects: Pick<StoredObjectIndex, "keep">;
  readonly log: Log;
  /** Keeps answers for repeats, see `IdempotencyRecords`. */
  readonly idempotencyRecords: {
    keep(
      account: AccountId,
      idempotency: Idempotency,
      charge: string,
      answer: { readonly body: string; readonly headers: HeaderRecord },
    ): Promise<void>;
  };
}

/** The outcome, whose headers are completed when the charge is known. */
interface WholeOutcome extends Extract<Outcome, { kind: "whole" }> {
  readonly headers: Record<string, string>;
}

/**
 * Returns the outcome of a whole answer, when its charge is durable. Nothing is charged when the client has disconnected or
 * the path is free. Rejects with `RefusedError` when the account refuses the charge.
 */
export function answerWhole(
  parts: WholeAnswerParts,
  context: AnsweredContext,
  provided: WholeProviderBody,
): Outcome | Promise<Outcome> {
  const { text, contentType, answer, large } = provided;
  const { endpoint, attempts } = context;
  const { exchange, fingerprint, abort } = context.answer;
  if (context.call.signal.aborted) {
    // The client has disconnected and gets no answer, so nothing is charged.
    const failures = [cutBy(abort.signal, null)];
    return failedResponse(parts, context, { attempts, failures, visited: [], untranslated: null });
  }

  const body =
    large === null ? exchange.clientText(text, answer.body, fingerprint) : textIfSmall(large.client);
  const isJson = large?.isJson ?? answer.body !== null;
  const isWords = endpoint.answers === "words" && !isJson && !/\bjson\b/i.test(contentType);
  const headers = headersOf(context, attempts.length + 1);
  headers["content-type"] = isWords ? wordsType(contentType) : "application/json";
  const outcome: WholeOutcome = { kind: "whole", body, headers };
  if (endpoint.meter.free) {
    void cancelHold(parts, context, false);
    reportEnded(parts, context, FREE_ANSWER, attempts.length + 1);
    headers["x-arbor-cost"] = formatUsd(ZERO);
    return outcome;
  }
  const reading = readingOf(context, {
    ...answer,
    chars: large?.chars,
    model: large === null ? modelOf(answer.body) : large.model,
    complete: true,
  });
  const metering = meterUsage(endpoint.meter, context.admission, reading, parts.counter);
  return metering instanceof Promise
    ? metering.then((later) => charged(parts, context, outcome, provided, later))
    : charged(parts, context, outcome, provided, metering);
}

/** Charges a whole answer. Resolves with its outcome when charge and created objects are durable. */
function charged(
  parts: WholeAnswerParts,
  context: AnsweredContext,
  outcome: WholeOutcome,
  { answer, large }: WholeProviderBody,
  metered: Metered,
): Promise<Outcome> {
  const { endpoint, idempotency, caller } = context;
  const { attempted, sinceMs, status } = context.answer;
  const { body, headers } = outcome;
  noteAnsweredModel(parts, context, metered);
  const row = rowOf(attempted, null, parts.clock.mono() - sinceMs, status);
  headers["x-arbor-cost"] = formatUsd(metered.charge.amount);
  // Kept before the charge, so that a repeat that finds the charge's dedup id on any node also finds the
  // answer.
  const kept =
    idempotency === null || typeof body !== "string"
      ? undefined
      : parts.idempotencyRecords.keep(caller.account, idempotency, context.id, { body, headers });
  const charging = chargeHold(parts, context, factsOf(context, metered, row), kept);
  const created = new CreatedObjects(parts.storedObjects, context);
  if (!created.isKept) return charging.then(() => outcome);
  const made = answer.body === null ? large?.made : endpoint.dialect.objects?.madeBy(answer.body);
  return Promise.all([charging, created.all(made, metered.usage)]).then(() => outcome);
}

const modelOf = (body: Json | null): string | null => (typeof body?.model === "string" ? body.model : null);

/** Bytes of an answer that is text, so that it can be kept for repeats. */
const TEXT_BYTES_MAX = 256 * 1024;

/** A translation can make a large answer small. */
const textIfSmall = (bytes: Uint8Array<ArrayBuffer>): string | Uint8Array<ArrayBuffer> =>
  bytes.length > TEXT_BYTES_MAX ? bytes : new TextDecoder().decode(bytes);
