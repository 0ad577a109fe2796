// The events of one answer differ in a few words only. Having parsed one, the shortcut knows the text before and after its
// words; an event that has both, and between them a string without quotes and escapes, needs no parsing to be read.
// It is exact, not a guess: parsing such an event gives the same object but for that one string.

export interface Shortcut {
  /** The words of an event like the one learnt; null: parse it. Never empty. */
  read(data: string): string | null;
  /**
   * A parsed event that says `words` under the name `field`, and nothing else that differs from event to event. False: it is
   * of no use, and what was learnt before stays.
   */
  learn(data: string, field: string, words: string): boolean;
}

/** What cannot stand in a JSON string as it is, and what would end it. */
const SPECIAL = /["\\\p{Cc}]/u;
/** From the end of a name to the beginning of its string. */
const OPENING = /\s*:\s*"/y;

export function createShortcut(): Shortcut {
  let before: string | null = null;
  let after = "";

  return {
    read(data) {
      if (before === null || !data.startsWith(before) || !data.endsWith(after)) return null;
      const words = data.slice(before.length, data.length - after.length);
      return words === "" || data.length < before.length + after.length || SPECIAL.test(words) ? null : words;
    },
    learn(data, field, words) {
      // Escapes could spell the name in another way, and two places of that name could be confused with each other.
      if (words === "" || SPECIAL.test(words) || data.includes("\\")) return false;
      const name = `"${field}"`;
      const at = data.indexOf(name);
      if (at === -1 || data.indexOf(name, at + 1) !== -1) return false;
      OPENING.lastIndex = at + name.length;
      const from = OPENING.exec(data) === null ? -1 : OPENING.lastIndex;
      if (from === -1 || !data.startsWith(`${words}"`, from)) return false;
      before = data.slice(0, from);
      after = data.slice(from + words.length);
      return true;
    },
  };
}
