// A database that another process holds, and a disk that does not answer: the process goes on. The tests judge by
// the order of events, all of them before the lock or the disk is let go.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Provider, startProvider } from "../provider/provider.ts";
import { announceSkipped } from "../skipped.ts";
import { type Account, type Answer, asking, charges, type Owner, until } from "./harness.ts";
import { type ProcessBench, processBench } from "./process.ts";
import { readStream } from "./streaming.ts";

const HOME = join(import.meta.dir, "../..");
const CHARGE_WAIT_MS = "1500";
const TICKS_SEEN = 200;

/** Keeps the database from being written until the answer is called. */
type Hold = () => Promise<() => Promise<void>>;

let provider: Provider;
let bench: ProcessBench;
let owner: Owner;
let user: Account;
beforeAll(() => {
  provider = startProvider();
});
afterAll(() => provider.close());

async function start(env: Record<string, string>): Promise<void> {
  const ticks = join(bench.directory, "ticks");
  const probe = join(import.meta.dir, "stalled/count-ticks.ts");
  await bench.start({ CHARGE_WAIT_MS, TICKS: ticks, BUN_OPTIONS: `--preload ${probe}`, ...env });
}

/** A stream that lasts until it is cut: its text so far. */
function endless(): { text(): string; readonly end: Promise<boolean> } {
  let text = "";
  const read = async () => {
    const response = await fetch(`${bench.url()}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}` },
      body: JSON.stringify({ ...asking("[[output=900 chunk_ms=10]]"), stream: true, max_tokens: 1_000 }),
    });
    for await (const chunk of response.body!) text += Buffer.from(chunk);
    return readStream(response.status, response.headers, text).done;
  };
  const end = read().catch(() => false);
  return { text: () => text, end };
}

const ask = (id: string, says = "output=3", headers: Record<string, string> = {}): Promise<Answer> =>
  bench.chat(user.key, `[[${says}]]`, { max_tokens: 10 }, { headers: { "x-request-id": id, ...headers } });

/** Turns of the service's loop beside those of a loop that does nothing, while the latter took some. */
async function ticksBeside(): Promise<{ readonly service: number; readonly bare: number }> {
  const own = join(bench.directory, "bare-ticks");
  const probe = join(import.meta.dir, "stalled/count-ticks.ts");
  rmSync(own, { force: true });
  const bare = Bun.spawn([process.execPath, probe], { env: { ...process.env, TICKS: own } });
  const read = (file: string) => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  await until("the bare loop turns", () => read(own) > 0);
  const from = { service: read(join(bench.directory, "ticks")), bare: read(own) };
  await until("the bare loop has turned", () => read(own) - from.bare >= TICKS_SEEN, 20_000);
  const counted = {
    service: read(join(bench.directory, "ticks")) - from.service,
    bare: read(own) - from.bare,
  };
  bare.kill();
  await bare.exited;
  return counted;
}

