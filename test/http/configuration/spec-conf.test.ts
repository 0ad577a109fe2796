// The specification's tables of batch configuration: one test for each row and each sentence, through HTTP. Keys that sleep
// and wake are looked at closer in conf.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { type Account, type Answer, fresh, type Json, MODEL, type Owner, until } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { batch } from "../batch.ts";
import { properError } from "../proper.ts";

let owner: Owner;
/** A child of the Owner, and its child. */
let team: Account;
let member: Account;
const bench = useBench();
beforeEach(async () => {
  owner = await bench.owner();
  team = await bench.subaccount(owner);
  member = await bench.subaccount(team, { CreditGranted: 2 });
});

const { conf, applied, config, read, mapper, limits, own, served } = batch(() => ({ bench, owner }));

/** Lets the only key of a Level fall asleep. */
async function sleeper(level: number): Promise<number> {
  const [key] = await bench.level(owner, level, 1);
  await config({ LEVEL_MAPPER: `*=1,asleep=${level}`, PRICING: { ChatPricing: { "*": { InputText: 1 } } } });
  await bench.chat(team.key, "[[fault=401]]", { model: "asleep" });
  await until("the key sleeps", async () => (await read()).SleepingKeys.length === 1);
  return key!.id;
}

describe("GET /x-conf", () => {
  test.each<[string, object, Json]>([
    ["Resources", { RESOURCES: "/v1/chat/*" }, { "/v1/chat/*": {} }],
    ["LevelMapper", { LEVEL_MAPPER: "gpt-*=2" }, { "gpt-*": 2 }],
    ["ModelMapper", { MODEL_MAPPER: "a=b" }, { a: "b" }],
    ["ModelFailover", { MODEL_FAILOVER: "a=b|c" }, { a: ["b", "c"] }],
    ["ModelLimits", { MODEL_LIMITS: { "gpt-*": { rpm: 3 } } }, { "gpt-*": { rpm: 3 } }],
    ["SwitchOver", { SWITCH_OVER: "1=2,2=3" }, { "1": 2, "2": 3 }],
    ["UserMinBalance", { USER_MIN_BALANCE: 1.5 }, 1.5],
    ["UserApiBalance", { USER_API_BALANCE: 0.25 }, 0.25],
  ])("%s", async (field, given, shown) => {
    await config(given);
    expect((await read())[field]).toEqual(shown);
  });

  test("SleepingKeys[]: ID, Name, Level, Provider, Status, SleepTimes, remaining sleep time", async () => {
    const id = await sleeper(5);
    expect((await read()).SleepingKeys).toEqual([
      {
        ID: id,
        Name: "",
        Level: 5,
        Provider: bench.provider.url,
        Status: true,
        SleepTimes: expect.any(Number),
        SleepSeconds: expect.any(Number),
        WakesAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        Reason: expect.any(String),
      },
    ]);
  });

  test("DisabledKeys[]", async () => {
    const [key] = await bench.level(owner, 6, 1, { Status: false });
    expect((await read()).DisabledKeys).toEqual([
      { ID: key!.id, Name: "", Level: 6, Provider: bench.provider.url, Status: false, SleepTimes: 0 },
    ]);
  });
});

