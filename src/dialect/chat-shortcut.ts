// The chunks of one answer differ in a few words only. Having parsed one, the shortcut knows the text before and after its
// content; a chunk that has both, and between them a string without quotes and escapes, needs no parsing to be read.
// It is exact, not a guess: parsing such a chunk gives the same object but for that one string.

import type { Json } from "./chat.ts";

export interface Shortcut {
  /** The content of a chunk like the one learnt; null: parse it. Never empty. */
  read(data: string): string | null;
  /** A parsed chunk with content and without usage. False: it is of no use, and what was learnt before stays. */
  learn(data: string, choices: readonly unknown[]): boolean;
}

const KEY = '"content":"';
/** What cannot stand in a JSON string as it is, and what would end it. */
const SPECIAL = /["\\\p{Cc}]/u;

export function createShortcut(): Shortcut {
  let before: string | null = null;
  let after = "";

  return {
    read(data) {
      if (before === null || !data.startsWith(before) || !data.endsWith(after)) return null;
      const said = data.slice(before.length, data.length - after.length);
      return said === "" || data.length < before.length + after.length || SPECIAL.test(said) ? null : said;
    },
    learn(data, choices) {
      if (choices.length !== 1) return false;
      const { delta, finish_reason: finish } = choices[0] as Json;
      if ((finish ?? "") !== "" || typeof delta !== "object" || delta === null) return false;
      const said = onlyContent(delta as Json);
      if (said === null || SPECIAL.test(said)) return false;
      const at = data.indexOf(KEY);
      // Two places of that name could be confused with each other.
      if (at === -1 || data.indexOf(KEY, at + 1) !== -1) return false;
      const from = at + KEY.length;
      if (!data.startsWith(`${said}"`, from)) return false;
      before = data.slice(0, from);
      after = data.slice(from + said.length);
      return true;
    },
  };
}

/** The content of a delta that generates nothing else. */
function onlyContent({ content, role: _, ...rest }: Json): string | null {
  if (typeof content !== "string" || content === "") return null;
  return Object.values(rest).every((value) => value === null || value === "" || isEmpty(value))
    ? content
    : null;
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
