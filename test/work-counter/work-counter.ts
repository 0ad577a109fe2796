// Counts what a piece of code does instead of the time that it takes: the natives that go through texts, bytes and tables are
// exchanged while it runs, and note how much they look at. What code reads by an index of its own is not seen.

import { Matching } from "./matching.ts";

export interface Work {
  /** Characters that searches and comparisons looked at, and that were copied or read one by one. */
  text: number;
  /** Bytes that were searched, copied or decoded. */
  bytes: number;
  /** Steps of regular expressions. */
  matching: number;
  /** Keys that tables and sets were asked for or given. */
  lookups: number;
  /** Elements that moved in lists. */
  moved: number;
  /** Texts that were read as JSON, and the characters in them. */
  parses: number;
  parsed: number;
  /** Values that were written as JSON, and the characters they became. */
  writes: number;
  written: number;
}

/** Exchanges one method; `count` sees the call, and its result once there is one. */
type Exchange = (
  of: object,
  name: string,
  count: (self: never, given: never, result: unknown) => void,
) => void;

/** What `does` does, until it returns. */
export function workOf(does: () => void): Work {
  const counter = new WorkCounter();
  counter.begin();
  try {
    does();
  } finally {
    counter.end();
  }
  return counter.work;
}

/** Text, bytes, matching and tables in one sum: what takes time in proportion. */
export const stepsOf = (does: () => void): number => {
  const { text, bytes, matching, lookups, moved, parsed, written } = workOf(does);
  return text + bytes + matching + lookups + moved + parsed + written;
};

/** Counts between `begin` and `end`; where work goes on in turns, the caller reads `work` meanwhile. */
export class WorkCounter {
  readonly work: Work = {
    ...{ text: 0, bytes: 0, matching: 0, lookups: 0, moved: 0 },
    ...{ parses: 0, parsed: 0, writes: 0, written: 0 },
  };
  private restored: (() => void)[] = [];
  /** The counting itself is no work. */
  private isCounting = false;
  private readonly patterns: Record<string, Matching | undefined> = Object.create(null);

  begin(): void {
    const exchange: Exchange = (of, name, count) => this.exchange(of, name, count);
    this.countTexts(exchange);
    this.countBytes(exchange);
    this.countTables(exchange);
    this.countMatching();
    this.isCounting = true;
  }

  end(): void {
    this.isCounting = false;
    for (const restore of this.restored) restore();
    this.restored = [];
  }

  private exchange(of: object, name: string, count: Parameters<Exchange>[2]): void {
    const original = Object.getOwnPropertyDescriptor(of, name)!;
    const native = original.value as (...given: unknown[]) => unknown;
    const counter = this;
    const counted = function (this: unknown, ...given: unknown[]): unknown {
      // Counted inside, too: what a replacement asks of its pattern is work.
      const result = Reflect.apply(native, this, given);
      if (!counter.isCounting) return result;
      counter.isCounting = false;
      try {
        count(this as never, given as never, result);
      } finally {
        counter.isCounting = true;
      }
      return result;
    };
    Object.defineProperty(of, name, { ...original, value: counted });
    this.restored[this.restored.length] = () => Object.defineProperty(of, name, original);
  }

  private countTexts(exchange: Exchange): void {
    const { work } = this;
    const { prototype } = String;
    for (const name of ["indexOf", "includes"])
      exchange(prototype, name, (self: string, [what, from = 0]: [string, number?]) => {
        work.text += searched(`${self}`, `${what}`, from);
      });
    exchange(prototype, "lastIndexOf", (self: string, _, found) => {
      work.text += self.length - Math.max(found as number, 0);
    });
    for (const name of ["startsWith", "endsWith"])
      exchange(prototype, name, (_self, [what]: [string]) => {
        work.text += what.length;
      });
    for (const name of ["charCodeAt", "codePointAt", "charAt", "at"])
      exchange(prototype, name, () => {
        work.text++;
      });
    for (const name of ["slice", "substring", "trim", "toLowerCase", "toUpperCase"])
      exchange(prototype, name, (_self, _given, result) => {
        work.text += (result as string).length;
      });
    // With a pattern the steps of its matching are counted as well.
    for (const name of ["split", "replace", "replaceAll"])
      exchange(prototype, name, (self: string) => {
        work.text += self.length;
      });
    exchange(JSON, "parse", (_self, [text]: [string]) => {
      work.parses++;
      work.parsed += text.length;
    });
    exchange(JSON, "stringify", (_self, _given, result) => {
      work.writes++;
      work.written += typeof result === "string" ? result.length : 0;
    });
  }

  private countBytes(exchange: Exchange): void {
    const { work } = this;
    const prototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
    for (const name of ["indexOf", "includes"])
      exchange(prototype, name, (self: Uint8Array, [what, from = 0]: [number, number?]) => {
        const found = self.indexOf(what, from);
        work.bytes += (found === -1 ? self.length : found + 1) - Math.min(from, self.length);
      });
    exchange(prototype, "set", (_self, [source]: [ArrayLike<number>]) => {
      work.bytes += source.length;
    });
    exchange(prototype, "slice", (_self, _given, result) => {
      work.bytes += (result as Uint8Array).length;
    });
    exchange(TextDecoder.prototype, "decode", (_self, [bytes]: [Uint8Array?]) => {
      work.bytes += bytes?.byteLength ?? 0;
    });
    exchange(TextEncoder.prototype, "encode", (_self, _given, result) => {
      work.bytes += (result as Uint8Array).length;
    });
  }

  private countTables(exchange: Exchange): void {
    const { work } = this;
    for (const { prototype } of [Map, Set])
      for (const name of ["get", "has", "set", "add", "delete"])
        if (Object.hasOwn(prototype, name)) exchange(prototype, name, () => void work.lookups++);
    for (const name of ["splice", "shift", "unshift"])
      exchange(Array.prototype, name, (self: unknown[], _, taken) => {
        work.moved += self.length + (Array.isArray(taken) ? taken.length : 1);
      });
  }

  /** `test`, `match`, `replace` and `split` all ask `exec`. */
  private countMatching(): void {
    const { exec } = RegExp.prototype;
    const counter = this;
    RegExp.prototype.exec = function (text: string): RegExpExecArray | null {
      if (!counter.isCounting) return exec.call(this, text);
      counter.isCounting = false;
      try {
        const from = this.global || this.sticky ? this.lastIndex : 0;
        const matching = counter.matchingOf(this);
        counter.work.matching += matching.search(`${text}`, from, this.sticky).steps;
        return exec.call(this, text);
      } finally {
        counter.isCounting = true;
      }
    };
    this.restored[this.restored.length] = () => {
      RegExp.prototype.exec = exec;
    };
  }

  private matchingOf(pattern: RegExp): Matching {
    const name = `${pattern.flags}/${pattern.source}`;
    const known = this.patterns[name] ?? new Matching(pattern);
    this.patterns[name] = known;
    return known;
  }
}

/** Characters that a plain search compares until it has found `what`, or knows that it is not there. */
function searched(text: string, what: string, from: number): number {
  let looked = 0;
  for (let at = Math.max(from, 0); at + what.length <= text.length; at++) {
    let same = 0;
    while (same < what.length && text[at + same] === what[same]) same++;
    looked += Math.min(same + 1, Math.max(what.length, 1));
    if (same === what.length) break;
  }
  return looked;
}
