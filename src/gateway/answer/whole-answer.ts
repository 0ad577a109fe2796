// A whole answer: meters it, keeps it for repeats, charges it and returns it. The charge is durable before
// the first byte is sent, since the body is sent at once.

import type { Idempotency } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { formatUsd, ZERO } from "../../../actors/money.ts";
import type { Log } from "../../base/log.ts";
import { cutBy } from "../../upstream/upstream-failure.ts";
import { cancelHold, chargeHold } from "../admission/hold-duty.ts";
import type { Settlement } from "../admission/settlement.ts";
import { rowOf } from "../attempt/attempt.ts";
import type { Outcome } from "../call.ts";
import type { WholeProviderBody } from "../codec/provider-answer.ts";
import type { AnsweredContext } from "../context.ts";
import { meterUsage } from "../metering/usage-meter.ts";
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
      answer: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
    ): Promise<void>;
  };
}

/**
 * Returns the outcome of a whole answer. Nothing is charged when the client has disconnected or the path is
 * free. Throws `RefusedError` when the account refuses the charge.
 */
export async function answerWhole(
  parts: WholeAnswerParts,
  context: AnsweredContext,
  { text, contentType, answer }: WholeProviderBody,
): Promise<Outcome> {
  const { endpoint, attempts, idempotency } = context;
  const { exchange, fingerprint, abort, attempted, sinceMs, status } = context.answer;
  const { account } = context.caller;
  if (context.call.signal.aborted) {
    // The client has disconnected and gets no answer, so nothing is charged.
    const failures = [cutBy(abort.signal, null)];
    return failedResponse(parts, context, { attempts, failures, visited: [], untranslated: null });
  }

  const body = exchange.clientText(text, answer.body, fingerprint);
  const isWords = endpoint.answers === "words" && answer.body === null && !/\bjson\b/i.test(contentType);
  const headers = headersOf(context, attempts.length + 1);
  headers["content-type"] = isWords ? wordsType(contentType) : "application/json";
  const outcome = { kind: "whole", body, headers } as const;
  if (endpoint.meter.free) {
    void cancelHold(parts, context, false);
    headers["x-arbor-cost"] = formatUsd(ZERO);
    return outcome;
  }
  const reading = readingOf(context, {
    ...answer,
    model: typeof answer.body?.model === "string" ? answer.body.model : null,
    complete: true,
  });
  const metering = meterUsage(endpoint.meter, context.admission, reading, parts.counter);
  const metered = metering instanceof Promise ? await metering : metering;
  noteAnsweredModel(parts, context, metered);
  const row = rowOf(attempted, null, parts.clock.mono() - sinceMs, status);
  headers["x-arbor-cost"] = formatUsd(metered.charge.amount);
  // Kept before the charge, so that a repeat that finds the charge's dedup id on any node also finds the
  // answer.
  const kept =
    idempotency === null ? undefined : parts.idempotencyRecords.keep(account, idempotency, outcome);
  const charged = chargeHold(parts, context, factsOf(context, metered, row), kept);
  const created = new CreatedObjects(parts.storedObjects, context);
  if (created.isKept && answer.body !== null) {
    await Promise.all([charged, created.all(endpoint.dialect.objects?.madeBy(answer.body), metered.usage)]);
  } else await charged;
  return outcome;
}
