// Stores that version 5 of the schema left behind, killed amid its work: every later version opens them, sets right what the
// kill left, says of them what was said then, and goes on. How they were made: test/fixtures/store-v5/README.md.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importSPKI } from "jose";
import { realClock } from "../../src/base/clock.ts";
import { passingLines } from "../../src/store/line-rows.ts";
import { openStore } from "../../src/store/open.ts";
import type { LineFilter } from "../../src/store/store.ts";
import { type Kind, storeUrl, unpack } from "./kept/archive.ts";
import { factsOf } from "./kept/facts.ts";
import { DEPLOYMENT, type Providers, startProviders } from "./kept/providers.ts";
import { chatBody, SECRETS } from "./kept/scenario.ts";
import { type Answer, cli, type Json, type Running, serve, type Where } from "./kept/service.ts";
import { settled, timeFrom } from "./kept/waiting.ts";
import { dropDatabase, mongoServer, newDatabase } from "./mongo-server.ts";

const FIXTURE = join(import.meta.dirname, "../fixtures/store-v5");
const BUSY_MS = 120_000;
/** The deletion that was cut off is taken up again within a quarter of a minute. */
const SETTLED_MS = 60_000;
/** Within the hour for which an answer of the gateway is kept. */
const LATER_MS = 60_000;

/** Brings a store to this version, and leaves everything else as it is. */
async function migrated(url: string): Promise<void> {
  await (await openStore(url, { clock: realClock() })).close();
}

const server = await mongoServer("store fixture on MongoDB");
const kinds: Kind[] = server === null ? ["sqlite"] : ["sqlite", "mongodb"];

