// The SQL of lists: it uses the indexes that were made for it, and a prefix becomes an exact range.

import { afterAll, describe, expect, test } from "bun:test";
import { compareText } from "../../../src/store/indexed-fields.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { countQuery, findQuery, prefixEnd, stepQuery } from "../../../src/store/sqlite/query-builder.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import type { IndexedField, Table, Where } from "../../../src/store/tables.ts";

const connection = connectSqlite(":memory:");
migrate(connection);
afterAll(connection.close);

const never = () => false;

const plan = ({ sql, params }: { sql: string; params: readonly (string | number)[] }) =>
  connection.db
    .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...params)
    .map(({ detail }) => detail)
    .join("; ");

interface Case<T extends Table> {
  readonly list: string;
  readonly where: readonly Where<T>[];
  readonly order: IndexedField<T>;
  readonly index: string;
  /** The index also gives the order. */
  readonly sorted?: true;
}

// biome-ignore format: a table
const ACCOUNTS: readonly Case<"accounts">[] = [
  { list: "all by id", where: [], order: "id", index: "accounts_id", sorted: true },
  { list: "children of an account by id", where: [{ field: "parent", is: "=", value: 1 }], order: "id", index: "accounts_parent_id", sorted: true },
  { list: "the descendants of an account", where: [{ field: "dna", is: "starts", value: "1.2." }], order: "dna", index: "accounts_dna" },
  { list: "accounts by ids", where: [{ field: "id", is: "in", value: [1, 2, 3] }], order: "id", index: "accounts_id", sorted: true },
  { list: "an e-mail", where: [{ field: "email", is: "=", value: "a@x" }], order: "id", index: "accounts_email" },
  {
    list: "names from a prefix",
    where: [{ field: "nameLower", is: "starts", value: "ad" }],
    order: "nameLower",
    index: "accounts_nameLower",
    sorted: true,
  },
  { list: "credit that expires soon", where: [{ field: "creditExpiresAt", is: "<=", value: 5 }], order: "creditExpiresAt", index: "accounts_creditExpiresAt", sorted: true },
  { list: "what the sweep looks at", where: [{ field: "dueAt", is: "<=", value: 5 }], order: "dueAt", index: "accounts_dueAt", sorted: true },
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

// biome-ignore format: a table
const LOGS: readonly Case<"logs">[] = [
  { list: "the log", where: [], order: "at", index: "logs_at", sorted: true },
  { list: "what an account did", where: [{ field: "operator", is: "=", value: 7 }], order: "at", index: "logs_operator_at", sorted: true },
  { list: "what was done to an account", where: [{ field: "target", is: "=", value: 7 }], order: "at", index: "logs_target_at", sorted: true },
  { list: "what was done to a branch", where: [{ field: "targetDna", is: "starts", value: ".1.2." }], order: "at", index: "logs_targetDna" },
  { list: "old lines", where: [{ field: "at", is: "<=", value: 7 }], order: "at", index: "logs_at", sorted: true },
];

// biome-ignore format: a table
const NEWS: readonly Case<"news">[] = [
  {
    list: "news to the branches that an account is in",
    where: [
      { field: "kind", is: "=", value: "dna" },
      { field: "dna", is: "in", value: [".1.", ".1.2."] },
    ],
    order: "id",
    index: "news_kind_dna",
  },
  { list: "news to an account", where: [{ field: "target", is: "=", value: 7 }], order: "id", index: "news_target", sorted: true },
  { list: "news of a publisher", where: [{ field: "publisher", is: "=", value: 7 }], order: "id", index: "news_publisher", sorted: true },
  { list: "news that is over", where: [{ field: "until", is: "<=", value: 7 }], order: "until", index: "news_until", sorted: true },
];

const OUTBOX: readonly Case<"outbox">[] = [
  {
    list: "mail that is due",
    where: [{ field: "dueAt", is: "<=", value: 7 }],
    order: "dueAt",
    index: "outbox_dueAt",
    sorted: true,
  },
];

const CONFIGS: readonly Case<"configs">[] = [
  {
    list: "versions of an Owner's configuration",
    where: [
      { field: "owner", is: "=", value: 7 },
      { field: "version", is: ">=", value: 3 },
    ],
    order: "version",
    index: "configs_owner_version",
    sorted: true,
  },
];

describe("a list reads an index, not the table", () => {
  function check<T extends Table>(table: T, { where, order, index, sorted }: Case<T>): void {
    const used = plan(findQuery({ table, where, order, limit: 20 }, never));
    expect(used).toContain(`INDEX ${index}`);
    if (where.length > 0) {
      expect(used).not.toContain("SCAN");
      expect(plan(countQuery({ table, where }))).not.toContain(`SCAN ${table}`);
    }
    if (sorted) expect(used).not.toContain("TEMP B-TREE");
    const descending = plan(findQuery({ table, where, order, limit: 20, descending: true }, never));
    if (sorted) expect(descending).not.toContain("TEMP B-TREE");
  }

  test.each(ACCOUNTS)("$list", (listed) => check("accounts", listed));
  test.each(USAGE)("$list", (listed) => check("usage", listed));
  test.each(LOGS)("$list", (listed) => check("logs", listed));
  test.each(NEWS)("$list", (listed) => check("news", listed));
  test.each(OUTBOX)("$list", (listed) => check("outbox", listed));
  test.each(CONFIGS)("$list", (listed) => check("configs", listed));
});

describe("a large branch in the order of ids", () => {
  const where: readonly Where<"accounts">[] = [
    { field: "dna", is: "starts", value: ".1.2." },
    { field: "closed", is: "=", value: 0 },
    { field: "level", is: "=", value: 3 },
  ];
  const find = { table: "accounts", where, order: "id", limit: 100 } as const;

  test("few matches are read by their prefix and sorted", () => {
    const used = plan(findQuery(find, () => false));
    expect(used).toContain("INDEX accounts_dna (dna>");
    expect(used).toContain("TEMP B-TREE");
  });

  test("many are met on a walk by id, which sorts nothing", () => {
    const used = plan(findQuery(find, () => true));
    expect(used).toContain("INDEX accounts_id");
    expect(used).not.toContain("TEMP B-TREE");
  });

  test("a condition that leaves few rows is taken before either", () => {
    const one = { ...find, where: [...where, { field: "parent", is: "=", value: 7 } as const] };
    const used = plan(findQuery(one, () => true));
    expect(used).toContain("INDEX accounts_parent_id (parent=");
    expect(used).not.toContain("TEMP B-TREE");
  });

  test("is counted in one index, whatever else is asked", () => {
    expect(plan(countQuery(find))).toContain("COVERING INDEX accounts_dna (dna>");
  });

  test("each step of a walk goes on where the last one ended", () => {
    const used = plan(stepQuery(find, { value: 500, key: "500" }, () => true));
    expect(used).toContain("INDEX accounts_id ((id,key)>(?,?))");
    expect(used).not.toContain("TEMP B-TREE");
  });
});

describe("a part of a long list", () => {
  const place = [{ sql: '"id" >= ?', params: [500] }];
  const part = [...place, { sql: '"id" < ?', params: [900] }];
  const open: Where<"accounts"> = { field: "closed", is: "=", value: 0 };
  const branch: Where<"accounts"> = { field: "dna", is: "starts", value: ".1.2." };
  const children: Where<"accounts"> = { field: "parent", is: "=", value: 7 };

  test.each([
    ["children", [children, open], "accounts_parent_id (parent=? AND id>?"],
    ["a branch", [branch, open], "accounts_id (id>?"],
    ["all", [open], "accounts_id (id>?"],
  ] as const)("of %s is counted and read from its place in one index", (_list, where, index) => {
    expect(plan(countQuery({ table: "accounts", where }, part))).toContain(`COVERING INDEX ${index}`);
    const page = plan(findQuery({ table: "accounts", where, order: "id", limit: 9 }, () => true, place));
    expect(page).toContain(`INDEX ${index}`);
    expect(page).not.toContain("TEMP B-TREE");
  });

  test("of the log is read in the order of time, group by group", () => {
    const groups: readonly (readonly Where<"logs">[])[] = [
      [{ field: "operator", is: "=", value: 7 }],
      [{ field: "targetDna", is: "starts", value: ".1.2." }],
    ];
    const later = [{ sql: '"at" >= ?', params: [500] }];
    const list = { table: "logs", where: [], anyOf: groups } as const;
    const page = plan(findQuery({ ...list, order: "at", limit: 9 }, () => true, later));
    for (const index of ["logs_operator_at (operator=? AND at>?", "logs_at (at>?"]) {
      expect(page).toContain(`COVERING INDEX ${index}`);
      expect(plan(countQuery(list, later))).toContain(`COVERING INDEX ${index}`);
    }
  });
});

test("credit of a branch that expires soon is counted in one index, which gives the page's order", () => {
  const where: readonly Where<"accounts">[] = [
    { field: "dna", is: "starts", value: ".1.2." },
    { field: "closed", is: "=", value: 0 },
    { field: "creditExpiresAt", is: ">=", value: 5 },
    { field: "creditExpiresAt", is: "<=", value: 9 },
  ];
  const index = "INDEX accounts_creditExpiresAt (creditExpiresAt>? AND creditExpiresAt<?)";
  expect(plan(countQuery({ table: "accounts", where }, [], () => true))).toContain(`COVERING ${index}`);
  const page = plan(findQuery({ table: "accounts", where, order: "creditExpiresAt", limit: 9 }, () => true));
  expect(page).toContain(index);
  expect(page).not.toContain("TEMP B-TREE");
});

test("any of some groups: each reads its own index, in order, and only the page's rows are read", () => {
  const anyOf: readonly (readonly Where<"logs">[])[] = [
    [{ field: "operator", is: "=", value: 7 }],
    [
      { field: "targetType", is: "=", value: "user" },
      { field: "target", is: "=", value: 7 },
    ],
    [{ field: "targetDna", is: "starts", value: ".1.2.7." }],
  ];
  const find = { table: "logs", where: [], anyOf, order: "at", descending: true, limit: 24 } as const;
  const used = plan(findQuery(find, () => true));
  expect(used).toContain("MERGE");
  for (const index of ["logs_operator_at (operator=", "logs_target_at (target=", "logs_at"]) {
    expect(used).toContain(`COVERING INDEX ${index}`);
  }
  expect(used).toContain("SEARCH logs USING INTEGER PRIMARY KEY");
  expect(plan(findQuery(find, () => false))).toContain("COVERING INDEX logs_targetDna (targetDna>");
  const counted = plan(countQuery(find));
  for (const index of ["logs_operator_at", "logs_target_at", "logs_targetDna (targetDna>"]) {
    expect(counted).toContain(`COVERING INDEX ${index}`);
  }
});

describe("the query of a find", () => {
  test("holds no value in its text", () => {
    const value = "'; DROP TABLE accounts; --";
    const { sql, params } = findQuery(
      { table: "accounts", where: [{ field: "dna", is: "=", value }], order: "id" },
      never,
    );
    expect(sql).not.toContain("DROP");
    expect(params).toContain(value);
  });

  test("has few shapes, whatever the length of a list", () => {
    const shapes = Array.from({ length: 100 }, (_, n) => {
      const value = Array.from({ length: n + 1 }, (_, i) => i);
      const where: readonly Where<"accounts">[] = [{ field: "id", is: "in", value }];
      return findQuery({ table: "accounts", where, order: "id" }, never).sql;
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
