// Accounts that are older than the comparison of names in NFC: two whose names differ in their encoding alone, and one whose
// name is decomposed. Both of a pair work on, nothing is migrated, and no third comes.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silent } from "../../../src/base/log.ts";
import { type Service, startService } from "../../../src/node/service.ts";
import { verify } from "../../../src/report/verify/verify.ts";
import { openAudit } from "../../../src/store/open.ts";
import { ROOT_KEY, SECRETS_KEY, settingsFor } from "../../cli/workload.ts";
import { callsTo, type Json } from "../../e2e/harness.ts";

const COMPOSED = "Bj\u00f6rk Team";
const DECOMPOSED = "Bjo\u0308rk Team";
const ALONE = "Jose\u0301 Solo";
const ALONE_COMPOSED = "Jos\u00e9 Solo";
/** Neither wholly composed nor wholly decomposed. */
const MIXED = "M\u00f6to\u0308rhead";
/** What stands for them while this program, which would refuse or compose them, makes the accounts. */
const STAND_INS: readonly (readonly [standIn: string, name: string])[] = [
  ["Bjoxxrk Team", DECOMPOSED],
  ["Josexx Solo", ALONE],
  ["Mxxtoxxrhead", MIXED],
];

const directory = mkdtempSync(join(tmpdir(), "arborgate-names-"));
const path = join(directory, "arborgate.db");
let service: Service;
const { call } = callsTo(() => service.url);
const ids = new Map<string, number>();
const keys = new Map<string, string>();
let ownerKey: string;

async function create(Name: string): Promise<Json> {
  const answer = await call(ownerKey, "POST", "/x-users", { Name, Email: "a@b.example", CreditGranted: 2 });
  return answer.body;
}

/** The database as an earlier program would have left it. */
function respell(): void {
  const db = new Database(path);
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name);
  for (const table of tables) {
    const columns = db
      .query<{ name: string; type: string }, [string]>("SELECT name, type FROM pragma_table_info(?)")
      .all(table);
    for (const { name } of columns.filter(({ type }) => type === "TEXT")) {
      for (const [standIn, old] of STAND_INS) {
        for (const change of [(text: string) => text, (text: string) => text.toLowerCase()]) {
          db.run(`UPDATE "${table}" SET "${name}" = replace("${name}", ?, ?)`, [
            change(standIn),
            change(old),
          ]);
        }
      }
    }
  }
  db.close();
}

beforeAll(async () => {
  service = await startService(settingsFor(path), silent);
  const made = await call(ROOT_KEY, "POST", "/x-users", {
    Name: "acme",
    Email: "a@b.example",
    CreditGranted: 1_000,
  });
  ownerKey = made.body.User.SecretKey;
  for (const [name, sent] of [[COMPOSED, COMPOSED], ...STAND_INS.map(([sent, name]) => [name, sent])]) {
    const { User } = await create(sent!);
    ids.set(name!, User.ID);
    keys.set(name!, User.SecretKey);
  }
  await service.stop();
  respell();
  service = await startService(settingsFor(path), silent);
});
afterAll(async () => {
  await service.stop();
  rmSync(directory, { recursive: true });
});

const found = async (identifier: string): Promise<Json> =>
  (await call(ownerKey, "GET", `/x-users/${encodeURIComponent(identifier)}`)).body;

