// Counts the steps of a regular expression: a plain backtracking matcher goes over the same text as the engine does, and
// every look at a character and every way that it tries is a step. The engine reports only time, which judges the machine.

/** Goes on from a place in the text; answers whether the rest matches. */
type Then = (at: number) => boolean;
type Part = (at: number, then: Then) => boolean;

/** A pattern that takes more than this is not counted to its end. */
const STEPS_MAX = 20_000_000;
const QUANTIFIER = /^(?:([*+?])|\{(\d+)(,(\d*))?\})(\??)/;
const ATOM_FLAGS = /[iuvs]/g;

// The natives as they are before anybody counts their calls.
const exec = RegExp.prototype.exec;
const slice = String.prototype.slice;
const startsWith = String.prototype.startsWith;

/** One regular expression, ready to be gone through step by step. Refuses what it does not know rather than miscount it. */
export class Matching {
  private readonly source: string;
  private readonly flags: string;
  private readonly isUnicode: boolean;
  private readonly whole: Part;
  private place = 0;
  private text = "";
  private steps = 0;

  constructor(pattern: RegExp) {
    this.source = pattern.source;
    this.flags = pattern.flags;
    this.isUnicode = pattern.unicode || pattern.unicodeSets;
    this.whole = this.choice();
    if (this.place < this.source.length) throw new Error(`it is not known how /${this.source}/ goes on`);
  }

  /** The steps of the search from a place on, and where the match begins and ends; null: nothing matches. */
  search(text: string, from: number, sticky: boolean): { steps: number; match: [number, number] | null } {
    this.text = text;
    this.steps = 0;
    for (let at = from; at <= text.length; at++) {
      let end = -1;
      const isMatch = this.whole(at, (last) => {
        end = last;
        return true;
      });
      if (isMatch) return { steps: this.steps, match: [at, end] };
      if (sticky) break;
    }
    return { steps: this.steps, match: null };
  }

  private step(): void {
    if (++this.steps > STEPS_MAX) throw new Error(`/${this.source}/ takes more than ${STEPS_MAX} steps`);
  }

  private rest(): string {
    return slice.call(this.source, this.place);
  }

  /** Takes a text of the pattern when it comes next. */
  private takes(text: string): boolean {
    if (!startsWith.call(this.source, text, this.place)) return false;
    this.place += text.length;
    return true;
  }

  private taken(form: RegExp): RegExpExecArray | null {
    const found = exec.call(form, this.rest());
    if (found !== null) this.place += found[0].length;
    return found;
  }

  private choice(): Part {
    const ways = [this.sequence()];
    while (this.takes("|")) ways[ways.length] = this.sequence();
    if (ways.length === 1) return ways[0]!;
    return (at, then) => {
      for (const way of ways) {
        this.step();
        if (way(at, then)) return true;
      }
      return false;
    };
  }

  private sequence(): Part {
    const parts: Part[] = [];
    while (this.place < this.source.length) {
      const next = this.source[this.place];
      if (next === "|" || next === ")") break;
      parts[parts.length] = this.term();
    }
    let all: Part = (at, then) => then(at);
    for (let i = parts.length - 1; i >= 0; i--) {
      const [first, others] = [parts[i]!, all];
      all = i === parts.length - 1 ? first : (at, then) => first(at, (end) => others(end, then));
    }
    return all;
  }

