// The SQL of lists: it uses the indexes that were made for it, and a prefix becomes an exact range.

import { afterAll, describe, expect, test } from "bun:test";
import { compareText } from "../../src/store/fields.ts";
import { connect } from "../../src/store/sqlite-connection.ts";
import { countQuery, findQuery, prefixEnd } from "../../src/store/sqlite-find.ts";
import { migrate } from "../../src/store/sqlite-schema.ts";
import type { Field, Table, Where } from "../../src/store/store.ts";

const connection = connect(":memory:");
migrate(connection);
afterAll(connection.close);

const plan = ({ sql, params }: { sql: string; params: readonly (string | number)[] }) =>
  connection.db
    .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...params)
    .map(({ detail }) => detail)
    .join("; ");

interface Case<T extends Table> {
  readonly list: string;
  readonly where: readonly Where<T>[];
  readonly order: Field<T>;
  readonly index: string;
  /** The index also gives the order. */
  readonly sorted?: true;
}

const ACCOUNTS: readonly Case<"accounts">[] = [
  { list: "all by id", where: [], order: "id", index: "accounts_id", sorted: true },
  {
    list: "children of an account by id",
    where: [{ field: "parent", is: "=", value: 1 }],
    order: "id",
    index: "accounts_parent_id",
    sorted: true,
  },
  {
    list: "the descendants of an account",
    where: [{ field: "dna", is: "starts", value: "1.2." }],
    order: "dna",
    index: "accounts_dna",
    sorted: true,
  },
  {
    list: "accounts by ids",
    where: [{ field: "id", is: "in", value: [1, 2, 3] }],
    order: "id",
    index: "accounts_id",
    sorted: true,
  },
  {
    list: "an e-mail",
    where: [{ field: "email", is: "=", value: "a@x" }],
    order: "id",
    index: "accounts_email",
  },
  {
    list: "names from a prefix",
    where: [{ field: "nameLower", is: "starts", value: "ad" }],
    order: "nameLower",
    index: "accounts_nameLower",
    sorted: true,
  },
  {
    list: "credit that expires soon",
    where: [{ field: "dueAt", is: "<=", value: 5 }],
    order: "dueAt",
    index: "accounts_dueAt",
    sorted: true,
  },
];

const USAGE: readonly Case<"usage">[] = [
  {
    list: "an account's days",
    where: [
      { field: "account", is: "=", value: 1 },
      { field: "day", is: ">=", value: "2025-01-01" },
      { field: "day", is: "<=", value: "2025-01-31" },
    ],
    order: "day",
    index: "usage_account_day",
    sorted: true,
  },
  {
    list: "a branch's days",
    where: [{ field: "dna", is: "starts", value: "1.2" }],
    order: "dna",
    index: "usage_dna_day",
  },
  {
    list: "one day of all",
    where: [{ field: "day", is: "=", value: "2025-01-01" }],
    order: "day",
    index: "usage_day",
  },
];

describe("a list reads an index, not the table", () => {
  function check<T extends Table>(table: T, { where, order, index, sorted }: Case<T>): void {
    const used = plan(findQuery({ table, where, order, limit: 20 }));
    expect(used).toContain(`INDEX ${index}`);
    if (where.length > 0) {
      expect(used).not.toContain("SCAN");
      expect(plan(countQuery(table, where))).not.toContain("SCAN");
    }
    if (sorted) expect(used).not.toContain("TEMP B-TREE");
    const descending = plan(findQuery({ table, where, order, limit: 20, descending: true }));
    if (sorted) expect(descending).not.toContain("TEMP B-TREE");
  }

  test.each(ACCOUNTS)("$list", (listed) => check("accounts", listed));
  test.each(USAGE)("$list", (listed) => check("usage", listed));
});

describe("the query of a find", () => {
  test("holds no value in its text", () => {
    const value = "'; DROP TABLE accounts; --";
    const { sql, params } = findQuery({
      table: "accounts",
      where: [{ field: "dna", is: "=", value }],
      order: "id",
    });
    expect(sql).not.toContain("DROP");
    expect(params).toContain(value);
  });

  test("has few shapes, whatever the length of a list", () => {
    const shapes = Array.from({ length: 100 }, (_, n) => {
      const value = Array.from({ length: n + 1 }, (_, i) => i);
      return findQuery({ table: "accounts", where: [{ field: "id", is: "in", value }], order: "id" }).sql;
    });
    expect(new Set(shapes).size).toBe(8);
  });
});

test("more shapes of lists than stay prepared are all answered, again and again", () => {
  for (let n = 0; n < 1_000; n++) {
    const shape = n % 300;
    expect(connection.recent(`SELECT ${shape} AS shape, ? AS n`).get(n)).toEqual({ shape, n });
  }
});

describe("the end of a prefix", () => {
  test.each([
    ["a", "b"],
    ["1.2.", "1.2/"],
    ["a\uffff", "a\u{10000}"],
    ["\ud7ff", "\ue000"],
    ["a\u{10ffff}", "b"],
  ])("of %p is %p", (prefix, end) => {
    expect(prefixEnd(prefix)).toBe(end);
    for (const more of ["", "\0", "z", "\uffff", "\u{10ffff}\u{10ffff}"]) {
      expect(compareText(prefix + more, end)).toBeLessThan(0);
    }
  });

  test("nothing ends the empty prefix and the last character", () => {
    expect(prefixEnd("")).toBeNull();
    expect(prefixEnd("\u{10ffff}")).toBeNull();
  });

  test("text is compared as SQLite compares its bytes", () => {
    const texts = ["", "a", "a\0", "é", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}", "b"];
    const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(texts.toSorted(compareText)).toEqual(byBytes);
  });
});
