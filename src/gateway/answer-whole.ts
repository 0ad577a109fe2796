// A whole answer: read it, meter it, charge it, hand it over. The charge is durable before the first byte goes out,
// since the whole body is also its last byte.

import { formatUsd } from "../../actors/money.ts";
import { readChatAnswer, withFingerprint } from "../dialect/chat.ts";
import { classify, cutBy, type Signal } from "../upstream/signal.ts";
import type { Outcome } from "./call.ts";
import { factsOf } from "./facts.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { rowOf, type Sent } from "./forward.ts";
import { meter } from "./meter.ts";
import { readBody } from "./read-body.ts";
import type { GatewayParts, Running } from "./running.ts";
import { undelivered } from "./undelivered.ts";

export async function answerWhole(parts: GatewayParts, running: Running, sent: Sent): Promise<Outcome> {
  const { admission, call } = running;
  const { account } = admission.caller;
  const { model } = admission.route;
  const text = await readBody(sent.head.response, {
    clock: parts.clock,
    idleMs: parts.limits.upstreamIdleMs,
    abort: running.abort,
  })
    .catch((error) => (error instanceof Error ? error : new Error(String(error))))
    .finally(sent.done);
  const answer = text instanceof Error ? null : readChatAnswer(text);

  if (answer === null || !answer.ok) {
    const signal =
      answer === null
        ? cutBy(running.abort.signal, text)
        : misread(sent.scrub(text as string), model, parts.clock.wall());
    return undelivered(parts, running, signal);
  }
  if (call.signal.aborted) {
    // Nobody is there to be charged for an answer that nobody gets.
    return undelivered(parts, running, cutBy(running.abort.signal, null));
  }

  const reading = { ...answer, dialect: "chat", complete: true, prompt: running.prompt } as const;
  const metered = await meter(admission, reading, parts.counter);
  const rows = [rowOf(sent.key, model, null, parts.clock.mono() - sent.startedAt, sent.head.status)];
  await parts.settle.charge(account, factsOf(running, metered, rows, false));
  return {
    kind: "whole",
    body: withFingerprint(text as string, answer.body, fingerprintOf(admission, sent.key)),
    headers: { ...running.headers, "x-arbor-cost": formatUsd(metered.charge.amount) },
  };
}

/** A 200 that is no answer: what its text says it is. */
const misread = (bodyText: string, model: string, nowMs: number): Signal =>
  classify({ status: 200, bodyText: bodyText.slice(0, 65_536), model, nowMs });