describe.each(kinds)("a store of version 5 on %s", (kind) => {
  const expected: Json = JSON.parse(readFileSync(join(FIXTURE, `${kind}.expected.json`), "utf8"));
  const credentials: Readonly<Record<string, { id: number; key: string }>> = expected.credentials.accounts;
  const directory = mkdtempSync(join(tmpdir(), "arborgate-fixture-"));
  const mongoUrl = kind === "mongodb" ? newDatabase(server!) : null;
  const at = expected.at + LATER_MS;
  let where: Where;
  let providers: Providers;
  let refused: number;
  let untouched: number;
  let service: Running;

  beforeAll(async () => {
    await unpack(kind, join(FIXTURE, `${kind}.gz`), directory, mongoUrl);
    const robot = await importSPKI(expected.robot, "RS256");
    providers = startProviders(robot, timeFrom(at));
    where = {
      ...{ storeUrl: storeUrl(kind, directory, mongoUrl), directory },
      secretsKey: readFileSync(join(FIXTURE, "secrets.key"), "utf8").trim(),
      env: { CLOUD_B_TOKEN_URL: providers.cloudB.tokenUrl, ROOT_KEY: "another-root-key-which-is-ignored-0" },
    };
    refused = (await cli(where, "verify")).code;
    await migrated(where.storeUrl);
    untouched = (await cli(where, "verify")).code;
    service = await serve(where, at);
  }, BUSY_MS);
  afterAll(async () => {
    await service.end("SIGTERM");
    providers.close();
    if (mongoUrl !== null) await dropDatabase(mongoUrl);
    rmSync(directory, { recursive: true });
  }, BUSY_MS);

  const call = (who: string, method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
    service.call(credentials[who]!.key, method, path, { body, headers });

  async function lines(who: string): Promise<Json[]> {
    return (await service.must(credentials[who]!.key, "GET", "/dashboard/ledger?size=1000")).lines;
  }

  test("verify does not migrate it, and once it is migrated finds everything right, as it was left", () => {
    expect([refused, untouched]).toEqual([2, 0]);
  });

  test(
    "its lines are found by filters, old and new ones",
    async () => {
      const store = await openStore(where.storeUrl, { clock: realClock(), readOnly: true });
      const { id } = credentials.team!;
      const actor = `account/${id}`;
      const filters: readonly Omit<LineFilter, "actor">[] = [
        {},
        { types: ["charge"], model: "kept-chat", apiKey: 0 },
        { request: "ticket-4711" },
      ];
      await settled(SETTLED_MS, async () => {
        const last = (await store.lastCommit(actor))!;
        const commits = await store.readCommits(actor, 0, last.seq);
        for (const filter of filters) {
          const found = await store.lines({ actor, ...filter }, null, 1_000);
          const lines = passingLines({ actor, ...filter }, null, commits.toReversed());
          expect(lines.length).toBeGreaterThan(0);
          expect(found).toEqual({ lines, next: null });
        }
      });
      await store.close();
    },
    BUSY_MS,
  );

  test(
    "accounts, ledgers, keys, configurations, logs, news and bills are what they were",
    async () => {
      await settled(SETTLED_MS, async () => {
        expect(await factsOf(service, expected.credentials)).toMatchObject(expected.facts);
      });
    },
    BUSY_MS,
  );

  test(
    "verify finds everything right, with what the kill left set right",
    async () => {
      expect((await cli(where, "verify")).code).toBe(0);
    },
    BUSY_MS,
  );

  test("accounts are found by when their credit expires next", async () => {
    const store = await openStore(where.storeUrl, { clock: realClock(), readOnly: true });
    const order = "creditExpiresAt";
    const expiring = [{ field: order, is: ">=", value: 0 }] as const;
    await settled(SETTLED_MS, async () => {
      const all = await store.find({ table: "accounts", where: [], order: "id" });
      const wanted = all.flatMap(({ id, entries }) => {
        const [first] = entries as { expiresAt: number }[];
        return first === undefined ? [] : [[id, first.expiresAt]];
      });
      const found = await store.find({ table: "accounts", where: expiring, order });
      expect(found.length).toBeGreaterThan(2);
      const pairs = found.map(({ id, creditExpiresAt }) => [id, creditExpiresAt]);
      expect(pairs.toSorted((a, b) => Number(a[0]) - Number(b[0]))).toEqual(wanted);
    });
    await store.close();
  });

  test("keys that were replaced, and those of the deleted, are dead", async () => {
    expect(expected.deadKeys.length).toBeGreaterThan(4);
    for (const key of expected.deadKeys) {
      expect((await service.call(key, "GET", "/dashboard/status")).status).toBe(401);
    }
  });

  test("an old request is found by the id that its client gave it", async () => {
    const { attempts } = (await call("team", "GET", "/dashboard/explain?request=ticket-4711")).body;
    expect(attempts).toHaveLength(1);
    const charge = (await lines("team")).find((line) => line.request_id === "ticket-4711");
    expect(charge).toMatchObject({
      type: "charge",
      model: "kept-chat",
      prompt_tokens: 300,
      completion_tokens: 12,
    });
  });

  test.each(["gateway", "admin"])("an old Idempotency-Key gets the kept answer (%s)", async (kept) => {
    const { who, key, body, text } = expected[kept];
    const path = kept === "gateway" ? "/v1/chat/completions" : "/x-users";
    const before = await lines(who);
    const again = await call(who, "POST", path, body, { "idempotency-key": key });
    expect([again.status, again.text]).toEqual([200, text]);
    const changed = kept === "gateway" ? { user: "another" } : { Name: "another" };
    const other = await call(who, "POST", path, { ...body, ...changed }, { "idempotency-key": key });
    expect(other.body.error.code).toBe("idempotency_mismatch");
    expect(await lines(who)).toEqual(before);
  });

  test("provider keys of all types open their doors with the secrets that were sealed", async () => {
    const { plain, cloudA, cloudB } = providers;
    const { keys } = expected;
    for (const name of ["first", "second", "talking"]) {
      await service.must(credentials.acme!.key, "PUT", `/x-keys/${keys[name]}`, { Provider: plain.url });
    }
    await service.must(credentials.bolt!.key, "PUT", `/x-keys/${keys.other}`, { Provider: plain.url });
    await service.must(credentials.acme!.key, "PUT", `/x-keys/${keys.cloudy}`, { Provider: cloudA.url });
    const Config = { base_url: cloudB.base };
    await service.must(credentials.acme!.key, "PUT", `/x-keys/${keys.robotic}`, {
      Provider: cloudB.base,
      Config,
    });

    const before = (await lines("team")).length;
    for (const model of ["kept-chat", "mine", "kept-talk", DEPLOYMENT.model, "gemini-kept"]) {
      const answer = await call("team", "POST", "/v1/chat/completions", chatBody("[[output=3]]", { model }));
      expect([model, answer.status]).toEqual([model, 200]);
    }
    expect(await lines("team")).toHaveLength(before + 5);
    const tails = new Set(plain.calls().map((each) => each.key));
    expect(tails).toContain(SECRETS.talking.slice(-4));
    expect([cloudA.calls().length, cloudB.calls().length]).toEqual([1, 1]);
    expect((await call("client", "POST", "/v1/chat/completions", chatBody("[[output=3]]"))).status).toBe(200);
  });

  test("a kept response is asked for at the key that made it, and is nobody else's", async () => {
    const path = `/v1/responses/${expected.response}`;
    await call("team", "GET", path);
    expect(providers.plain.calls().at(-1)).toMatchObject({ method: "GET", path });
    const asked = providers.plain.calls().length;
    expect((await call("squad", "GET", path)).status).toBe(404);
    expect(providers.plain.calls()).toHaveLength(asked);
  });

  test("numbers go on where they were: of accounts, log lines and news", async () => {
    const { accounts, logs } = expected.facts;
    const fields = { Name: "later", Email: "later@kept.example", CreditGranted: 2 };
    const { User } = await service.must(credentials.team!.key, "POST", "/x-users", fields);
    expect(User.ID).toBeGreaterThan(
      Math.max(...accounts.map((each: Json) => each.ID), ...expected.credentials.deleted),
    );
    const { news } = await service.must(credentials.acme!.key, "POST", "/x-news", {
      title: "Later",
      content: "Later.",
    });
    expect(news.id).toBeGreaterThan(4);
    const log = (await service.must(credentials.root!.key, "GET", "/dashboard/logs?size=100")).logs;
    expect(log.length).toBeGreaterThan(logs.length);
  });

  test(
    "verify finds everything right, after all of that",
    async () => {
      expect((await cli(where, "verify")).code).toBe(0);
    },
    BUSY_MS,
  );
});
