// Broken rows: a row that is not as the program writes it is refused where it is read, by the name of its table and its key,
// and no message shows what is in it.

import { Database } from "bun:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../src/base/clock.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import {
  parseBody,
  parseClaim,
  parseCommit,
  parseCursorRow,
  parseKeptAnswer,
  parseLines,
  parseMarkedPlace,
  parseRegistryRow,
  parseSnapshot,
  StoredRow,
  StoredRowError,
} from "../../src/store/stored-rows.ts";
import { UsageAggregator } from "../../src/store/usage/usage-aggregator.ts";
import { totalsRow } from "../../src/store/usage/usage-rows.ts";
import { commit, document, save, snapshot } from "../suites/store-samples.ts";

const SECRET = "sk-do-not-show";

const textual = (value: object) =>
  Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, typeof one === "object" ? JSON.stringify(one) : one]),
  );

const COMMIT = textual(commit("account/7", 3, { marks: ["m"] }));
const SNAPSHOT = textual(snapshot("account/7", 3));
const CLAIM = { key: "name:x", account: 7, by: "c", at: 1, confirmed: 0 };
const ANSWER = { id: "7:gateway:k", account: 7, kind: "gateway", at: 1, until: 2, body: SECRET };

describe("a row of another shape is refused", () => {
  test.each([
    ["a commit of another format", parseCommit, { ...COMMIT, v: 2 }, "account/7/3", "v"],
    ["a commit without a seq", parseCommit, { ...COMMIT, seq: null }, "account/7/null", "seq"],
    [
      "events that are cut",
      parseCommit,
      { ...COMMIT, events: `[{"at":1,"e":"${SECRET}` },
      "account/7/3",
      "events",
    ],
    [
      "an event without a time",
      parseCommit,
      { ...COMMIT, events: `[{"line":true,"e":"${SECRET}"}]` },
      "account/7/3",
      "events",
    ],
    ...Object.entries({
      "an API key that is a text": { apiKey: SECRET },
      "an API key below the main key": { apiKey: -1 },
      "an API key's name that is a number": { apiKeyName: 7 },
      "tags that are a list": { tags: [SECRET] },
      "a tag that is a number": { tags: { team: 7 } },
      "a cost at the provider that is a fraction": { costIn: 0.5 },
    }).map(
      ([what, e]) =>
        [
          what,
          parseCommit,
          { ...COMMIT, events: JSON.stringify([{ at: 1, line: true, e }]) },
          "account/7/3",
          "events",
        ] as const,
    ),
    [
      "a reply without an id",
      parseCommit,
      { ...COMMIT, done: `[{"reply":"${SECRET}"}]` },
      "account/7/3",
      "done",
    ],
    ["a dedup id that is a number", parseCommit, { ...COMMIT, marks: "[7]" }, "account/7/3", "marks"],
    [
      "a place without an actor",
      parseMarkedPlace,
      { _id: "account/7/3", seq: 3, at: 1 },
      "account/7/3",
      "actor",
    ],
    [
      "lines that are a text",
      parseLines,
      { _id: "account/7/3", seq: 3, linesTo: "3" },
      "account/7/3",
      "linesTo",
    ],
    ["a state that is not JSON", parseSnapshot, { ...SNAPSHOT, state: SECRET }, "account/7/3", "state"],
    ["a reply without a time", parseSnapshot, { ...SNAPSHOT, done: '[{"id":"x"}]' }, "account/7/3", "done"],
    ["pending that is no flag", parseSnapshot, { ...SNAPSHOT, pending: 2 }, "account/7/3", "pending"],
    ["a claim of a text", parseClaim, { ...CLAIM, account: "7" }, "name:x", "account"],
    [
      "a claim that is not known to be confirmed",
      parseClaim,
      { ...CLAIM, confirmed: null },
      "name:x",
      "confirmed",
    ],
    ["an answer of another kind", parseKeptAnswer, { ...ANSWER, kind: "?" }, "7:gateway:k", "kind"],
    ["an answer without a body", parseKeptAnswer, { ...ANSWER, body: null }, "7:gateway:k", "body"],
    ["a rev that is not whole", parseRegistryRow, { key: "lease", value: SECRET, rev: 0.5 }, "lease", "rev"],
    [
      "a body that is a list",
      (row: unknown) => parseBody("usage", row),
      { key: "7/day", body: "[1]" },
      "7/day",
      "body",
    ],
    [
      "a position that is not known",
      (row: unknown) => parseCursorRow("logs", "at", row),
      { key: "1", at: null, body: "{}" },
      "1",
      "at",
    ],
  ] as const)("%s", (_what, parse: (row: unknown) => unknown, row, key, column) => {
    let message = "";
    try {
      parse(row);
    } catch (error) {
      expect(error).toBeInstanceOf(StoredRowError);
      message = String(error);
    }
    expect(message).toContain(` ${key} of `);
    expect(message).toContain(`its ${column} is not`);
    expect(message).not.toContain(SECRET);
  });

  test.each([[null], [undefined], [7], ["text"], [[]]])("%p is not a row", (row: unknown) => {
    expect(() => new StoredRow("claims", row)).toThrow("a row of claims cannot be read");
  });

  test("sums of usage are numbers, and beyond the safe integers decimal digits", () => {
    const sums = new UsageAggregator();
    expect(() => sums.add(sums.group("2026-01-01", "m"), 7, [1, 1, 1, 1, 1, 1, "1"], 0)).toThrow(
      StoredRowError,
    );
    expect(() => totalsRow(["day"], [7, 1, 1, 1, 1, 1, 1, "1"])).toThrow(StoredRowError);
    expect(() => totalsRow([], [1, 1, 1, 1, 1, 1, "1.5"])).toThrow(StoredRowError);
    expect(totalsRow([], [1, 2, 3, 4, 5, 6, "9007199254740993"])).toMatchObject({
      ...{ requests: 1, reasoning: 6, cost: 9_007_199_254_740_993n },
    });
  });

  test("a row as it is stored is read, from SQL and from a document", () => {
    expect(parseCommit(COMMIT)).toEqual(commit("account/7", 3, { marks: ["m"] }));
    const { marks: _, ...unmarked } = COMMIT;
    expect(parseCommit({ _id: "account/7/3", ...unmarked })).toEqual(commit("account/7", 3));
    expect(parseSnapshot(SNAPSHOT)).toEqual(snapshot("account/7", 3));
    expect(parseClaim(CLAIM)).toEqual({ ...CLAIM, confirmed: false });
    const { key, ...claim } = CLAIM;
    expect(parseClaim({ _id: key, ...claim, confirmed: true })).toEqual({ ...CLAIM, confirmed: true });
  });
});

