// POST /x-conf and GET /x-conf: each field, the mapper syntax, that a refused request changes nothing, and what of Root's reaches
// others. Keys that sleep and wake are in conf-keys.test.ts, cascades as accounts see them in cascades.test.ts.

import { describe, expect, test } from "bun:test";
import { type Account, type Answer, fresh, type Json, MODEL, until } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { expectError, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = preparedEach(() => bench.owner());
/** A child of the Owner, and its child. */
const team = preparedEach(() => bench.subaccount(owner));
const member = preparedEach(() => bench.subaccount(team, { CreditGranted: 2 }));

const call = (method: string, path: string, body?: object, key = owner.key) =>
  bench.call(key, method, path, body);
const conf = (body: object, key?: string) => call("POST", "/x-conf", body, key);
/** The same, where it must work: its answer. */
async function applied(body: object, key?: string): Promise<Json> {
  const answer = await conf(body, key);
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"success":true')]);
  return answer.body;
}
const config = (body: object) => call("PUT", "/x-config", body);
const read = async (): Promise<Json> => (await call("GET", "/x-conf")).body;
/** An account's mapper and limits, as they are in effect for it. */
const inEffect = async ({ id }: Account): Promise<Json> =>
  (await call("GET", `/x-dna/${id}`, undefined, bench.rootKey)).body[0];
const limits = async (account: Account): Promise<Json> => (await inEffect(account)).ModelLimits;
/** The model that a request of the account goes to, or why it goes nowhere. */
async function served(account: Account, model: string): Promise<string> {
  const { status, headers, body } = await bench.chat(account.key, "[[output=1]]", { model });
  return status === 200 ? headers.get("x-arbor-model")! : body.error.code;
}

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

  test("LevelMapper: all descendants share the Owner's value and cannot override it", async () => {
    await bench.level(owner, 4, 1);
    expect(await applied({ LevelMapper: `${MODEL}=4` })).toEqual({
      success: true,
      LevelMapper: { "*": 1, [MODEL]: 4 },
    });
    for (const account of [team, member]) {
      expect((await bench.chat(account.key, "[[output=1]]")).headers.get("x-arbor-level")).toBe("4");
      expectError(
        await bench.call(account.key, "PUT", `/x-users/${account.id}`, { LevelMapper: "*=1" }),
        403,
        "field_not_settable",
      );
    }
  });

  test("ModelFailover: primary=backup1|backup2|backup3", async () => {
    expect(await applied({ ModelFailover: "gpt-4o=a|b|c, claude*=d" })).toEqual({
      success: true,
      ModelFailover: { "gpt-4o": ["a", "b", "c"], "claude*": ["d"] },
    });
    expect((await applied({ ModelFailover: "-gpt-4o" })).ModelFailover).toEqual({ "claude*": ["d"] });
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
      ...{ LoadKeys: true, SaveCache: true, Resources: "/v1/*", ModelMapper: "a=b", LevelMapper: "a=1" },
      ...{ ModelFailover: "a=b", SwitchOver: "1=2" },
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
  // No server listens where the only key of Level 41 leads.
  await bench.level(owner, 41, 1, { Provider: "http://127.0.0.1:9" });
  await config({ PRICING: { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } } });
  await applied({ LevelMapper: "stranded=41" });
  expect(await served(team, "stranded")).toBe("upstream_failed");
  await applied({ ModelFailover: `stranded=${MODEL}` });
  expect(await served(team, "stranded")).toBe(MODEL);
  await applied({ ModelFailover: "-stranded", SwitchOver: "41=1" });
  expect(await served(team, "stranded")).toBe("stranded");
});

test("GET shows Root, and nobody else, whether the operation log is written", async () => {
  const shown = async (key: string) => (await call("GET", "/x-conf", undefined, key)).body.LogEnable;
  expect([await shown(bench.rootKey), await shown(owner.key)]).toEqual([true, undefined]);
  await applied({ LogEnable: false }, bench.rootKey);
  expect(await shown(bench.rootKey)).toBe(false);
  await applied({ LogEnable: true }, bench.rootKey);
  expect(await shown(bench.rootKey)).toBe(true);
});

describe("a refused request changes nothing:", () => {
  const good = {
    ...{ LoadKeys: true, SaveCache: true, Resources: "/v1/models", ModelMapper: "good=model" },
    ...{ LevelMapper: "good=3", ModelFailover: "good=backup", SwitchOver: "8=9" },
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
      return { history, routing, asleep: SleepingKeys.length, mapper: (await inEffect(team)).ModelMapper };
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
    ...{ action: "auto_config", operator_id: owner.id, target_id: owner.id, target_type: "config" },
    ...{ status: "success" },
    details: 'ModelMapper: {"a":"b"} → {"a":"c"}; DelKeys: true',
  });
});

