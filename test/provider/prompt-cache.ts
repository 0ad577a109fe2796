// The prompt cache that a provider keeps for each of its keys: which beginnings of conversations a key has read before. It
// counts in whole turns, and forgets nothing until it is cleared or full. In the messages dialect it keeps only beginnings
// that end at a turn with a mark, and reports what it writes; elsewhere it keeps all, and writes for nothing.

import type { Fields } from "./form.ts";
import { countPrompt, type Message } from "./prompt.ts";

/** Tokens of one request, inside its prompt. */
export interface CacheUse {
  readonly cached: number;
  readonly written: number;
}

export interface PromptCaches {
  /** The longest beginning of the request that the key has kept before, and what it keeps from now on. */
  use(secret: string, body: Fields, byMarks: boolean): CacheUse;
  clear(): void;
}

/** Beginnings that are kept; at the bound all are forgotten. */
const BEGINNINGS_MAX = 200_000;

export function promptCaches(): PromptCaches {
  const kept = new Set<string>();
  return {
    use(secret, body, byMarks) {
      const turns = turnsOf(body);
      const end = byMarks ? turns.findLastIndex(isMarked) : turns.length - 1;
      const beginnings = turns
        .slice(0, end + 1)
        .map((_, nth) => nameOf(secret, body, turns.slice(0, nth + 1)));
      const known = beginnings.findLastIndex((name) => kept.has(name));
      if (kept.size + beginnings.length > BEGINNINGS_MAX) kept.clear();
      for (const [nth, name] of beginnings.entries()) if (!byMarks || isMarked(turns[nth])) kept.add(name);
      const tokensTo = (last: number) => (last < 0 ? 0 : countPrompt(turns.slice(0, last + 1), body.tools));
      const cached = tokensTo(known);
      return { cached, written: byMarks ? tokensTo(end) - cached : 0 };
    },
    clear: () => kept.clear(),
  };
}

const MARK = "cache_control";

/** Whether a turn has a mark. What stands before the turns is marked at its own end, too. */
const isMarked = (turn: unknown): boolean => JSON.stringify(turn).includes(`"${MARK}":{"type":"ephemeral"`);

/** The turns of a request in the order in which a model reads them, what stands before them first. */
function turnsOf({ system, instructions, messages, input }: Fields): readonly Message[] {
  const before = system ?? instructions;
  const turns = messages ?? input;
  return [
    ...(before === undefined ? [] : [{ role: "system", content: before }]),
    ...(Array.isArray(turns) ? turns : [{ role: "user", content: turns }]),
  ];
}

/** A mark is no part of what is read, and a text is the same as a block of it. */
const nameOf = (secret: string, { model, tools }: Fields, turns: readonly Message[]): string =>
  new Bun.CryptoHasher("sha256")
    .update(
      JSON.stringify([secret, model, tools, turns.map(asBlocks)], (key, value) =>
        key === MARK ? undefined : value,
      ),
    )
    .digest("base64");

const asBlocks = ({ role, content }: Message) => ({
  role,
  content: typeof content === "string" ? [{ type: "text", text: content }] : content,
});
