// Rules of the ledger: commits, marks, lines, actors, and which actors no snapshot covers.

import { describe, expect, test } from "bun:test";
import type { Commit, Store } from "../../src/store/store.ts";
import { commit, commits, ODD_TEXTS, save } from "./store-samples.ts";

const seqs = (found: readonly Commit[]) => found.map(({ seq }) => seq);
const names = (found: readonly Commit[]) => found.map(({ actor, seq }) => `${actor} ${seq}`);

export function ledgerRules(store: () => Store): void {
  describe("append", () => {
    test("a commit comes back as it was given", async () => {
      const given = commit("account/1", 1, { marks: ["charge:a", "charge:b"], epoch: 9, shard: 255 });
      expect(await store().append([given])).toEqual(["committed"]);
      expect(await store().readCommits("account/1", 0, 10)).toEqual([given]);
    });

    test("a line keeps its API key, its tags and what it cost at the provider", async () => {
      const e = { type: "charge", apiKey: 7, apiKeyName: "night", tags: { env: "prod" }, costIn: 3 };
      const given = commit("account/1", 1, { events: [{ at: 1_001, line: true, e }] });
      await store().append([given]);
      expect(await store().readCommits("account/1", 0, 10)).toEqual([given]);
      expect(await store().readLines("account/1", 1, 1)).toEqual([given]);
    });

    test("answers stand in the order of the commits", async () => {
      await store().append([commit("account/2", 1, { by: "faster" })]);
      const given = [
        commit("account/1", 1),
        commit("account/2", 1),
        commit("account/1", 2),
        commit("account/3", 1),
      ];
      expect(await store().append(given)).toEqual(["committed", "lost", "committed", "committed"]);
    });

    test("the same commit sent again by the same writer is committed and stored once", async () => {
      const given = commit("account/1", 1, { marks: ["charge:a"] });
      await store().append([given]);
      expect(await store().append([given, given])).toEqual(["committed", "committed"]);
      expect(await store().readCommits("account/1", 0, 10)).toEqual([given]);
      expect(await store().commitsByDedupId("charge:a", 10)).toEqual([given]);
    });

    test("the second writer of a seq loses, and the first one's commit stands with its marks", async () => {
      const first = commit("account/1", 1, { by: "first", marks: ["charge:a"] });
      await store().append([first]);
      const second = commit("account/1", 1, { by: "second", marks: ["charge:b"] });
      expect(await store().append([second])).toEqual(["lost"]);
      expect(await store().readCommits("account/1", 0, 10)).toEqual([first]);
      expect(await store().hasDedupId("account/1", "charge:b")).toBe(false);
    });

    test("two writers of a seq in one call: the first wins", async () => {
      const given = [commit("account/1", 1, { by: "first" }), commit("account/1", 1, { by: "second" })];
      expect(await store().append(given)).toEqual(["committed", "lost"]);
    });

    test("calls made at the same time are each answered for their own commits", async () => {
      const calls = Array.from({ length: 50 }, (_, i) =>
        store().append([commit(`account/${i}`, 1), commit("account/all", 1, { by: `writer ${i}` })]),
      );
      const answers = await Promise.all(calls);
      expect(answers.map(([own]) => own)).toEqual(Array(50).fill("committed"));
      expect(answers.filter(([, shared]) => shared === "committed")).toHaveLength(1);
    });

    test("more commits than one transaction takes are all stored, in order", async () => {
      const answers = await store().append(commits("account/1", 1_000));
      expect(answers).toEqual(Array(1_000).fill("committed"));
      expect(await store().readCommits("account/1", 0, 2_000)).toEqual(commits("account/1", 1_000));
    });

    test("no commits, no answers", async () => {
      expect(await store().append([])).toEqual([]);
    });

    test("a body that is not plain data is refused and harms no neighbour", async () => {
      const bad = commit("account/1", 1, { events: [{ at: 1, line: false, e: { amountNano: 10n } }] });
      const [refused, good] = await Promise.allSettled([
        store().append([bad]),
        store().append([commit("account/2", 1)]),
      ]);
      expect(refused.status).toBe("rejected");
      expect(good).toEqual({ status: "fulfilled", value: ["committed"] });
    });

    test("what the caller changes later does not change what is stored", async () => {
      const event = { type: "charged", amountNano: 1 };
      const given = commit("account/1", 1, { events: [{ at: 1, line: true, e: event }] });
      const answer = store().append([given]);
      event.amountNano = 2;
      await answer;
      event.amountNano = 3;
      const [read] = await store().readCommits("account/1", 0, 1);
      expect(read?.events[0]?.e).toEqual({ type: "charged", amountNano: 1 });
      Object.assign(read?.events[0]?.e as object, { amountNano: 4 });
      const [again] = await store().readCommits("account/1", 0, 1);
      expect(again?.events[0]?.e).toEqual({ type: "charged", amountNano: 1 });
    });

    test("odd text survives in names, marks, replies and events", async () => {
      for (const text of ODD_TEXTS) {
        const actor = `account/${text}`;
        const given = commit(actor, 1, {
          by: text,
          marks: [`charge:${text}`],
          done: [{ id: text, reply: { text } }],
          events: [{ at: 1, line: true, e: { [text]: text } }],
        });
        expect(await store().append([given, given])).toEqual(["committed", "committed"]);
        expect(await store().readCommits(actor, 0, 10)).toEqual([given]);
        expect(await store().commitsByDedupId(`charge:${text}`, 10)).toEqual([given]);
        expect(await store().hasDedupId(actor, `charge:${text}`)).toBe(true);
      }
      expect(await store().listActors("account/", "", 100)).toHaveLength(ODD_TEXTS.length);
    });

    test("a lone surrogate inside a body survives", async () => {
      const given = commit("account/1", 1, { done: [{ id: "a", reply: "\ud800" }] });
      await store().append([given]);
      expect(await store().readCommits("account/1", 0, 1)).toEqual([given]);
    });
  });

  describe("tail", () => {
    test("answers the commits after a seq, ascending, page by page", async () => {
      await store().append([...commits("account/1", 5), ...commits("account/10", 5)]);
      expect(seqs(await store().readCommits("account/1", 0, 2))).toEqual([1, 2]);
      expect(seqs(await store().readCommits("account/1", 2, 2))).toEqual([3, 4]);
      expect(seqs(await store().readCommits("account/1", 4, 2))).toEqual([5]);
      expect(await store().readCommits("account/1", 5, 2)).toEqual([]);
    });

    test("an unknown actor has none", async () => {
      expect(await store().readCommits("account/1", 0, 10)).toEqual([]);
    });
  });

  describe("marks", () => {
    test("a mark is known to the actor that carries it and to no other", async () => {
      await store().append([commit("account/1", 1, { marks: ["charge:a"] }), commit("account/2", 1)]);
      expect(await store().hasDedupId("account/1", "charge:a")).toBe(true);
      expect(await store().hasDedupId("account/2", "charge:a")).toBe(false);
      expect(await store().hasDedupId("account/1", "charge:")).toBe(false);
    });

    test("byMark finds over all actors, the newest first", async () => {
      const marks = ["transfer:x"];
      await store().append([
        commit("account/2", 1, { at: 50, marks }),
        commit("account/1", 1, { at: 10, marks }),
        commit("account/1", 2, { at: 90, marks }),
        commit("account/1", 3, { at: 95, marks: ["transfer:xy"] }),
      ]);
      expect(names(await store().commitsByDedupId("transfer:x", 10))).toEqual([
        "account/1 2",
        "account/2 1",
        "account/1 1",
      ]);
      expect(names(await store().commitsByDedupId("transfer:x", 1))).toEqual(["account/1 2"]);
    });

    test("at the same moment, byMark goes by name and then the later seq first", async () => {
      const [at, marks] = [5, ["m"]];
      const given = ["account/2", "account/1"].flatMap((actor) =>
        [1, 2].map((seq) => commit(actor, seq, { at, marks })),
      );
      await store().append(given);
      expect(names(await store().commitsByDedupId("m", 10))).toEqual([
        "account/1 2",
        "account/1 1",
        "account/2 2",
        "account/2 1",
      ]);
    });

    test("a mark that stands twice in a commit finds it once", async () => {
      await store().append([commit("account/1", 1, { marks: ["a", "a"] })]);
      expect(await store().commitsByDedupId("a", 10)).toHaveLength(1);
    });
  });

  describe("lines", () => {
    // Lines of each commit of one actor, from seq 1: some commits hold none, some several.
    const LINES = [0, 2, 1, 0, 3, 0, 0, 1, 2, 0];
    const holding = (from: number, to: number) => {
      let linesTo = 0;
      return LINES.flatMap((lines, i) => {
        linesTo += lines;
        return lines > 0 && linesTo >= from && linesTo - lines < to ? [i + 1] : [];
      });
    };

    test("answers exactly the commits that hold a range of lines, across commits with many and with none", async () => {
      let linesTo = 0;
      const given = LINES.map((lines, i) => {
        linesTo += lines;
        return commit("account/1", i + 1, { lines, linesTo });
      });
      await store().append([...given, ...commits("account/2", 20)]);
      for (let from = 1; from <= linesTo + 1; from++) {
        for (let to = from; to <= linesTo + 2; to++) {
          expect(seqs(await store().readLines("account/1", from, to)), `${from}..${to}`).toEqual(
            holding(from, to),
          );
        }
      }
    });

    test("an actor without lines, an unknown one and an empty range answer none", async () => {
      await store().append([commit("account/1", 1, { lines: 0, linesTo: 0 }), commit("account/2", 1)]);
      expect(await store().readLines("account/1", 1, 10)).toEqual([]);
      expect(await store().readLines("account/3", 1, 10)).toEqual([]);
      expect(await store().readLines("account/2", 2, 1)).toEqual([]);
    });
  });

  describe("actors", () => {
    test("answers every actor once, by name, page by page", async () => {
      const given = ["account/10", "account/2", "account/1", "level/1"].flatMap((actor) => commits(actor, 3));
      await store().append(given);
      expect(await store().listActors("account/", "", 2)).toEqual(["account/1", "account/10"]);
      expect(await store().listActors("account/", "account/10", 2)).toEqual(["account/2"]);
      expect(await store().listActors("account/", "account/2", 2)).toEqual([]);
      expect(await store().listActors("", "", 10)).toEqual([
        "account/1",
        "account/10",
        "account/2",
        "level/1",
      ]);
      expect(await store().listActors("a", "zzz", 10)).toEqual([]);
    });

    test("names go by code point, and a prefix is taken literally", async () => {
      await store().append(["a/\u{1f600}", "a/\uffff", "a/z", "a/%", "a_"].map((actor) => commit(actor, 1)));
      expect(await store().listActors("a/", "", 10)).toEqual(["a/%", "a/z", "a/\uffff", "a/\u{1f600}"]);
      expect(await store().listActors("a/%", "", 10)).toEqual(["a/%"]);
    });
  });

  describe("dirty", () => {
    test("finds actors with commits that no snapshot covers, and those with pending effects", async () => {
      await store().append([
        ...commits("account/never-saved", 2),
        ...commits("account/saved-before-its-last", 2),
        ...commits("account/saved", 2),
        ...commits("account/saved-but-pending", 2),
      ]);
      await store().save([
        save("account/saved-before-its-last", 1),
        save("account/saved", 2),
        save("account/saved-but-pending", 2, [], { pending: true }),
      ]);
      expect(await store().actorsToRecover([7], 0)).toEqual([
        "account/never-saved",
        "account/saved-before-its-last",
        "account/saved-but-pending",
      ]);
    });

    test("is asked for shards: others are left out", async () => {
      const shards = [3, 7, 8];
      await store().append(shards.map((shard) => commit(`account/${shard}`, 1, { shard })));
      await store().save(shards.map((shard) => save(`level/${shard}`, 1, [], { shard, pending: true })));
      expect(await store().actorsToRecover([3, 8, 200], 0)).toEqual([
        "account/3",
        "account/8",
        "level/3",
        "level/8",
      ]);
      expect(await store().actorsToRecover([], 0)).toEqual([]);
    });

    test("leaves out what lies before `since`, except pending effects", async () => {
      await store().append([commit("account/old", 1, { at: 99 }), commit("account/new", 1, { at: 100 })]);
      await store().save([save("account/pending", 1, [], { at: 1, pending: true })]);
      expect(await store().actorsToRecover([7], 100)).toEqual(["account/new", "account/pending"]);
    });

    test("an actor is clean again when its effects are done", async () => {
      await store().save([save("account/1", 1, [], { pending: true })]);
      await store().save([save("account/1", 2)]);
      expect(await store().actorsToRecover([7], 0)).toEqual([]);
    });
  });
}
