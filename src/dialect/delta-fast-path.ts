// Reads stream events without parsing them. Most events of one answer differ in one string only. From one
// parsed event the fast path learns the text before and after that string; a later event that has both, and
// between them a string without quotes and escapes, would parse to the same object except for the string. The
// result is therefore exact. Consecutive events of this kind are read together as one run.

/** Consecutive events that match the learned one. */
export interface DeltaRun {
  /** The string of each event. */
  readonly texts: readonly string[];
  /** All strings joined. */
  readonly joined: string;
  /** Index of the character after the last event, including its blank line. */
  readonly end: number;
}

/** Characters that end a JSON string or must be escaped in it. */
const SPECIAL = /["\\\p{Cc}]/u;
/** Characters of an event that is worth comparing with the next one. Those of a whole picture are not. */
const EVENT_CHARS_MAX = 65_536;
/** The text between a field's name and the content of its string. */
const OPENING = /\s*:\s*"/y;

/** Reads the events of one stream that match an event learned by `train`. It knows none at first. */
export class DeltaFastPath {
  readonly #opening: string;
  /** The learned text before the string; empty before `train`. */
  before = "";
  /** The learned text after the string. */
  after = "";
  /** The texts `before` and `after` with the framing of the wire; `#head` is empty before `train`. */
  #head = "";
  #tail = "";

  /** `opening` is the wire text before the data of an event. */
  constructor(opening = "data: ") {
    this.#opening = opening;
  }

  /** Reads the matching events in the wire text from index `from` on. Returns null when there is none. */
  run(text: string, from: number): DeltaRun | null {
    const [head, tail] = [this.#head, this.#tail];
    if (head === "") return null;
    const texts: string[] = [];
    let end = from;
    while (text.startsWith(head, end)) {
      const start = end + head.length;
      const quote = text.indexOf('"', start);
      if (quote <= start || !text.startsWith(tail, quote)) break;
      texts.push(text.slice(start, quote));
      end = quote + tail.length;
    }
    if (end === from) return null;
    const joined = texts.length === 1 ? texts[0]! : texts.join("");
    return SPECIAL.test(joined) ? null : { texts, joined, end };
  }

  /** Returns the non-empty string of a matching event. Returns null when the event must be parsed. */
  read(data: string): string | null {
    const { before, after } = this;
    if (this.#head === "" || data.length > EVENT_CHARS_MAX) return null;
    if (!data.startsWith(before) || !data.endsWith(after)) return null;
    const text = data.slice(before.length, data.length - after.length);
    return text === "" || data.length < before.length + after.length || SPECIAL.test(text) ? null : text;
  }

  /**
   * Learns an event in which only `text`, the string of `field`, differs from event to event. Returns false
   * when the event is not suitable; what was learned before then stays.
   */
  train(data: string, field: string, text: string): boolean {
    // An escape could spell the name differently, and two occurrences of the name would be ambiguous.
    if (text === "" || data.length > EVENT_CHARS_MAX) return false;
    if (SPECIAL.test(text) || data.includes("\\")) return false;
    const name = `"${field}"`;
    const at = data.indexOf(name);
    if (at === -1 || data.indexOf(name, at + 1) !== -1) return false;
    OPENING.lastIndex = at + name.length;
    const from = OPENING.exec(data) === null ? -1 : OPENING.lastIndex;
    if (from === -1 || !data.startsWith(`${text}"`, from)) return false;
    this.before = data.slice(0, from);
    this.after = data.slice(from + text.length);
    this.#head = this.#opening + this.before;
    this.#tail = `${this.after}\n\n`;
    return true;
  }
}
