// The command line as a user meets it: processes of their own, exit codes, and what stands on the terminal.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { silent } from "../../src/base/log.ts";
import { commands } from "../../src/cli/commands.ts";
import { startService } from "../../src/node/service.ts";
import { lockDatabase } from "../../src/store/sqlite/lock.ts";
import { ROOT_KEY, SECRETS_KEY, settingsFor, startTree, type Tree } from "./workload.ts";

const home = mkdtempSync(join(tmpdir(), "arborgate-cli-"));
const sound = join(home, "sound.db");
const MAIN = join(import.meta.dirname, "../../src/main.ts");
let tree: Tree;
/** Secrets of a named key of a subaccount, which has a charge, and of one of Root. */
let namedSecret: string;
let rootSecret: string;
let copies = 0;

const addKey = (tree: Tree, key: string, body: object): Promise<{ secret: string }> =>
  tree.call(key, "POST", "/dashboard/keys", body);

/** Runs `work` with the service on this database. */
async function served<T>(path: string, work: (url: string) => Promise<T>): Promise<T> {
  const service = await startService(settingsFor(path), silent);
  return work(service.url).finally(() => service.stop());
}

const get = (url: string, key: string, path = "/dashboard/status") =>
  fetch(url + path, { headers: { authorization: `Bearer ${key}` } });

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(path: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const process = Bun.spawn([globalThis.process.execPath, MAIN, ...args], {
    cwd: home,
    env: { STORE_URL: `sqlite:${path}`, SECRETS_KEY, LOG_LEVEL: "error", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
  ]);
  return { code: await process.exited, out, err };
}

/** A store of its own for a test that changes it. */
function copy(): string {
  const path = join(home, `${++copies}`, "arborgate.db");
  mkdirSync(join(path, ".."));
  copyFileSync(sound, path);
  return path;
}

/** A store as a killed process leaves it: what was written last is in its write-ahead log alone. */
function unfolded(): string {
  const [open, path] = [copy(), copy()];
  const db = new Database(open);
  db.run("PRAGMA journal_mode = WAL");
  db.run("UPDATE accounts SET body = '{}'");
  // Every page is in the log, so that it cannot be applied to another database without a difference.
  db.run("VACUUM");
  for (const part of ["", "-wal"]) copyFileSync(open + part, path + part);
  db.close();
  return path;
}

/** Sees to one clear line and exit code 2. */
function expectRefused({ code, err }: Ended, says: string): void {
  expect(err).toContain(says);
  expect(err).toStartWith("arborgate: ");
  expect(err.trim().split("\n")).toHaveLength(1);
  expect(code).toBe(2);
}

beforeAll(async () => {
  tree = await startTree(sound);
  await tree.chat(tree.blue.key, "One. [[output=5]]", { request: "=cmd()" });
  await tree.chat(tree.blue.key, "Two. [[output=7]]", { stream: true });
  await tree.chat(tree.root.key, "Three. [[output=2]]");
  namedSecret = (await addKey(tree, tree.blue.key, { Name: "ci-build" })).secret;
  await tree.chat(namedSecret, "Four. [[output=3]]");
  rootSecret = (await addKey(tree, tree.root.key, { Name: "deploy", Scopes: ["read", "manage"] })).secret;
  await tree.stop();
});
afterAll(() => rmSync(home, { recursive: true }));

const today = () => new Date().toISOString().slice(0, 10);

describe("every command", () => {
  test.each(commands.map(({ name }) => name))("%s: --help says what it does", async (name) => {
    const { code, out } = await run(sound, [name, "--help"]);
    expect(code).toBe(0);
    expect(out).toStartWith(`arborgate ${name}`);
  });

  test.each(commands.map(({ name }) => name))(
    "%s: an unknown option is refused with exit code 2",
    async (name) => {
      expectRefused(await run(sound, [name, "--colour"]), "--colour");
    },
  );

  test.each([
    ["an argument too many", ["check", "now"], '"now"'],
    ["a missing file", ["backup"], "FILE"],
    ["a bad setting", ["check"], "PORT"],
    ["an unknown command", ["fly"], '"fly"'],
    ["a host that is none of this machine's", ["serve"], "HOST"],
  ])("%s is refused with exit code 2", async (_, args, says) => {
    const BAD: Readonly<Record<string, Record<string, string>>> = {
      PORT: { PORT: "x" },
      HOST: { HOST: "no-such-host.invalid", PORT: "0" },
    };
    expectRefused(await run(sound, args, BAD[says] ?? {}), says);
  });

  test.each([
    ["serve", "an option that is none", "127.0.0.1:1/d?foo=1"],
    ["check", "an option that is none", "127.0.0.1:1/d?foo=1"],
    ["serve", "a port that is none", "127.0.0.1:99999/d"],
    ["serve", "an option without a value", "127.0.0.1:1/d?replicaSet="],
    ["export", "an option with a wrong value", "127.0.0.1:1/d?tls=maybe"],
  ])("%s: a STORE_URL with %s is refused at once", async (command, _, address) => {
    const days = command === "export" ? ["--from", "2026-01-01", "--to", "2026-01-01"] : [];
    const env = { STORE_URL: `mongodb://user:hidden@${address}`, PORT: "0" };
    const ended = await run(sound, [command, ...days], env);
    expectRefused(ended, "arborgate: STORE_URL: ");
    expect(ended.err).not.toContain("hidden");
  });
});

describe("check", () => {
  test("says what it found, one line each", async () => {
    const { code, out } = await run(sound, ["check"]);
    expect(code).toBe(0);
    expect(out).toMatch(/settings +valid\nstore .*schema version \d+, \d+ commits\nsecrets .*\nspool .*\n/);
  });

  test("a store that is not there yet is fine where it can be made, and is not made", async () => {
    const path = join(home, "not-yet", "arborgate.db");
    expect((await run(path, ["check"])).code).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ["no database", (path: string) => writeFileSync(path, "x".repeat(4096)), "not a database"],
    ["somebody else's", (path: string) => new Database(path).run("CREATE TABLE t (a)"), "something else"],
    ["a newer program's", newer, "schema version 99"],
  ])("%s: exit code 2", async (name, make, says) => {
    const path = name.startsWith("a newer") ? copy() : join(home, `check-${++copies}.db`);
    make(path);
    expectRefused(await run(path, ["check"]), says);
  });

  test("a spool that is a file: exit code 2", async () => {
    const path = join(home, "no-spool");
    writeFileSync(path, "");
    expectRefused(await run(copy(), ["check"], { SPOOL_DIR: path }), "SPOOL_DIR");
  });

  test("counts the charges of all processes of this machine", async () => {
    const spool = join(home, "shared-spool");
    mkdirSync(join(spool, "process-2"), { recursive: true });
    for (const name of ["a.json", "b.json.part", "process-2/c.json"]) writeFileSync(join(spool, name), "{}");
    const { code, out } = await run(copy(), ["check"], { SPOOL_DIR: spool });
    expect(code).toBe(0);
    expect(out).toContain(`spool     ${spool}: 2 charges wait for the ledger\n`);
  });

  test.each(["check", "serve"])("%s: a spool of a process that is a file: exit code 2", async (command) => {
    const spool = join(home, `spool-of-${command}`);
    mkdirSync(spool);
    writeFileSync(join(spool, "process-2"), "");
    const env = { SPOOL_DIR: spool, ROOT_KEY: tree.root.key, PORT: "0", HOST: "127.0.0.1" };
    expectRefused(await run(copy(), [command], env), "SPOOL_DIR");
  });

  test("a key of its secrets that is none: exit code 2", async () => {
    const path = copy();
    writeFileSync(join(path, "..", "secrets.key"), "short");
    expectRefused(await run(path, ["check"], { SECRETS_KEY: "" }), "secrets.key");
  });

  test.each(["check", "serve", "reencrypt"])(
    "%s: a database without the key of its secrets: exit code 2, and none is made",
    async (command) => {
      const path = copy();
      const env = { SECRETS_KEY: "", PORT: "0", HOST: "127.0.0.1" };
      expectRefused(await run(path, [command], env), "SECRETS_KEY is not set");
      expect(existsSync(join(path, "..", "secrets.key"))).toBe(false);
    },
  );

  test("the key of a database without commits is not missing", async () => {
    const path = join(home, "empty", "arborgate.db");
    mkdirSync(join(path, ".."));
    writeFileSync(path, "");
    const { code, out } = await run(path, ["check"], { SECRETS_KEY: "" });
    expect(out).toContain("none yet, the first start makes");
    expect(code).toBe(0);
  });
});

function newerCopy(file: string): void {
  copyFileSync(sound, file);
  newer(file);
}

function newer(path: string): void {
  const db = new Database(path);
  db.run("UPDATE meta SET value = 99");
  db.close();
}

/** What a database keeps of its last verification. */
function kept(path: string): Record<string, unknown> {
  const db = new Database(path, { readonly: true });
  const row = db.query("SELECT value FROM registry WHERE key = 'verify'").get() as { value: string };
  db.close();
  return JSON.parse(row.value);
}

describe("verify", () => {
  test("a sound store: the sums, exit code 0", async () => {
    const { code, out } = await run(sound, ["verify"]);
    expect(out).toContain("accounts      4\n");
    expect(out).toMatch(/minted {8}100\.0000\d+\n/);
    expect(out).toContain("Everything agrees.");
    expect(code).toBe(0);
  });

  test("a difference: one line each, exit code 1", async () => {
    const path = copy();
    const db = new Database(path);
    db.run("UPDATE accounts SET body = json_set(body, '$.balance', 5) WHERE id = ?", [tree.blue.id]);
    db.close();
    const { code, out } = await run(path, ["verify"]);
    expect(out).toMatch(/^account_document: accounts \d+ at #\d+: balance is 5, computed \d+$/m);
    expect(out).toContain("1 DIFFERENCES");
    expect(code).toBe(1);
    expect(kept(path)).toMatchObject({ accounts: 4, differences: 1, lines: expect.any(Number) });
  });

  test("beside a running server: its result is kept, and nothing else changes", async () => {
    const path = copy();
    const service = await startService(settingsFor(path), silent);
    const { code } = await run(path, ["verify"]);
    const { code: again } = await run(path, ["verify"]);
    await service.stop();
    expect([code, again]).toEqual([0, 0]);
    const result = kept(path);
    expect(result).toMatchObject({ accounts: 4, differences: 0 });
    expect(Object.keys(result)).toEqual(["at", "lines", "accounts", "differences", "ms"]);
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test("a backup: its result is kept in it, and nothing keeps it waiting", async () => {
    const path = join(home, "verified-backup.db");
    expect((await run(sound, ["backup", path])).code).toBe(0);
    expect(await run(path, ["verify"])).toMatchObject({ code: 0, err: "" });
    expect(kept(path)).toMatchObject({ accounts: 4, differences: 0 });
  });

  test("no database: exit code 2, and none is made", async () => {
    const path = join(home, "none.db");
    expectRefused(await run(path, ["verify"]), "there is no database");
    expect(existsSync(path)).toBe(false);
  });
});

describe("export", () => {
  test("CSV: a header, then every line of the days asked for, amounts exact", async () => {
    const { code, out } = await run(sound, ["export", "--from", today(), "--to", today()]);
    expect(code).toBe(0);
    const [head, ...lines] = out.trimEnd().split("\n");
    expect(head).toStartWith("account,name,line,at,id,type,amount,balance_after,other,request_id");
    expect(lines).toHaveLength(10);
    expect(lines.filter((line) => line.includes(",charge,-0.00000"))).toHaveLength(4);
    const [byNamed, byMain] = [",1,ci-build,", ",0,main,"].map((end) =>
      lines.filter((line) => line.endsWith(end)),
    );
    expect([byNamed!.length, byMain!.length]).toEqual([1, 3]);
    expect(lines.filter((line) => line.includes(",transfer_in,")).every((line) => line.endsWith(",,,"))).toBe(
      true,
    );
    expect(lines.find((line) => line.startsWith(`${tree.green.id},green,1,`))).toContain(
      ",transfer_in,12.345678901,12.345678901,2,",
    );
  });

  test("CSV: a client's text is never a formula", async () => {
    const { out } = await run(sound, ["export", "--from", today(), "--to", today()]);
    expect(out).toContain(",'=cmd(),");
  });

  test("JSON lines: one object a line, numbers as numbers", async () => {
    const { out } = await run(sound, [
      "export",
      "--from",
      "2020-01-01",
      "--to",
      "2099-12-31",
      "--format",
      "jsonl",
    ]);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(10);
    const sums = Map.groupBy(lines, (line) => line.account);
    for (const own of sums.values()) expect(own.map((line) => line.line)).toEqual(own.map((_, i) => i + 1));
    expect(lines.find((line) => line.request_id === "=cmd()")).toMatchObject({
      type: "charge",
      completion_tokens: 5,
      api_key: 0,
      api_key_name: "main",
    });
    expect(lines.find((line) => line.completion_tokens === 3)).toMatchObject({
      api_key: 1,
      api_key_name: "ci-build",
    });
    expect(lines.find((line) => line.type === "transfer_in")).toMatchObject({
      api_key: null,
      api_key_name: null,
    });
  });

  test("days without lines: the header alone", async () => {
    const { out } = await run(sound, ["export", "--from", "2020-01-01", "--to", "2020-12-31"]);
    expect(out.trimEnd().split("\n")).toHaveLength(1);
  });

  let long: Promise<string> | null = null;
  /** A store whose lines fill more than a pipe. */
  const longLedger = (): Promise<string> => {
    long ??= filled(copy());
    return long;
  };
  async function filled(path: string): Promise<string> {
    await served(path, async (url) => {
      const headers = { authorization: `Bearer ${tree.owner.key}`, "content-type": "application/json" };
      const body = JSON.stringify({ CreditGranted: 0.01 });
      for (let nth = 0; nth < 200; nth++)
        expect((await fetch(`${url}/x-users/blue`, { method: "PUT", headers, body })).status).toBe(200);
    });
    return path;
  }

  /** Exports all lines in the shell, with what stands behind the command, until the command itself has ended. */
  async function exportTo(path: string, behind: string): Promise<{ code: string; err: string; out: string }> {
    const command = `${process.execPath} ${MAIN} export --from 2020-01-01 --to 2099-12-31 --format jsonl`;
    const shell = Bun.spawn(["sh", "-c", `{ ${command} 2>err; echo $? >code; } ${behind}`], {
      cwd: dirname(path),
      env: { STORE_URL: `sqlite:${path}`, SECRETS_KEY, PATH: process.env.PATH! },
      stdout: "pipe",
      stderr: "inherit",
    });
    const out = await new Response(shell.stdout).text();
    await shell.exited;
    const [code, err] = ["code", "err"].map((name) => readFileSync(join(dirname(path), name), "utf8"));
    return { code: code!.trim(), err: err!, out };
  }

  test("a reader that takes the first line alone: exit code 0, and nothing is said", async () => {
    const { code, err, out } = await exportTo(await longLedger(), "| head -n 1");
    expect(out.trim().split("\n")).toHaveLength(1);
    expect([code, err]).toEqual(["0", ""]);
  });

  test("a full disk: exit code 2 and one line", async () => {
    const { code, err } = await exportTo(await longLedger(), ">/dev/full");
    expect(err).toMatch(/^arborgate: export: [^\n]*ENOSPC[^\n]*\n$/);
    expect(code).toBe("2");
  });

  test.each([
    ["no day", ["--from", "2026-01-01"], "--to"],
    ["a day that is none", ["--from", "2026-02-30", "--to", "2026-03-01"], "2026-02-30"],
    ["days the wrong way round", ["--from", "2026-02-02", "--to", "2026-02-01"], "before"],
    ["another format", ["--from", "2026-02-01", "--to", "2026-02-01", "--format", "xml"], "xml"],
  ])("%s is refused", async (_, args, says) => {
    expectRefused(await run(sound, ["export", ...args]), says);
  });
});

describe("backup and restore", () => {
  test("a backup is a whole store for its user alone, taken while a server runs", async () => {
    const path = copy();
    const service = await startService(settingsFor(path), silent);
    const file = join(home, `backup-${copies}.db`);
    const { code, out } = await run(path, ["backup", file]);
    await service.stop();
    expect(out).toContain(file);
    expect(code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run(file, ["verify"])).code).toBe(0);
    expect(readdirSync(home).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("a backup overwrites nothing", async () => {
    const file = join(home, "precious.db");
    writeFileSync(file, "precious");
    expectRefused(await run(sound, ["backup", file]), "exists already");
    expect(statSync(file).size).toBe(8);
  });

  test("a restore puts it in place and keeps what was there", async () => {
    const path = copy();
    const file = join(home, "earlier.db");
    await run(path, ["backup", file]);
    const db = new Database(path);
    db.run("UPDATE accounts SET body = '{}'");
    db.close();
    const { code, out } = await run(path, ["restore", file]);
    expect(code).toBe(0);
    const aside = out.match(/kept as (\S+)/)![1]!;
    const left = readdirSync(join(path, "..")).sort();
    expect(left).toEqual(["arborgate.db", aside.split("/").at(-1)!, "arborgate.db.lock"]);
    expect((await run(path, ["verify"])).code).toBe(0);
    expect((await run(aside, ["verify"])).code).toBe(1);
  });

  test("a restore brings back named keys, their secrets and what they have cost", async () => {
    const path = copy();
    const file = join(home, "keys.db");
    await run(path, ["backup", file]);
    const change = { method: "DELETE", headers: { authorization: `Bearer ${tree.blue.key}` } };
    const gone = await served(path, async (url) => {
      await fetch(`${url}/dashboard/keys/1`, change);
      return (await get(url, namedSecret)).status;
    });
    expect(gone).toBe(401);
    expect((await run(path, ["verify"])).code).toBe(0);
    await run(path, ["restore", file]);
    await served(path, async (url) => {
      expect((await get(url, namedSecret)).status).toBe(200);
      const { keys } = await (await get(url, tree.blue.key, "/dashboard/keys")).json();
      expect(keys[1]).toMatchObject({ id: 1, name: "ci-build", status: true });
      expect(keys[1].cost_total).toBeGreaterThan(0);
    });
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test("a restore keeps what the write-ahead log held in the database that it moves aside", async () => {
    const path = unfolded();
    const { code, out } = await run(path, ["restore", sound]);
    expect(code).toBe(0);
    const aside = out.match(/kept as (\S+)/)![1]!;
    const left = readdirSync(join(path, "..")).sort();
    // One file: a crash between two renames could not separate them.
    expect(left).toEqual(["arborgate.db", aside.split("/").at(-1)!, "arborgate.db.lock"]);
    const db = new Database(aside, { readonly: true });
    expect(db.query("SELECT count(*) AS n FROM accounts WHERE body <> '{}'").get()).toEqual({ n: 0 });
    db.close();
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test.each([
    ["was deleted", (path: string) => rmSync(path)],
    ["was moved aside by a restore that broke off", (path: string) => renameSync(path, `${path}.before-0`)],
  ])(
    "a restore where the database %s: the write-ahead log that it left is not applied",
    async (_, change) => {
      const path = unfolded();
      change(path);
      const { code, out } = await run(path, ["restore", sound]);
      expect(code).toBe(0);
      expect(await run(path, ["verify"])).toMatchObject({ code: 0, err: "" });
      const aside = /\S+-wal/.exec(out)![0];
      expect(aside).toStartWith(`${path}.before-`);
      expect(statSync(aside).size).toBeGreaterThan(0);
    },
  );

  test("a restore over what is no database keeps it as it was", async () => {
    const path = copy();
    writeFileSync(path, "x".repeat(4096));
    const { code, out } = await run(path, ["restore", sound]);
    expect(code).toBe(0);
    expect(readFileSync(out.match(/kept as (\S+)/)![1]!, "utf8")).toBe("x".repeat(4096));
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test("a restore where there was nothing", async () => {
    const path = join(home, "fresh", "arborgate.db");
    expect((await run(path, ["restore", sound])).code).toBe(0);
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test("a restore while a server runs: exit code 2, nothing changes", async () => {
    const path = copy();
    const lock = lockDatabase(path);
    expectRefused(await run(path, ["restore", sound]), "another server");
    lock.release();
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test.each([
    ["a file that is not there", () => {}, "no file"],
    ["a file that is no database", (file: string) => writeFileSync(file, "x".repeat(4096)), "not a database"],
    ["an empty file", (file: string) => writeFileSync(file, ""), "no database"],
    ["a newer program's", newerCopy, "schema version 99"],
    ["a damaged one", damaged, "damaged"],
  ])("%s is refused, and the database stays", async (_, make, says) => {
    const path = copy();
    const file = join(home, `restore-${copies}.db`);
    make(file);
    expectRefused(await run(path, ["restore", file]), says);
    expect((await run(path, ["verify"])).code).toBe(0);
    expect(readdirSync(join(path, "..")).filter((name) => name.includes("before"))).toEqual([]);
  });
});

/** A page of an index whose rows do not agree with its table any more. */
function damaged(file: string): void {
  copyFileSync(sound, file);
  const db = new Database(file);
  const { rootpage } = db
    .query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_master WHERE name = 'ledgerAt'")
    .get()!;
  const { page_size } = db.query<{ page_size: number }, []>("PRAGMA page_size").get()!;
  db.close();
  const bytes = new Uint8Array(readFileSync(file));
  bytes.fill(0xff, (rootpage - 1) * page_size + 20, (rootpage - 1) * page_size + 60);
  writeFileSync(file, bytes);
}

describe("keys", () => {
  test("rotate-root prints a new key once; the old one is dead, named ones are not, verify is clean", async () => {
    const path = copy();
    const { code, out } = await run(path, ["rotate-root"]);
    expect(code).toBe(0);
    expect(out).toContain("named keys, which stay valid: 1.");
    const key = out.match(/sk-[0-9A-Za-z]{48}/)![0];
    await served(path, async (url) => {
      const all = [key, ROOT_KEY, rootSecret].map(async (one) => (await get(url, one)).status);
      expect(await Promise.all(all)).toEqual([200, 401, 200]);
    });
    const verified = await run(path, ["verify"]);
    expect(verified.out).toContain("claims        10\n");
    expect(verified.code).toBe(0);
  });

  test("rotate-root --disable-keys disables Root's named keys, and nobody else's", async () => {
    const path = copy();
    const { code, out } = await run(path, ["rotate-root", "--disable-keys"]);
    expect(code).toBe(0);
    expect(out).toContain("were disabled: 1.");
    await served(path, async (url) => {
      const all = [rootSecret, namedSecret].map(async (one) => (await get(url, one)).status);
      expect(await Promise.all(all)).toEqual([401, 200]);
    });
    expect((await run(path, ["rotate-root"])).out).not.toContain("named keys");
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test("reencrypt seals all secrets with the new key, Levels included; a repeat finds nothing to do", async () => {
    const path = copy();
    const NEW = Buffer.from("another secrets key for tests!!!").toString("base64");
    const env = { SECRETS_KEY: NEW, SECRETS_KEY_OLD: SECRETS_KEY };
    const first = await run(path, ["reencrypt"], env);
    expect(first.out).toContain("4 of 4 provider secrets of 2 Owners");
    expect(first.code).toBe(0);
    expect((await run(path, ["reencrypt"], { SECRETS_KEY: NEW })).out).toContain("0 of 4");
    const db = new Database(path, { readonly: true });
    const states = db
      .query<{ state: string }, []>(
        "SELECT state FROM snapshots WHERE actor LIKE 'level/%' OR actor LIKE 'key-pool/%'",
      )
      .all();
    db.close();
    const ids = new Set(
      states.flatMap(({ state }) => [...state.matchAll(/"keyId":"(\w+)"/g)].map(([, id]) => id)),
    );
    expect(ids.size).toBe(1);
    expect((await run(path, ["verify"])).code).toBe(0);
  });

  test("reencrypt without the key that sealed them: exit code 2", async () => {
    const SECRETS_KEY = Buffer.from("a third key that nobody has used").toString("base64");
    expectRefused(
      await run(copy(), ["reencrypt"], { SECRETS_KEY }),
      "neither SECRETS_KEY nor SECRETS_KEY_OLD",
    );
  });

  test.each(["rotate-root", "reencrypt"])("%s while a server runs: exit code 2", async (command) => {
    const path = copy();
    const lock = lockDatabase(path);
    expectRefused(await run(path, [command]), "another server");
    lock.release();
  });

  test.each(["rotate-root", "reencrypt"])(
    "%s without a database: exit code 2, and none is made",
    async (command) => {
      const path = join(home, `${command}.db`);
      expectRefused(await run(path, [command]), "there is no database");
      expect(existsSync(path)).toBe(false);
    },
  );
});
