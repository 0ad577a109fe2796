// What is counted of requests as they end: by model and Level within a bound, by code within the table of codes, and times.

import { expect, test } from "bun:test";
import type { ChargeFacts } from "../../../actors/account/state.ts";
import { ERROR_CODES } from "../../../src/base/error-codes.ts";
import { MODEL_SERIES_MAX } from "../../../src/gateway/traffic/model-traffic.ts";
import { RequestTraffic } from "../../../src/gateway/traffic/request-traffic.ts";
import { endedRequest, refusedRequest } from "./ended.ts";

const only = (traffic: RequestTraffic) => {
  expect(traffic.models.all).toHaveLength(1);
  return traffic.models.all[0]!;
};

/** The codes that were counted. Each stands there with 0 from the start. */
const counted = ({ refusals }: RequestTraffic) => Object.fromEntries([...refusals].filter(([, n]) => n > 0));

test("a charged request counts its tokens, its cost and its times", () => {
  const traffic = new RequestTraffic();
  traffic.ended(endedRequest(), 1_100);
  const series = only(traffic);
  expect(series).toMatchObject({ model: "m", level: "1", requests: 1, failures: 0 });
  expect(series).toMatchObject({ promptTokens: 10, completionTokens: 5, costNano: 2e9 });
  // A whole answer has no first event.
  expect([series.first.count, series.whole.sum]).toEqual([0, 0.08]);
  expect(traffic.unstreamed.whole.sum).toBe(0.1);
  // 70 ms until the response began, 60 of them at providers.
  expect(traffic.unstreamed.added.sum).toBe(0.01);
  expect(traffic.streamed.whole.count).toBe(0);
  expect(counted(traffic)).toEqual({});
});

test("a response that ended at once has the time of its end, one that began with a keepalive has no added time", () => {
  const traffic = new RequestTraffic();
  traffic.ended(endedRequest({ respondedMs: 0, isStream: true }), 1_100);
  expect(only(traffic).first.sum).toBe(0.02);
  expect(traffic.streamed.added.sum).toBe(0.04);
  traffic.ended(endedRequest({ respondedMs: 1_010, isStream: true }), 1_100);
  expect(traffic.streamed.added.count).toBe(1);
  expect(traffic.streamed.whole.count).toBe(2);
});

test("a refused request counts its code, and its model once it was admitted", () => {
  const traffic = new RequestTraffic();
  traffic.ended(refusedRequest("rpm_exceeded", { route: null }), 1_001);
  expect(traffic.models.all).toEqual([]);
  traffic.ended(refusedRequest("upstream_failed"), 1_001);
  expect(only(traffic)).toMatchObject({ requests: 1, failures: 1, costNano: 0 });
  expect(counted(traffic)).toEqual({ rpm_exceeded: 1, upstream_failed: 1 });
});

test("refusals for want of a key are counted by Level, from the Level's first request on", () => {
  const traffic = new RequestTraffic();
  traffic.ended(endedRequest(), 1_100);
  traffic.ended(refusedRequest("no_available_key", { route: null, modelLabel: null }), 1_001);
  expect([...traffic.models.withoutKeyByLevel()]).toEqual([["1", 0]]);
  traffic.ended(refusedRequest("no_available_key"), 1_001);
  traffic.ended(refusedRequest("no_available_key", { modelLabel: "n" }), 1_001);
  traffic.ended(refusedRequest("upstream_failed", { route: { level: 2 } }), 1_001);
  expect([...traffic.models.withoutKeyByLevel()]).toEqual([
    ["1", 2],
    ["2", 0],
  ]);
});

test("an answer that broke off is charged, and a failure without a refusal", () => {
  const traffic = new RequestTraffic();
  const broken = { ...endedRequest().charge, attempts: [{ signal: "timeout", ms: 1 }] };
  traffic.ended(endedRequest({ charge: broken as unknown as ChargeFacts }), 1_100);
  expect(only(traffic)).toMatchObject({ failures: 1, costNano: 2e9 });
  expect(counted(traffic)).toEqual({});
});

test("a charge that was not stored is no cost", () => {
  const traffic = new RequestTraffic();
  traffic.ended(endedRequest({ end: { status: 500, code: "internal_error" } }), 1_100);
  expect(only(traffic)).toMatchObject({ failures: 1, costNano: 0 });
});

test("models and Levels beyond the bound are one series", () => {
  const traffic = new RequestTraffic();
  for (let i = 0; i < 3 * MODEL_SERIES_MAX; i++) {
    traffic.ended(endedRequest({ modelLabel: `m${i % (2 * MODEL_SERIES_MAX)}`, route: { level: i } }), 1_100);
  }
  const { all } = traffic.models;
  expect(all).toHaveLength(MODEL_SERIES_MAX + 1);
  expect(all.at(-1)).toMatchObject({ model: "other", level: "other", requests: 2 * MODEL_SERIES_MAX });
});

test("a provider may send any code: it counts as rejected", () => {
  const traffic = new RequestTraffic();
  for (let i = 0; i < 1_000; i++) traffic.ended(refusedRequest(`code "${i}"\n`), 1_001);
  for (const code of [...Object.keys(ERROR_CODES), "client_gone"]) traffic.ended(refusedRequest(code), 1_001);
  expect(traffic.refusals.get("rejected")).toBe(1_000);
  expect(traffic.refusals.size).toBe(Object.keys(ERROR_CODES).length + 2);
});
