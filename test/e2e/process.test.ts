// The process as a whole: how it starts, that two never serve one database, and that a stop loses no request.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asking, charges, until } from "./harness.ts";
import { readStream } from "./streaming.ts";
import { prepared, useProcessBench } from "./use-bench.ts";

const { bench, provider } = useProcessBench();
const owner = prepared(() => bench.accountFactory(provider.url).owner());
const user = prepared(() => bench.accountFactory(provider.url).subaccount(owner));

test("the first start prints address, data and Root's key; a later one prints no key and keeps the old one", async () => {
  expect(bench.output()).toContain("arborgate serves on http://127.0.0.1:");
  expect(bench.output()).toContain(`data in sqlite:${bench.database}`);
  expect(bench.rootKey()).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  expect((await bench.end("SIGTERM")).code).toBe(0);
  await bench.start({ ROOT_KEY: `sk-${"another".repeat(6)}` });
  expect(bench.output()).not.toContain("sk-");
  expect((await bench.call(bench.rootKey(), "GET", "/dashboard/status")).body.name).toBe("root");
});

test("a second server on the same database exits 2 with one clear line, and the first serves on", async () => {
  const { code, stdout, stderr } = await bench.beside();
  expect(code).toBe(2);
  expect(stdout).toBe("");
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr).toContain(bench.database);
  expect(stderr).toContain("another server");
  expect((await bench.chat(user.key, "[[output=1]]")).status).toBe(200);
});

test.each([
  ["PORT", "eighty"],
  ["PORT", "70000"],
  ["STORE_URL", "postgres://x"],
  ["SECRETS_KEY", "short"],
  ["ROOT_KEY", "short"],
  ["PROVIDER_ALLOW_CIDRS", "10.0.0.0/99"],
  ["TRUST_PROXY", "everybody"],
  ["CORS_ORIGINS", "https://a.example/app"],
  ["CLOCK_OFFSET_MS", "5"],
  ["LOG_LEVEL", "loud"],
])("a bad %s (%s) exits 2 with one line that names it", async (name, value) => {
  const { code, stderr } = await bench.beside({ [name]: value });
  expect(code).toBe(2);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr).toContain(name);
});

test.each([
  ["STORE_URL", "a directory", (path: string) => mkdirSync(path), "sqlite:"],
  ["STORE_URL", "no database", (path: string) => writeFileSync(path, "x".repeat(200)), "sqlite:"],
  ["STORE_URL", "a database of a newer version", newerDatabase, "sqlite:"],
  ["SPOOL_DIR", "a file", (path: string) => writeFileSync(path, ""), ""],
])("a %s that is %s exits 2 with one line that names it", async (name, _what, make, scheme) => {
  const home = mkdtempSync(join(tmpdir(), "arborgate-files-"));
  make(join(home, "named"));
  const store = { STORE_URL: `sqlite:${join(home, "own.db")}` };
  const { code, stdout, stderr } = await bench.beside({ ...store, [name]: scheme + join(home, "named") });
  rmSync(home, { recursive: true });
  expect(code).toBe(2);
  expect(stdout).toBe("");
  const [line, ...others] = stderr
    .trim()
    .split("\n")
    .filter((one) => !one.startsWith("{"));
  expect(line).toStartWith(`arborgate: ${name}: `);
  expect(others).toEqual([]);
});

function newerDatabase(path: string): void {
  const database = new Database(path);
  database.run("CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER) STRICT");
  database.run("INSERT INTO meta VALUES ('schema', 99)");
  database.close();
}

/** Longer than any test may take. */
const PATIENT = { DRAIN_MS: "600000" };

