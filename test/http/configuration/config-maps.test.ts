// PUT and POST /x-config: the maps and the settings of mail and balances, checked as a whole before anything changes, in force
// with the next request.

import { describe, expect, test } from "bun:test";
import { MODEL } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

const put = (body: object, key = owner.key) => bench.call(key, "PUT", "/x-config", body);
const price = (InputText: number) => ({ ChatPricing: { [MODEL]: { InputText, OutputText: 0 } } });

test("answers the changed keys as they now are, mappers as objects and PRICING as text", async () => {
  const { status, body } = await put({ LEVEL_MAPPER: " gpt-* = 1 , *=1", PRICING: price(3) });
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    oid: owner.id,
    configs: { LEVEL_MAPPER: { "gpt-*": 1, "*": 1 }, PRICING: JSON.stringify(price(3)) },
  });
  expect((await put({ PRICING: JSON.stringify(price(4)) })).body.configs).toEqual({
    PRICING: JSON.stringify(price(4)),
  });
});

test("a change is in force with the next request, for every account of the tree and no other", async () => {
  const other = await bench.owner();
  const stranger = await bench.subaccount(other);
  const child = await bench.subaccount(user, { CreditGranted: 2 });
  const costs = async () => {
    const answers = [];
    for (const one of [user, child, stranger]) {
      answers.push((await bench.chat(one.key, "[[prompt=1000 output=1]]")).headers.get("x-arbor-cost"));
    }
    return answers;
  };
  await put({ PRICING: price(10) });
  expect(await costs()).toEqual(["0.01", "0.01", "0.001002"]);
  await put({ PRICING: price(20) });
  expect(await costs()).toEqual(["0.02", "0.02", "0.001002"]);
});

test("only an Owner, or Root, may: 403 not_owner", async () => {
  properError(await put({ LEVEL_MAPPER: "*=9" }, user.key), 403, "not_owner");
  expect((await put({ LEVEL_MAPPER: "*=9" }, bench.rootKey)).body).toMatchObject({ success: true, oid: 1 });
  // Root's own configuration is Root's alone.
  expect((await bench.chat(user.key, "[[output=1]]")).status).toBe(200);
});

test("one bad key and nothing changes", async () => {
  await put({ LEVEL_MAPPER: "*=1", PRICING: price(7) });
  for (const bad of [
    { LEVEL_MAPPER: "*=2", PRICING: { Wrong: {} } },
    { LEVEL_MAPPER: "bad", PRICING: price(8) },
    { LEVEL_MAPPER: "*=2", UNKNOWN: "x" },
  ]) {
    properError(await put(bad));
  }
  expect((await bench.chat(user.key, "[[prompt=1000]]")).headers.get("x-arbor-cost")).toBe("0.007");
});

test("an empty body says what may be given", async () => {
  const answer = await put({});
  properError(answer);
  expect(answer.body.error).toMatchObject({
    code: "missing_parameter",
    message: expect.stringContaining("LEVEL_MAPPER"),
  });
});

