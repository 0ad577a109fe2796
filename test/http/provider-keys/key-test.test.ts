// POST /x-keys/{id}/test through the whole service: one real call, what the answer says of it, and that nothing else comes of it.

import { describe, expect, test } from "bun:test";
import { privateKeyPem } from "../../admin/private-key.ts";
import { type Account, charges, fresh, type Json, MODEL, until } from "../../e2e/harness.ts";
import { ask, fares, watch } from "../../e2e/harness-keys.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const PEM = privateKeyPem();

// No server listens where tokens are exchanged.
const bench = useBench({ settings: { CLOUD_B_TOKEN_URL: "http://127.0.0.1:9/token" } });
const owner = prepared(() => bench.owner({ keys: 0 }));

interface Key {
  readonly id: number;
  readonly secret: string;
}

async function keyOf(script: string | null, more: object = {}, by: Account = owner): Promise<Key> {
  const [key] = await bench.level(by, 1, 1, more);
  bench.provider.behave(key!.secret, script);
  return key!;
}

const run = (key: { id: number }, body?: object, by: Account = owner) =>
  bench.call(by.key, "POST", `/x-keys/${key.id}/test`, body);
const testResult = async (key: { id: number }, body?: object): Promise<Json> => {
  const answer = await run(key, body);
  expect(answer.status).toBe(200);
  return answer.body;
};

