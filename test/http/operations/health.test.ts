// What machines ask: alive, ready, metrics; and the address of its own for administration.

import { describe, expect, test } from "bun:test";
import { startBench, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";
import { raw } from "../raw.ts";

const TOKEN = "metrics-token-0123456789";

const bench = useBench({ settings: { METRICS_TOKEN: TOKEN } });
const owner = prepared(() => bench.owner());

describe.each(["/healthz", "/readyz"])("%s", (path) => {
  test("needs no key", async () => {
    expect((await bench.call(null, "GET", path)).status).toBe(200);
  });

  test.each([
    ["HTTP/1.0 without a Host header", `GET ${path} HTTP/1.0\r\n\r\n`],
    ["HTTP/1.0 with one", `GET ${path} HTTP/1.0\r\nHost: any\r\n\r\n`],
    [
      "HTTP/1.1 with another Host",
      `GET ${path} HTTP/1.1\r\nHost: lb.example:99\r\nConnection: close\r\n\r\n`,
    ],
    ["a wrong key beside it", `GET ${path} HTTP/1.0\r\nAuthorization: Bearer sk-wrong\r\n\r\n`],
  ])("answers %s", async (_, bytes) => {
    expect((await raw(bench.url, bytes)).status).toBe(200);
  });
});

test("a service that stops is not ready, and still alive, until it is gone", async () => {
  const leaving = await startBench({ settings: { LB_WAIT_MS: "5000", METRICS_TOKEN: TOKEN } });
  const user = await leaving.subaccount(await leaving.owner());
  const closing = leaving.close();
  await until("it is not ready", async () => (await leaving.call(null, "GET", "/readyz")).status === 503);
  expect((await leaving.call(null, "GET", "/readyz")).text).toContain("stopping");
  expect((await leaving.call(null, "GET", "/healthz")).status).toBe(200);
  // Until the load balancer has noticed, requests are served.
  expect((await leaving.chat(user.key, "[[output=1]]")).status).toBe(200);
  await closing;
  await expect(fetch(`${leaving.url}/healthz`)).rejects.toThrow();
});

describe("metrics", () => {
  test.each<[string, () => string | null, number]>([
    ["nobody", () => null, 401],
    ["an Owner", () => owner.key, 403],
    ["a wrong key", () => "sk-wrong", 401],
    ["METRICS_TOKEN", () => TOKEN, 200],
    ["Root", () => bench.rootKey, 200],
  ])("%s: %#", async (_, key, status) => {
    const answer = await bench.call(key(), "GET", "/metrics");
    expect(answer.status).toBe(status);
    if (status !== 200) properError(answer, status);
    else expect(answer.headers.get("content-type")).toStartWith("text/plain");
  });

  test("a key of an account that is gone is nobody's, and a disabled one says so", async () => {
    const user = await bench.subaccount(owner);
    const metrics = async () => (await bench.call(user.key, "GET", "/metrics")).body.error.code;
    expect(await metrics()).toBe("not_root");
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { Status: false });
    expect(await metrics()).toBe("account_disabled");
    await bench.call(owner.key, "DELETE", `/x-users/${user.id}`);
    expect(await metrics()).toBe("invalid_api_key");
  });

  test("count requests by path, status and kind, name the model, and nobody", async () => {
    const user = await bench.subaccount(owner);
    await bench.chat(user.key, "[[output=1]]");
    await bench.chat(user.key, "[[fault=500]]", { stream: true });
    const { text } = await bench.call(TOKEN, "GET", "/metrics");
    expect(text).toContain(
      'arborgate_requests_total{path="/v1/chat/completions",status="200",stream="false"} 1',
    );
    expect(text).toMatch(/arborgate_requests_total\{path="\/v1\/chat\/completions",status="502"/);
    expect(text).toMatch(/arborgate_model_requests_total\{model="bench-model",level="1"\} 2/);
    for (const name of [user.name, owner.name]) expect(text).not.toContain(name);
  });

  test("the counters that must be zero in health are zero", async () => {
    const { text } = await bench.call(TOKEN, "GET", "/metrics");
    const kinds = ["append_lost", "append_unknown", "fenced", "broken", "hold_expired", "claim_swept"];
    for (const series of [
      ...kinds.map((kind) => `faults_total{kind="${kind}"}`),
      ...["commands_shed_total", "late_charges_total", "upstream_requests", "shards_without_owner"],
    ]) {
      expect(text).toContain(`\narborgate_${series} 0\n`);
    }
  });
});

describe("ADMIN_PORT", () => {
  test("takes the administration endpoints off the public address; its own serves everything", async () => {
    const apart = await startBenchApart();
    const admin = (path: string, key: string | null) =>
      fetch(apart.service.adminUrl + path, {
        headers: key === null ? {} : { authorization: `Bearer ${key}` },
      });
    for (const path of ["/x-keys", "/x-conf", "/metrics"]) {
      properError(await apart.call(apart.rootKey, "GET", path), 404);
      expect((await admin(path, apart.rootKey)).status).toBe(200);
    }
    properError(await apart.call(apart.rootKey, "PUT", "/x-config", { LEVEL_MAPPER: "" }), 404);
    const headers = { authorization: `Bearer ${apart.rootKey}` };
    for (const path of ["/x-conf", "/x-root", "/x-news"]) {
      const statuses = [apart.service.url, apart.service.adminUrl].map(
        async (url) => (await fetch(url + path, { method: "POST", headers, body: "{}" })).status,
      );
      expect(await Promise.all(statuses)).toEqual([404, 400]);
    }
    for (const path of ["/dashboard/status", "/dashboard/news", "/healthz"]) {
      expect((await apart.call(apart.rootKey, "GET", path)).status).toBe(200);
      expect((await admin(path, apart.rootKey)).status).toBe(200);
    }
    // There the metrics are open: every client that reaches the address may read them.
    expect((await admin("/metrics", null)).status).toBe(200);
    await apart.close();
  });
});

const startBenchApart = () => startBench({ settings: { ADMIN_PORT: "0" } });
