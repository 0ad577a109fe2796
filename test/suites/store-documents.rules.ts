// Rules of snapshots and materialised documents: an older one never wins, and what find and count must understand.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Find, Store, Where } from "../../src/store/store.ts";
import type { IndexedField } from "../../src/store/tables.ts";
import { document, ODD_TEXTS, save, snapshot } from "./store-samples.ts";

type Conditions = readonly Where<"accounts">[];

/** Accounts as they are stored, by id; `nameLower` absent in one. */
const PEOPLE: readonly Readonly<Record<string, unknown>>[] = [
  { id: 1, parent: 0, dna: "1", nameLower: "root", email: "r@x.org", level: 0, factor: 1, closed: 0 },
  { id: 2, parent: 1, dna: "1.2", nameLower: "ada", email: "a@x.org", level: 1, factor: 1.5, closed: false },
  { id: 3, parent: 1, dna: "1.3", nameLower: "Ada", email: "a@x.org", level: 1, factor: 0.25, closed: true },
  { id: 10, parent: 2, dna: "1.2.10", nameLower: "bob_1%", level: 2, dueAt: 500 },
  { id: 11, parent: 2, dna: "1.2.11", level: 2, dueAt: 1_700_000_000_000, note: "unsearched" },
  { id: 20, parent: 2, dna: "1.20", nameLower: "émile 👩", level: 2, email: null },
];

