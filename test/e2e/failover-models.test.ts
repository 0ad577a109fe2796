// Backup models: when one stands in, what it is held and charged at, whom it is refused to, and how many attempts there
// are in all. Which models a key does not have is remembered for a while.

import { describe, expect, test } from "bun:test";
import { type Account, charges, type Json, type Owner, until } from "./harness.ts";
import { ask, fares, watch } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({ settings: { ALLOW_CLOCK_OFFSET: "1" } });

/** USD per million tokens; `dear` costs a dollar a token. */
const PRICING = {
  ChatPricing: {
    a: { InputText: 1, OutputText: 2 },
    b: { InputText: 10, OutputText: 20 },
    c: { InputText: 100, OutputText: 200 },
    dear: { InputText: 1_000_000, OutputText: 1_000_000 },
  },
};

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
}

/** Model a at Level 1 with `keys` keys; config as given. */
async function createAccounts(
  config: object,
  keys = 1,
  account: Record<string, unknown> = {},
): Promise<TestAccounts> {
  const owner = await bench.owner({ keys, pricing: PRICING, config });
  return { owner, user: await bench.subaccount(owner, account) };
}

const askFor = (user: Account, model = "a", more: object = {}) =>
  ask(bench, user, { said: "[[prompt=10 output=5]]", more: { model, ...more } });
const lastLine = async (user: Account): Promise<Json> => charges(await bench.ledger(user.key)).at(-1);
const fail = ({ owner }: TestAccounts, script: string | null = "fault=500") => {
  for (const secret of owner.secrets) bench.provider.behave(secret, script);
};

describe("a backup model", () => {
  test("answers when the first one's keys fail, under its own name and at its own price", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b", LEVEL_MAPPER: "a=1,b=2" });
    const [backup] = await bench.level(accounts.owner, 2, 1);
    fail(accounts);
    const seen = watch(bench);
    const answer = await askFor(accounts.user);
    expect(answer).toMatchObject({ result: "200", attempts: 2, model: "b", level: 2 });
    expect(seen.order(...accounts.owner.keys, backup!)).toBe("1 2");
    expect(seen.calls().map(({ model }) => model)).toEqual(["a", "b"]);
    // 10 x 10 + 5 x 20 millionths.
    expect(answer.headers.get("x-arbor-cost")).toBe("0.0002");
    expect(await lastLine(accounts.user)).toMatchObject({ model: "b", amount: -0.0002, prompt_tokens: 10 });
    expect(await bench.balance(accounts.user.key)).toBe(9.9998);
  });

  test("streams as well, and says so in its head", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b", LEVEL_MAPPER: "a=1,b=2" });
    await bench.level(accounts.owner, 2, 1);
    fail(accounts);
    const answer = await ask(bench, accounts.user, { stream: true, more: { model: "a" } });
    expect(answer).toMatchObject({ result: "200", attempts: 2, model: "b", level: 2 });
    expect(await lastLine(accounts.user)).toMatchObject({ model: "b", stream: true });
  });

  test("may be had from the very key that does not have the first one", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b" });
    fail(accounts, "model=a fault=404");
    expect(await askFor(accounts.user)).toMatchObject({ result: "200", attempts: 2, model: "b", level: 1 });
  });

  test("comes after three keys, not after all", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b", LEVEL_MAPPER: "a=1,b=2" }, 5);
    await bench.level(accounts.owner, 2, 1);
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject({ result: "200", attempts: 4, model: "b" });
  });

  test("comes after the chain where the three keys were all that its Level has", async () => {
    const accounts = await createAccounts(
      { MODEL_FAILOVER: "a=b", LEVEL_MAPPER: "a=1,b=2", SWITCH_OVER: "1=3" },
      3,
    );
    await bench.level(accounts.owner, 2, 1);
    await bench.level(accounts.owner, 3, 1);
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject({ result: "200", attempts: 4, model: "a", level: 3 });
  });

  test("has a chain of Levels of its own", async () => {
    const config = { MODEL_FAILOVER: "a=b", LEVEL_MAPPER: "a=1,b=2", SWITCH_OVER: "2=3" };
    const accounts = await createAccounts(config);
    const [second] = await bench.level(accounts.owner, 2, 1);
    await bench.level(accounts.owner, 3, 1);
    fail(accounts);
    bench.provider.behave(second!.secret, "fault=529");
    expect(await askFor(accounts.user)).toMatchObject({ result: "200", attempts: 3, model: "b", level: 3 });
  });

  test("does not stand in for a request whose content was refused", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b" });
    fail(accounts, "fault=400.context");
    expect(await askFor(accounts.user)).toMatchObject({ result: "400 context_length_exceeded", attempts: 1 });
  });
});

