// Nodes of a cluster as a service starts them: that they find each other, serve as one, refuse what must not be, wait for
// what is away and hand over what they have. Whole processes that die are test/e2e/cluster's.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Service } from "../../src/node/service.ts";
import { StartCancelledError } from "../../src/node/startup-retry.ts";
import { accountFactory, callsTo, type Json, until } from "../e2e/harness.ts";
import { expectError } from "../e2e/use-bench.ts";
import { startProvider } from "../provider/provider.ts";
import { clusterGround, ROOT_KEY } from "./nodes.ts";

const ground = await clusterGround("nodes of a cluster");
if (ground !== null) {
  const provider = startProvider();
  let a: Service;
  let b: Service;
  beforeAll(async () => {
    a = await ground.start("a");
    b = await ground.start("b");
  });
  afterAll(async () => {
    await ground.close();
    provider.close();
  });

  const at = (service: Service) => callsTo(() => service.url);
  const overview = async (service: Service): Promise<Json> =>
    (await at(service).call(ROOT_KEY, "GET", "/x-cluster")).body;

  describe("two nodes", () => {
    test("are ready, and only the first has founded Root", async () => {
      for (const node of [a, b]) expect((await at(node).call(null, "GET", "/readyz")).text).toBe("ready\n");
      expect([a.rootKey, b.rootKey]).toEqual([ROOT_KEY, null]);
    });

    test("see each other, every shard has one owner, and nothing is amiss", async () => {
      await until("both know both", async () => (await overview(a)).nodes.length === 2);
      const [seen, same] = [await overview(a), await overview(b)];
      expect([seen.node, same.node]).toEqual(["a", "b"]);
      expect(seen.nodes.map(({ name, state }: Json) => [name, state])).toEqual([
        ["a", "up"],
        ["b", "up"],
      ]);
      const { version } = JSON.parse(readFileSync(join(import.meta.dir, "../../package.json"), "utf8"));
      expect(new Set(seen.nodes.map((node: Json) => node.version))).toEqual(new Set([version]));
      expect(seen.shards.map(({ shard }: Json) => shard)).toEqual(Array.from({ length: 256 }, (_, i) => i));
      for (const { name, shards, gauges } of seen.nodes) {
        const owned = seen.shards.filter(({ owner }: Json) => owner === name);
        expect(owned.length).toBe(shards);
        expect(owned.every(({ epoch }: Json) => epoch > 0)).toBe(true);
        expect(gauges.shards).toBe(shards);
      }
      expect(seen.gauges.shards).toBe(256);
      expect(seen.gauges.table_version).toBeGreaterThan(0);
      expect(Object.values(seen.health)).toEqual(Array(7).fill(0));
    });

    test("serve the same accounts: made at one, charged at the other, read at both", async () => {
      const owner = await accountFactory(at(a).call, ROOT_KEY, provider.url).owner();
      const user = await accountFactory(at(b).call, ROOT_KEY, provider.url).subaccount(owner);
      expect((await at(a).chat(user.key, "[[output=2]]")).status).toBe(200);
      expect((await at(b).chat(user.key, "[[output=3]]")).status).toBe(200);
      const ledgers = [await at(a).ledger(user.key), await at(b).ledger(user.key)];
      expect(ledgers[0]!.map(({ type }) => type)).toEqual(["transfer_in", "charge", "charge"]);
      expect(ledgers[1]).toEqual(ledgers[0]!);
    });

    test("state together where all credit is: one of them adds it up, and both answer that", async () => {
      const [atA, atB] = [at(a), at(b)];
      const factory = accountFactory(atA.call, ROOT_KEY, provider.url);
      const owner = await factory.owner({ credit: 50 });
      const user = await factory.subaccount(owner, { CreditGranted: 5 });
      const { headers } = await atB.chat(user.key, "[[prompt=100 output=100]]");
      const statements = await Promise.all([
        ...[atA, atB].map(({ call }) => call(owner.key, "GET", "/x-money")),
        ...[atA, atB].map(({ call }) => call(ROOT_KEY, "GET", "/x-money")),
      ]);
      const [own, same, all, allToo] = statements.map(({ body }) => body);
      expect(own).toMatchObject({ minted: 50, charges: Number(headers.get("x-arbor-cost")), difference: 0 });
      expect([same, allToo]).toEqual([own, all]);
      expect(all).toMatchObject({ at: own.at, difference: 0, moved_in: 0, moved_out: 0 });
    });
  });

  test("keys of providers have one state and one sum of figures, whichever node is asked, also after a move", async () => {
    const owner = await accountFactory(at(a).call, ROOT_KEY, provider.url).owner();
    const user = await accountFactory(at(b).call, ROOT_KEY, provider.url).subaccount(owner);
    const { id, secret } = owner.keys[0]!;
    const get = async (node: Service, path: string) => (await at(node).call(owner.key, "GET", path)).body;
    const keyAt = async (node: Service): Promise<Json> => (await get(node, `/x-keys/${id}`)).key;
    const ask = (node: Service) => at(node).chat(user.key, "[[output=2]]");

    for (const node of [a, b, b]) expect((await ask(node)).status).toBe(200);
    const paid = -(await at(a).ledger(user.key)).reduce(
      (sum, { type, amount }) => (type === "charge" ? sum + amount : sum),
      0,
    );
    for (const node of [a, b]) {
      expect((await keyAt(node)).LastHour).toMatchObject({ attempts: 3, failures: 0 });
      await until("the cost is summed", async () => Math.abs((await keyAt(node)).CostToday - paid) < 1e-12);
    }

    provider.behave(secret, "fault=401");
    expect((await ask(a)).status).toBe(502);
    provider.behave(secret, null);
    for (const node of [a, b]) {
      await until("it sleeps", async () => (await keyAt(node)).State === "sleeping");
    }
    expect((await at(a).call(owner.key, "PUT", `/x-keys/${id}`, { Sleep: false })).status).toBe(200);
    for (const node of [a, b]) expect((await keyAt(node)).State).toBe("normal");
    await until("the other node uses it", async () => (await ask(b)).status === 200);

    const leaver = await ground.start("mover");
    await until("it has shards", async () =>
      (await overview(leaver)).nodes.every(({ shards }: Json) => shards > 0),
    );
    expect((await keyAt(leaver)).LastHour.attempts).toBeGreaterThanOrEqual(5);
    await leaver.stop();
    for (const node of [a, b]) {
      await until("the events are there", async () => (await get(node, "/x-events")).total === 2);
      expect((await get(node, "/x-events")).events).toMatchObject([
        { type: "wake", key_id: id, reason: "woken" },
        { type: "sleep", key_id: id, reason: "invalid_key" },
      ]);
    }
  }, 90_000);

  test("a node that leaves hands its shards over, and the other serves them at once", async () => {
    const leaver = await ground.start("leaver");
    await leaver.stop();
    const seen = await overview(a);
    expect(seen.shards.filter(({ owner }: Json) => owner === "leaver")).toEqual([]);
    expect((await at(b).call(ROOT_KEY, "GET", "/dashboard/status")).status).toBe(200);
    expect(ground.log.filter(({ event }) => event === "shards_left")).toEqual([]);
  });

  test("a name that another node has is refused with one clear line", async () => {
    await expect(ground.start("a")).rejects.toThrow(/a node named a is running/);
  }, 90_000);

  test("a node whose clock is wrong serves no shards and is not ready, and says so", async () => {
    const offset = { CLOCK_OFFSET_MS: "10000", ALLOW_CLOCK_OFFSET: "1" };
    const late = await ground.start("late", offset);
    const ready = await at(late).call(null, "GET", "/readyz");
    expect(ready.status).toBe(503);
    expect(ready.text).toMatch(/^the clock is (9|10)\d{3} ms from the store's\n$/);
    await until("it is known as one who leaves", async () =>
      (await overview(a)).nodes.some(({ name, state }: Json) => name === "late" && state === "leaving"),
    );
    expect((await overview(a)).shards.some(({ owner }: Json) => owner === "late")).toBe(false);
    expect(ground.log).toContainEqual(expect.objectContaining({ level: "error", event: "clock_wrong" }));
    await late.stop();
  });

  describe("NATS is away", () => {
    test("a start waits for it: alive, not ready with the reason, and 503 to all else, until it is there", async () => {
      await ground.nats.kill();
      const before = ground.log.length;
      const starting = ground.start("waits");
      const newLines = () => ground.log.slice(before);
      await until("it waits", () => newLines().some(({ event }) => event === "start_waits"));
      const listens = newLines().find(({ event }) => event === "listens")!;
      const [url] = listens.fields.at as [string];
      const { call } = callsTo(() => url);
      expect((await call(null, "GET", "/healthz")).status).toBe(200);
      const ready = await call(null, "GET", "/readyz");
      expect([ready.status, ready.text]).toEqual([503, "the node is starting: NATS cannot be reached\n"]);
      const refused = await call(ROOT_KEY, "GET", "/dashboard/status");
      expectError(refused, 503, "service_unavailable");
      expect(refused.headers.get("retry-after")).toBe("1");
      // The running nodes answer the same.
      const readiness = await at(a).call(null, "GET", "/readyz");
      expect([readiness.status, readiness.text]).toEqual([503, "NATS cannot be reached\n"]);
      await ground.nats.start();
      const node = await starting;
      await until("it is ready", async () => (await call(null, "GET", "/readyz")).status === 200);
      await until(
        "the other is again",
        async () => (await at(a).call(null, "GET", "/readyz")).status === 200,
      );
      await node.stop();
    }, 90_000);

    test("a start that waits can be called off, and its address is free again", async () => {
      await ground.nats.kill();
      const off = new AbortController();
      const before = ground.log.length;
      const starting = ground.start("off", {}, off.signal).catch((error) => error);
      const lineOf = (event: string) => ground.log.slice(before).find((line) => line.event === event);
      await until("it waits", () => lineOf("start_waits") !== undefined);
      off.abort();
      expect(await starting).toBeInstanceOf(StartCancelledError);
      const [url] = lineOf("listens")!.fields.at as [string];
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
      await ground.nats.start();
    }, 90_000);
  });
}