describe("two of one name", () => {
  test.each([
    ["composed", COMPOSED],
    ["decomposed", DECOMPOSED],
  ])("the %s one is found by its own spelling, in any case, and by its id", async (_, name) => {
    const one = { ID: ids.get(name), Name: name };
    expect(await found(name)).toMatchObject([one]);
    expect(await found(name.toUpperCase())).toMatchObject([one]);
    expect(await found(String(ids.get(name)))).toMatchObject([one]);
  });

  test("both keys work", async () => {
    for (const name of [COMPOSED, DECOMPOSED]) {
      const { body } = await call(keys.get(name)!, "GET", "/dashboard/status");
      expect([body.id, body.name]).toEqual([ids.get(name), name]);
    }
  });

  test("each is changed, billed and given another key by its own spelling", async () => {
    for (const name of [COMPOSED, DECOMPOSED]) {
      const changed = await call(ownerKey, "PUT", `/x-users/${encodeURIComponent(name)}`, { RPM: 7 });
      expect(changed.body.User.ID).toBe(ids.get(name));
      const bill = await call(ownerKey, "GET", `/x-bill?user=${encodeURIComponent(name)}`);
      expect(bill.status).toBe(200);
      const ledger = await call(ownerKey, "GET", `/x-ledger?user=${encodeURIComponent(name)}`);
      expect(ledger.body.lines).toHaveLength(1);
      const confirm = `${new Date().toISOString().slice(0, 10)}-ROTATE-ROOT`;
      const { body } = await call(ROOT_KEY, "POST", "/x-root", { confirm, name });
      expect(body.rotate.id).toBe(ids.get(name));
      expect((await call(keys.get(name)!, "GET", "/dashboard/status")).status).toBe(401);
      keys.set(name, body.rotate.key);
    }
  });

  test("a filter by name finds both, whichever is written", async () => {
    for (const part of [COMPOSED, DECOMPOSED, "bj\u00f6", "BJO\u0308"]) {
      const { body } = await call(ownerKey, "GET", `/x-users?name=${encodeURIComponent(part)}`);
      expect(body.map(({ ID }: Json) => ID).sort()).toEqual([ids.get(COMPOSED), ids.get(DECOMPOSED)].sort());
    }
    const both = await call(ownerKey, "GET", `/x-users?id=${encodeURIComponent(COMPOSED)}`);
    expect(both.body).toHaveLength(2);
    const named = await call(ownerKey, "GET", `/x-users/${encodeURIComponent(DECOMPOSED)}?name=team`);
    expect(named.body.map(({ ID }: Json) => ID)).toEqual([ids.get(DECOMPOSED)]);
  });

  test("check reports them, and no other", async () => {
    const MAIN = join(import.meta.dirname, "../../../src/main.ts");
    const checked = Bun.spawn([process.execPath, MAIN, "check"], {
      env: { STORE_URL: `sqlite:${path}`, SECRETS_KEY },
      stdout: "pipe",
    });
    const out = await new Response(checked.stdout).text();
    expect(await checked.exited).toBe(0);
    const pair = [ids.get(COMPOSED), ids.get(DECOMPOSED)].sort((a, b) => a! - b!).join(", ");
    expect(out.split("\n").filter((line) => line.startsWith("names"))).toEqual([
      `names     accounts ${pair} are all called "bj\u00f6rk team", in different encodings: use their ids`,
    ]);
  });

  test("verify finds nothing", async () => {
    const audit = await openAudit(`sqlite:${path}`);
    try {
      expect((await verify(audit)).findings).toEqual([]);
    } finally {
      await audit.close();
    }
  });
});

describe("one whose name is not composed", () => {
  test.each([
    ["composed", ALONE_COMPOSED, ALONE],
    ["decomposed", ALONE, ALONE],
    ["otherwise mixed", "M\u00f6t\u00f6rhead", MIXED],
    ["mixed the other way round", "Mo\u0308t\u00f6rhead", MIXED],
  ])("is found by the name, %s", async (_, spelling, name) => {
    expect(await found(spelling)).toMatchObject([{ ID: ids.get(name), Name: name }]);
    const { body } = await call(ownerKey, "GET", `/x-users?name=${encodeURIComponent(spelling)}`);
    expect(body).toMatchObject([{ ID: ids.get(name) }]);
  });

  test.each([
    COMPOSED,
    DECOMPOSED,
    ALONE,
    ALONE_COMPOSED,
    MIXED,
    "M\u00f6t\u00f6rhead",
    "MO\u0308TO\u0308RHEAD",
  ])("no other account gets the name %j", async (name) => {
    expect((await create(name)).error?.code).toBe("duplicate_name");
  });

  test("is anybody's again once the account is deleted, in NFC", async () => {
    const gone = await call(ownerKey, "DELETE", `/x-users/${encodeURIComponent(ALONE_COMPOSED)}`);
    expect(gone.body.User.ID).toBe(ids.get(ALONE));
    const { User } = await create(ALONE);
    expect(User.Updates.Name).toBe(ALONE_COMPOSED);
  });
});