describe("in a database", () => {
  const folder = mkdtempSync(join(tmpdir(), "arborgate-rows-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  let path = "";
  let count = 0;
  beforeEach(() => {
    path = join(folder, `${++count}.db`);
  });

  /** Opens a store with a few rows, which a statement then breaks. */
  async function broken(sql: string): Promise<Store> {
    const store = await openStore(`sqlite:${path}`, { clock: realClock() });
    await store.append([commit("account/7", 1)]);
    const body = { id: 7, dna: ".1.", nameLower: SECRET, closed: 0 };
    await store.save([save("account/7", 1, [document("accounts", "7", 1, body)])]);
    const db = new Database(path);
    db.run(sql);
    db.close();
    return store;
  }

  test.each([
    [
      "a commit",
      "UPDATE ledger SET bodies = '[[],[{]]'",
      (s: Store) => s.readCommits("account/7", 0, 9),
      "account/7/1 of commits",
    ],
    [
      "a snapshot",
      "UPDATE snapshots SET state = '{'",
      (s: Store) => s.loadSnapshot("account/7"),
      "account/7/1 of snapshots",
    ],
    [
      "a document",
      `UPDATE accounts SET body = '"${SECRET}"'`,
      (s: Store) => s.find({ table: "accounts", where: [], order: "id" }),
      "7 of accounts",
    ],
    [
      "a document of a scan",
      `UPDATE accounts SET body = '"${SECRET}"'`,
      (s: Store) => Array.fromAsync(s.scan({ table: "accounts", where: [], order: "id" })),
      "7 of accounts",
    ],
  ] as const)("%s that was damaged is an error of its reader alone", async (_what, sql, read, named) => {
    const store = await broken(sql);
    const message = await read(store).then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(message).toContain(`the row ${named} cannot be read`);
    expect(message).not.toContain(SECRET);
    expect(await store.append([commit("account/8", 1)])).toEqual(["committed"]);
    await store.close();
  });
});