  private term(): Part {
    if (this.takes("^")) return this.assertion((at) => at === 0);
    if (this.takes("$")) return this.assertion((at) => at === this.text.length);
    if (this.takes("\\b")) return this.assertion((at) => this.isWord(at - 1) !== this.isWord(at));
    if (this.takes("(?=")) return this.ahead(true);
    if (this.takes("(?!")) return this.ahead(false);
    if (this.takes("(?<=")) return this.behind(true);
    if (this.takes("(?<!")) return this.behind(false);
    const group = this.taken(/^\((?:\?:|\?<[a-z]\w*>|(?!\?))/i);
    if (group !== null) {
      const inner = this.choice();
      this.close();
      return this.repeatedGroup(inner);
    }
    return this.repeatedAtom();
  }

  private close(): void {
    if (!this.takes(")")) throw new Error(`a group of /${this.source}/ does not end`);
  }

  private assertion(holds: (at: number) => boolean): Part {
    return (at, then) => {
      this.step();
      return holds(at) && then(at);
    };
  }

  private ahead(wanted: boolean): Part {
    const inner = this.choice();
    this.close();
    return this.assertion((at) => inner(at, () => true) === wanted);
  }

  private behind(wanted: boolean): Part {
    const inner = this.choice();
    this.close();
    const ends = (at: number): boolean => {
      for (let from = at; from >= 0; from--) if (inner(from, (end) => end === at)) return true;
      return false;
    };
    return this.assertion((at) => ends(at) === wanted);
  }

  private isWord(at: number): boolean {
    const one = this.text[at];
    return one !== undefined && exec.call(/\w/, one) !== null;
  }

  private quantity(): { least: number; most: number; isLazy: boolean } | null {
    const found = this.taken(QUANTIFIER);
    if (found === null) return null;
    const [, sign, least, comma, most, lazy] = found;
    const isLazy = lazy === "?";
    if (sign !== undefined)
      return { least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : Number.POSITIVE_INFINITY, isLazy };
    const top = comma === undefined ? Number(least) : most === "" ? Number.POSITIVE_INFINITY : Number(most);
    return { least: Number(least), most: top, isLazy };
  }

  private repeatedGroup(inner: Part): Part {
    const quantity = this.quantity();
    if (quantity === null) return inner;
    const { least, most, isLazy } = quantity;
    const again = (count: number, at: number, then: Then): boolean => {
      this.step();
      const once = () =>
        count < most && inner(at, (end) => (end > at || count < least) && again(count + 1, end, then));
      const enough = () => count >= least && then(at);
      return isLazy ? enough() || once() : once() || enough();
    };
    return (at, then) => again(0, at, then);
  }

  /** One character, or a run of such: what is by far the most frequent part needs no stack. */
  private repeatedAtom(): Part {
    const isOne = this.atom();
    const { least, most, isLazy } = this.quantity() ?? { least: 1, most: 1, isLazy: false };
    if (isLazy)
      return (at, then) => {
        for (let count = 0, end = at; ; count++) {
          if (count >= least && then(end)) return true;
          const width = count < most ? isOne(end) : 0;
          if (width === 0) return false;
          end += width;
        }
      };
    return (at, then) => {
      const ends = [at];
      for (let end = at, width = 1; width > 0 && ends.length <= most; ) {
        width = isOne(end);
        end += width;
        if (width > 0) ends[ends.length] = end;
      }
      for (let count = ends.length - 1; count >= least; count--) {
        this.step();
        if (then(ends[count]!)) return true;
      }
      return false;
    };
  }

  /** How wide the character at a place is when the next atom of the pattern allows it; else 0. */
  private atom(): (at: number) => number {
    const found = this.taken(
      /^(?:\\(?:p\{[^}]+\}|P\{[^}]+\}|u\{[^}]+\}|u[\da-f]{4}|x[\da-f]{2}|[^\dkc])|\[(?:\\.|[^\]\\])*\]|[^()[\]{}*+?\\])/i,
    );
    if (found === null) throw new Error(`it is not known how /${this.source}/ goes on at ${this.place}`);
    const flags = (this.flags.match(ATOM_FLAGS) ?? []).join("");
    const form = new RegExp(`^${found[0]}$`, flags);
    const known: Record<string, boolean> = Object.create(null);
    return (at) => {
      this.step();
      const first = this.text[at];
      if (first === undefined) return 0;
      const isPair = this.isUnicode && first >= "\ud800" && first < "\udc00" && at + 1 < this.text.length;
      const one = isPair ? first + this.text[at + 1] : first;
      known[one] ??= exec.call(form, one) !== null;
      return known[one] ? one.length : 0;
    };
  }
}
