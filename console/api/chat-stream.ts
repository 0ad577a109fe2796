// A streamed chat completion as a page reads it: bytes in as they come, what they say out. The call itself is made elsewhere.

import { billionthsOf, type Nanos, nanosOf } from "./amount.ts";

/** What a stream says. Texts are a model's: they are shown as text nodes alone. */
export type ChatEvent =
  | { readonly kind: "answer" | "thought"; readonly text: string }
  | { readonly kind: "usage"; readonly prompt: number; readonly completion: number }
  /** What the request was charged, stated before the end where `x-arbor-cost: stream` asked for it. */
  | { readonly kind: "cost"; readonly cost: Nanos }
  | { readonly kind: "error"; readonly code: string; readonly message: string }
  /** The answer is whole. A stream without it was cut off. */
  | { readonly kind: "end" };

const COST = /^: ?cost=(\S+)$/;
const END = "[DONE]";

/** Reads one stream. Pieces may be cut anywhere, inside a character too. */
export class ChatStreamReader {
  readonly #decoder = new TextDecoder();
  /** The beginning of an event whose end has not come. */
  #rest = "";

  /** Returns what the bytes so far complete. Throws SyntaxError for data that is no JSON. */
  read(bytes: Uint8Array): ChatEvent[] {
    const text = (this.#rest + this.#decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n");
    const blocks = text.split("\n\n");
    this.#rest = blocks.pop()!;
    return blocks.flatMap(eventsOf);
  }
}

/** What one event says: its comment, or its data. */
function eventsOf(block: string): ChatEvent[] {
  const lines = block.split("\n");
  const costs = lines.flatMap((line): ChatEvent[] => {
    const cost = billionthsOf(COST.exec(line)?.[1] ?? "");
    return cost === null ? [] : [{ kind: "cost", cost: nanosOf(cost) }];
  });
  const data = lines
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trimStart())
    .join("\n");
  if (data === "") return costs;
  return [...costs, ...(data === END ? [{ kind: "end" } as const] : chunkEvents(JSON.parse(data)))];
}

/** The fields of a chunk that a page reads. */
interface Chunk {
  readonly choices?: readonly { readonly delta?: Delta }[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}
interface Delta {
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string | null;
}

function chunkEvents({ choices, usage, error }: Chunk): ChatEvent[] {
  if (error !== undefined) {
    return [{ kind: "error", code: String(error.code ?? ""), message: String(error.message ?? "") }];
  }
  const delta = choices?.[0]?.delta;
  const texts: readonly (readonly ["answer" | "thought", string | null | undefined])[] = [
    ["thought", delta?.reasoning_content],
    ["answer", delta?.content],
    ["answer", delta?.refusal],
  ];
  return [
    ...texts.flatMap(([kind, text]): ChatEvent[] => (text ? [{ kind, text }] : [])),
    ...usageEvents(usage ?? {}),
  ];
}

function usageEvents(usage: NonNullable<Chunk["usage"]>): ChatEvent[] {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  if (typeof prompt !== "number" || typeof completion !== "number") return [];
  return [{ kind: "usage", prompt, completion }];
}
