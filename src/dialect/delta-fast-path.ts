// Reads stream events without parsing them. Most events of one answer differ in one string only. From one
// parsed event the fast path learns the text before and after that string; a later event that has both, and
// between them a string without quotes and escapes, would parse to the same object except for the string. The
// result is therefore exact. Consecutive events of this kind are read together as one run.

/** Consecutive events that match the learned one. */
export interface DeltaRun {
  /** The string of each event. */
  readonly words: readonly string[];
  /** All strings joined. */
  readonly said: string;
  /** Index of the character after the last event, including its blank line. */
  readonly end: number;
}

/** Reads the events of one stream that match an event learned by `train`. */
export interface DeltaFastPath {
  /** Returns the non-empty string of a matching event. Returns null when the event must be parsed. */
  read(data: string): string | null;
  /**
   * Learns an event in which only `words`, the string of `field`, differs from event to event. Returns false
   * when the event is not suitable; what was learned before then stays.
   */
  train(data: string, field: string, words: string): boolean;
  /** Reads the matching events in the wire text from index `from` on. Returns null when there is none. */
  run(text: string, from: number): DeltaRun | null;
  /** The learned text before the string; empty before `train`. */
  readonly before: string;
  /** The learned text after the string. */
  readonly after: string;
}

/** Characters that end a JSON string or must be escaped in it. */
const SPECIAL = /["\\\p{Cc}]/u;
/** The text between a field's name and the content of its string. */
const OPENING = /\s*:\s*"/y;

/** Creates a fast path that knows no event yet. `opening` is the wire text before the data of an event. */
export function createDeltaFastPath(opening = "data: "): DeltaFastPath {
  let before: string | null = null;
  let after = "";
  /** The texts `before` and `after` with the framing of the wire. */
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
      // An escape could spell the name differently, and two occurrences of the name would be ambiguous.
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
