// The states of a provider key through HTTP: asleep after failures and for how long, awake again by itself or by Sleep false;
// and that the keys of a Level share its load.

import { beforeEach, describe, expect, test } from "bun:test";
import { type Account, type Json, type Owner, PRICING, type UpstreamKey } from "../../e2e/harness.ts";
import { ask, fares, fateOf, watch } from "../../e2e/harness-keys.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";
import { settingsOf } from "./rows.ts";

const MINUTE_MS = 60_000;

let owner: Owner;
const bench = useBench();
beforeEach(async () => {
  owner = await bench.owner({ keys: 0 });
});

const call = (method: string, path: string, body?: object) => bench.call(owner.key, method, path, body);
const read = async ({ ID }: Json) => settingsOf((await call("GET", `/x-keys/${ID}`)).body.key);

/** A new Owner's only key, after so many failures, and an account that calls it. */
async function failing(times: number): Promise<{ user: Account; key: UpstreamKey }> {
  owner = await bench.owner();
  const user = await bench.subaccount(owner);
  const key = owner.keys[0]!;
  await fail(user, key, times);
  return { user, key };
}

async function fail(user: Account, key: UpstreamKey, times: number): Promise<void> {
  bench.provider.behave(key.secret, "fault=500");
  for (let i = 0; i < times; i++) await ask(bench, user);
  bench.provider.behave(key.secret, null);
}

describe("state", () => {
  test("normal → sleeping: after 3 failures in a row, for 5 minutes, and unused meanwhile", async () => {
    const { user, key } = await failing(2);
    await fares(bench, owner, key, "normal");
    await fail(user, key, 1);
    await fares(bench, owner, key, "sleeping 5 min");
    const seen = watch(bench);
    expect((await ask(bench, user)).result).toBe("503 no_available_key");
    expect(seen.calls()).toEqual([]);
  });

  test("normal → sleeping again: 15 minutes, 30, then longer", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    for (const [slept, next] of [
      [5, 15],
      [15, 30],
      [30, 60],
      [60, 120],
    ] as const) {
      bench.moveClock(slept * MINUTE_MS);
      // Its probe fails.
      await fail(user, key, 1);
      await fares(bench, owner, key, `sleeping ${next} min`);
    }
  });

  test("sleeping → normal: when the time has passed it takes part again", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    bench.moveClock(5 * MINUTE_MS);
    expect((await ask(bench, user)).result).toBe("200");
    await fares(bench, owner, key, "normal");
    expect((await call("GET", "/x-conf")).body.SleepingKeys).toEqual([]);
  });

  test("SleepTimes: in the list of sleeping keys", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    const { SleepingKeys } = (await call("GET", "/x-conf")).body;
    expect(SleepingKeys).toMatchObject([{ ID: key.id, SleepTimes: 1 }]);
    expect((await ask(bench, user)).result).toBe("503 no_available_key");
  });
});

describe("waking one key: Sleep false", () => {
  const put = ({ id }: UpstreamKey, change: object) => call("PUT", `/x-keys/${id}`, change);

  /** Two keys of a new Owner's, asleep. */
  async function asleep() {
    owner = await bench.owner({ keys: 2 });
    const user = await bench.subaccount(owner);
    const [one, two] = owner.keys as [UpstreamKey, UpstreamKey];
    for (const { secret } of [one, two]) bench.provider.behave(secret, "fault=401");
    await ask(bench, user);
    for (const key of [one, two]) {
      await fares(bench, owner, key, "sleeping 30 min");
      bench.provider.behave(key.secret, null);
    }
    return { user, one, two };
  }

  test("is in force when it is answered, and of that key alone", async () => {
    const { user, one, two } = await asleep();
    expect((await put(two, { Sleep: false })).status).toBe(200);
    expect([await fateOf(bench, owner, one), await fateOf(bench, owner, two)]).toEqual([
      "sleeping 30 min",
      "normal",
    ]);
    const seen = watch(bench);
    expect((await ask(bench, user)).result).toBe("200");
    expect(seen.order(one, two)).toBe("2");
  });

  test("changes nothing of the key, and is a line of the operation log", async () => {
    const { one } = await asleep();
    const before = await read({ ID: one.id });
    expect((await put(one, { Sleep: false })).body).toEqual({ success: true, Action: "update", key: before });
    const [line] = (await call("GET", "/dashboard/logs?action=update_key")).body.logs;
    expect(line).toMatchObject({ target_id: one.id, status: "success", details: "Sleep: false" });
  });

  test("goes together with other fields", async () => {
    const { user, one } = await asleep();
    const { body } = await put(one, { Sleep: false, Name: "awake", Level: 1 });
    expect(body.key.Name).toBe("awake");
    expect((await ask(bench, user)).result).toBe("200");
  });

  test("wakes a key at the Level to which it moves", async () => {
    const { one } = await asleep();
    await put(one, { Sleep: false, Level: 2 });
    const { SleepingKeys } = (await call("GET", "/x-conf")).body;
    expect(SleepingKeys.map(({ ID }: Json) => ID)).toEqual([owner.keys[1]!.id]);
  });

  test("of a key that is awake is no fault", async () => {
    const [key] = await bench.level(owner, 1, 1);
    expect((await call("POST", `/x-keys/${key!.id}`, { Sleep: false })).status).toBe(200);
  });

  test("true is refused, saying what decides", async () => {
    const { one } = await asleep();
    const answer = await put(one, { Sleep: true, Name: "not taken" });
    properError(answer, 400, "invalid_parameter");
    for (const word of ["Sleep", "failures", "Status"]) expect(answer.body.error.message).toContain(word);
    expect((await read({ ID: one.id })).Name).toBe("");
  });
});

test("keys share the load of their Level", async () => {
  owner = await bench.owner({ keys: 3, pricing: PRICING });
  const user = await bench.subaccount(owner);
  const seen = watch(bench);
  for (let i = 0; i < 6; i++) await ask(bench, user);
  expect(
    seen
      .order(...owner.keys)
      .split(" ")
      .sort()
      .join(" "),
  ).toBe("1 1 2 2 3 3");
});
