// What was appended here is found again until it is projected: whole ranges or none, in bounded memory.

import { describe, expect, test } from "bun:test";
import type { CommitDocument } from "../../../src/store/mongo/append.ts";
import { RecentCommits } from "../../../src/store/mongo/recent-commits.ts";

const commit = (actor: string, seq: number, events = "[]"): CommitDocument =>
  ({ _id: `${actor}/${seq}`, actor, seq, events }) as unknown as CommitDocument;

const keptOf = (actor: string, ...seqs: readonly number[]): RecentCommits => {
  const recent = new RecentCommits();
  for (const seq of seqs) recent.add(commit(actor, seq));
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
    recent.add(commit("a", 5));
    expect(seqsIn(recent, "a", 2, 5)).toEqual([3, 4, 5]);
    recent.dropTo("a", 9);
    expect(recent.size).toBe(0);
    recent.add(commit("a", 6));
    expect(seqsIn(recent, "a", 5, 6)).toEqual([6]);
  });
});

describe("too many commits", () => {
  test("push out those of the actor whose list was begun first", () => {
    const recent = keptOf("first", 1);
    for (let seq = 1; seq <= 65_535; seq++) recent.add(commit("second", seq));
    expect([recent.size, seqsIn(recent, "first", 0, 1)]).toEqual([65_536, [1]]);
    recent.add(commit("third", 1));
    expect([recent.size, seqsIn(recent, "first", 0, 1)]).toEqual([65_536, undefined]);
    recent.add(commit("third", 2));
    expect([recent.size, seqsIn(recent, "third", 0, 2)]).toEqual([2, [1, 2]]);
  });

  test("are those whose texts are too long together as well", () => {
    const recent = new RecentCommits();
    const long = "x".repeat(20 * 2 ** 20);
    for (const actor of ["a", "b", "c"]) recent.add(commit(actor, 1, long));
    expect(recent.size).toBe(3);
    recent.add(commit("d", 1, long));
    expect([recent.size, seqsIn(recent, "a", 0, 1), seqsIn(recent, "b", 0, 1)]).toEqual([3, undefined, [1]]);
    recent.add(commit("e", 1, "x".repeat(70 * 2 ** 20)));
    expect(recent.size).toBe(0);
  });
});
