// Rules of lines by filters: which lines pass, in which order, and page by page. The lines are those of commits that a
// snapshot covers; a store may take two seconds to find them.

import { beforeEach, describe, expect, test } from "bun:test";
import { passingLines } from "../../src/store/line-rows.ts";
import type { Commit, FoundLine, LineAnchor, LineFilter, Store } from "../../src/store/store.ts";
import { commit, save } from "./store-samples.ts";

const ACTOR = "account/1";
/** Looks, 20 ms apart, until lines are found. */
const LOOKS_MAX = 500;

type Event = Readonly<Record<string, unknown>>;

/** A commit of so many lines, each a millisecond after the one before it. */
function lined(actor: string, seq: number, linesTo: number, at: number, events: readonly Event[]): Commit {
  const marks = events.flatMap(({ id, request }) => [id, ...(request ? [`request:${request}`] : [])]);
  return commit(actor, seq, {
    ...{ at: at + events.length, linesTo, lines: events.length, marks: marks.map(String) },
    events: [
      ...events.map((e, i) => ({ at: at + i, line: true, e })),
      { at: at + events.length, line: false, e: { type: "settled", id: "none of the lines" } },
    ],
  });
}

const charge = (id: string, over: Event = {}): Event => ({
  type: "charge",
  id,
  model: "m",
  amount: -5,
  ...over,
});

/** Eight lines in five commits, one of which has none. */
const COMMITS: readonly Commit[] = [
  lined(ACTOR, 1, 1, 1_000, [{ type: "grant", id: "g1", amount: 900, from: 1 }]),
  lined(ACTOR, 2, 4, 2_000, [
    charge("c2", { request: "ticket" }),
    charge("c3", { model: "n", apiKey: 7, apiKeyName: "night", tags: { team: "search", env: "prod" } }),
    charge("c4", { apiKey: 7, tags: { env: "prod" }, request: "ticket" }),
  ]),
  lined(ACTOR, 3, 4, 3_000, []),
  lined(ACTOR, 4, 6, 4_000, [
    { type: "query_fee", id: "f5", amount: -1 },
    { type: "refund", id: "r6", amount: 3, from: 2 },
  ]),
  lined(ACTOR, 5, 8, 4_002, [
    charge("c7", { model: "n", tags: { team: "search", env: "production" } }),
    { ...charge("c8", { tags: { my_team: "search" } }), type: "late_charge" },
  ]),
];

/** Filters, and the ids of the lines that pass, newest first. */
const CASES: readonly (readonly [what: string, filter: Omit<LineFilter, "actor">, ids: string])[] = [
  ["everything", {}, "c8 c7 r6 f5 c4 c3 c2 g1"],
  ["a type", { types: ["refund"] }, "r6"],
  ["several types", { types: ["charge", "late_charge"] }, "c8 c7 c4 c3 c2"],
  ["no type", { types: [] }, ""],
  ["a model", { model: "n" }, "c7 c3"],
  ["an API key", { apiKey: 7 }, "c4 c3"],
  ["the main key, which no transfer has", { apiKey: 0 }, "c8 c7 f5 c2"],
  ["a tag, whole", { tags: { env: "prod" } }, "c4 c3"],
  ["a tag whose name ends another", { tags: { team: "search" } }, "c7 c3"],
  ["two tags", { tags: { env: "prod", team: "search" } }, "c3"],
  ["a tag with a wildcard", { tags: { env: "prod%" } }, ""],
  ["a time, its first millisecond included", { from: 4_001 }, "c8 c7 r6"],
  ["a time, its last millisecond not", { until: 4_001 }, "f5 c4 c3 c2 g1"],
  ["a span of time", { from: 2_001, until: 4_003 }, "c7 r6 f5 c4 c3"],
  ["a client's id of its requests", { request: "ticket" }, "c4 c2"],
  ["the service's id of a request", { request: "c7" }, "c7"],
  ["a request and more", { request: "ticket", apiKey: 0, until: 9_999 }, "c2"],
  ["all at once", { types: ["charge"], model: "n", apiKey: 0, tags: { team: "search" }, from: 3_000 }, "c7"],
];