describe("a map", () => {
  test.each<[string, string, object]>([
    ["MODEL_MAPPER", " small = bench-model , big*=other ", { small: "bench-model", "big*": "other" }],
    ["LEVEL_MAPPER", "*=1,other=-5", { "*": 1, other: -5 }],
    ["SWITCH_OVER", "1=2, 2=3, 3=1", { "1": 2, "2": 3, "3": 1 }],
    ["MODEL_FAILOVER", "a=b|c, d*=e", { a: ["b", "c"], "d*": ["e"] }],
  ])(
    "%s is written as text or object, with PUT or POST, and shown as an object",
    async (key, text, object) => {
      for (const method of ["PUT", "POST"]) {
        for (const value of [text, object]) {
          const { status, body } = await bench.call(owner.key, method, "/x-config", { [key]: value });
          expect([status, body]).toEqual([200, { success: true, oid: owner.id, configs: { [key]: object } }]);
        }
        for (const none of ["", {}]) {
          const { body } = await bench.call(owner.key, method, "/x-config", { [key]: none });
          expect(body.configs).toEqual({ [key]: {} });
        }
      }
      await put({ LEVEL_MAPPER: "*=1" });
    },
  );

  test("replaces the former one, and the other maps stay", async () => {
    await put({ MODEL_MAPPER: "a=b,c=d", SWITCH_OVER: "1=2", MODEL_FAILOVER: "a=b" });
    await put({ MODEL_MAPPER: { e: "f" } });
    const conf = (await bench.call(owner.key, "GET", "/x-conf")).body;
    expect([conf.ModelMapper, conf.SwitchOver, conf.ModelFailover]).toEqual([
      { e: "f" },
      { "1": 2 },
      { a: ["b"] },
    ]);
    await put({ MODEL_MAPPER: "", SWITCH_OVER: "", MODEL_FAILOVER: "" });
  });

  test.each<[string, unknown, string]>([
    ["MODEL_MAPPER", "-a", "deletes"],
    ["MODEL_MAPPER", "a=b,nonsense", "nonsense"],
    ["MODEL_MAPPER", { a: 1 }, "name of a model"],
    ["MODEL_MAPPER", '{"MODEL_MAPPER":{"__proto__":"b"}}', "no name"],
    ["LEVEL_MAPPER", { a: "one" }, "integer"],
    ["SWITCH_OVER", "1=1", "itself"],
    ["SWITCH_OVER", { gpt: 1 }, "no Level"],
    ["MODEL_FAILOVER", { a: ["b", "b"] }, "twice"],
    ["MODEL_FAILOVER", "a=b|a", "itself"],
    ["MODEL_FAILOVER", { a: { b: 1 } }, "list"],
  ])("%s: %j is 400, says why and changes nothing", async (key, value, why) => {
    const before = (await bench.call(owner.key, "GET", "/x-conf")).body;
    const text =
      typeof value === "string" && value.startsWith("{") ? value : JSON.stringify({ [key]: value });
    const answer = await bench.call(owner.key, "PUT", "/x-config", text);
    properError(answer, 400, "invalid_parameter");
    expect(answer.body.error.message).toContain(`"${key}"`);
    expect(answer.body.error.message).toContain(why);
    expect((await bench.call(owner.key, "GET", "/x-conf")).body).toEqual(before);
  });

  test("MODEL_MAPPER is in force with the next request", async () => {
    const served = async (model: string) =>
      (await bench.chat(user.key, "[[output=1]]", { model })).headers.get("x-arbor-model");
    await put({ PRICING: price(1), MODEL_MAPPER: { "small*": MODEL } });
    expect(await served("small-one")).toBe(MODEL);
    await put({ MODEL_MAPPER: "" });
    const refused = await bench.chat(user.key, "hi", { model: "small-one" });
    expect(refused.body.error.code).toBe("model_not_priced");
  });

  test.each<[string, object, Record<"model" | "level", string>]>([
    ["SWITCH_OVER", { SWITCH_OVER: { "41": 1 } }, { model: "stranded", level: "1" }],
    ["MODEL_FAILOVER", { MODEL_FAILOVER: { "strand*": [MODEL] } }, { model: MODEL, level: "1" }],
  ])("%s is in force with the next request", async (_key, change, expected) => {
    // No server listens where the only key of Level 41 leads.
    await bench.call(owner.key, "POST", "/x-keys", {
      Level: 41,
      Provider: "http://127.0.0.1:9",
      SecretKey: "sk-leads-to-nowhere-0001",
    });
    const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } };
    await put({ LEVEL_MAPPER: "*=1,stranded=41", PRICING: pricing, SWITCH_OVER: "", MODEL_FAILOVER: "" });
    expect((await bench.chat(user.key, "hi", { model: "stranded" })).status).toBeGreaterThanOrEqual(502);
    await put(change);
    const { status, headers } = await bench.chat(user.key, "[[output=1]]", { model: "stranded" });
    expect(status).toBe(200);
    expect({ model: headers.get("x-arbor-model"), level: headers.get("x-arbor-level") }).toEqual(expected);
    await put({ LEVEL_MAPPER: "*=1", SWITCH_OVER: "", MODEL_FAILOVER: "" });
  });
});

