// What was appended here is found again until it is projected: whole ranges or none, in bounded memory.

import { describe, expect, test } from "bun:test";
import { type LinesOfCommit, lineRows } from "../../../src/store/line-rows.ts";
import { RecentCommits } from "../../../src/store/mongo/recent-commits.ts";

const commit = (actor: string, seq: number): LinesOfCommit => ({
  ...{ actor, seq, linesTo: seq, lines: 1 },
  events: [{ at: seq, line: true, e: { type: "charge" } }],
});
const CHARS = 2;

const keptOf = (actor: string, ...seqs: readonly number[]): RecentCommits => {
  const recent = new RecentCommits();
  for (const seq of seqs) recent.add(commit(actor, seq), CHARS);
  return recent;
};

const seqsIn = (
  recent: RecentCommits,
  actor: string,
  after: number,
  to: number,
): readonly number[] | undefined => recent.within({ actor, after, to })?.map(({ seq }) => seq);

describe("a range", () => {
  test("is found where all of it is kept", () => {
    const recent = keptOf("a", 5, 6, 7, 8);
    expect(seqsIn(recent, "a", 4, 8)).toEqual([5, 6, 7, 8]);
    expect(seqsIn(recent, "a", 5, 7)).toEqual([6, 7]);
    expect(seqsIn(recent, "a", 3, 8)).toBeUndefined();
    expect(seqsIn(recent, "a", 4, 9)).toBeUndefined();
    expect(seqsIn(recent, "b", 4, 8)).toBeUndefined();
  });

  test("is not found across commits of another node", () => {
    const recent = keptOf("a", 1, 2, 5, 6);
    expect(seqsIn(recent, "a", 0, 6)).toBeUndefined();
    expect(seqsIn(recent, "a", 4, 6)).toEqual([5, 6]);
    expect(recent.size).toBe(2);
  });

  test("is not found where it was projected, and what came since is", () => {
    const recent = keptOf("a", 1, 2, 3, 4);
    recent.dropTo("a", 2);
    expect(seqsIn(recent, "a", 1, 4)).toBeUndefined();
    expect(seqsIn(recent, "a", 2, 4)).toEqual([3, 4]);
    recent.dropTo("a", 1);
    recent.dropTo("b", 9);
    expect(recent.size).toBe(2);
    recent.add(commit("a", 5), CHARS);
    expect(seqsIn(recent, "a", 2, 5)).toEqual([3, 4, 5]);
    recent.dropTo("a", 9);
    expect(recent.size).toBe(0);
    recent.add(commit("a", 6), CHARS);
    expect(seqsIn(recent, "a", 5, 6)).toEqual([6]);
  });
});

test("the lines of a commit that was not read back are those of the stored one", () => {
  const e = { type: "charge", model: "a", amount: -0, tags: { team: "b" }, apiKey: undefined };
  const given = { ...commit("a", 1), events: [{ at: 1, line: true, e }] };
  const recent = new RecentCommits();
  recent.add(given, CHARS);
  const kept = recent.within({ actor: "a", after: 0, to: 1 })!;
  expect(kept.flatMap(lineRows)).toStrictEqual(lineRows(JSON.parse(JSON.stringify(given))));
});

describe("too many commits", () => {
  test("push out those of the actor whose list was begun first", () => {
    const recent = keptOf("first", 1);
    for (let seq = 1; seq <= 65_535; seq++) recent.add(commit("second", seq), CHARS);
    expect([recent.size, seqsIn(recent, "first", 0, 1)]).toEqual([65_536, [1]]);
    recent.add(commit("third", 1), CHARS);
    expect([recent.size, seqsIn(recent, "first", 0, 1)]).toEqual([65_536, undefined]);
    recent.add(commit("third", 2), CHARS);
    expect([recent.size, seqsIn(recent, "third", 0, 2)]).toEqual([2, [1, 2]]);
  });

  test("are those whose texts are too long together as well", () => {
    const recent = new RecentCommits();
    const chars = 20 * 2 ** 20;
    for (const actor of ["a", "b", "c"]) recent.add(commit(actor, 1), chars);
    expect(recent.size).toBe(3);
    recent.add(commit("d", 1), chars);
    expect([recent.size, seqsIn(recent, "a", 0, 1), seqsIn(recent, "b", 0, 1)]).toEqual([3, undefined, [1]]);
    recent.add(commit("e", 1), 70 * 2 ** 20);
    expect(recent.size).toBe(0);
  });
});