export function lineRules(store: () => Store): void {
  /** Stores commits, each in the order of its actor, and waits until their lines can be found. */
  async function keep(commits: readonly Commit[]): Promise<void> {
    await store().append(commits);
    const last = new Map(commits.map((one) => [one.actor, one]));
    await store().save([...last].map(([actor, { seq, linesTo }]) => save(actor, seq, [], { linesTo })));
    let looks = 0;
    for (const [actor, { linesTo }] of last) {
      while ((await all({ actor }, 1_000)).length < linesTo && looks++ < LOOKS_MAX) await Bun.sleep(20);
    }
  }

  /** All lines that pass, page by page. */
  async function all(filter: LineFilter, size: number) {
    const found = [];
    let after: LineAnchor | null = null;
    do {
      const { lines, next } = await store().lines(filter, after, size);
      expect(lines.length).toBeLessThanOrEqual(size);
      found.push(...lines);
      after = next;
    } while (after !== null);
    return found;
  }

  /** What a store's walks and sums have to find: the definition, by the lines that pass. */
  async function expectWalks(filter: LineFilter, passing: readonly FoundLine[]): Promise<void> {
    const amount = passing.reduce((sum, { e }) => sum + BigInt((e as { amount: number }).amount), 0n);
    const totals = await store().lineTotals(filter);
    expect([filter, totals]).toEqual([filter, { count: passing.length, amount }]);
    const walks = [
      ...[0, 1, 2, 7, 130, passing.length, passing.length + 1].map((skip) => ({
        after: null,
        skip,
        limit: 3,
      })),
      ...[1, 150, passing.length, 500].map((limit) => ({ after: null, skip: 1, limit: Math.max(1, limit) })),
    ];
    for (const walk of walks) {
      const { lines, next } = await store().walkLines(filter, walk);
      const wanted = passing.slice(walk.skip, walk.skip + walk.limit);
      expect([filter, walk, lines]).toEqual([filter, walk, wanted]);
      const last = wanted.length < walk.limit ? null : wanted.at(-1)!;
      expect(next).toEqual(last && { at: last.at, number: last.number });
      if (next === null) continue;
      const behind = await store().walkLines(filter, { after: next, skip: 1, limit: 2 });
      expect(behind.lines).toEqual(passing.slice(walk.skip + walk.limit + 1, walk.skip + walk.limit + 3));
    }
  }

  describe("lines by filters", () => {
    describe("of a small ledger", () => {
      beforeEach(() => keep([...COMMITS, lined("account/11", 1, 1, 2_000, [charge("other")])]));

      test("are those that pass, newest first, in pages of any size", async () => {
        for (const [what, filter, ids] of CASES) {
          for (const size of [1, 2, 3, 100]) {
            const found = await all({ actor: ACTOR, ...filter }, size);
            expect([what, size, found.map(({ e }) => (e as Event).id).join(" ")]).toEqual([what, size, ids]);
          }
        }
      });

      test("are walked over and counted as they are listed", async () => {
        for (const [, filter] of CASES) {
          await expectWalks(
            { actor: ACTOR, ...filter },
            passingLines({ actor: ACTOR, ...filter }, null, COMMITS.toReversed()),
          );
        }
        expect(await store().lineTotals({ actor: "account/3" })).toEqual({ count: 0, amount: 0n });
      });

      test("are walked over and counted only while somebody waits", async () => {
        const signal = AbortSignal.abort(new Error("nobody waits"));
        const walk = { after: null, skip: 0, limit: 1 };
        await expect(store().walkLines({ actor: ACTOR }, walk, signal)).rejects.toThrow("nobody waits");
        await expect(store().lineTotals({ actor: ACTOR }, signal)).rejects.toThrow("nobody waits");
      });

      test("have their place and their event, as the ledger has it", async () => {
        const found = await all({ actor: ACTOR }, 100);
        const events = COMMITS.flatMap((one) => one.events.filter(({ line }) => line));
        expect(found.toReversed()).toEqual(events.map(({ at, e }, i) => ({ at, number: i + 1, e })));
      });

      test("are of one actor alone", async () => {
        expect(await all({ actor: "account/11" }, 9)).toMatchObject([{ number: 1, e: { id: "other" } }]);
        for (const actor of ["account/", "account/1/", "account/2"]) {
          expect(await store().lines({ actor }, null, 9)).toEqual({ lines: [], next: null });
        }
      });

      test("appear once, also when a commit is sent again or another writer comes", async () => {
        await store().append([COMMITS[1]!, { ...COMMITS[4]!, by: "another" }]);
        await keep([lined(ACTOR, 6, 9, 5_000, [charge("c9")])]);
        const ids = (await all({ actor: ACTOR }, 3)).map(({ e }) => (e as Event).id);
        expect(ids.join(" ")).toBe("c9 c8 c7 r6 f5 c4 c3 c2 g1");
      });
    });

    test("of many lines are what the definition says", async () => {
      const pick = <T>(items: readonly T[], n: number): T => items[n % items.length]!;
      const many = Array.from({ length: 150 }, (_, i) =>
        lined(ACTOR, i + 1, 2 * (i + 1), 1_000 + i, [
          charge(`a${i}`, { model: pick(["m", "n", "o"], i), ...(i % 4 > 0 && { apiKey: i % 4 }) }),
          {
            ...charge(`b${i}`, { request: `r${i % 9}`, tags: { k: `v${i % 5}` } }),
            type: pick(["charge", "fee"], i),
          },
        ]),
      );
      await keep(many);
      for (let i = 0; i < 60; i++) {
        const filter: LineFilter = {
          actor: ACTOR,
          ...(i % 2 === 0 && { model: pick(["m", "n", "o", "p"], i >> 1) }),
          ...(i % 3 === 0 && { types: pick([["fee"], ["charge", "fee"]], i) }),
          ...(i % 5 === 0 && { apiKey: i % 4 }),
          ...(i % 7 === 0 && { tags: { k: `v${i % 6}` } }),
          ...(i % 4 === 0 && { from: 1_000 + i * 2 }),
          ...(i % 4 === 1 && { until: 1_001 + i * 2 }),
          ...(i % 11 === 0 && { request: `r${i % 10}` }),
        };
        const passing = passingLines(filter, null, many.toReversed());
        expect([filter, await all(filter, 1 + (i % 13))]).toEqual([filter, passing]);
        if (i % 3 === 0) await expectWalks(filter, passing);
      }
    });

    test("have sums beyond the safe integers, of either sign", async () => {
      const large = [
        Number.MAX_SAFE_INTEGER,
        Number.MIN_SAFE_INTEGER,
        Number.MIN_SAFE_INTEGER,
        -1,
        3,
        2 ** 32,
      ];
      const amounts = [...large, ...large, -(2 ** 32), -5];
      const events = amounts.map((amount, i) => charge(`l${i}`, { amount, request: "large" }));
      await keep([lined(ACTOR, 1, amounts.length, 1_000, events)]);
      const amount = amounts.reduce((sum, one) => sum + BigInt(one), 0n);
      for (const filter of [{ actor: ACTOR }, { actor: ACTOR, request: "large" }]) {
        expect(await store().lineTotals(filter)).toEqual({ count: amounts.length, amount });
      }
    });

    const REFUSED: readonly (readonly [string, unknown, unknown, unknown])[] = [
      ["an actor that is no text", { actor: 1 }, null, 1],
      ["half a millisecond", { actor: ACTOR, from: 0.5 }, null, 1],
      ["a type that is no list", { actor: ACTOR, types: "charge" }, null, 1],
      ["a model that is an operator", { actor: ACTOR, model: { $gt: "" } }, null, 1],
      ["a tag that is an operator", { actor: ACTOR, tags: { team: { $gt: "" } } }, null, 1],
      ["a key that is a text", { actor: ACTOR, apiKey: "7" }, null, 1],
      ["an anchor that is none", { actor: ACTOR }, { at: "1", number: 1 }, 1],
      ["an empty page", { actor: ACTOR }, null, 0],
    ];

    test.each(REFUSED)("refuse %s", async (_what, filter, after, limit) => {
      const asked = store().lines(filter as LineFilter, after as LineAnchor, limit as number);
      await expect(asked).rejects.toThrow();
      const walk = { after: after as LineAnchor, skip: 0, limit: limit as number };
      await expect(store().walkLines(filter as LineFilter, walk)).rejects.toThrow();
    });

    test("have none behind more lines than any ledger has", async () => {
      await keep(COMMITS);
      const walk = { after: null, skip: 1_000_000_000_000_000, limit: 1_000 };
      expect(await store().walkLines({ actor: ACTOR }, walk)).toEqual({ lines: [], next: null });
    });

    test("refuse to leave out a part of a line", async () => {
      const walk = { after: null, skip: 0.5, limit: 1 };
      await expect(store().walkLines({ actor: ACTOR }, walk)).rejects.toThrow();
    });
  });
}
