// Reading an event stream the way a careful client would: events, comments, and whether it ended whole.

import { asking, type Bench, type Json, jsonOf } from "./harness.ts";

export interface Streamed {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed data of every event but [DONE]. */
  readonly events: readonly Json[];
  readonly comments: readonly string[];
  readonly done: boolean;
  /** The text of all deltas of choice 0. */
  readonly said: string;
  /** The last usage that was sent; undefined without any. */
  readonly usage: Json;
  /** The in-stream error. */
  readonly error: Json;
  /** The cost in the comment; null without one. */
  readonly cost: string | null;
}

export function readStream(status: number, headers: Headers, text: string): Streamed {
  const blocks = text.split(/\r?\n\r?\n/).filter((block) => block !== "");
  const data = blocks
    .filter((block) => block.startsWith("data:"))
    .map((block) => block.replace(/^data: ?/, ""));
  const comments = blocks.filter((block) => block.startsWith(":"));
  const events = data.filter((one) => one !== "[DONE]").map(jsonOf);
  return {
    status,
    headers,
    text,
    events,
    comments,
    done: data.at(-1) === "[DONE]",
    said: events.map((event) => event?.choices?.[0]?.delta?.content ?? "").join(""),
    usage: events.map((event) => event?.usage).findLast((usage) => usage != null),
    error: events.find((event) => event?.error)?.error,
    cost: comments.map((one) => /^: cost=(.+)$/.exec(one)?.[1]).find((one) => one !== undefined) ?? null,
  };
}

/** Asks for a stream and reads it to its end. The cost is always asked for. */
export async function streamChat(
  bench: Pick<Bench, "call">,
  key: string,
  said: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Streamed> {
  const answer = await bench.call(
    key,
    "POST",
    "/v1/chat/completions",
    { ...asking(said), stream: true, ...more },
    { headers: { "x-arbor-cost": "stream", ...headers } },
  );
  return readStream(answer.status, answer.headers, answer.text);
}
