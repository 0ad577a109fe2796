// Every path of the gateway beside the two styles of conversation, end to end: what it holds, what it costs to the last
// digit, what the provider got, what happens when a key fails, the provider refuses, or the client goes.

import { describe, expect, test } from "bun:test";
import { GATEWAY_ENDPOINTS } from "../../src/gateway/endpoints.ts";
import { type Account, charges, type Json, nano, PRICING, until } from "./harness.ts";
import { GOOD, HELD_SCRIPT, OWN_PRICES } from "./surfaces-bodies.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1000" } });
const MODEL_MAPPER = Object.fromEntries(GOOD.map(({ model }) => [`asked-${model}`, model]));
const owner = prepared(() =>
  bench.owner({ keys: 2, pricing: { ...OWN_PRICES, ...PRICING }, config: { MODEL_MAPPER } }),
);

/** Asks without reading the answer as text: it may be sound. */
async function post(key: string, path: string, body: object | FormData, more: RequestInit = {}) {
  const response = await fetch(bench.url + path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      ...(body instanceof FormData ? {} : { "content-type": "application/json" }),
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
    ...more,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
}

/** What the stand-in says of a request that it refuses, in its own words. */
const THE_PROVIDERS = { code: "invalid_type", type: "invalid_request_error" };

const lastCall = () => bench.provider.calls().at(-1)!;
const lastCharge = async ({ key }: Account): Promise<Json> => charges(await bench.ledger(key)).at(-1);

test("there is a row for every path but those of conversation, which have tests of their own", () => {
  const conversation = ["/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens"];
  expect(GATEWAY_ENDPOINTS.map(({ path }) => path).sort()).toEqual(
    [...conversation, ...GOOD.map(({ path }) => path)].sort(),
  );
});

describe.each(GOOD)("$path", ({ path, model, body, script, ...row }) => {
  test("costs what the provider's figures come to, and says so in head, ledger and balance", async () => {
    const user = await bench.subaccount(owner);
    const answer = await post(user.key, path, body(script));
    expect(answer.status).toBe(200);
    expect(nano(answer.headers.get("x-arbor-cost")!)).toBe(row.cost);
    expect(answer.headers.get("x-arbor-model")).toBe(model);
    const line = await lastCharge(user);
    expect(line).toMatchObject({
      amount: -row.cost / 1e9,
      basis: row.basis,
      model,
      prompt_tokens: row.tokens[0],
      completion_tokens: row.tokens[1],
    });
    expect(nano(10) - nano(await bench.balance(user.key))).toBe(row.cost);
  });

  test("is recorded with its path and the prices that it was charged at", async () => {
    const user = await bench.subaccount(owner);
    const { headers } = await post(user.key, path, body(script));
    const id = headers.get("x-request-id");
    const { body: found } = await bench.call(user.key, "GET", `/dashboard/explain?request=${id}`);
    expect(found.request).toMatchObject({ path, basis: row.basis, price: { group: row.group } });
    expect(found.attempts).toMatchObject([{ signal: "ok", status: 200, model }]);
  });

  test("holds what it can come to while it runs, and nothing afterwards", async () => {
    const user = await bench.subaccount(owner);
    const running = post(user.key, path, body(`${script} ${HELD_SCRIPT}`.trim()));
    await until("it is under way", () => bench.provider.inFlight() > 0);
    const explained = await bench.call(user.key, "GET", `/dashboard/explain?model=${model}&path=${path}`);
    const [balance] = explained.body.limits.filter((limit: Json) => limit.name === "balance");
    expect(nano(balance.limit) - nano(balance.remaining)).toBe(row.hold);
    expect((await running).status).toBe(200);
    expect(await bench.nothingHeld(user.key)).toBe(true);
  });

  test("goes on with another key when one fails, and is charged once", async () => {
    const user = await bench.subaccount(owner);
    // Keys of equal load come in turn: of two requests one at least begins with the key that fails.
    bench.provider.behave(owner.secrets[0]!, "fault=500");
    const attempts: number[] = [];
    for (let i = 0; i < 2; i++) {
      const answer = await post(user.key, path, body(script));
      expect(answer.status).toBe(200);
      attempts.push(Number(answer.headers.get("x-arbor-attempts")));
    }
    bench.provider.behave(owner.secrets[0]!, null);
    expect(Math.max(...attempts)).toBe(2);
    expect(charges(await bench.ledger(user.key))).toHaveLength(2);
    expect(nano(10) - nano(await bench.balance(user.key))).toBe(2 * row.cost);
  });

  test("passes the provider's refusal of its content on, and costs nothing", async () => {
    const user = await bench.subaccount(owner);
    const answer = await post(user.key, path, body(`${script} fault=400`.trim()));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error).toMatchObject(THE_PROVIDERS);
    expect(charges(await bench.ledger(user.key))).toEqual([]);
    expect(await bench.balance(user.key)).toBe(10);
  });

  test("costs nothing when the client goes before anything came, and its call is given up", async () => {
    const user = await bench.subaccount(owner);
    const leaving = new AbortController();
    const running = post(user.key, path, body(`${script} head_ms=20000`.trim()), { signal: leaving.signal });
    await until("it is under way", () => bench.provider.inFlight() > 0);
    leaving.abort();
    await expect(running).rejects.toThrow();
    await until("the call is given up", () => bench.provider.inFlight() === 0);
    expect(charges(await bench.ledger(user.key))).toEqual([]);
    expect(await bench.balance(user.key)).toBe(10);
  });

  test("is charged once however often it is repeated with its Idempotency-Key", async () => {
    const user = await bench.subaccount(owner);
    const headers = { authorization: `Bearer ${user.key}`, "idempotency-key": `again ${path}` };
    const send = () => {
      const sent = body(script);
      const isForm = sent instanceof FormData;
      return fetch(bench.url + path, {
        method: "POST",
        headers: isForm ? headers : { ...headers, "content-type": "application/json" },
        body: isForm ? sent : JSON.stringify(sent),
      });
    };
    const first = await send();
    const text = await first.text();
    const second = await send();
    const again = await second.text();
    if (path === "/v1/audio/speech") {
      // Sound is not kept.
      expect([second.status, JSON.parse(again).error.code]).toEqual([400, "idempotency_expired"]);
    } else {
      expect([second.status, again]).toEqual([200, text]);
      expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    }
    expect(charges(await bench.ledger(user.key))).toHaveLength(1);
  });

  test("is closed to an account whose Resources leave it out", async () => {
    const user = await bench.subaccount(owner, { Resources: "/v1/chat/completions" });
    const answer = await post(user.key, path, body(script));
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([403, "path_not_allowed"]);
  });

  test("asks the provider for the model under the key's name for it, everything else as it came", async () => {
    const user = await bench.subaccount(owner);
    const sent = body(script);
    if (sent instanceof FormData) sent.set("model", `asked-${model}`);
    else Object.assign(sent, { model: `asked-${model}` });
    const answer = await post(user.key, path, sent);
    expect(answer.status).toBe(200);
    const call = lastCall();
    expect(call).toMatchObject({ path, model });
    if (!(sent instanceof FormData)) return expect(call.body).toEqual({ ...sent, model });
    expect(call.headers["content-type"]).toStartWith("multipart/form-data; boundary=");
    const fields: (readonly [string, string | File])[] = [...sent.entries()];
    for (const [name, value] of fields) {
      if (typeof value === "string") {
        expect((call.body as Json)[name]).toBe(name === "model" ? model : value);
        continue;
      }
      const sha256 = new Bun.CryptoHasher("sha256").update(await value.arrayBuffer()).digest("hex");
      expect(call.files.find((one) => one.field === name)).toMatchObject({ name: value.name, sha256 });
    }
  });
});

describe("a path that is not in the table", () => {
  test.each([
    "/v1/files",
    "/v1/fine_tuning/jobs",
    "/v1/audio",
    "/v1/images",
    "/v1/responses/x/cancel",
    "/v1/batches",
  ])("%s is 404, and reaches no provider", async (path) => {
    const before = bench.provider.totals().calls;
    const answer = await bench.call(owner.key, "POST", path, { model: "gpt-4o", input: "hi" });
    expect([answer.status, answer.body.error.code]).toEqual([404, "not_found"]);
    expect(bench.provider.totals().calls).toBe(before);
  });
});