describe("SIGTERM", () => {
  test("finishes what is under way, whole and streamed, then exits 0", async () => {
    await bench.end("SIGTERM");
    await bench.start(PATIENT);
    const before = charges(await bench.ledger(user.key)).length;
    const started = provider.totals().calls;
    const slow = bench.chat(user.key, "[[head_ms=700 output=3]]");
    const stream = fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}`, "x-arbor-cost": "stream" },
      body: JSON.stringify({ ...asking("[[output=30 chunk_ms=30]]"), stream: true }),
    });
    await until("both are under way", () => provider.totals().calls === started + 2);
    await stream;
    bench.signal("SIGTERM");
    const response = await stream;
    const read = readStream(response.status, response.headers, await response.text());
    const whole = await slow;
    expect(whole.status).toBe(200);
    expect(whole.headers.get("x-arbor-cost")).toBeString();
    expect(read).toMatchObject({ status: 200, done: true, cost: expect.any(String) });
    // It does not sit out DRAIN_MS, which is longer than this test may take: it leaves once the last one is done.
    expect((await bench.ended()).code).toBe(0);
    await bench.start();
    expect(charges(await bench.ledger(user.key))).toHaveLength(before + 2);
  });

  test("under load no request that was taken up fails: it is answered whole, or it never began", async () => {
    const broken: string[] = [];
    let answered = 0;
    let nth = 0;
    const client = async () => {
      for (;;) {
        const mark = `drain-${nth++}.`;
        const said = `${mark} [[output=2 head_ms=10]]`;
        const answer = await bench
          .chat(user.key, said, { max_tokens: 2 }, { headers: { "x-request-id": mark } })
          .catch(() => null);
        // The service does not listen any more, or an idle connection closed under a new request.
        if (answer === null) return void broken.push(mark);
        expect(answer.status).toBe(200);
        answered++;
      }
    };
    const clients = Array.from({ length: 16 }, client);
    await until("the load runs", () => answered > 100);
    expect((await bench.end("SIGTERM")).code).toBe(0);
    await Promise.all(clients);
    expect(broken).toHaveLength(16);
    await bench.start();
    const seen = JSON.stringify(provider.calls().map((call) => call.body));
    const booked = new Set(charges(await bench.ledger(user.key)).map((line) => line.request_id));
    for (const mark of broken) expect([seen.includes(mark), booked.has(mark)]).toEqual([false, false]);
  });

  test("after DRAIN_MS what still runs is cut, and the process exits", async () => {
    await bench.end("SIGTERM");
    await bench.start({ DRAIN_MS: "200" });
    const hanging = bench.chat(user.key, "[[fault=hang]]").then(
      ({ status }) => status,
      () => 0,
    );
    await until("it hangs", () => provider.inFlight() === 1);
    // Left alone it would hang for ever.
    expect((await bench.end("SIGTERM")).code).toBe(0);
    expect(await hanging).not.toBe(200);
    await bench.start();
    expect(await bench.nothingHeld(user.key)).toBe(true);
  });

  test("a second one exits at once", async () => {
    await bench.end("SIGTERM");
    await bench.start(PATIENT);
    const hanging = bench.chat(user.key, "[[fault=hang]]").catch(() => null);
    await until("it hangs", () => provider.inFlight() === 1);
    bench.signal("SIGTERM");
    await until("it stops", async () => (await fetch(`${bench.url()}/healthz`).catch(() => null)) === null);
    expect((await bench.end("SIGTERM")).code).toBe(1);
    await hanging;
    await bench.start();
  });

  test("a stream that is cut so is charged for what its client got", async () => {
    await bench.end("SIGTERM");
    await bench.start({ DRAIN_MS: "200" });
    const before = charges(await bench.ledger(user.key)).length;
    const response = await fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}` },
      body: JSON.stringify({ ...asking("[[output=2000 chunk_ms=20]]"), stream: true }),
    });
    let bytes = 0;
    const reading = (async () => {
      for await (const chunk of response.body!) bytes += chunk.length;
    })().catch(() => undefined);
    await until("content comes", () => bytes > 2_000);
    expect((await bench.end("SIGTERM")).code).toBe(0);
    await reading;
    await bench.start();
    const lines = charges(await bench.ledger(user.key)).slice(before);
    expect(lines).toMatchObject([{ basis: "partial", stream: true }]);
    expect(lines[0].completion_tokens).toBeGreaterThan(5);
  });
});

test("a store that is slow for a moment delays answers and loses no charge", async () => {
  const before = charges(await bench.ledger(user.key)).length;
  const writer = new Database(bench.database);
  writer.run("PRAGMA busy_timeout = 2000");
  writer.run("BEGIN IMMEDIATE");
  const answers = Array.from({ length: 5 }, () => bench.chat(user.key, "[[output=2]]", { max_tokens: 2 }));
  await Bun.sleep(300);
  writer.run("ROLLBACK");
  writer.close();
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(charges(await bench.ledger(user.key))).toHaveLength(before + 5);
});
