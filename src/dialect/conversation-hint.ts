// Reads what tells a request's conversation from others: a name that the client gives, else a hash of the beginning that all
// its turns have in common. By it the turns of a conversation meet the same provider key, whose prompt cache they share. Pure;
// it reads the parsed body and keeps none of it. Source: contract section 9, "Prompt-cache affinity".

import { isBillingLine } from "./billing-line.ts";
import { isObject, type Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";

/** The hint of one request. */
export interface ConversationHint {
  /** xxHash32, which is the same on every node and in every release. */
  readonly hash: number;
  /** The hash is that of `prompt_cache_key`, which goes before any other hint. */
  readonly isCacheKey: boolean;
  /** The request repeats what a model has answered, so that it is not the first turn of its conversation. */
  readonly isLaterTurn: boolean;
}

/** What is read of a payload. */
type Read = Pick<Payload, "value" | "textOf">;

const asItIs = (text: string): string => text;

/** Characters of a request that are hashed at most. */
const CHARS_MAX = 65_536;
/**
 * Characters that are hashed of a string other than text, such as an image: less than is kept of it in a large
 * body, so that the hint is the same however the body was read.
 */
const DATA_CHARS_MAX = 512;
/** Characters that are hashed of a name, for the same reason. */
const NAME_CHARS_MAX = DATA_CHARS_MAX;
/** Characters of a prompt without turns: about 1,024 tokens, the shortest beginning that providers cache. */
const PROMPT_CHARS_MAX = 4_096;

const SEED = 0;

/** Returns the hash of a name that the client gave to its conversation, whichever field or header it came in. */
export const hashOfName = (name: string): number => hashOf(name, SEED, NAME_CHARS_MAX);

const hashOf = (text: string, seed: number, most: number): number =>
  Bun.hash.xxHash32(text.length > most ? text.slice(0, most) : text, seed);

/** Returns the hint of a chat request: its leading system messages and its first user message. */
export function chatHint({ value, textOf }: Read): ConversationHint {
  const body = value as Json;
  const { messages } = body;
  return (
    namedByKey(body, textOf, messages) ??
    derived(new Beginning(body.model, textOf).addTurns(messages), messages)
  );
}

/** Returns the hint of a messages request: its `metadata.user_id`, or its system prompt and first user message. */
export function messagesHint({ value, textOf }: Read): ConversationHint {
  const body = value as Json;
  const { messages } = body;
  const named = namedByKey(body, textOf, messages);
  if (named !== null) return named;
  const user = isObject(body.metadata) ? body.metadata.user_id : null;
  if (typeof user === "string" && user !== "")
    return hintOf(hashOfName((textOf ?? asItIs)(user)), false, messages);
  return derived(new Beginning(body.model, textOf).addSystem(body.system).addTurns(messages), messages);
}

/** Returns the hint of a responses request: its instructions and stored prompt, and its first user item. */
export function responsesHint({ value, textOf }: Read): ConversationHint {
  const body = value as Json;
  const { input } = body;
  const named = namedByKey(body, textOf, input);
  if (named !== null) return named;
  return derived(
    new Beginning(body.model, textOf).add(body.instructions).add(body.prompt).addTurns(input),
    input,
  );
}

/** Returns the hint of a request for a completion of a prompt, which has no turns. */
export function promptHint({ value, textOf }: Read): ConversationHint {
  const body = value as Json;
  return (
    namedByKey(body, textOf, null) ??
    derived(new Beginning(body.model, textOf, PROMPT_CHARS_MAX).add(body.prompt), null)
  );
}

function namedByKey(
  { prompt_cache_key: key }: Json,
  textOf: Read["textOf"] = asItIs,
  turns: unknown,
): ConversationHint | null {
  return typeof key === "string" && key !== "" ? hintOf(hashOfName(textOf(key)), true, turns) : null;
}

const derived = ({ hash }: Beginning, turns: unknown): ConversationHint => hintOf(hash, false, turns);

const hintOf = (hash: number, isCacheKey: boolean, turns: unknown): ConversationHint => ({
  hash,
  isCacheKey,
  isLaterTurn: repeatsAnswer(turns),
});

/** Whether some turn was not written by the client alone: an answer, a call, its result, or reasoning. */
function repeatsAnswer(turns: unknown): boolean {
  if (!Array.isArray(turns)) return false;
  for (let i = 0; i < turns.length; i++) {
    const turn: unknown = turns[i];
    if (!isObject(turn)) continue;
    const { role } = turn;
    if (role !== "user" && role !== "system" && role !== "developer") return true;
  }
  return false;
}

/**
 * Fields of messages and parts that may change from turn to turn while the content stays. A text is the same alone and as a
 * part.
 */
const UNSTEADY: ReadonlySet<string> = new Set(["cache_control", "id", "status", "type"]);

/** Whether a string may be base64 or a data URL, of which a large body keeps only the beginning. */
const mayBeData = (text: string): boolean => text.length >= DATA_CHARS_MAX && DATA.test(text);
const DATA = new RegExp(`^[\\w+/=:;,.\\r\\n-]{${DATA_CHARS_MAX}}`);

/** The hash of the beginning of a conversation. */
class Beginning {
  hash: number;

  /** `charsLeft` is the number of characters that are still hashed. */
  constructor(
    model: unknown,
    private readonly textOf: NonNullable<Read["textOf"]> = asItIs,
    private charsLeft = CHARS_MAX,
  ) {
    this.hash = hashOfName(String(model));
  }

  /** Adds all strings and numbers of a content: those under `text` are text, as is a content of one string. */
  add(content: unknown): this {
    this.addValue(content, true);
    return this;
  }

  /** Adds a system prompt of the messages style, without billing lines, which change from turn to turn. */
  addSystem(system: unknown): this {
    const parts: readonly unknown[] = Array.isArray(system) ? system : [system];
    for (let i = 0; i < parts.length && this.charsLeft > 0; i++) {
      const part = parts[i];
      if (!isBillingLine(isObject(part) ? part.text : part)) this.add(part);
    }
    return this;
  }

  /** Adds the system messages before the first user message, and that one. A text is a user message. */
  addTurns(turns: unknown): this {
    if (!Array.isArray(turns)) return this.add(turns);
    for (const turn of turns as readonly unknown[]) {
      if (this.charsLeft <= 0) break;
      if (!isObject(turn)) continue;
      const { role } = turn;
      if (role === "user" || role === "system" || role === "developer") this.add(turn.content);
      if (role === "user") break;
    }
    return this;
  }

  private addValue(given: unknown, isText: boolean): void {
    if (this.charsLeft <= 0) return;
    const value = typeof given === "string" ? this.textOf(given) : given;
    if (typeof value === "string") {
      const isWhole = isText && !mayBeData(value);
      const most = isWhole ? this.charsLeft : Math.min(this.charsLeft, DATA_CHARS_MAX);
      this.hash = hashOf(value, this.hash, most);
      // An empty string counts too, so that no number of them is read for nothing.
      this.charsLeft -= Math.min(value.length, most) + 1;
    } else if (typeof value === "number") {
      this.hash = hashOf(String(value), this.hash, CHARS_MAX);
      this.charsLeft--;
    } else if (Array.isArray(value)) {
      for (let i = 0; i < value.length && this.charsLeft > 0; i++) this.addValue(value[i], isText);
    } else if (isObject(value)) {
      this.charsLeft--;
      for (const name in value) if (!UNSTEADY.has(name)) this.addValue(value[name], name === "text");
    }
  }
}