describe("POST /x-conf", () => {
  test("LoadKeys: all keys are read again, none of them is lost, and those that sleep sleep on", async () => {
    await sleeper(5);
    const before = (await bench.call(owner.key, "GET", "/x-keys")).body;
    expect(await applied({ LoadKeys: true })).toEqual({ success: true, LoadKeys: "true" });
    expect((await bench.call(owner.key, "GET", "/x-keys")).body).toEqual(before);
    expect((await read()).SleepingKeys).toHaveLength(1);
    expect(await served(team, MODEL)).toBe(MODEL);
  });

  test("LogEnable: Root's switch of the operation log, for all Owners", async () => {
    const lines = async () => (await bench.call(owner.key, "GET", "/dashboard/logs")).body.total;
    await config({ USER_MIN_BALANCE: 1 });
    const before = await lines();
    expect(await applied({ LogEnable: false }, bench.rootKey)).toEqual({ success: true, LogEnable: "false" });
    await config({ USER_MIN_BALANCE: 2 });
    expect(await lines()).toBe(before);
    await applied({ LogEnable: true }, bench.rootKey);
    await config({ USER_MIN_BALANCE: 3 });
    expect(await lines()).toBe(before + 1);
  });

  test("LogEnable of an Owner: 403 not_root", async () => {
    properError(await conf({ LogEnable: true }), 403, "not_root");
  });

  test("SaveCache: lists show all that has happened, without the moment that they may trail", async () => {
    for (let i = 0; i < 3; i++) {
      await bench.chat(team.key, "[[prompt=1000 output=1000]]");
      expect(await applied({ SaveCache: true })).toEqual({ success: true, SaveCache: "true" });
      const [listed] = (await bench.call(owner.key, "GET", `/x-users?id=${team.id}`)).body;
      expect(listed.CreditUsed).toBeCloseTo(0.003 * (i + 1), 9);
    }
  });

  test("Resources: replaces the whitelist, and an empty text clears it", async () => {
    expect(await applied({ Resources: "/v1/models, /v1/chat/*" })).toEqual({
      success: true,
      Resources: { "/v1/models": {}, "/v1/chat/*": {} },
    });
    expect((await applied({ Resources: "/v1/models" })).Resources).toEqual({ "/v1/models": {} });
    expect(await served(team, MODEL)).toBe("path_not_allowed");
    expect((await applied({ Resources: "" })).Resources).toEqual({});
    expect(await served(team, MODEL)).toBe(MODEL);
  });

  test("ModelMapper: cascades to all descendants", async () => {
    await own(member, `fast=other,mine=${MODEL}`);
    expect(await applied({ ModelMapper: `fast=${MODEL}` })).toEqual({
      success: true,
      ModelMapper: { fast: MODEL },
    });
    expect(await mapper(team)).toEqual({ fast: MODEL });
    expect(await mapper(member)).toEqual({ fast: MODEL, mine: MODEL });
    expect(await served(member, "fast")).toBe(MODEL);
  });

  test("LevelMapper: all descendants share the Owner's value and cannot override it", async () => {
    await bench.level(owner, 4, 1);
    expect(await applied({ LevelMapper: `${MODEL}=4` })).toEqual({
      success: true,
      LevelMapper: { "*": 1, [MODEL]: 4 },
    });
    for (const account of [team, member]) {
      expect((await bench.chat(account.key, "[[output=1]]")).headers.get("x-arbor-level")).toBe("4");
      const answer = await bench.call(account.key, "PUT", `/x-users/${account.id}`, { LevelMapper: "*=1" });
      expect([answer.status, answer.body.error.code]).toEqual([403, "field_not_settable"]);
    }
  });

  test("ModelFailover: primary=backup1|backup2|backup3", async () => {
    expect(await applied({ ModelFailover: "gpt-4o=a|b|c, claude*=d" })).toEqual({
      success: true,
      ModelFailover: { "gpt-4o": ["a", "b", "c"], "claude*": ["d"] },
    });
    expect((await applied({ ModelFailover: "-gpt-4o" })).ModelFailover).toEqual({ "claude*": ["d"] });
  });

  test("ModelLimits: cascades to all descendants", async () => {
    const given = { [MODEL]: { rpm: 1 } };
    expect(await applied({ ModelLimits: given })).toEqual({ success: true, ModelLimits: given });
    for (const account of [team, member]) {
      expect(await limits(account)).toEqual(given);
      expect([await served(account, MODEL), await served(account, MODEL)]).toEqual([MODEL, "rpm_exceeded"]);
    }
  });

  test("DelKeys: all sleeping keys are removed from sleep", async () => {
    await sleeper(5);
    expect(await applied({ DelKeys: true })).toEqual({ success: true, DelKeys: "true" });
    expect((await read()).SleepingKeys).toEqual([]);
    expect(await served(team, "asleep")).toBe("asleep");
  });

  test("SwitchOver: in the mapper syntax", async () => {
    expect((await applied({ SwitchOver: "1=2, 2=3" })).SwitchOver).toEqual({ "1": 2, "2": 3 });
    expect((await applied({ SwitchOver: "-1, 3=4" })).SwitchOver).toEqual({ "2": 3, "3": 4 });
  });

  test.each(["LoadKeys", "SaveCache", "DelKeys"])(
    "%s false: nothing is done, and it is echoed",
    async (field) => {
      await sleeper(5);
      expect(await applied({ [field]: false })).toEqual({ success: true, [field]: "false" });
      expect((await read()).SleepingKeys).toHaveLength(1);
    },
  );

  test("all fields together are one version, and all are echoed", async () => {
    const version = async () =>
      (await bench.call(owner.key, "GET", "/x-config/history")).body.versions[0].version;
    const before = await version();
    const echoed = await applied({
      LoadKeys: true,
      SaveCache: true,
      Resources: "/v1/*",
      ModelMapper: "a=b",
      LevelMapper: "a=1",
      ModelFailover: "a=b",
      SwitchOver: "1=2",
      ModelLimits: { a: { rpm: 1 } },
      DelKeys: true,
    });
    expect(echoed).toEqual({
      success: true,
      LoadKeys: "true",
      SaveCache: "true",
      Resources: { "/v1/*": {} },
      ModelMapper: { a: "b" },
      LevelMapper: { "*": 1, a: 1 },
      ModelFailover: { a: ["b"] },
      SwitchOver: { "1": 2 },
      ModelLimits: { a: { rpm: 1 } },
      DelKeys: "true",
    });
    expect(await version()).toBe(before + 1);
  });
});

