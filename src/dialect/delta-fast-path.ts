// The events of one answer differ in a few words only. Having parsed one, the shortcut knows the text before and after its
// words; an event that has both, and between them a string without quotes and escapes, needs no parsing to be read.
// It is exact, not a guess: parsing such an event gives the same object but for that one string. Where many of them stand
// one after the other they are read in one go.

/** Events like the one learnt, one after the other. */
export interface DeltaRun {
  /** What each of them says. */
  readonly words: readonly string[];
  /** All of it. */
  readonly said: string;
  /** Characters up to the end of the last, its blank line included. */
  readonly end: number;
}

export interface DeltaFastPath {
  /** The words of an event like the one learnt; null: parse it. Never empty. */
  read(data: string): string | null;
  /**
   * A parsed event that says `words` under the name `field`, and nothing else that differs from event to event. False: it is
   * of no use, and what was learnt before stays.
   */
  train(data: string, field: string, words: string): boolean;
  /** The events like the one learnt that stand in `text` from `from` on, as they are on the wire; null: not even one. */
  run(text: string, from: number): DeltaRun | null;
  /** What stands before and after the words. */
  readonly before: string;
  readonly after: string;
}

/** What cannot stand in a JSON string as it is, and what would end it. */
const SPECIAL = /["\\\p{Cc}]/u;
/** From the end of a name to the beginning of its string. */
const OPENING = /\s*:\s*"/y;

/** `opening`: what stands before the data of such events on the wire. */
export function createDeltaFastPath(opening = "data: "): DeltaFastPath {
  let before: string | null = null;
  let after = "";
  /** The same with what the wire adds. */
  let head = "";
  let tail = "";

  return {
    get before() {
      return before ?? "";
    },
    get after() {
      return after;
    },
    run(text, from) {
      if (before === null) return null;
      const words: string[] = [];
      let end = from;
      while (text.startsWith(head, end)) {
        const start = end + head.length;
        const quote = text.indexOf('"', start);
        if (quote <= start || !text.startsWith(tail, quote)) break;
        words.push(text.slice(start, quote));
        end = quote + tail.length;
      }
      if (end === from) return null;
      const said = words.join("");
      return SPECIAL.test(said) ? null : { words, said, end };
    },
    read(data) {
      if (before === null || !data.startsWith(before) || !data.endsWith(after)) return null;
      const words = data.slice(before.length, data.length - after.length);
      return words === "" || data.length < before.length + after.length || SPECIAL.test(words) ? null : words;
    },
    train(data, field, words) {
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
      head = opening + before;
      tail = `${after}\n\n`;
      return true;
    },
  };
}
