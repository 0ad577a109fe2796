// One request of a client under load: sent once, bounded in time, and everything that came of it written down. Nothing here
// sends again, and nothing judges.

import { STORE_BEHIND } from "../../../actors/account/admit.ts";
import { type Account, asking, fresh, type Json, jsonOf } from "../harness.ts";
import { readStream } from "../streaming.ts";

export interface Said {
  readonly user: Account;
  readonly streamed: boolean;
  /** Tokens of the answer, and the pause between two of them. */
  readonly output: number;
  readonly pauseMs: number;
  /** The Idempotency-Key; null: it is sent without one. */
  readonly key: string | null;
}

export interface Attempt {
  /** Its x-request-id. */
  readonly id: string;
  /** All attempts at one thing have the same. */
  readonly intent: string;
  readonly user: Account;
  /** What was asked for, in a word or two. */
  readonly kind: string;
  /** Where it was sent. */
  readonly to: string;
  readonly startedAt: number;
  /** By `performance.now()`, as `startedAt`; infinite while it is under way. */
  endedAt: number;
  /** How long the answer takes when nothing is in its way. */
  readonly takesMs: number;
  /** 0: no answer came. */
  status: number;
  /** The code of a refusal, or what broke. */
  code: string;
  /** Refused because commits wait for a store that is slow, as on a machine with too much to do: nothing was done. */
  slowStore: boolean;
  /** The answer came whole, and says what it cost. */
  complete: boolean;
  cost: string | null;
}

/** Beyond what the answer itself takes: a client that waits longer gives up. */
export const PATIENCE_MS = 20_000;

/** Asks once, and shows the attempt from its beginning. Never throws: what went wrong stands in it. */
export async function attempt(
  url: string,
  intent: string,
  said: Said,
  begun: (one: Attempt) => void,
): Promise<Attempt> {
  const { user, streamed, output, pauseMs, key } = said;
  const made: Attempt = {
    id: `load-${fresh()}`,
    intent,
    user,
    kind: `${streamed ? "stream" : "whole"}${key === null ? "" : ", keyed"}`,
    to: url,
    startedAt: performance.now(),
    endedAt: Number.POSITIVE_INFINITY,
    takesMs: output * pauseMs,
    status: 0,
    code: "",
    slowStore: false,
    complete: false,
    cost: null,
  };
  begun(made);
  const knobs = pauseMs > 0 ? `[[output=${output} chunk_ms=${pauseMs}]]` : `[[output=${output}]]`;
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${user.key}`,
        "content-type": "application/json",
        "x-request-id": made.id,
        "x-arbor-cost": "stream",
        ...(key === null ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify({
        // A repeat says the same, so its name is the intent's.
        ...asking(`This is ${user.name} who wants ${intent} ${knobs}`),
        stream: streamed,
        max_tokens: output,
      }),
      signal: AbortSignal.timeout(made.takesMs + PATIENCE_MS),
    });
    made.status = response.status;
    const text = await response.text();
    Object.assign(made, response.status === 200 ? answered(response, text, streamed) : refused(text));
  } catch (error) {
    made.code = error instanceof Error ? error.name : String(error);
  }
  made.endedAt = performance.now();
  return made;
}

function answered(response: Response, text: string, streamed: boolean): Partial<Attempt> {
  if (response.headers.get("content-type")?.includes("event-stream") !== true) {
    const body: Json = jsonOf(text);
    const whole = body?.usage?.total_tokens > 0;
    return whole
      ? { complete: true, cost: response.headers.get("x-arbor-cost") }
      : { code: `half an answer: ${text.slice(0, 200)}` };
  }
  const read = readStream(response.status, response.headers, text);
  if (!streamed) return { code: "a stream that nobody asked for" };
  return read.done && read.error === undefined
    ? { complete: true, cost: read.cost }
    : { code: read.error?.error?.code ?? read.error?.code ?? "cut" };
}

function refused(text: string): Partial<Attempt> {
  const error: Json = jsonOf(text)?.error;
  const slowStore = error?.code === STORE_BEHIND.code && error.message === STORE_BEHIND.message;
  return { code: error?.code ?? text.slice(0, 80), slowStore };
}
