// GET /x-cluster of a process that is alone, and who may see it. What nodes of a cluster show is in test/node.

import { describe, expect, test } from "bun:test";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import { LAST_VERIFY } from "../../../src/report/verify/last-verify.ts";
import { putRegistryRow } from "../../../src/store/open.ts";
import { type Json, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench({ settings: { NODE_NAME: "only" } });
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

const seen = async (): Promise<Json> => (await bench.call(bench.rootKey, "GET", "/x-cluster")).body;

test("is one node with all shards, up, with everything that must be zero at zero", async () => {
  const { node, nodes, shards, health, gauges } = await seen();
  expect(node).toBe("only");
  expect(nodes).toMatchObject([{ name: "only", state: "up", shards: 256, version: expect.any(String) }]);
  expect(shards).toHaveLength(256);
  expect(
    shards.every((one: Json, i: number) => one.shard === i && one.owner === "only" && one.epoch === 1),
  ).toBe(true);
  expect(health).toEqual({
    ...{ append_lost: 0, append_unknown: 0, fenced: 0, broken: 0 },
    ...{ late_charges: 0, holds_expired: 0, claims_swept: 0 },
  });
  expect(gauges).toMatchObject({ shards: 256, late_charges_waiting: 0, table_version: 0 });
  expect(gauges.actors).toBeGreaterThan(0);
  expect(nodes[0].health).toEqual(health);
  expect(Object.keys(nodes[0].gauges)).toEqual(Object.keys(gauges));
});

test("shows the last verification, which was written beside the running server", async () => {
  expect((await seen()).last_verify).toBeNull();
  const url = `sqlite:${bench.directory}/bench.db`;
  await putRegistryRow(url, LAST_VERIFY, "not what verify writes");
  expect((await seen()).last_verify).toBeNull();
  const result = { at: Date.UTC(2026, 10, 23), lines: 7, accounts: 3, differences: 1, ms: 40 };
  await putRegistryRow(url, LAST_VERIFY, JSON.stringify(result));
  expect((await seen()).last_verify).toEqual({ ...result, at: "2026-11-23T00:00:00.000Z" });
});

test.each<[string, () => string | null, number]>([
  ["nobody", () => null, 401],
  ["an Owner", () => owner.key, 403],
  ["a subaccount", () => user.key, 403],
])("%s is refused", async (_, key, status) => {
  properError(await bench.call(key(), "GET", "/x-cluster"), status);
});

test("takes no query", async () => {
  properError(await bench.call(bench.rootKey, "GET", "/x-cluster?node=only"), 400);
});

describe("a hold that nobody renewed", () => {
  test("is counted, here and in the metrics", async () => {
    const calls = bench.provider.totals().calls;
    const hanging = bench.chat(user.key, "[[fault=hang]]", {}, { signal: AbortSignal.timeout(20_000) });
    hanging.catch(() => undefined);
    await until("it hangs", () => bench.provider.totals().calls > calls);
    bench.moveClock(HOLD_TTL_MS + 1_000);
    await bench.chat(user.key, "[[output=1]]");
    expect((await seen()).health.holds_expired).toBe(1);
    const { text } = await bench.call(bench.rootKey, "GET", "/metrics");
    expect(text).toContain('arborgate_faults_total{kind="hold_expired"} 1\n');
  });
});
