// A whole answer: meter it, charge it, hand it over. The charge is durable before the first byte goes out, since the
// whole body is also its last byte.

import { formatUsd, ZERO } from "../../actors/money.ts";
import type { WholeAnswer } from "../dialect/dialect.ts";
import { cutBy } from "../upstream/signal.ts";
import { rowOf } from "./attempt.ts";
import type { Outcome } from "./call.ts";
import { factsOf } from "./facts.ts";
import type { Sent } from "./forward.ts";
import { headersOf } from "./headers.ts";
import { meter } from "./meter.ts";
import type { GatewayParts, Running } from "./running.ts";
import { undelivered } from "./undelivered.ts";

interface Whole {
  readonly text: string;
  readonly answer: Extract<WholeAnswer, { ok: true }>;
}

export async function answerWhole(
  parts: GatewayParts,
  running: Running,
  sent: Sent,
  { text, answer }: Whole,
): Promise<Outcome> {
  const { call, surface } = running;
  const { admission, attempted, rows } = sent;
  const { account } = admission.caller;
  const { dialect } = surface;
  parts.reports.succeeded(attempted);
  if (call.signal.aborted) {
    // Nobody is there to be charged for an answer that nobody gets.
    const signals = [cutBy(sent.abort.signal, null)];
    return undelivered(parts, running, { ok: false, admission, rows, signals, visited: [] });
  }

  const body = dialect.withFingerprint(text, answer.body, sent.fingerprint);
  const headers = headersOf(running, admission, rows.length + 1);
  if (surface.meter === "free") {
    parts.settle.cancel(account, running.id, false);
    return { kind: "whole", body, headers: { ...headers, "x-arbor-cost": formatUsd(ZERO) } };
  }
  const reading = {
    ...answer,
    dialect: dialect.usage,
    complete: true,
    prompt: () => dialect.promptTexts(running.request.body),
  };
  const metered = await meter(admission, reading, parts.counter);
  const row = rowOf(attempted.key, attempted.model, null, parts.clock.mono() - sent.sinceMs, sent.status);
  await parts.settle.charge(account, factsOf(running, sent, metered, row));
  return {
    kind: "whole",
    body,
    headers: { ...headers, "x-arbor-cost": formatUsd(metered.charge.amount) },
  };
}