describe("LEVEL_MAPPER", () => {
  test.each([
    ["an exact pattern goes before a wild one", "*=9,bench-model=1", "1"],
    ["the longest literal part goes first", "*=9,bench-*=1,b*=8", "1"],
    ["a negative Level is one", "*=1,other=-5", "1"],
  ])("%s: %s", async (_, LEVEL_MAPPER, level) => {
    expect((await put({ LEVEL_MAPPER })).status).toBe(200);
    expect((await bench.chat(user.key, "[[output=1]]")).headers.get("x-arbor-level")).toBe(level);
  });

  test.each(["*", "*=", "=1", "*=one", "*=1.5", "*=1=2", "-*", "*=99999999999"])(
    "%s is 400 and says why",
    async (LEVEL_MAPPER) => {
      const answer = await put({ LEVEL_MAPPER });
      properError(answer);
      expect(answer.body.error.message).toContain("LEVEL_MAPPER");
    },
  );

  test("an empty text clears it", async () => {
    expect((await put({ LEVEL_MAPPER: "" })).body.configs).toEqual({ LEVEL_MAPPER: {} });
    expect((await bench.chat(user.key, "hi")).body.error.code).toBe("model_not_found");
    await put({ LEVEL_MAPPER: "*=1" });
  });
});

describe("mail, balances and resources", () => {
  test.each<[string, unknown]>([
    ["RESOURCES", "/v1/chat,/x-users"],
    ["USER_MIN_BALANCE", -1],
    ["USER_API_BALANCE", "1"],
    ["SERVICE_MAIL", "nobody"],
    ["EMAIL_SMTP", "smtp acme"],
    ["EMAIL_PORT", "65536"],
    ["EMAIL_PORT", 0],
    ["EMAIL_AUTH", "two words"],
    ["EMAIL_PASS", "x".repeat(1_025)],
    ["EMAIL_TLS", "yes"],
  ])("%s: %j is 400, and nothing else of the request is done", async (key, value) => {
    // What sleeps wakes sooner with every second.
    const conf = async () => ({ ...(await bench.call(owner.key, "GET", "/x-conf")).body, SleepingKeys: [] });
    const before = await conf();
    const answer = await put({ SWITCH_OVER: "70=71", [key]: value });
    properError(answer);
    expect(answer.body.error.message).toContain(key);
    expect(await conf()).toEqual(before);
  });

  test("the mask of a password leaves it as it is", async () => {
    await put({ EMAIL_PASS: "first", EMAIL_AUTH: "mailer" });
    expect((await put({ EMAIL_PASS: "********" })).body.configs).toEqual({ EMAIL_PASS: "********" });
    await put({ EMAIL_PASS: "" });
    expect((await put({ EMAIL_PASS: "********" })).body.configs).toEqual({ EMAIL_PASS: "" });
  });

  test("RESOURCES and thresholds are in force, and GET /x-conf shows them", async () => {
    const refused = async () => (await bench.chat(user.key, "[[output=1]]")).body.error?.code;
    await put({ RESOURCES: "/v1/messages", USER_API_BALANCE: 0, PRICING: price(1), LEVEL_MAPPER: "*=1" });
    expect(await refused()).toBe("path_not_allowed");
    await put({ RESOURCES: "", USER_API_BALANCE: 1_000, USER_MIN_BALANCE: 2 });
    expect(await refused()).toBe("insufficient_balance");
    expect((await bench.call(owner.key, "GET", "/x-conf")).body).toMatchObject({
      Resources: {},
      UserApiBalance: 1_000,
      UserMinBalance: 2,
    });
    await put({ USER_API_BALANCE: 0, USER_MIN_BALANCE: 0 });
    expect(await refused()).toBeUndefined();
  });
});
