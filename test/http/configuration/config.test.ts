// GET, PUT, POST and DELETE /x-config: every key as it is set, shown and reset; what is refused; whose configuration it is. Maps
// and mail settings in force are in config-maps.test.ts, PRICING in pricing.test.ts.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = preparedEach(() => bench.owner());
const user = preparedEach(() => bench.subaccount(owner));

const call = (method: string, body?: object, key = owner.key) => bench.call(key, method, "/x-config", body);
const put = (body: object) => call("PUT", body);
const configs = async (key = owner.key): Promise<Json> => (await call("GET", undefined, key)).body.configs;

const DEFAULTS = {
  ...{
    MODEL_MAPPER: {},
    ...{ LEVEL_MAPPER: {}, SWITCH_OVER: {}, MODEL_FAILOVER: {}, RESOURCES: {}, MODEL_LIMITS: {} },
    LEVEL_AFFINITY: "on",
  },
  ...{ PRICING: "", USER_MIN_BALANCE: 0, USER_API_BALANCE: 0, SERVICE_MAIL: "" },
  ...{ EMAIL_SMTP: "", EMAIL_PORT: "", EMAIL_AUTH: "", EMAIL_PASS: "", EMAIL_TLS: false },
};

type Key = keyof typeof DEFAULTS;

describe("Owner configuration keys", () => {
  test.each<[Key, unknown, Json]>([
    ["MODEL_MAPPER", " a = b , c*=d", { a: "b", "c*": "d" }],
    ["LEVEL_MAPPER", "gpt-*=1, *=2", { "gpt-*": 1, "*": 2 }],
    ["SWITCH_OVER", "1=2,2=3", { "1": 2, "2": 3 }],
    [
      "RESOURCES",
      "/v1/models /v1/chat/*,/v1/messages",
      { "/v1/models": {}, "/v1/chat/*": {}, "/v1/messages": {} },
    ],
    ["LEVEL_AFFINITY", "off", "off"],
    ["LEVEL_AFFINITY", "on", "on"],
    ["LEVEL_AFFINITY", "", "on"],
    ["MODEL_LIMITS", '{"a":{"rpm":1}}', { a: { rpm: 1 } }],
    ["MODEL_LIMITS", { a: { rpm: 1, tpd: 2 } }, { a: { rpm: 1, tpd: 2 } }],
    ["PRICING", '{"CallPricing":{"a":{"Call":1}}}', '{"CallPricing":{"a":{"Call":1}}}'],
    ["SERVICE_MAIL", "gate@acme.example", "gate@acme.example"],
    ["EMAIL_SMTP", "smtp.acme.example", "smtp.acme.example"],
    ["EMAIL_PORT", "2525", "2525"],
    ["EMAIL_AUTH", "mailer", "mailer"],
    ["EMAIL_PASS", "correct horse", "********"],
    ["EMAIL_TLS", "true", true],
    ["EMAIL_TLS", false, false],
    ["EMAIL_PORT", 465, "465"],
    ["EMAIL_PORT", "", ""],
    ["EMAIL_PASS", "", ""],
    ["SERVICE_MAIL", "", ""],
    ["RESOURCES", { "/v1/*": {} }, { "/v1/*": {} }],
    ["RESOURCES", "", {}],
    ["USER_MIN_BALANCE", 0, 0],
    ["USER_API_BALANCE", 0.000000001, 0.000000001],
    ["MODEL_FAILOVER", "a=b|c", { a: ["b", "c"] }],
    ["USER_MIN_BALANCE", 1.5, 1.5],
    ["USER_API_BALANCE", 0.25, 0.25],
  ])("%s: %j is set, shown as %j, and reset to its default", async (key, value, shown) => {
    const answered = (configs: object) => ({ success: true, oid: owner.id, configs });
    expect((await put({ [key]: value })).body).toEqual(answered({ [key]: shown }));
    expect((await configs())[key]).toEqual(shown);
    expect((await call("DELETE", { keys: [key] })).body).toEqual(answered({ [key]: DEFAULTS[key] }));
    expect((await configs())[key]).toEqual(DEFAULTS[key]);
  });

  test("RESOURCES: each item is validated as a legal path", async () => {
    for (const RESOURCES of ["/v1/chat/*,/x-users", "v1/models", "/v1/", "/v1/a b?c", { "/nope": {} }]) {
      const answer = await put({ MODEL_MAPPER: "a=b", RESOURCES });
      properError(answer);
      expect(answer.body.error.message).toContain('"RESOURCES"');
    }
    expect(await configs()).toMatchObject({ RESOURCES: {}, MODEL_MAPPER: {} });
  });

  test("MODEL_LIMITS: a text replaces, an object gives incremental override", async () => {
    await put({ MODEL_LIMITS: { a: { rpm: 1, tpm: 2 }, b: { rpd: 3 } } });
    const merged = await put({ MODEL_LIMITS: { a: { rpm: 9 }, c: { tph: 4 } } });
    expect(merged.body.configs.MODEL_LIMITS).toEqual({ a: { rpm: 9, tpm: 2 }, b: { rpd: 3 }, c: { tph: 4 } });
    const replaced = await put({ MODEL_LIMITS: '{"c":{"rpm":1}}' });
    expect(replaced.body.configs.MODEL_LIMITS).toEqual({ c: { rpm: 1 } });
    expect((await put({ MODEL_LIMITS: "" })).body.configs.MODEL_LIMITS).toEqual({});
  });

  test.each<[unknown, string]>([
    ["{", "JSON"],
    ["[]", "object"],
    [{ a: 1 }, '"a"'],
    [{ a: { rps: 1 } }, "rps"],
    [{ a: { rpm: -1 } }, "rpm"],
    [{ a: { rpm: 1.5 } }, "rpm"],
    ['{"a":{"rpm":"1"}}', "rpm"],
    ['{"__proto__":{"rpm":1}}', "__proto__"],
    ["*", "JSON"],
  ])("MODEL_LIMITS: %j is 400, and the message says why", async (MODEL_LIMITS, why) => {
    await put({ MODEL_LIMITS: { kept: { rpm: 1 } } });
    const answer = await put({ MODEL_LIMITS });
    properError(answer);
    expect(answer.body.error.message).toContain('"MODEL_LIMITS"');
    expect(answer.body.error.message).toContain(why);
    expect((await configs()).MODEL_LIMITS).toEqual({ kept: { rpm: 1 } });
  });
});

