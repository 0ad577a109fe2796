// A conversation with a model: what was asked and answered, and the request that continues it. It is held in the memory of the
// page and nowhere else. The call is use-chat.ts.

import type { Nanos } from "../../api/amount.ts";
import type { Quote } from "../../api/answers.ts";
import type { ChatEvent } from "../../api/chat-stream.ts";
import type { Failure } from "../../api/failure.ts";

/** Where requests of this page go. */
export const CHAT_PATH = "/v1/chat/completions";

/** The body of a request. */
export type ChatBody = Readonly<Record<string, unknown>>;

/** How an exchange stands. */
export type ExchangeState =
  /** Sent; nothing has come back. */
  | "waiting"
  | "answering"
  /** The answer is whole. */
  | "done"
  /** The person stopped it: it is charged for what had come. */
  | "stopped"
  /** The stream broke off, or nothing came but an error. */
  | "failed";

/** A question, its answer, what it was said to cost, and what it cost. */
export interface Exchange {
  /** The `x-request-id` and the Idempotency-Key of its request. */
  readonly id: string;
  readonly asked: string;
  readonly model: string;
  readonly body: ChatBody;
  /** The quote as it was when the request was sent. */
  readonly quote: Quote | null;
  /** The balance then; null where the key may not read it. */
  readonly before: Nanos | null;
  readonly state: ExchangeState;
  readonly thought: string;
  readonly answer: string;
  readonly usage: { readonly prompt: number; readonly completion: number } | null;
  /** What the stream says that it was charged. */
  readonly cost: Nanos | null;
  readonly failure: Failure | null;
  /** When it ended, wall milliseconds. */
  readonly endedAt: number | null;
}

/** What a person sets for the next request, as it is typed. */
export interface ChatSettings {
  readonly instructions: string;
  /** The longest answer, in tokens; empty: the model's own limit. */
  readonly answerMax: string;
}

const POSITIVE = /^[1-9]\d{0,8}$/;

/** Whether the longest answer can be sent. */
export const isAnswerMax = (text: string): boolean => text.trim() === "" || POSITIVE.test(text.trim());

/** Models of this maker refuse the older name, because their reasoning is a part of the answer. */
const TAKES_COMPLETION_LIMIT = /^(gpt-|o\d|chatgpt-)/;

/** The next request of a conversation: its instructions, what was said, and what is typed now. */
export function chatBodyOf(
  model: { readonly id: string; readonly provider: string },
  { instructions, answerMax }: ChatSettings,
  said: readonly Exchange[],
  typed: string,
): ChatBody {
  const messages = [
    ...(instructions.trim() === "" ? [] : [{ role: "system", content: instructions.trim() }]),
    ...said
      .filter(({ answer }) => answer !== "")
      .flatMap(({ asked, answer }) => [
        { role: "user", content: asked },
        { role: "assistant", content: answer },
      ]),
    { role: "user", content: typed.trim() },
  ];
  const takesNewName = model.provider === "openai" || TAKES_COMPLETION_LIMIT.test(model.id);
  const limit = takesNewName ? "max_completion_tokens" : "max_tokens";
  return {
    model: model.id,
    messages,
    ...(answerMax.trim() === "" ? {} : { [limit]: Number(answerMax.trim()) }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** What a new exchange begins with. */
export type Sent = Pick<Exchange, "id" | "asked" | "model" | "body" | "quote" | "before">;

/** Returns an exchange whose request is on its way, for the first time or again. */
export const begun = ({ id, asked, model, body, quote, before }: Sent): Exchange => ({
  ...{ id, asked, model, body, quote, before },
  ...{ state: "waiting", thought: "", answer: "", usage: null, cost: null, failure: null, endedAt: null },
});

/** How a request that failed is sent again. */
export interface RepeatedRequest {
  readonly sent: Sent;
  /** The exchange that it takes the place of; null: that one stays, for the part of its answer that came. */
  readonly instead: string | null;
}

/**
 * Returns the repeat of an exchange that failed. Where the outcome is unknown it goes under its own id, so that the service charges
 * it once; what was refused or broke off is a new request, `id`.
 */
export function repeatOf(exchange: Exchange, id: string, before: Nanos | null): RepeatedRequest {
  const isUnknown = exchange.failure?.kind === "unknown";
  const stays = exchange.answer !== "" && !isUnknown;
  return {
    sent: { ...exchange, id: isUnknown ? exchange.id : id, before },
    instead: stays ? null : exchange.id,
  };
}

/** Returns the exchange after its stream has said something. */
export function withEvent(exchange: Exchange, event: ChatEvent): Exchange {
  switch (event.kind) {
    case "answer":
      return { ...exchange, state: "answering", answer: exchange.answer + event.text };
    case "thought":
      return { ...exchange, state: "answering", thought: exchange.thought + event.text };
    case "usage":
      return { ...exchange, usage: { prompt: event.prompt, completion: event.completion } };
    case "cost":
      return { ...exchange, cost: event.cost };
    case "error":
      return { ...exchange, state: "failed", failure: refusalOf(exchange.id, event) };
    case "end":
      return { ...exchange, state: "done" };
  }
}

/** Returns the exchange after its stream has ended. One that ended without saying so was cut off. */
export const ended = (exchange: Exchange, nowMs: number): Exchange => {
  const isOver = exchange.state === "done" || exchange.state === "failed";
  return isOver
    ? { ...exchange, endedAt: nowMs }
    : { ...exchange, state: "failed", failure: connectionLost(exchange.id, ""), endedAt: nowMs };
};

const refusalOf = (requestId: string, { code, message }: { code: string; message: string }): Failure => ({
  ...{ kind: "refused", status: 200, code, message, requestId, retryAfterS: null },
});

/** The failure of a request whose connection broke: it may have been charged, and its repeat is charged once. */
export const connectionLost = (requestId: string, message: string): Failure => ({
  ...{ kind: "unknown", code: "connection_lost", message, requestId },
});

/** Where a charge lies against its quote. */
export type Verdict = "inside" | "above" | "below";

/** Compares a charge with the range that was quoted. */
export const verdictOf = (cost: Nanos, { min, max }: Quote["cost"]): Verdict =>
  cost < min ? "below" : cost > max ? "above" : "inside";