describe("Mapper syntax", () => {
  test.each<[string, string, Json]>([
    ["pattern=target adds", "c=d", { a: "b", c: "d" }],
    ["pattern=target updates", "a=c", { a: "c" }],
    ["-pattern deletes", "-a", {}],
    ["-pattern of what is not there harms nothing", "-zzz", { a: "b" }],
    ["combinations are separated by commas", " c = d , -a, e=f ,", { c: "d", e: "f" }],
    ["of one pattern the last word counts", "c=d, -c, a=x, a=y", { a: "y" }],
    ["nothing at all changes nothing", "", { a: "b" }],
  ])("%s", async (_, text, expected) => {
    await applied({ ModelMapper: "a=b" });
    expect((await applied({ ModelMapper: text })).ModelMapper).toEqual(expected);
    expect((await read()).ModelMapper).toEqual(expected);
  });

  test("more than 1024 entries in all are refused, and nothing changes", async () => {
    const entries = (from: number) => Array.from({ length: 600 }, (_, i) => `m${from + i}=x`).join(",");
    await applied({ ModelMapper: entries(0) });
    const answer = await conf({ ModelMapper: entries(600), SwitchOver: "1=2" });
    properError(answer);
    expect(answer.body.error.message).toContain("1024");
    const { ModelMapper, SwitchOver } = await read();
    expect([Object.keys(ModelMapper).length, SwitchOver]).toEqual([600, {}]);
  });

  test("two at once lose nothing of each other", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    await Promise.all(names.map((name) => applied({ ModelMapper: `${name}=x`, LevelMapper: `${name}=1` })));
    expect((await read()).ModelMapper).toEqual(Object.fromEntries(names.map((name) => [name, "x"])));
  });
});

describe("ModelLimits", () => {
  const two = { a: { rpm: 1, tpm: 2 }, b: { rpd: 3 } };

  test.each<[string, unknown, Json]>([
    [
      "an object merges, figure by figure",
      { a: { rpm: 9 }, c: { tpd: 1 } },
      { a: { rpm: 9, tpm: 2 }, b: { rpd: 3 }, c: { tpd: 1 } },
    ],
    ["the text of an object merges as well", '{"c":{"rph":1}}', { ...two, c: { rph: 1 } }],
    ["* clears all", "*", {}],
    ["-model, -model2 deletes those", "-a, -b", {}],
    ["-model deletes that one", "-a", { b: { rpd: 3 } }],
  ])("%s, for the Owner and for all below", async (_, given, expected) => {
    await applied({ ModelLimits: two });
    expect((await applied({ ModelLimits: given })).ModelLimits).toEqual(expected);
    for (const account of [team, member]) expect(await limits(account)).toEqual(expected);
  });

  test.each<[unknown]>([
    ["a"],
    ["a=1"],
    [{ a: { rps: 1 } }],
    [{ a: { rpm: -1 } }],
    [{ a: { rpm: 1.5 } }],
    [{ a: 1 }],
    ["{"],
  ])("%j is 400, and nothing changes", async (given) => {
    await applied({ ModelLimits: two });
    properError(await conf({ ModelLimits: given }));
    expect((await read()).ModelLimits).toEqual(two);
  });
});

describe("Root", () => {
  test("a Root update of limits likewise, and what Root deletes is deleted there", async () => {
    const other = await bench.owner();
    const stranger = await bench.subaccount(other);
    const name = `for-all-${fresh()}`;
    await applied({ ModelLimits: { [name]: { rpm: 1 } } }, bench.rootKey);
    for (const account of [owner, team, member, other, stranger]) {
      expect((await limits(account))[name]).toEqual({ rpm: 1 });
    }
    expect((await read()).ModelLimits).toEqual({});
    await applied({ ModelLimits: `-${name}` }, bench.rootKey);
    expect(await limits(stranger)).toEqual({});
  });

  test("nothing else of Root's reaches anybody: its Levels, backups, paths and prices are its own", async () => {
    const before = await read();
    const all = {
      LevelMapper: `${MODEL}=99`,
      ModelFailover: `${MODEL}=none`,
      SwitchOver: "1=99",
      Resources: "/v1/models",
    };
    await applied(all, bench.rootKey);
    await bench.call(bench.rootKey, "PUT", "/x-config", {
      PRICING: { ChatPricing: { "*": { InputText: 9 } } },
      USER_API_BALANCE: 1_000_000,
    });
    expect(await read()).toEqual(before);
    const answer = await bench.chat(team.key, "[[prompt=1000 output=0]]");
    expect([answer.headers.get("x-arbor-level"), answer.headers.get("x-arbor-cost")]).toEqual(["1", "0.001"]);
    const keys = [
      "LEVEL_MAPPER",
      "MODEL_FAILOVER",
      "SWITCH_OVER",
      "RESOURCES",
      "PRICING",
      "USER_API_BALANCE",
    ];
    // And what an Owner resets goes back to what is built in, not to Root's.
    const reset = await bench.call(owner.key, "DELETE", "/x-config", { keys });
    expect(Object.values(reset.body.configs)).toEqual([{}, {}, {}, {}, "", 0]);
    await bench.call(bench.rootKey, "DELETE", "/x-config", { keys });
  });
});
