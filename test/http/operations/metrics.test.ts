// What /metrics exports: exactly the families of the table, within a bound, and well-formed for any name of a model.

import { describe, expect, test } from "bun:test";
import type { Protocol } from "../../../actors/index.ts";
import { Histogram } from "../../../src/base/histogram.ts";
import { GatewayCounts } from "../../../src/gateway/traffic/gateway-counts.ts";
import { METRICS } from "../../../src/http/operations/metric-table.ts";
import { createMetrics } from "../../../src/http/operations/metrics.ts";
import { PROCESS_METRICS } from "../../../src/http/operations/process-metrics.ts";
import { createGauges } from "../../../src/node/gauges.ts";
import type { Placement } from "../../../src/runtime/placement/placement.ts";
import { freshCounters } from "../../../src/runtime/stats.ts";
import type { ActorSystem, SystemStats } from "../../../src/runtime/system.ts";
import { MODEL, PRICING, until } from "../../e2e/harness.ts";
import { leave } from "../../e2e/leaving.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { levelOf } from "../../gateway/level-samples.ts";
import { endedRequest, refusedRequest } from "../../gateway/traffic/ended.ts";

const bench = useBench();

const scrape = async (): Promise<string> => (await bench.call(bench.rootKey, "GET", "/metrics")).text;

/** The families of a scrape: name and type. */
const familiesIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);