describe("a backup model is passed over, and the next one tried, when", () => {
  const toThird = { result: "200", attempts: 2, model: "c" };
  const config = (second: string) => ({
    MODEL_FAILOVER: `a=${second}|c`,
    LEVEL_MAPPER: `a=1,${second}=2,c=2`,
  });

  test("the balance does not cover it", async () => {
    const accounts = await createAccounts(config("dear"));
    await bench.level(accounts.owner, 2, 1);
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject(toThird);
  });

  test("its own limits are used up", async () => {
    const accounts = await createAccounts(config("b"), 1, { ModelLimits: { b: { rpm: 1 } } });
    await bench.level(accounts.owner, 2, 1);
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject({ result: "200", model: "b" });
    expect(await askFor(accounts.user)).toMatchObject(toThird);
  });

  test("the account may not use it", async () => {
    const accounts = await createAccounts(config("b"), 1, { AllowModels: "a,c" });
    await bench.level(accounts.owner, 2, 1);
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject(toThird);
  });

  test("its Level has no usable key", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b|c", LEVEL_MAPPER: "a=1,b=2,c=3" });
    await bench.level(accounts.owner, 2, 1, { Status: false });
    await bench.level(accounts.owner, 3, 1);
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject(toThird);
  });
});

describe("the hold", () => {
  test("is the first model's again when the request comes back to it, and so is the price", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b", LEVEL_MAPPER: "a=1,b=2" });
    await bench.level(accounts.owner, 2, 1, { Status: false });
    bench.provider.behave(accounts.owner.secrets[0]!, "fault=429 retry_ms=100", 1);
    const answer = await askFor(accounts.user);
    expect(answer).toMatchObject({ result: "200", attempts: 2, model: "a", level: 1 });
    expect(answer.headers.get("x-arbor-cost")).toBe("0.00002");
    expect(await lastLine(accounts.user)).toMatchObject({ model: "a", amount: -0.00002 });
  });

  test("is free when nobody answers, and nothing is charged", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b|c" });
    fail(accounts);
    expect(await askFor(accounts.user)).toMatchObject({ result: "502 upstream_failed" });
    expect(await bench.balance(accounts.user.key)).toBe(10);
    fail(accounts, null);
    await bench.level(accounts.owner, 1, 1);
    const whole = { max_tokens: 1_000_000_000 };
    await until("it is free", async () => (await askFor(accounts.user, "a", whole)).result === "200");
  });

  test("counts the request once in the account's windows, however many models it went through", async () => {
    const accounts = await createAccounts({ MODEL_FAILOVER: "a=b|c", LEVEL_MAPPER: "a=1,*=2" }, 1, {
      RPM: 2,
    });
    await bench.level(accounts.owner, 2, 2);
    fail(accounts);
    for (let i = 0; i < 2; i++) expect((await askFor(accounts.user)).result).toBe("200");
    expect((await askFor(accounts.user)).result).toBe("429 rpm_exceeded");
  });
});

describe("there are eight attempts at most", () => {
  test("over Levels and models, one kept for each backup model", async () => {
    const config = { MODEL_FAILOVER: "a=b|c", LEVEL_MAPPER: "a=1,b=2,c=3", SWITCH_OVER: "1=4,2=5,3=6" };
    const accounts = await createAccounts(config, 4);
    const more = await Promise.all([2, 3, 4, 5, 6].map((level) => bench.level(accounts.owner, level, 4)));
    fail(accounts);
    for (const { secret } of more.flat()) bench.provider.behave(secret, "fault=500");
    const seen = watch(bench);
    expect(await askFor(accounts.user)).toMatchObject({ result: "502 upstream_failed", attempts: 8 });
    expect(seen.calls().map(({ model }) => model)).toEqual([..."aaabbbcc"]);
  });
});

describe("a key without the model", () => {
  test("is not asked for it for ten minutes, but for others, and then again", async () => {
    const accounts = await createAccounts({}, 2);
    const { owner, user } = accounts;
    const [first, second] = owner.keys as [(typeof owner.keys)[0], (typeof owner.keys)[0]];
    bench.provider.behave(first.secret, "model=a fault=404");
    expect(await askFor(user)).toMatchObject({ result: "200", attempts: 2 });
    await fares(bench, owner, first, "passed_over 10 min", { model: "a" });
    await fares(bench, owner, first, "normal", { model: "b" });
    let seen = watch(bench);
    for (let i = 0; i < 3; i++) expect(await askFor(user)).toMatchObject({ result: "200", attempts: 1 });
    expect(seen.order(first, second)).toBe("2 2 2");
    expect(await askFor(user, "b")).toMatchObject({ result: "200", attempts: 1 });
    expect(seen.order(first, second)).toBe("2 2 2 1");
    bench.moveClock(10 * 60_000);
    seen = watch(bench);
    expect((await askFor(user)).result).toBe("200");
    expect((await askFor(user)).result).toBe("200");
    expect(seen.order(first, second)).toContain("1");
  });

  test("makes it a 404 only when every key says so", async () => {
    const accounts = await createAccounts({}, 2);
    const { owner, user } = accounts;
    const [first, second] = owner.keys as [(typeof owner.keys)[0], (typeof owner.keys)[0]];
    bench.provider.behave(first.secret, "fault=404");
    bench.provider.behave(second.secret, "fault=500");
    expect(await askFor(user)).toMatchObject({ result: "502 upstream_failed", attempts: 2 });
    bench.provider.behave(second.secret, "fault=404");
    expect(await askFor(user)).toMatchObject({ result: "404 model_not_found", attempts: 1 });
    await fares(bench, owner, second, "passed_over 10 min", { model: "a" });
    expect(await askFor(user)).toMatchObject({ result: "404 model_not_found", attempts: 0 });
  });
});
