// Marks what a messages provider is to keep in its prompt cache. It caches nothing without marks, while clients of the other
// styles rely on a cache that needs none: without them every request of an agent costs the full price of all earlier ones.
// A write costs more than plain input, so a request that nothing continues is not marked.

import type { Json } from "../json.ts";
import type { Cacheable, ConversationTurn } from "./conversation.ts";
import type { RequestForm } from "./request-form.ts";

/** What a request has the model read, in the order in which its provider caches it. */
export interface MessagesPrompt {
  readonly tools: readonly Json[];
  readonly system: readonly Json[];
  readonly messages: readonly Json[];
}

/** Whether a request continues or will be continued, and its client marks nothing itself. */
export function isUnmarkedConversation({ cacheKey, turns, tools }: RequestForm): boolean {
  if (cacheKey === null && !turns.some(({ role }) => role === "assistant")) return false;
  return !tools.some(isMarked) && !turns.some(hasMark);
}

const isMarked = ({ cache }: Cacheable): boolean => cache !== undefined;

function hasMark(turn: ConversationTurn): boolean {
  if (turn.role === "system") return turn.texts.some(isMarked);
  if (turn.role === "assistant") return turn.parts.some((part) => part.kind === "text" && isMarked(part));
  return turn.parts.some(isMarked) || turn.results.some(({ parts }) => parts.some(isMarked));
}

/** The user's turns that are marked: the last one is written, and the one before finds what the last request wrote. */
const MARKED_TURNS = 2;

const MARK = { cache_control: { type: "ephemeral" } } as const;

/**
 * Marks the end of the system texts, or of the tools if there are none, and of the last turns of the user. These are
 * three marks; a provider allows four.
 */
export function withCacheMarks({ tools, system, messages }: MessagesPrompt): MessagesPrompt {
  return {
    tools: system.length === 0 ? lastMarked(tools) : tools,
    system: lastMarked(system),
    messages: turnsMarked(messages),
  };
}

const lastMarked = (blocks: readonly Json[]): readonly Json[] =>
  blocks.length === 0 ? blocks : blocks.with(-1, { ...blocks.at(-1), ...MARK });

function turnsMarked(messages: readonly Json[]): readonly Json[] {
  const marked = [...messages];
  let left = MARKED_TURNS;
  for (let i = messages.length - 1; i >= 0 && left > 0; i--) {
    const message = messages[i]!;
    if (message.role !== "user") continue;
    marked[i] = { ...message, content: contentMarked(message.content) };
    left--;
  }
  return marked;
}

const contentMarked = (content: unknown): readonly Json[] =>
  typeof content === "string"
    ? [{ type: "text", text: content, ...MARK }]
    : lastMarked(content as readonly Json[]);