describe.each(["chat", "messages"] as const)("in the %s style", (api_style) => {
  const path = { chat: "/v1/chat/completions", messages: "/v1/messages" }[api_style];

  test("a key that works: ok, in one tiny call", async () => {
    const key = await keyOf(null, { Config: { api_style } });
    const seen = watch(bench);
    expect(await testResult(key, { model: MODEL })).toEqual({
      success: true,
      status: 200,
      signal: "ok",
      latency_ms: expect.any(Number),
      url: bench.provider.url + path,
      model: MODEL,
      message: "The key works.",
    });
    const [call, ...more] = seen.calls();
    expect([call!.path, call!.key, call!.body]).toEqual([
      path,
      key.secret.slice(-4),
      { model: MODEL, messages: [{ role: "user", content: "ping" }], max_tokens: 1 },
    ]);
    expect(more).toEqual([]);
  });

  test.each<[string, number, string, RegExp]>([
    ["fault=401", 401, "invalid_key", /check SecretKey/],
    ["fault=403", 403, "no_permission", /permissions/],
    ["fault=404.deployment", 404, "model_unavailable", /check the model's name/],
    ["fault=402", 402, "quota_gone", /top it up/],
    ["fault=429", 429, "rate_limited", /test again later/],
    ["fault=429.too_big", 429, "too_big_for_tpm", /tokens per minute/],
    ["fault=500", 500, "server_error", /test again later/],
    ["fault=529", 529, "overloaded", /overloaded/],
    ["fault=400", 400, "rejected", /took the key/],
    ["fault=302", 302, "redirect", /redirects are not followed/],
    ["fault=200.error", 200, "server_error", /test again later/],
    ["fault=garbage", 200, "server_error", /address of its API/],
    ["fault=reset", 0, "unreachable", /no connection/],
  ])("%s is reported as status %d and %s, with what to do", async (script, status, signal, advice) => {
    const key = await keyOf(script, { Config: { api_style } });
    const found = await testResult(key, { model: MODEL });
    expect(found).toMatchObject({
      success: false,
      status,
      signal,
      url: bench.provider.url + path,
      model: MODEL,
    });
    expect(found.message).toMatch(advice);
    expect(JSON.stringify(found)).not.toContain(key.secret);
  });
});

test("an address where nobody listens: unreachable, status 0", async () => {
  const key = await keyOf(null, { Provider: "http://127.0.0.1:9" });
  const found = await testResult(key, { model: MODEL });
  expect(found).toMatchObject({ success: false, status: 0, signal: "unreachable" });
  expect(found.url).toBe("http://127.0.0.1:9/v1/chat/completions");
});

test("a cloud_a key is called at the deployment that its own mapping names", async () => {
  const Config = { provider_type: "cloud_a", model_mapping: { "gpt-*": "rest", "gpt-4o": "my dep" } };
  const key = await keyOf(null, { Config });
  const seen = watch(bench);
  const found = await testResult(key);
  expect([found.success, found.model]).toEqual([true, "gpt-4o"]);
  expect(found.url).toMatch(/\/openai\/deployments\/my%20dep\/chat\/completions\?api-version=/);
  expect(seen.calls().map(({ body }) => (body as Json).model)).toEqual(["my dep"]);
});

describe("the model", () => {
  test("is the one that is named, as it is: no mapper of the Owner's changes it", async () => {
    const one = await bench.owner({ config: { MODEL_MAPPER: `${MODEL}=another` } });
    const seen = watch(bench);
    expect((await run(one.keys[0]!, { model: MODEL }, one)).body.success).toBe(true);
    expect(seen.calls().map(({ model }) => model)).toEqual([MODEL]);
  });

  test("is the cheapest that the Owner priced, where it leads to the key's Level and none is named", async () => {
    const prices = (usd: number) => ({ InputText: usd, OutputText: usd });
    const one = await bench.owner({
      pricing: { ChatPricing: { dear: prices(3), cheap: prices(1), elsewhere: prices(0.1) } },
      config: { LEVEL_MAPPER: "*=1,elsewhere=2" },
    });
    expect((await run(one.keys[0]!, undefined, one)).body.model).toBe("cheap");
    expect((await run(one.keys[0]!, {}, one)).body.model).toBe("cheap");
  });

  test("must be named where none is known: 400 missing_parameter", async () => {
    const one = await bench.owner({ config: { LEVEL_MAPPER: "*=2" } });
    const answer = await run(one.keys[0]!, undefined, one);
    properError(answer);
    expect([answer.body.error.code, answer.body.error.message]).toEqual([
      "missing_parameter",
      expect.stringContaining('{"model"'),
    ]);
  });

  test.each<[string, string]>([
    ["o4-mini", "max_completion_tokens"],
    ["gpt-4o-mini", "max_tokens"],
    ["claude-opus-4-1", "max_tokens"],
    ["of nobody's catalogue", "max_tokens"],
  ])("%s is asked with %s", async (model, limit) => {
    const key = await keyOf(null);
    const seen = watch(bench);
    await testResult(key, { model });
    const { body } = seen.calls()[0]!;
    expect(Object.keys(body as object).filter((field) => field.startsWith("max_"))).toEqual([limit]);
  });
});

describe("nothing else comes of it:", () => {
  /** An Owner whose one key slept after three failures. */
  async function asleep() {
    const one = await bench.owner();
    const user = await bench.subaccount(one);
    bench.provider.behave(one.secrets[0]!, "fault=500");
    for (let i = 0; i < 3; i++) await ask(bench, user);
    await fares(bench, one, one.keys[0]!, "sleeping 5 min");
    return { one, user, key: one.keys[0]!, secret: one.secrets[0]! };
  }
  const health = async ({ key: by }: Account) => {
    const { SleepingKeys } = (await bench.call(by, "GET", "/x-conf")).body;
    return SleepingKeys.map(({ SleepSeconds: _, ...rest }: Json) => rest);
  };

  test("a sleeping key is called, and sleeps on as it did", async () => {
    const { one, key, secret } = await asleep();
    const before = await health(one);
    bench.provider.behave(secret, null);
    expect((await run(key, {}, one)).body).toMatchObject({ success: true, signal: "ok" });
    bench.provider.behave(secret, "fault=401");
    expect((await run(key, {}, one)).body).toMatchObject({ success: false, signal: "invalid_key" });
    expect(await health(one)).toEqual(before);
  });

  test("failures of a test do not put a key to sleep, however many, nor do successes clear a streak", async () => {
    const one = await bench.owner();
    const user = await bench.subaccount(one);
    const [key, secret] = [one.keys[0]!, one.secrets[0]!];
    for (const script of ["fault=401", "fault=500", "fault=429", "fault=404.deployment"]) {
      bench.provider.behave(secret, script);
      for (let i = 0; i < 3; i++) expect((await run(key, {}, one)).body.success).toBe(false);
    }
    await fares(bench, one, key, "normal");
    bench.provider.behave(secret, "fault=500");
    for (let i = 0; i < 2; i++) await ask(bench, user);
    bench.provider.behave(secret, null);
    expect((await run(key, {}, one)).body.success).toBe(true);
    bench.provider.behave(secret, "fault=500");
    await ask(bench, user);
    await fares(bench, one, key, "sleeping 5 min");
  });

  test("a disabled key is called, and stays disabled", async () => {
    const key = await keyOf(null, { Status: false });
    expect((await testResult(key, { model: MODEL })).success).toBe(true);
    const { body } = await bench.call(owner.key, "GET", `/x-keys/${key.id}`);
    expect(body.key.Status).toBe(false);
  });

  test("no charge, no line, no hold, no line of the operation log", async () => {
    const one = await bench.owner();
    const logs = async () => (await bench.call(one.key, "GET", "/dashboard/logs")).body.total;
    const [ledger, balance, before] = [
      await bench.ledger(one.key),
      await bench.balance(one.key),
      await logs(),
    ];
    for (let i = 0; i < 3; i++) await run(one.keys[0]!, {}, one);
    expect([await bench.ledger(one.key), await bench.balance(one.key)]).toEqual([ledger, balance]);
    expect([charges(await bench.ledger(one.key)), await logs()]).toEqual([[], before]);
    expect(await bench.nothingHeld(one.key)).toBe(true);
  });
});

describe("who may", () => {
  test("the key's Owner: another's key is not there", async () => {
    const other = await bench.owner();
    properError(await run(other.keys[0]!, { model: MODEL }), 404, "key_not_found");
  });

  test("no subaccount", async () => {
    const key = await keyOf(null);
    properError(await run(key, { model: MODEL }, await bench.subaccount(owner)), 403, "not_owner");
  });

  test.each([{ model: "" }, { model: "x".repeat(257) }, { model: 1 }])("%j is 400", async (body) => {
    properError(await run(await keyOf(null), body));
  });
});

describe("what is sent badly", () => {
  test.each(["{", "[]", '"model"', "null", '{"model":}'])("%s is 400", async (body) => {
    const key = await keyOf(null);
    properError(await bench.call(owner.key, "POST", `/x-keys/${key.id}/test`, body));
  });

  test("a field that is not known is 400 unknown_field", async () => {
    const answer = await run(await keyOf(null), { Model: MODEL });
    properError(answer);
    expect([answer.body.error.code, answer.body.error.message]).toEqual([
      "unknown_field",
      expect.stringContaining("Model"),
    ]);
  });

  test.each(["L1", "127.0.0.1", "0", "-1", "999999", "__proto__", "%20"])(
    "no key is called %s: 404",
    async (name) => {
      properError(
        await bench.call(owner.key, "POST", `/x-keys/${name}/test`, { model: MODEL }),
        404,
        "key_not_found",
      );
    },
  );

  test.each(["..", "/", "a\nb", "half \ud800", "__proto__", "?x=1", "%2e%2e", " ", "☃", "\u0000"])(
    "a model called %j is an answer like any other, of every type of key",
    async (model) => {
      const base_url = `${bench.provider.url}/v1/projects/p/locations/l`;
      const cloudB = { provider_type: "cloud_b", client_email: "one@p.example.com", base_url };
      for (const more of [
        { Config: {} },
        { Config: { provider_type: "cloud_a" } },
        { Config: { ...cloudB, private_key: PEM } },
      ]) {
        const found = await testResult(await keyOf(null, more), { model });
        expect([found.model, typeof found.message]).toEqual([model.toWellFormed(), "string"]);
        if (found.url !== "") expect(found.url).toStartWith(bench.provider.url);
      }
    },
  );
});

test("one test of a key at a time: a second is refused with a time to come back", async () => {
  const [key, other] = [await keyOf("head_ms=1500"), await keyOf(null)];
  const seen = watch(bench);
  const first = run(key, { model: MODEL });
  await until("the first test has called", () => seen.calls().length === 1);
  const [second, elsewhere] = await Promise.all([run(key, { model: MODEL }), run(other, { model: MODEL })]);
  expect([second.status, second.body.error.code, second.headers.get("retry-after")]).toEqual([
    503,
    "service_unavailable",
    "1",
  ]);
  expect([(await first).body.success, elsewhere.body.success]).toEqual([true, true]);
  expect((await testResult(key, { model: MODEL })).success).toBe(true);
});

test("a repeat with the same Idempotency-Key makes no second call", async () => {
  const key = await keyOf(null);
  const seen = watch(bench);
  const headers = { "idempotency-key": `test-${fresh()}` };
  const path = `/x-keys/${key.id}/test`;
  const [first, again] = [
    await bench.call(owner.key, "POST", path, { model: MODEL }, { headers }),
    await bench.call(owner.key, "POST", path, { model: MODEL }, { headers }),
  ];
  expect([again.body, seen.calls().length]).toEqual([first.body, 1]);
});
