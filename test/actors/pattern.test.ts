// Wildcard patterns against regular expressions, also hostile ones; which entry of a mapper applies; the mapper syntax
// with odd input; and that a covered list never allows what the covering one does not.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { allows, covers, matches, parseList, parseMapper, pick } from "../../actors/pattern.ts";
import { stepsOf } from "../work-counter/work-counter.ts";

const escaped = (text: string) => text.replace(/[.+?^${}()|[\]\\/]/g, "\\$&");
/** Neighbouring stars mean one; merged, so that the oracle itself does not explode. */
const oracle = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replace(/\*+/g, "*").split("*").map(escaped).join("[^]*")}$`, "u").test(name);

/** Few letters, so that patterns and names meet often. */
const letters = (extra: string) => fc.string({ unit: fc.constantFrom(..."ab/-", ...extra), maxLength: 12 });

describe("a pattern", () => {
  test.each([
    ["gpt-4o", "gpt-4o", true],
    ["gpt-4o", "gpt-4o-mini", false],
    ["gpt-4*", "gpt-4", true],
    ["*", "", true],
    ["*", "anything at all", true],
    ["", "", true],
    ["", "a", false],
    ["*mini", "gpt-4o-mini", true],
    ["*-mini-*", "gpt-4o-mini", false],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["**a**", "bab", true],
    ["a.c", "abc", false],
    ["[ab]", "a", false],
    ["é*", "été", true],
    ["GPT", "gpt", false],
  ])("%p against %p: %p", (pattern, name, does) => {
    expect(matches(pattern, name)).toBe(does);
  });

  test("matches what the same regular expression matches", () => {
    fc.assert(
      fc.property(letters("*"), letters(""), (pattern, name) => {
        expect(matches(pattern, name)).toBe(oracle(pattern, name));
      }),
      { numRuns: 2_000 },
    );
  });

  test("with many stars is decided in one pass, however hostile the name", () => {
    const name = `${"a".repeat(50_000)}b`;
    const patterns = [
      "a*".repeat(128),
      `${"*a".repeat(127)}*c`,
      `${"*aa".repeat(80)}c`,
      `${"*".repeat(255)}c`,
    ];
    for (const pattern of patterns) {
      const steps = stepsOf(() => void matches(pattern, name));
      expect(steps).toBeLessThan(3 * (name.length + pattern.length));
    }
  });

  test("list that is empty allows everything, else what one of them matches", () => {
    expect(allows([], "anything")).toBe(true);
    expect(allows(["a*", "b"], "axe")).toBe(true);
    expect(allows(["a*", "b"], "bee")).toBe(false);
  });
});

describe("of several patterns", () => {
  test.each([
    ["the exact one goes first", { "gpt-4o": 1, "gpt-4o*": 2, "*": 3 }, "gpt-4o", "gpt-4o"],
    ["then the longest literal part", { "*": 1, "gpt-*": 2, "gpt-4*": 3 }, "gpt-4o", "gpt-4*"],
    ["stars are not literal", { "g****": 1, "gp*": 2 }, "gpt", "gp*"],
    ["the order of writing does not matter", { "*4o": 1, "gp*": 2 }, "gp4o", "*4o"],
    ["none matches", { "a*": 1 }, "b", null],
    ["an empty mapper", {}, "b", null],
    ["names of built-in properties are only names", { "*": 1 }, "constructor", "*"],
    ["and so are those of prototypes", {}, "__proto__", null],
  ])("%s", (_rule, entries: Record<string, number>, name, pattern) => {
    expect(pick(entries, name)?.pattern ?? null).toBe(pattern);
  });

  test("the answer is the same in whatever order they were written", () => {
    fc.assert(
      fc.property(fc.uniqueArray(letters("*"), { maxLength: 6 }), letters(""), (patterns, name) => {
        const of = (list: readonly string[]) => pick(Object.fromEntries(list.map((one) => [one, one])), name);
        expect(of(patterns)).toEqual(of([...patterns].reverse()));
      }),
      { numRuns: 500 },
    );
  });
});

/** As plain as the rule is written: every pattern is tried on every name, letter by letter. */
function naivePick(entries: Readonly<Record<string, unknown>>, name: string): string | null {
  if (Object.hasOwn(entries, name)) return name;
  const found = Object.keys(entries).filter((pattern) => pattern.includes("*") && naiveMatch(pattern, name));
  const literal = (pattern: string) => pattern.replaceAll("*", "").length;
  return found.sort((a, b) => literal(b) - literal(a) || (a < b ? -1 : 1))[0] ?? null;
}

function naiveMatch(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++;
      resume = n;
    } else if (pattern[p] === name[n]) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

describe("a map that is compiled", () => {
  const words = fc.string({ unit: fc.constantFrom(..."ab*-", "é", "\n"), maxLength: 10 });

  test("gives what trying every pattern gives", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(words, { maxLength: 8 }),
        fc.array(words, { maxLength: 6 }),
        (patterns, names) => {
          const entries = Object.fromEntries(patterns.map((pattern) => [pattern, pattern]));
          for (const name of [...names, ...patterns]) {
            expect(pick(entries, name)?.pattern ?? null).toBe(naivePick(entries, name));
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("and so does a pattern alone", () => {
    fc.assert(
      fc.property(words, words, (pattern, name) => {
        expect(matches(pattern, name)).toBe(naiveMatch(pattern, name));
      }),
      { numRuns: 5_000 },
    );
  });

  /** 1,024 patterns that share no more than their malice with one another; none of them matches. */
  const mapOf = (of: (i: number) => string) =>
    Object.fromEntries(Array.from({ length: 1_024 }, (_, i) => [of(i), "t"]));
  const A = "a".repeat(256);

  test.each([
    ["stars everywhere, another end", (i: number) => `${"*a".repeat(120)}${i}b`, A],
    ["stars everywhere, something missing behind them", (i: number) => `${"*a".repeat(120)}*b${i}*`, A],
    ["pairs", (i: number) => `${"*ab".repeat(60)}*ba${i}*`, "ab".repeat(128)],
    ["a beginning only", (i: number) => `model-${i}-*`, "model-of-nobody"],
  ])("takes fewer steps than a hostile map has patterns: %s", (_what, of, name) => {
    const map = mapOf(of);
    expect([Object.keys(map).length, pick(map, name)]).toEqual([1_024, null]);
    // It is asked often: what can be known of the patterns alone is known from the first time.
    expect(stepsOf(() => void pick(map, name))).toBeLessThan(1_024);
  });
});

describe("the mapper syntax", () => {
  test.each([
    ["a=b", [{ pattern: "a", target: "b" }]],
    [
      " a = b , c=d ",
      [
        { pattern: "a", target: "b" },
        { pattern: "c", target: "d" },
      ],
    ],
    ["-a", [{ pattern: "a", target: null }]],
    ["- a*", [{ pattern: "a*", target: null }]],
    ["a=b=c", [{ pattern: "a", target: "b=c" }]],
    ["-a=b", [{ pattern: "-a", target: "b" }]],
    ["a=b,,", [{ pattern: "a", target: "b" }]],
    ["", []],
    [" , ,", []],
    [
      "a=b,-a",
      [
        { pattern: "a", target: "b" },
        { pattern: "a", target: null },
      ],
    ],
    ["constructor=x", [{ pattern: "constructor", target: "x" }]],
  ])("%p is read", (text, value) => {
    expect(parseMapper(text)).toEqual({ ok: true, value });
  });

  test.each(["a", "=b", "a=", "-", "=", "a=b,c", " = ", "-,a=b"])(
    "%p is refused, with the item in the message",
    (text) => {
      const parsed = parseMapper(text);
      expect(parsed.ok).toBe(false);
      if (!parsed.ok) expect(parsed.message).toContain("is neither pattern=target nor -pattern");
    },
  );

  test.each(["__proto__=x", "-__proto__", "a\ud800=x"])(
    "%p is refused: such a name would be lost on its way",
    (text) => {
      expect(parseMapper(text)).toMatchObject({ ok: false });
    },
  );

  test("bounds the length of patterns, and their number", () => {
    const long = "x".repeat(257);
    expect(parseMapper(`${long}=a`).ok).toBe(false);
    expect(parseMapper(`-${long}`).ok).toBe(false);
    expect(parseMapper(`${"x".repeat(256)}=a`).ok).toBe(true);
    const many = (count: number) => Array.from({ length: count }, (_, i) => `p${i}=t`).join(",");
    expect(parseMapper(many(1_024)).ok).toBe(true);
    expect(parseMapper(many(1_025)).ok).toBe(false);
  });

  test("leaves what a target may be to the readers of the map", () => {
    const target = "x".repeat(300);
    expect(parseMapper(`a=${target}`)).toEqual({ ok: true, value: [{ pattern: "a", target }] });
  });

  test("reads back what it wrote", () => {
    const word = fc
      .string({ unit: fc.constantFrom(..."ab*-/."), minLength: 1, maxLength: 8 })
      .filter((text) => text !== "-");
    fc.assert(
      fc.property(fc.dictionary(word, word, { maxKeys: 6 }), (entries) => {
        const text = Object.entries(entries).map(([pattern, target]) => `${pattern}=${target}`);
        const parsed = parseMapper(text.join(", "));
        expect(
          parsed.ok && Object.fromEntries(parsed.value.map(({ pattern, target }) => [pattern, target])),
        ).toEqual(entries);
      }),
      { numRuns: 200 },
    );
  });

  test("lists are separated by spaces, commas or line breaks", () => {
    expect(parseList(" a, b\tc\n,,d ")).toEqual(["a", "b", "c", "d"]);
    expect(parseList("")).toEqual([]);
  });
});

describe("a list covers another", () => {
  test.each([
    [["/v1/audio/*"], ["/v1/audio/speech"], true],
    [["/v1/audio/speech"], ["/v1/audio/*"], false],
    [["/v1/*"], ["/v1/audio/*", "/v1/chat/completions"], true],
    [["/v1/audio/*"], ["/v1/*"], false],
    [["*"], ["*"], true],
    [[], ["/v1/x"], true],
    [["/v1/x"], [], false],
    [[], [], true],
    [["/v1/a*", "/v1/b*"], ["/v1/b1", "/v1/a1"], true],
    [["/v1/a*z"], ["/v1/a*"], false],
  ])("%p covers %p: %p", (outer, inner, does) => {
    expect(covers(outer, inner)).toBe(does);
  });

  test("only when it allows every path that the other allows", () => {
    const patterns = fc.array(letters("**"), { maxLength: 3 });
    let covering = 0;
    fc.assert(
      fc.property(patterns, patterns, fc.array(letters(""), { maxLength: 20 }), (outer, inner, fillers) => {
        if (!covers(outer, inner)) return;
        covering++;
        // Paths that the inner list allows: its own patterns with their stars filled.
        const paths = inner.flatMap((pattern) =>
          fillers.map((filler) => pattern.replaceAll("*", () => filler)),
        );
        for (const path of paths) expect(allows(outer, path)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
    expect(covering).toBeGreaterThan(100);
  });
});