export function documentRules(store: () => Store): void {
  const ids = async (where: Conditions, more: Partial<Find<"accounts">> = {}) => {
    const found = await store().find({ table: "accounts", where, order: "id", ...more });
    return found.map(({ id }) => id);
  };

  describe("save and load", () => {
    test("a snapshot comes back as it was given", async () => {
      const given = snapshot("account/1", 4, { pending: true, state: { deep: [{ a: null }] }, v: 12 });
      await store().save([{ documents: [], snapshot: given }]);
      expect(await store().loadSnapshot("account/1")).toEqual(given);
    });

    test("an unknown actor has none", async () => {
      expect(await store().loadSnapshot("account/1")).toBeNull();
    });

    test("a snapshot of an older or equal seq never overwrites", async () => {
      await store().save([save("account/1", 5)]);
      await store().save([save("account/1", 4, [], { state: "older" })]);
      await store().save([save("account/1", 5, [], { state: "equal" })]);
      expect(await store().loadSnapshot("account/1")).toEqual(snapshot("account/1", 5));
      await store().save([save("account/1", 6, [], { state: "newer" })]);
      expect((await store().loadSnapshot("account/1"))?.state).toBe("newer");
    });

    test("a document of an older or equal seq never overwrites, each on its own", async () => {
      const put = (id: string, seq: number, dna: string) =>
        document("accounts", id, seq, { id: Number(id), dna });
      await store().save([save("account/1", 5, [put("1", 5, "five"), put("2", 2, "two")])]);
      await store().save([save("account/1", 4, [put("1", 4, "older"), put("2", 3, "newer")])]);
      await store().save([save("account/1", 5, [put("1", 5, "equal")])]);
      const bodies = await store().find({ table: "accounts", where: [], order: "id" });
      expect(bodies.map(({ dna }) => dna)).toEqual(["five", "newer"]);
    });

    test("a save without a snapshot stores its documents, and the stored snapshot stays", async () => {
      const of = (seq: number) => document("accounts", "1", seq, { id: 1, dna: `at ${seq}` });
      await store().save([{ documents: [of(1)], snapshot: null }]);
      expect(await store().loadSnapshot("account/1")).toBeNull();
      await store().save([save("account/1", 2, [of(2)]), { documents: [of(3)], snapshot: null }]);
      expect(await store().loadSnapshot("account/1")).toEqual(snapshot("account/1", 2));
      expect(await store().find({ table: "accounts", where: [], order: "id" })).toEqual([
        { id: 1, dna: "at 3" },
      ]);
    });

    test("saves handed over together are all stored, in order", async () => {
      await store().save([save("account/1", 1), save("account/2", 1), save("account/1", 2)]);
      expect((await store().loadSnapshot("account/1"))?.seq).toBe(2);
      expect((await store().loadSnapshot("account/2"))?.seq).toBe(1);
      await store().save([]);
    });

    test("an id stands for one document in each table", async () => {
      const usage = document("usage", "1", 1, { account: 1, dna: "1", day: "2025-01-31", calls: 3 });
      await store().save([save("account/1", 1, [document("accounts", "1", 1, { id: 1 }), usage])]);
      expect(await store().find({ table: "accounts", where: [], order: "id" })).toEqual([{ id: 1 }]);
      expect(await store().find({ table: "usage", where: [], order: "day" })).toEqual([usage.body]);
    });

    test("a later document without a field is no longer found by it", async () => {
      await store().save([save("account/1", 1, [document("accounts", "1", 1, { id: 1, dueAt: 5 })])]);
      await store().save([save("account/1", 2, [document("accounts", "1", 2, { id: 1 })])]);
      expect(await ids([{ field: "dueAt", is: ">=", value: 0 }])).toEqual([]);
    });

    test("a value that its field cannot hold is refused, and nothing of that call is stored", async () => {
      const bad = document("accounts", "1", 1, { id: "one" });
      await expect(
        store().save([save("account/1", 1, [document("accounts", "2", 1, { id: 2 }), bad])]),
      ).rejects.toThrow("integer");
      expect(await store().loadSnapshot("account/1")).toBeNull();
      expect(await ids([])).toEqual([]);
    });

    test("what the caller changes later does not change what is stored", async () => {
      const state = { balanceNano: 1 };
      const body = { id: 1, note: "kept" };
      await store().save([save("account/1", 1, [document("accounts", "1", 1, body)], { state })]);
      state.balanceNano = 2;
      body.note = "changed";
      const [found] = await store().find({ table: "accounts", where: [], order: "id" });
      Object.assign(found ?? {}, { note: "changed" });
      Object.assign((await store().loadSnapshot("account/1"))?.state as object, { balanceNano: 3 });
      expect((await store().loadSnapshot("account/1"))?.state).toEqual({ balanceNano: 1 });
      expect(await store().find({ table: "accounts", where: [], order: "id" })).toEqual([
        { id: 1, note: "kept" },
      ]);
    });
  });

  describe("find and count", () => {
    beforeEach(async () => {
      const documents = PEOPLE.toReversed().map((body) => document("accounts", String(body.id), 1, body));
      await store().save([save("account/1", 1, documents)]);
    });

    /** A condition of accounts; what the types forbid may stand in it, too. */
    const on = (field: string, is: string, value: unknown) => ({ field, is, value }) as Where<"accounts">;
    const by = (where: Conditions) => ({ table: "accounts", where, order: "id" });

    const FOUND: readonly (readonly [string, Conditions, readonly number[]])[] = [
      ["no condition", [], [1, 2, 3, 10, 11, 20]],
      ["= of a number", [on("parent", "=", 2)], [10, 11, 20]],
      ["= of text, minding case", [on("nameLower", "=", "ada")], [2]],
      ["= of a fraction", [on("factor", "=", 0.25)], [3]],
      ["= of a yes or no, stored as 1 or 0", [on("closed", "=", 1)], [3]],
      [">=", [on("id", ">=", 10)], [10, 11, 20]],
      ["<= of wall milliseconds", [on("dueAt", "<=", 1_700_000_000_000)], [10, 11]],
      ["<=, which an absent value never meets", [on("factor", "<=", 1)], [1, 3]],
      [">= of text by code point", [on("nameLower", ">=", "b")], [1, 10, 20]],
      ["starts", [on("dna", "starts", "1.2.")], [10, 11]],
      ["starts with the whole value", [on("dna", "starts", "1.2")], [2, 10, 11, 20]],
      ["starts, minding case", [on("nameLower", "starts", "A")], [3]],
      ["starts with nothing: all that have the field", [on("email", "starts", "")], [1, 2, 3]],
      ["starts, with wildcards taken literally", [on("nameLower", "starts", "b%")], []],
      ["has", [on("email", "has", "@x.")], [1, 2, 3]],
      ["has, minding case", [on("nameLower", "has", "da")], [2, 3]],
      ["has, with wildcards taken literally", [on("nameLower", "has", "_1%")], [10]],
      ["has of an emoji", [on("nameLower", "has", "👩")], [20]],
      ["in", [on("id", "in", [20, 1, 1, 99])], [1, 20]],
      ["in of text", [on("dna", "in", ["1.2", "1.3", "x"])], [2, 3]],
      ["in of nothing", [on("id", "in", [])], []],
      [
        "conditions joined by and",
        [on("level", "=", 2), on("dna", "starts", "1.2"), on("id", ">=", 11), on("id", "<=", 11)],
        [11],
      ],
    ];

    test.each(FOUND)("%s", async (_title, where, expected) => {
      expect(await ids(where)).toEqual([...expected]);
      expect(await store().count({ table: "accounts", where })).toBe(expected.length);
    });

    // Accounts 2 and 3 have the e-mail, 10 and 11 lie under 2: what several groups meet is there once.
    const EITHER: readonly (readonly [string, Conditions, readonly Conditions[], readonly number[]])[] = [
      [
        "one of two groups",
        [],
        [[on("dna", "starts", "1.2.")], [on("email", "=", "a@x.org")]],
        [2, 3, 10, 11],
      ],
      [
        "groups that meet the same",
        [],
        [[on("parent", "=", 2)], [on("dna", "starts", "1.2.")], [on("level", "=", 2)]],
        [10, 11, 20],
      ],
      [
        "groups of several conditions, and conditions beside them",
        [on("id", "<=", 11)],
        [[on("level", "=", 1), on("nameLower", "=", "ada")], [on("level", "=", 2)]],
        [2, 10, 11],
      ],
      [
        "a group that is unknown of the others' finds",
        [],
        [[on("email", "has", "@")], [on("id", ">=", 3)]],
        [1, 2, 3, 10, 11, 20],
      ],
      ["one group", [], [[on("id", "=", 3)]], [3]],
      ["an empty group, which always holds", [on("level", "=", 1)], [[]], [2, 3]],
      ["an empty group and another", [], [[], [on("id", "=", 3)]], [1, 2, 3, 10, 11, 20]],
      ["no groups, of which none holds", [], [], []],
    ];

    describe("any of some groups", () => {
      test.each(EITHER)("%s", async (_title, where, anyOf, expected) => {
        expect(await ids(where, { anyOf })).toEqual([...expected]);
        expect(await ids(where, { anyOf, descending: true })).toEqual(expected.toReversed());
        expect(await ids(where, { anyOf, offset: 1, limit: 2 })).toEqual(expected.slice(1, 3));
        expect(await store().count({ table: "accounts", where, anyOf })).toBe(expected.length);
      });

      test("orders by any field over all groups", async () => {
        const anyOf: readonly Conditions[] = [[on("parent", "=", 2)], [on("level", "<=", 1)]];
        expect(await ids([], { anyOf, order: "nameLower" })).toEqual([11, 3, 2, 10, 1, 20]);
        expect(await ids([], { anyOf, order: "nameLower", descending: true })).toEqual([20, 1, 10, 2, 3, 11]);
      });
    });

    test("answers whole bodies, with the fields that are not searched", async () => {
      const [found] = await store().find({
        table: "accounts",
        where: [{ field: "id", is: "=", value: 11 }],
        order: "id",
      });
      expect(found).toEqual(PEOPLE[4]!);
    });

    const ORDERED: readonly (readonly [IndexedField<"accounts">, boolean, readonly number[]])[] = [
      ["id", true, [20, 11, 10, 3, 2, 1]],
      // Absent first; ties by the text of the document's id.
      ["nameLower", false, [11, 3, 2, 10, 1, 20]],
      ["nameLower", true, [20, 1, 10, 2, 3, 11]],
      ["parent", false, [1, 2, 3, 10, 11, 20]],
      ["level", false, [1, 2, 3, 10, 11, 20]],
      ["level", true, [20, 11, 10, 3, 2, 1]],
      ["factor", false, [10, 11, 20, 3, 1, 2]],
    ];

    test.each(ORDERED)("orders by %s, descending: %p", async (order, descending, expected) => {
      expect(await ids([], { order, descending })).toEqual([...expected]);
    });

    test("offset and limit cut a page out of the order, and count does not mind them", async () => {
      expect(await ids([], { limit: 2 })).toEqual([1, 2]);
      expect(await ids([], { offset: 2, limit: 2 })).toEqual([3, 10]);
      expect(await ids([], { offset: 5, limit: 2 })).toEqual([20]);
      expect(await ids([], { offset: 4 })).toEqual([11, 20]);
      expect(await ids([], { offset: 6, limit: 2 })).toEqual([]);
      expect(await ids([], { limit: 0 })).toEqual([]);
    });

    test("`in` takes long lists", async () => {
      const value = Array.from({ length: 5_000 }, (_, i) => i);
      expect(await ids([{ field: "id", is: "in", value }])).toEqual([1, 2, 3, 10, 11, 20]);
    });

    test("usage is found by account, by branch and by day", async () => {
      const days = ["2025-01-30", "2025-01-31", "2025-02-01"];
      const documents = days.flatMap((day) =>
        [2, 10].map((account) =>
          document("usage", `${account}/${day}`, 1, { account, dna: account === 2 ? "1.2" : "1.2.10", day }),
        ),
      );
      await store().save([save("account/2", 1, documents)]);
      const january: readonly Where<"usage">[] = [
        { field: "dna", is: "starts", value: "1.2" },
        { field: "day", is: "<=", value: "2025-01-31" },
        { field: "day", is: ">=", value: "2025-01-01" },
      ];
      const found = await store().find({ table: "usage", where: january, order: "day", descending: true });
      expect(found.map(({ account, day }) => `${account} ${day}`)).toEqual([
        "2 2025-01-31",
        "10 2025-01-31",
        "2 2025-01-30",
        "10 2025-01-30",
      ]);
    });

    // Each is a mistake that the types forbid, and that text from outside could still smuggle in.
    const REFUSED: readonly (readonly [string, unknown])[] = [
      ["an unknown table", { table: "commits", where: [], order: "id" }],
      ["an unknown field", by([on("colour", "=", 1)])],
      ["SQL in a field", by([on('id" OR 1=1 --', "=", 1)])],
      ["an inherited name", by([on("constructor", "=", 1)])],
      ["an unknown operator", by([on("id", "<>", 1)])],
      ["an unknown order", { table: "accounts", where: [], order: "id; DROP TABLE accounts" }],
      ["text for a number", by([on("id", "=", "1")])],
      ["a list outside `in`", by([on("id", "=", [1])])],
      ["one value in `in`", by([on("id", "in", 1)])],
      ["starts of a number", by([on("id", "starts", "1")])],
      ["a negative limit", { table: "accounts", where: [], order: "id", limit: -1 }],
      [
        "an unknown field in a group",
        { table: "accounts", where: [], anyOf: [[on("colour", "=", 1)]], order: "id" },
      ],
      ["half an offset", { table: "accounts", where: [], order: "id", offset: 0.5 }],
    ];

    test.each(REFUSED)("refuses %s", async (_title, find) => {
      await expect(store().find(find as Find<"accounts">)).rejects.toThrow();
    });

    test("odd text is found by every operator and injects nothing", async () => {
      const documents = ODD_TEXTS.map((text, i) =>
        document("accounts", `odd ${text}`, 1, { id: 1_000 + i, nameLower: `odd ${text}`, note: text }),
      );
      await store().save([save("account/2", 1, documents)]);
      for (const [i, text] of ODD_TEXTS.entries()) {
        const value = `odd ${text}`;
        expect(await ids([{ field: "nameLower", is: "=", value }])).toEqual([1_000 + i]);
        expect(await ids([{ field: "nameLower", is: "in", value: [value] }])).toEqual([1_000 + i]);
        expect(await ids([{ field: "nameLower", is: "starts", value }])).toContain(1_000 + i);
        expect(await ids([{ field: "nameLower", is: "has", value: text }])).toContain(1_000 + i);
      }
      expect(await store().count({ table: "accounts", where: [] })).toBe(PEOPLE.length + ODD_TEXTS.length);
    });

    test("a count follows every change of what it counts", async () => {
      const open = () =>
        store().count({ table: "accounts", where: [{ field: "closed", is: "=", value: 0 }] });
      const before = await open();
      const seen: number[] = [];
      for (const [i, closed] of [0, 0, 1, 0].entries()) {
        await store().save([
          save("account/900", i + 1, [document("accounts", "900", i + 1, { id: 900, closed, note: i })]),
        ]);
        seen.push((await open()) - before);
      }
      expect(seen).toEqual([1, 1, 0, 1]);
    });
  });
}
