// GET and POST /x-conf: the keys that sleep or are disabled, and waking them all.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Bench, fresh, type Json, type Owner, until } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { keyBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench();

const read = async (key: string): Promise<Json> => (await bench.call(key, "GET", "/x-conf")).body;
const wake = (key: string, body: unknown = { DelKeys: true }) => bench.call(key, "POST", "/x-conf", body);

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
  /** Adds a key to a Level and answers its id. */
  add(level: number, more?: object): Promise<number>;
  chat(model: string, said?: string): ReturnType<Bench["chat"]>;
  /** Lets a key fall asleep: the provider says that it does not know its secret. */
  sleeps(level: number): Promise<number>;
}

/** An Owner without keys; the model `on-L` leads to Level L. */
async function createAccounts(): Promise<TestAccounts> {
  const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } };
  const owner = await bench.owner({ keys: 0, pricing });
  const user = await bench.subaccount(owner);
  const LEVEL_MAPPER = "on-1=1,on-2=2,on--3=-3";
  await bench.call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER });
  const chat: TestAccounts["chat"] = (model, said = "[[output=1]]") => bench.chat(user.key, said, { model });
  const add: TestAccounts["add"] = async (level, more = {}) => {
    const { body } = await bench.call(
      owner.key,
      "POST",
      "/x-keys",
      keyBody(bench.provider.url, { Name: `key of ${level}`, Level: level, ...more }),
    );
    return body.key.ID;
  };
  return {
    owner,
    user,
    add,
    chat,
    async sleeps(level) {
      const id = await add(level);
      await chat(`on-${level}`, "[[fault=401]]");
      await until("the key sleeps", async () =>
        (await read(owner.key)).SleepingKeys.some((key: Json) => key.ID === id),
      );
      return id;
    },
  };
}

test("shows the configuration and the keys of a new Owner: nothing is set, nothing sleeps", async () => {
  const { owner } = await createAccounts();
  await bench.call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "" });
  expect(await read(owner.key)).toEqual({
    ...{ Resources: {}, LevelMapper: {}, ModelMapper: {}, ModelFailover: {}, ModelLimits: {} },
    ...{ SwitchOver: {}, SleepingKeys: [], DisabledKeys: [], UserMinBalance: 0, UserApiBalance: 0 },
  });
});

describe("a key", () => {
  test("that sleeps is listed with how long, until when and why", async () => {
    const { owner, sleeps } = await createAccounts();
    const id = await sleeps(1);
    const [key] = (await read(owner.key)).SleepingKeys;
    expect(key).toEqual({
      ...{ ID: id, Name: "key of 1", Level: 1, Provider: bench.provider.url, Status: true },
      ...{ SleepTimes: expect.any(Number), SleepSeconds: expect.any(Number), WakesAt: expect.any(String) },
      ...{ Reason: "invalid_key" },
    });
    expect(key.SleepTimes).toBeGreaterThan(0);
    expect(key.SleepSeconds).toBeInteger();
    expect(key.SleepSeconds).toBeWithin(1_700, 1_801);
    expect((Date.parse(key.WakesAt) - Date.now()) / 1_000).toBeWithin(1_700, 1_801);
  });

  test("that only rests is not listed", async () => {
    const { owner, add, chat } = await createAccounts();
    await add(1);
    await chat("on-1", "[[fault=429 retry=600]]");
    // It rests: there is no other key, and the answer has the wait.
    await until("the key rests", async () => {
      const { body } = await chat("on-1");
      return body.error?.code === "upstream_rate_limited";
    });
    expect((await read(owner.key)).SleepingKeys).toEqual([]);
  });

  test("that is disabled is listed as such, and not as sleeping", async () => {
    const { owner, add, sleeps } = await createAccounts();
    const sleeper = await sleeps(1);
    const other = await add(2, { Status: false });
    await bench.call(owner.key, "PUT", `/x-keys/${sleeper}`, { Status: false });
    const { SleepingKeys, DisabledKeys } = await read(owner.key);
    expect(SleepingKeys).toEqual([]);
    expect(DisabledKeys).toEqual([
      expect.objectContaining({ ID: sleeper, Level: 1, Status: false }),
      {
        ID: other,
        ...{ Name: "key of 2", Level: 2, Provider: bench.provider.url, Status: false, SleepTimes: 0 },
      },
    ]);
  });

  test("that was deleted is listed nowhere", async () => {
    const { owner, sleeps } = await createAccounts();
    const id = await sleeps(1);
    await bench.call(owner.key, "DELETE", `/x-keys/${id}`);
    expect((await read(owner.key)).SleepingKeys).toEqual([]);
  });

  test.each([
    ["a new secret", () => ({ SecretKey: `sk-mended-${fresh()}-0123456789` })],
    ["another Level", () => ({ Level: 2 })],
  ])("that sleeps begins anew with %s", async (_what, change) => {
    const { owner, sleeps } = await createAccounts();
    const id = await sleeps(1);
    await bench.call(owner.key, "PUT", `/x-keys/${id}`, change());
    expect((await read(owner.key)).SleepingKeys).toEqual([]);
  });
});

describe("DelKeys", () => {
  test("wakes the sleeping keys of all Levels, and the next request uses them", async () => {
    const { owner, sleeps, chat } = await createAccounts();
    for (const level of [1, 2, -3]) await sleeps(level);
    expect((await read(owner.key)).SleepingKeys).toHaveLength(3);
    expect((await chat("on-1")).body.error.code).toBe("no_available_key");
    const { status, body } = await wake(owner.key);
    expect([status, body]).toEqual([200, { success: true, DelKeys: "true" }]);
    for (const level of [1, 2, -3]) expect((await chat(`on-${level}`)).status).toBe(200);
    expect((await read(owner.key)).SleepingKeys).toEqual([]);
  });

  test("wakes the caller's own keys only", async () => {
    const { owner, sleeps } = await createAccounts();
    const other = await createAccounts();
    await sleeps(1);
    await wake(other.owner.key);
    await wake(bench.rootKey);
    expect((await read(owner.key)).SleepingKeys).toHaveLength(1);
  });

  test("leaves a disabled key disabled", async () => {
    const { owner, add } = await createAccounts();
    const id = await add(1, { Status: false });
    await wake(owner.key);
    expect((await read(owner.key)).DisabledKeys).toMatchObject([{ ID: id }]);
  });

  test("of an Owner without keys does nothing", async () => {
    const { owner } = await createAccounts();
    expect((await wake(owner.key)).body).toEqual({ success: true, DelKeys: "true" });
  });
});

describe("refused:", () => {
  let accounts: TestAccounts;
  beforeAll(async () => {
    accounts = await createAccounts();
  });

  test("an account that is no Owner, with 403 not_owner", async () => {
    for (const method of ["GET", "POST"]) {
      const body = method === "POST" ? { DelKeys: true } : undefined;
      properError(await bench.call(accounts.user.key, method, "/x-conf", body), 403, "not_owner");
    }
  });
});