describe("a service", () => {
  test("exports the families of the table, each once, and no other", async () => {
    const table = { ...PROCESS_METRICS, ...METRICS };
    const rows = Object.entries(table).map(([name, { type }]) => `${name} ${type}`);
    expect(familiesIn(await scrape())).toEqual(rows);
  });

  test("counts its commits, and how long the store took for each", async () => {
    const [commits, timed, within] = [
      "commits_total",
      "commit_seconds_count",
      'commit_seconds_bucket{le="+Inf"}',
    ].map((name) => `\narborgate_${name} `);
    const text = await scrape();
    const value = (series: string) => Number(text.split(series)[1]!.split("\n")[0]);
    expect(value(commits!)).toBeGreaterThan(0);
    expect(value(timed!)).toBeGreaterThanOrEqual(value(commits!));
    expect(value(within!)).toBe(value(timed!));
  });

  test("counts failures of management from 0, so that the first one is a growth", async () => {
    for (const status of [500, 503]) {
      expect(await scrape()).toContain(`\narborgate_management_requests_total{status="${status}"} 0\n`);
    }
  });

  test("has a line per sample, each of a family and with its labels", async () => {
    const owner = await bench.owner();
    const user = await bench.subaccount(owner);
    await bench.chat(user.key, "[[output=1]]");
    await bench.chat(user.key, "[[output=3]]", { stream: true });
    await bench.chat(user.key, "[[fault=500]]");
    for (const line of (await scrape()).split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
      const [, family, labels] = /^(\w+?)(?:\{(.*)\})? -?\d[\d.e+-]*$/.exec(line) ?? [];
      expect([line, family]).not.toContain(undefined);
      const name = Object.hasOwn(METRICS, family!) ? family! : family!.replace(/_(bucket|sum|count)$/, "");
      if (!name.startsWith("arborgate_")) continue;
      const given = [...(labels ?? "").matchAll(/(\w+)="/g)].map((match) => match[1]!);
      const stated: readonly string[] = METRICS[name as keyof typeof METRICS].labels;
      expect(given.filter((label) => label !== "le")).toEqual([...stated]);
    }
  });

  test("counts streams and whole answers, with tokens, cost and times", async () => {
    const text = await scrape();
    const value = (series: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length + 1),
      );
    const of = 'model="bench-model",level="1"';
    expect(value(`arborgate_model_requests_total{${of}}`)).toBe(3);
    expect(value(`arborgate_model_failures_total{${of}}`)).toBe(1);
    expect(value(`arborgate_tokens_total{${of},kind="completion"}`)).toBe(4);
    expect(value(`arborgate_cost_usd_total{${of}}`)).toBeGreaterThan(0);
    expect(value(`arborgate_upstream_seconds_count{${of}}`)).toBe(2);
    // The stream's alone.
    expect(value(`arborgate_upstream_first_seconds_count{${of}}`)).toBe(1);
    for (const stream of [false, true]) {
      expect(value(`arborgate_added_seconds_count{stream="${stream}"}`)).toBe(1);
      expect(value(`arborgate_request_whole_seconds_count{stream="${stream}"}`)).toBe(1);
    }
    expect(value('arborgate_attempts_total{level="1",result="ok"}')).toBe(2);
    expect(value('arborgate_refusals_total{code="upstream_failed"}')).toBe(1);
    expect(value('arborgate_provider_keys{level="1",state="active"}')).toBe(1);
    expect(value("arborgate_ready")).toBe(1);
  });

  test("counts a model under the name of its price, whatever a client writes around it", async () => {
    const { ChatPricing } = PRICING;
    const pricing = { ChatPricing: { ...ChatPricing, "*": ChatPricing[MODEL] } };
    const user = await bench.subaccount(await bench.owner({ pricing }));
    for (const model of [`sk-secret/${MODEL}`, `ft:${MODEL}:sk-secret`, "sk-secret"]) {
      expect((await bench.chat(user.key, "[[output=1]]", { model })).status).toBe(200);
    }
    const text = await scrape();
    expect(text).not.toContain("sk-secret");
    expect(text).toContain('arborgate_model_requests_total{model="bench-model",level="1"} 5\n');
    expect(text).toContain('arborgate_model_requests_total{model="other",level="1"} 1\n');
  });

  test("knows its keys: one that fails three times sleeps, and its Level is down", async () => {
    const owner = await bench.owner();
    const user = await bench.subaccount(owner);
    for (let i = 0; i < 3; i++) await bench.chat(user.key, "[[fault=500]]");
    await until("the sleep is known", async () =>
      (await scrape()).includes('arborgate_provider_keys{level="1",state="sleeping"} 1\n'),
    );
    const text = await scrape();
    expect(text).toContain('arborgate_levels_down{level="1"} 1\n');
    expect(text).toContain('arborgate_key_sleeps_total{level="1"} 1\n');
    expect(text).toContain('arborgate_level_refusals_total{level="1"} 0\n');
    expect((await bench.chat(user.key, "[[output=1]]")).body.error.code).toBe("no_available_key");
    expect(await scrape()).toContain('arborgate_level_refusals_total{level="1"} 1\n');
    await bench.call(owner.key, "POST", "/x-conf", { DelKeys: true });
    await until("it is awake", async () => (await scrape()).includes('arborgate_levels_down{level="1"} 0\n'));
    expect(await scrape()).toContain('arborgate_key_sleeps_total{level="1"} 1\n');
  });

  test("counts a client that was gone before its answer by no status", async () => {
    const user = await bench.subaccount(await bench.owner());
    const isAsked = () => bench.provider.inFlight() > 0;
    const more = { max_tokens: 5 };
    await leave(bench, user.key, "[[head_ms=5000]]", false, isAsked, { path: "/v1/messages", more });
    const counted = async () =>
      (await scrape()).match(/^arborgate_requests_total\{path="\/v1\/messages".*$/gm);
    await until("it is counted", async () => (await counted()) !== null);
    expect(await counted()).toEqual([
      'arborgate_requests_total{path="/v1/messages",status="client_gone",stream="false"} 1',
    ]);
  });

  test("counts open holds, of which none is left behind", async () => {
    await until("none is open", async () => (await scrape()).includes("\narborgate_open_holds 0\n"));
  });
});

const NOWHERE = { members: () => [], ownerOf: () => null };

/** Metrics of their own, of these counts. */
const metricsOf = (
  counts: GatewayCounts,
  placement: Pick<Placement, "members" | "ownerOf"> = NOWHERE,
  of: Partial<SystemStats> = {},
) => {
  const figures = { clockSkewMs: -1_500, watermarkAgeMs: 2_500, lateChargesWaiting: 3 };
  const stats: SystemStats = {
    ...{ counters: freshCounters(), figures, version: "1.2.3", node: "n", lagMs: 1_300 },
    ...{ actors: 0, turnsWaiting: 0, effects: 0, mailboxMost: 0, shards: 0 },
    ...of,
  };
  return createMetrics({
    system: { stats: () => stats, commitSeconds: new Histogram([1]) } as unknown as ActorSystem<Protocol>,
    placement,
    readiness: { reason: async () => "not ready" },
    clock: { wall: () => 0 },
    counts,
    accessLinesDropped: () => 7,
  });
};

describe("a scrape", () => {
  test("is bounded, whatever models, Levels, codes and keys there are", async () => {
    const counts = new GatewayCounts();
    const metrics = metricsOf(counts);
    for (let i = 0; i < 5_000; i++) {
      counts.requests.ended(
        endedRequest({ modelLabel: `model-${i}`, route: { level: i }, isStream: true }),
        1_100,
      );
      counts.requests.ended(refusedRequest(`code-${i}`), 1_100);
      counts.attempts.count(i, "ok");
      counts.levels.loaded({ kind: "level", id: `2.${i}` }, levelOf(`2.${i}`, [1]));
      counts.levelEvents.committed(
        { kind: "level", id: `2.${i}` },
        { events: [{ at: 0, line: false, e: { type: "slept" } }] },
      );
    }
    const samples = (await metrics.text()).split("\n").filter((line) => /^arborgate_\w+\{/.test(line));
    // 101 models with 5 counts and two histograms, their Levels' refusals, 51 Levels with 10 figures, and the rest.
    expect(samples.length).toBeLessThan(101 * (5 + 15 + 14) + 101 + 51 * 10 + 150);
    expect(samples.filter((line) => line.includes('"other"')).length).toBeGreaterThan(20);
  });

  test("has times in seconds", async () => {
    const text = await metricsOf(new GatewayCounts()).text();
    for (const line of ["commit_lag_seconds 1.3", "clock_skew_seconds -1.5", "watermark_age_seconds 2.5"]) {
      expect(text).toContain(`\narborgate_${line}\n`);
    }
    expect(text).toContain("\narborgate_late_charges_waiting 3\n");
  });

  test("has every figure that a node reports, in its unit or in seconds", async () => {
    let last = 100;
    // Thousands, so that milliseconds are whole seconds, and no two alike.
    const fill = <T extends object>(figures: T): T =>
      Object.fromEntries(Object.keys(figures).map((name) => [name, ++last * 1_000])) as T;
    const gauges = fill({ actors: 0, turnsWaiting: 0, effects: 0, mailboxMost: 0, shards: 0, lagMs: 0 });
    const reported = { counters: fill(freshCounters()), figures: fill(createGauges().all()) };
    const metrics = metricsOf(new GatewayCounts(), NOWHERE, { ...gauges, ...reported });
    const values = new Set((await metrics.text()).split("\n").map((line) => Number(line.split(" ").at(-1))));
    const figures = Object.entries({ ...gauges, ...reported.counters, ...reported.figures });
    const missing = figures.filter(
      ([name, value]) => !values.has(name.endsWith("Ms") ? value / 1_000 : value),
    );
    expect(missing).toEqual([]);
  });

  test("says of how many shards this node knows no living owner", async () => {
    const states = { a: "up", b: "leaving", c: "dead" } as const;
    const members = (["a", "b", "c"] as const).map((name) => ({
      name,
      incarnation: "2",
      state: states[name],
    }));
    // Shard 4 is still that of an earlier start of b.
    const owners = ["a#2", "b#2", "c#2", null, "b#1"];
    const metrics = metricsOf(new GatewayCounts(), {
      members: () => members,
      ownerOf: (shard) => {
        const node = shard < owners.length ? owners[shard]! : "a#2";
        return node === null ? null : { node, epoch: 1 };
      },
    });
    expect(await metrics.text()).toContain("\narborgate_shards_without_owner 3\n");
  });

  test("escapes what a model may be called", async () => {
    const counts = new GatewayCounts();
    counts.requests.ended(endedRequest({ modelLabel: 'a"b\\c\nd' }), 1_100);
    const text = await metricsOf(counts).text();
    expect(text).toContain('arborgate_model_requests_total{model="a\\"b\\\\c\\nd",level="1"} 1\n');
    expect(text).toContain("\narborgate_ready 0\n");
    expect(text).toContain("\narborgate_access_log_dropped_total 7\n");
  });
});
