// A whole answer: meters it, keeps it for repeats, charges it and returns it. The charge is durable before
// the first byte is sent, since the body is sent at once.

import type { Idempotency } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { formatUsd, ZERO } from "../../../actors/money.ts";
import type { Log } from "../../base/log.ts";
import { cutBy } from "../../upstream/upstream-failure.ts";
import type { Settlement } from "../admission/settlement.ts";
import { type AttemptAnswer, rowOf } from "../attempt/attempt.ts";
import type { SuccessfulAttempt } from "../attempt/failover.ts";
import type { LevelReporter } from "../attempt/level-reports.ts";
import type { Outcome } from "../call.ts";
import type { RunningRequest } from "../context.ts";
import { meterUsage } from "../metering/usage-meter.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";
import { factsOf, noteAnsweredModel, readingOf, recordCreatedObjects } from "./charge.ts";
import { wordsType } from "./content-types.ts";
import { type FailedResponseParts, failedResponse } from "./failed-response.ts";
import { headersOf } from "./headers.ts";

/** The services that a whole answer is charged with. */
export interface WholeAnswerParts extends FailedResponseParts {
  readonly settlement: Pick<Settlement, "charge" | "cancel">;
  readonly levelReporter: Pick<LevelReporter, "succeeded">;
  readonly storedObjects: Pick<StoredObjectIndex, "keep">;
  readonly log: Log;
  /** Keeps answers for repeats, see `IdempotencyRecords`. */
  readonly idempotencyRecords: {
    keep(
      account: AccountId,
      asked: Idempotency,
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
  running: RunningRequest,
  sent: SuccessfulAttempt,
  { text, contentType, answer }: Extract<AttemptAnswer, { kind: "whole" }>,
): Promise<Outcome> {
  const { call, endpoint } = running;
  const { admission, attempted, rows, exchange } = sent;
  const { account } = admission.caller;
  parts.levelReporter.succeeded(attempted);
  if (call.signal.aborted) {
    // The client has disconnected and gets no answer, so nothing is charged.
    const signals = [cutBy(sent.abort.signal, null)];
    return failedResponse(parts, running, {
      ok: false,
      admission,
      rows,
      signals,
      visited: [],
      untranslated: null,
    });
  }

  const body = exchange.clientText(text, answer.body, sent.fingerprint);
  const isWords = endpoint.answers === "words" && answer.body === null && !/\bjson\b/i.test(contentType);
  const headers = {
    ...headersOf(running, admission, rows.length + 1),
    ...(isWords ? { "content-type": wordsType(contentType) } : {}),
  };
  if (endpoint.meter.free) {
    void parts.settlement.cancel(account, running.id, false);
    return { kind: "whole", body, headers: { ...headers, "x-arbor-cost": formatUsd(ZERO) } };
  }
  const reading = readingOf(running, exchange, {
    ...answer,
    model: typeof answer.body?.model === "string" ? answer.body.model : null,
    complete: true,
  });
  const metered = await meterUsage(endpoint.meter, admission, reading, parts.counter);
  noteAnsweredModel(parts, running, sent, metered);
  const row = rowOf(attempted.key, attempted.model, null, parts.clock.mono() - sent.sinceMs, sent.status);
  const outcome = {
    kind: "whole",
    body,
    headers: { ...headers, "x-arbor-cost": formatUsd(metered.charge.amount) },
  } as const;
  // Kept before the charge, so that a repeat that finds the charge's dedup id on any node also finds the
  // answer.
  const kept =
    running.idempotency === null
      ? undefined
      : parts.idempotencyRecords.keep(account, running.idempotency, outcome);
  await Promise.all([
    parts.settlement.charge(account, factsOf(running, sent, metered, row), kept),
    recordCreatedObjects(parts, running, sent).all(
      answer.body === null ? [] : endpoint.dialect.objects?.madeBy(answer.body),
      metered.usage,
    ),
  ]);
  return outcome;
}