describe("System configuration", () => {
  test("GET /x-config: success, oid, configs: every key, as it is where nothing was ever set", async () => {
    const { body } = await bench.call(bench.rootKey, "POST", "/x-users", userBody());
    expect((await call("GET", undefined, body.User.SecretKey)).body).toEqual({
      success: true,
      oid: body.User.ID,
      configs: DEFAULTS,
    });
  });

  test.each(["PUT", "POST"])("%s /x-config: any of the keys; the others stay", async (method) => {
    await put({ MODEL_MAPPER: "a=b", SWITCH_OVER: "1=2" });
    const { body } = await call(method, { SWITCH_OVER: "3=4", EMAIL_TLS: true });
    expect(body.configs).toEqual({ SWITCH_OVER: { "3": 4 }, EMAIL_TLS: true });
    expect((await configs()).MODEL_MAPPER).toEqual({ a: "b" });
  });

  test("PUT /x-config of all that GET showed changes nothing, the password included", async () => {
    await put({
      MODEL_MAPPER: "a=b",
      MODEL_LIMITS: { a: { rpm: 1 } },
      EMAIL_PASS: "secret",
      RESOURCES: "/v1/*",
    });
    const before = await configs();
    expect((await put(before)).status).toBe(200);
    expect(await configs()).toEqual(before);
  });

  test("updates only the Owner's own configuration: no other Owner's, and none of an account", async () => {
    const other = await bench.owner();
    const before = await configs(other.key);
    await put({ MODEL_MAPPER: "a=b", MODEL_LIMITS: { a: { rpm: 1 } } });
    expect(await configs(other.key)).toEqual(before);
    const [record] = (await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body;
    expect([record.ModelMapper, record.ModelLimits]).toEqual(["", {}]);
  });

  test("DELETE /x-config: each of the keys is reset, the others stay", async () => {
    await put({ MODEL_MAPPER: "a=b", SWITCH_OVER: "1=2", USER_MIN_BALANCE: 3 });
    const { status, body } = await call("DELETE", {
      keys: ["MODEL_MAPPER", "USER_MIN_BALANCE", "MODEL_MAPPER"],
    });
    expect([status, body.configs]).toEqual([200, { MODEL_MAPPER: {}, USER_MIN_BALANCE: 0 }]);
    expect(await configs()).toMatchObject({ MODEL_MAPPER: {}, SWITCH_OVER: { "1": 2 } });
  });

  test.each<[unknown, string, string]>([
    [["MODEL_MAPPER", "NOTHING"], "invalid_parameter", '"NOTHING"'],
    [["model_mapper"], "invalid_parameter", '"model_mapper"'],
    [["LOG_ENABLE"], "invalid_parameter", '"LOG_ENABLE"'],
    [["__proto__"], "invalid_parameter", '"__proto__"'],
    [[], "invalid_parameter", "one or more"],
    ["MODEL_MAPPER", "invalid_parameter", "keys"],
    [[1], "invalid_parameter", "keys"],
    [undefined, "missing_parameter", "keys"],
  ])("DELETE /x-config of %j is 400 %s, and nothing is reset", async (keys, code, why) => {
    await put({ MODEL_MAPPER: "a=b" });
    const answer = await call("DELETE", { keys });
    properError(answer);
    expect(answer.body.error).toMatchObject({ code, message: expect.stringContaining(why) });
    expect((await configs()).MODEL_MAPPER).toEqual({ a: "b" });
  });

  test("DELETE /x-config without a body is 400, and says what it must have", async () => {
    await put({ MODEL_MAPPER: "a=b" });
    const answer = await call("DELETE");
    properError(answer);
    expect(answer.body.error).toMatchObject({
      code: "invalid_json",
      message: expect.stringContaining("empty"),
    });
    expect((await configs()).MODEL_MAPPER).toEqual({ a: "b" });
  });

  test("a key that is not known is 400 unknown_field, and the message has all that are", async () => {
    for (const key of ["ModelMapper", "LOG_ENABLE", "oid"]) {
      const answer = await put({ MODEL_MAPPER: "a=b", [key]: "a=b" });
      properError(answer);
      const { code, message } = answer.body.error;
      expect([code, message]).toEqual(["unknown_field", expect.stringContaining(`"${key}"`)]);
      for (const known of Object.keys(DEFAULTS)) expect(message).toContain(known);
    }
    expect((await configs()).MODEL_MAPPER).toEqual({});
  });

  test("DELETE /x-config is logged as update_config", async () => {
    await put({ MODEL_MAPPER: "a=b" });
    await call("DELETE", { keys: ["MODEL_MAPPER"] });
    const [line] = (await bench.call(owner.key, "GET", "/dashboard/logs")).body.logs;
    expect(line).toMatchObject({ action: "update_config", details: 'MODEL_MAPPER: {"a":"b"} → {}' });
  });
});