test("After an update, failover strategies are refreshed: the next request goes by them", async () => {
  // Nobody listens where the only key of Level 41 leads.
  await bench.level(owner, 41, 1, { Provider: "http://127.0.0.1:9" });
  await config({ PRICING: { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } } });
  await applied({ LevelMapper: "stranded=41" });
  expect(await served(team, "stranded")).toBe("upstream_failed");
  await applied({ ModelFailover: `stranded=${MODEL}` });
  expect(await served(team, "stranded")).toBe(MODEL);
  await applied({ ModelFailover: "-stranded", SwitchOver: "41=1" });
  expect(await served(team, "stranded")).toBe("stranded");
});

describe("a refused request changes nothing:", () => {
  const good = {
    LoadKeys: true,
    SaveCache: true,
    Resources: "/v1/models",
    ModelMapper: "good=model",
    LevelMapper: "good=3",
    ModelFailover: "good=backup",
    SwitchOver: "8=9",
    ModelLimits: { good: { rpm: 1 } },
    DelKeys: true,
  };

  test.each<[string, unknown, string]>([
    ["LoadKeys", "true", "invalid_parameter"],
    ["LogEnable", false, "not_root"],
    ["SaveCache", 1, "invalid_parameter"],
    ["Resources", "/x-users", "invalid_parameter"],
    ["ModelMapper", "nonsense", "invalid_parameter"],
    ["LevelMapper", "a=one", "invalid_parameter"],
    ["ModelFailover", "a=a", "invalid_parameter"],
    ["SwitchOver", "1=1", "invalid_parameter"],
    ["ModelLimits", { a: { rpm: "1" } }, "invalid_parameter"],
    ["DelKeys", null, "invalid_parameter"],
    ["Unknown", true, "unknown_field"],
  ])("%s: %j is wrong", async (field, value, code) => {
    await sleeper(5);
    const state = async () => {
      const history = (await bench.call(owner.key, "GET", "/x-config/history")).body;
      const { SleepingKeys, ...routing } = await read();
      return { history, routing, asleep: SleepingKeys.length, mapper: await mapper(team) };
    };
    const before = await state();
    const answer: Answer = await conf({ ...good, [field]: value });
    properError(answer, [code === "not_root" ? 403 : 400]);
    expect(answer.body.error).toMatchObject({ code, message: expect.stringContaining(field) });
    expect(await state()).toEqual(before);
  });
});

test("Operation log: auto_config, with what was and what is", async () => {
  await applied({ ModelMapper: "a=b" });
  await applied({ ModelMapper: "a=c", DelKeys: true });
  const [line] = (await bench.call(owner.key, "GET", "/dashboard/logs")).body.logs;
  expect(line).toMatchObject({
    action: "auto_config",
    operator_id: owner.id,
    target_id: owner.id,
    target_type: "config",
    status: "success",
    details: 'ModelMapper: {"a":"b"} → {"a":"c"}; DelKeys: true',
  });
});

test("Idempotency-Key: a repeat is answered as the first, and makes no second version", async () => {
  const sending = { headers: { "idempotency-key": fresh() } };
  const send = () => bench.call(owner.key, "POST", "/x-conf", { ModelMapper: "a=b" }, sending);
  const first = await send();
  await applied({ ModelMapper: "-a" });
  expect((await send()).body).toEqual(first.body);
  expect((await read()).ModelMapper).toEqual({});
});