async function verified(): Promise<void> {
  const verify = Bun.spawn([join(HOME, "node_modules/.bin/bun"), "src/main.ts", "verify"], {
    cwd: HOME,
    env: { PATH: process.env.PATH!, STORE_URL: `sqlite:${bench.database}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  const text = await new Response(verify.stdout).text();
  expect([await verify.exited, text]).toEqual([0, text]);
}

const bookedAs = async (id: string) =>
  charges(await bench.ledger(user.key)).filter((line) => line.request_id === id);

function testStall(name: string, stalls: Hold): void {
  test(`${name}: streams flow, new requests are refused, running ones end, and every charge is there once`, async () => {
    const stream = endless();
    await until("the stream flows", () => stream.text().length > 2_000);
    // A request with a key asks the store for a first answer, so it has to be at its provider before the store stalls.
    const calls = provider.calls().length;
    const repeatable = ask("begun-with-key", "output=3 first_ms=2000", { "idempotency-key": "stalled-once" });
    await until("the call with a key is at its provider", () => provider.calls().length > calls);
    const release = await stalls();

    // Begun before anybody could know: answered in full once CHARGE_WAIT_MS are over, and charged later.
    const whole = await ask("begun-before");
    expect([whole.status, (await repeatable).status]).toEqual([200, 200]);

    for (let i = 0; i < 5; i++) {
      const { status, body, headers } = await ask(`refused-${i}`);
      expect([status, body.error.code]).toEqual([503, "service_unavailable"]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    for (let i = 0; i < 20; i++) expect((await fetch(`${bench.url()}/healthz`)).status).toBe(200);
    const ready = await fetch(`${bench.url()}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("the store is slow")]);
    // An account answers with what is stored. One without a pending write is answered as usual.
    expect((await bench.call(owner.key, "GET", "/dashboard/status")).status).toBe(200);
    expect((await bench.call(owner.key, "GET", "/x-users")).status).toBe(200);

    const before = stream.text().length;
    const { service, bare } = await ticksBeside();
    expect(service).toBeGreaterThan(bare / 4);
    expect(stream.text().length).toBeGreaterThan(before);
    const spooled = readdirSync(join(bench.directory, "spool")).filter((file) => file.endsWith(".json"));
    expect(spooled.length).toBeGreaterThanOrEqual(2);

    await release();
    await until("the store is well again", async () => (await fetch(`${bench.url()}/readyz`)).ok, 20_000);
    expect(await stream.end).toBe(true);
    for (const id of ["begun-before", "begun-with-key"]) {
      await until(`${id} is booked`, async () => (await bookedAs(id)).length > 0, 20_000);
      expect(await bookedAs(id)).toHaveLength(1);
    }
    expect(await bookedAs("refused-0")).toEqual([]);
    expect((await ask("afterwards")).status).toBe(200);
    expect(await bench.nothingHeld(user.key)).toBe(true);
    await verified();
  }, 60_000);
}

describe("another process writes", () => {
  beforeAll(async () => {
    bench = processBench();
    await start({});
    owner = await bench.accountFactory(provider.url).owner();
    user = await bench.accountFactory(provider.url).subaccount(owner);
  });
  afterAll(() => bench.close());

  testStall("a locked database", async () => {
    const script = join(import.meta.dir, "stalled/hold-lock.ts");
    const holder = Bun.spawn([process.execPath, script, bench.database], { stdin: "pipe", stdout: "pipe" });
    const { value } = await holder.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toContain("held");
    return async () => {
      await holder.stdin.end();
      expect(await holder.exited).toBe(0);
    };
  });
});

const compiler = process.platform === "linux" ? (Bun.which("cc") ?? Bun.which("gcc")) : null;
if (compiler === null) {
  announceSkipped("a disk that does not answer", "no C compiler, or not Linux");
  if (process.env.CI === "true") test("a C compiler is there", () => expect(compiler).not.toBeNull());
} else {
  describe("the disk does not answer", () => {
    let flag = "";
    let env: Record<string, string> = {};
    beforeAll(async () => {
      bench = processBench();
      flag = join(bench.directory, "stall");
      const shim = join(bench.directory, "stall-sync.so");
      const source = join(import.meta.dir, "stalled/stall-sync.c");
      const built = Bun.spawnSync([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"]);
      expect([built.exitCode, built.stderr.toString()]).toEqual([0, ""]);
      env = { LD_PRELOAD: shim, STALL_FLAG: flag, STALL_PATH: bench.database };
      await start(env);
      owner = await bench.accountFactory(provider.url).owner();
      user = await bench.accountFactory(provider.url).subaccount(owner);
    });
    afterAll(async () => {
      rmSync(flag, { force: true });
      await bench.close();
    });

    const stall = async () => {
      writeFileSync(flag, "");
      return async () => rmSync(flag);
    };

    testStall("a stalled sync", stall);

    test("kill -9 in the middle of a flush: what was answered is there, once", async () => {
      const answered: string[] = [];
      for (let i = 0; i < 20; i++) {
        expect((await ask(`answered-${i}`)).status).toBe(200);
        answered.push(`answered-${i}`);
      }
      const release = await stall();
      const cut = Promise.allSettled(Array.from({ length: 5 }, (_, i) => ask(`cut-${i}`)));
      await until("the loop still turns", async () => (await fetch(`${bench.url()}/readyz`)).status === 503);
      expect((await bench.end("SIGKILL")).signal).toBe("SIGKILL");
      await cut;
      await release();
      await start(env);
      for (const id of answered) expect(await bookedAs(id)).toHaveLength(1);
      for (let i = 0; i < 5; i++) {
        await until("what was spooled is booked", async () => (await bookedAs(`cut-${i}`)).length <= 1);
      }
      await verified();
    }, 60_000);
  });
}
