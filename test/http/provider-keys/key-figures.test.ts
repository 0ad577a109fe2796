// What lists of provider keys show beside settings: state, activity of the last hour, cost of today; and /x-events, what
// happened to them. Through HTTP, with real requests.

import { describe, expect, test } from "bun:test";
import { type Account, type Json, MODEL, type Owner, type UpstreamKey, until } from "../../e2e/harness.ts";
import { ask, fares } from "../../e2e/harness-keys.ts";
import { expectError, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const bench = useBench();

const get = (owner: Account, path: string) => bench.call(owner.key, "GET", path);
const row = async (owner: Account, key: UpstreamKey): Promise<Json> =>
  (await get(owner, `/x-keys/${key.id}`)).body.key;
const stateOf = async (owner: Account, key: UpstreamKey) => {
  const { State, Until, Reason } = await row(owner, key);
  return [State, Until === null ? null : Math.round((Date.parse(Until) - bench.now()) / MINUTE_MS), Reason];
};
const put = (owner: Account, key: UpstreamKey, change: object) =>
  bench.call(owner.key, "PUT", `/x-keys/${key.id}`, change);

async function createAccounts(keys = 1): Promise<{ owner: Owner; user: Account; key: UpstreamKey }> {
  const owner = await bench.owner({ keys });
  return { owner, user: await bench.subaccount(owner), key: owner.keys[0]! };
}

async function fail(user: Account, key: UpstreamKey, script: string, times = 1): Promise<void> {
  bench.provider.behave(key.secret, script);
  for (let i = 0; i < times; i++) await ask(bench, user);
  bench.provider.behave(key.secret, null);
}

/** The events of an Owner, oldest first, once there are so many. */
async function events(owner: Account, count: number, query = ""): Promise<Json[]> {
  let found: Json[] = [];
  await until(`${count} events`, async () => {
    const { body } = await get(owner, `/x-events${query}`);
    found = body.events.toReversed();
    return found.length >= count;
  });
  expect(found).toHaveLength(count);
  return found;
}

const describeEvent = ({ type, level, key_id, to_level, reason }: Json): string =>
  [type, `L${level}`, key_id && `key ${key_id}`, to_level && `to L${to_level}`, reason]
    .filter(Boolean)
    .join(" ");

describe("State, Until and Reason", () => {
  test("normal → sleeping → waking → normal", async () => {
    const { owner, user, key } = await createAccounts();
    expect(await stateOf(owner, key)).toEqual(["normal", null, null]);
    await fail(user, key, "fault=500", 3);
    await fares(bench, owner, key, "sleeping 5 min");
    expect(await stateOf(owner, key)).toEqual(["sleeping", 5, "server_error"]);
    bench.moveClock(5 * MINUTE_MS);
    expect(await stateOf(owner, key)).toEqual(["waking", null, "server_error"]);
    expect((await ask(bench, user)).result).toBe("200");
    await fares(bench, owner, key, "normal");
    expect(await stateOf(owner, key)).toEqual(["normal", null, null]);
  });

  test("resting, until it is woken by hand", async () => {
    const { owner, user, key } = await createAccounts();
    await fail(user, key, "fault=429 retry=600");
    await fares(bench, owner, key, "resting 10 min");
    expect(await stateOf(owner, key)).toEqual(["resting", 10, "rate_limited"]);
    expect((await put(owner, key, { Sleep: false })).status).toBe(200);
    expect(await stateOf(owner, key)).toEqual(["normal", null, null]);
    expect((await ask(bench, user)).result).toBe("200");
    const [line] = (await get(owner, "/dashboard/logs?action=update_key")).body.logs;
    expect(line).toMatchObject({ target_id: key.id, details: "Sleep: false" });
  });

  test("disabled", async () => {
    const { owner, key } = await createAccounts();
    await put(owner, key, { Status: false });
    expect(await stateOf(owner, key)).toEqual(["disabled", null, null]);
  });

  test("Sleep true is refused", async () => {
    const { owner, key } = await createAccounts();
    properError(await put(owner, key, { Sleep: true }), 400, "invalid_parameter");
  });
});

describe("the last hour", () => {
  test("counts attempts, those that failed over too, and how long the others took", async () => {
    const { owner, user } = await createAccounts(2);
    const [one, two] = owner.keys as [UpstreamKey, UpstreamKey];
    expect((await ask(bench, user)).result).toBe("200");
    expect((await ask(bench, user, { stream: true })).result).toBe("200");
    bench.provider.behave(one.secret, "fault=500");
    bench.provider.behave(two.secret, "fault=500");
    await ask(bench, user);
    await until("both are counted", async () => (await row(owner, two)).LastHour.failures === 1);
    const both = [await row(owner, one), await row(owner, two)];
    for (const { LastHour, InFlight } of both) {
      expect(LastHour).toMatchObject({ attempts: 2, failures: 1 });
      expect(LastHour.per_minute).toHaveLength(60);
      expect(LastHour.per_minute.reduce((sum: number, count: number) => sum + count)).toBe(2);
      expect(LastHour.p95_ms).toBeGreaterThan(0);
      expect(LastHour.p50_ms).toBe(LastHour.p95_ms);
      expect(InFlight).toBe(0);
    }
    bench.moveClock(61 * MINUTE_MS);
    expect((await row(owner, one)).LastHour).toMatchObject({ attempts: 0, failures: 0 });
  });

  test("does not blame a key for what a client sent, and counts no test of it", async () => {
    const { owner, user, key } = await createAccounts();
    await fail(user, key, "fault=400");
    await bench.call(owner.key, "POST", `/x-keys/${key.id}/test`, { model: MODEL });
    expect((await row(owner, key)).LastHour).toMatchObject({ attempts: 1, failures: 0, p50_ms: null });
  });

  test("has the requests in flight", async () => {
    const { owner, user, key } = await createAccounts();
    const running = ask(bench, user, { said: "slowly [[output=1 head_ms=1500]]" });
    await until("it is in flight", async () => (await row(owner, key)).InFlight === 1);
    expect((await running).result).toBe("200");
    expect((await row(owner, key)).InFlight).toBe(0);
  });
});

describe("CostToday", () => {
  test("is what its requests cost, of all accounts and to the last digit, until the day ends", async () => {
    const { owner, user } = await createAccounts(2);
    const [one, two] = owner.keys as [UpstreamKey, UpstreamKey];
    const other = await bench.subaccount(owner);
    for (const who of [user, other, user]) expect((await ask(bench, who)).result).toBe("200");
    const lines = [...(await bench.ledger(user.key)), ...(await bench.ledger(other.key))];
    const paid = lines.filter(({ type }) => type === "charge").reduce((sum, { amount }) => sum - amount, 0);
    const sum = async () => {
      const { keys } = (await get(owner, "/x-keys")).body;
      return keys.reduce((all: number, { CostToday }: Json) => all + CostToday, 0);
    };
    await until("the costs are summed", async () => Math.abs((await sum()) - paid) < 1e-12);
    expect((await row(owner, one)).CostToday).toBeGreaterThan((await row(owner, two)).CostToday);
    bench.moveClock(DAY_MS);
    expect(await sum()).toBe(0);
  });
});

test("a list of all keys at once has the same rows", async () => {
  const { owner, user } = await createAccounts(3);
  await ask(bench, user);
  await bench.level(owner, 2, 2);
  const all = await get(owner, "/x-keys?page=0");
  expect([all.body.keys.length, all.headers.get("x-total-count")]).toEqual([5, "5"]);
  await until("nothing changes any more", async () => {
    const [whole, paged] = [(await get(owner, "/x-keys?page=0")).body, (await get(owner, "/x-keys")).body];
    return paged.keys.some(({ CostToday }: Json) => CostToday > 0) && Bun.deepEquals(whole, paged);
  });
});

describe("GET /x-events", () => {
  test("lists sleeps, wakes and switch-overs, newest first, without any text of the provider", async () => {
    const owner = await bench.owner({ config: { SWITCH_OVER: "1=2" } });
    const [user, key] = [await bench.subaccount(owner), owner.keys[0]!];
    await fail(user, key, "fault=500", 3);
    await fares(bench, owner, key, "sleeping 5 min");
    await put(owner, key, { Sleep: false });
    await fail(user, key, "fault=500", 3);
    const found = await events(owner, 4);
    expect(found.map(describeEvent)).toEqual([
      `sleep L1 key ${key.id} server_error`,
      `wake L1 key ${key.id} woken`,
      `sleep L1 key ${key.id} server_error`,
      "switch_over L1 to L2 server_error",
    ]);
    expect(Date.parse(found[0].until) - Date.parse(found[0].at)).toBe(5 * MINUTE_MS);
    expect(Date.parse(found[3].until) - Date.parse(found[3].at)).toBe(MINUTE_MS);
    expect(Object.keys(found[1]).sort()).toEqual(["at", "key_id", "level", "reason", "type"]);
  });

  test("by time and by pages", async () => {
    const { owner, user, key } = await createAccounts();
    for (let i = 0; i < 3; i++) {
      await fail(user, key, "fault=401");
      await fares(bench, owner, key, "sleeping 30 min");
      bench.moveClock(1_000);
      await put(owner, key, { Sleep: false });
      bench.moveClock(DAY_MS);
    }
    const all = await events(owner, 6);
    const list = async (query: string) => (await get(owner, `/x-events?${query}`)).body;
    expect(await list("size=4")).toEqual({
      events: all.toReversed().slice(0, 4),
      ...{ total: 6, page: 1, size: 4, has_more: true },
    });
    expect(await list("size=4&page=2")).toMatchObject({ events: [all[1], all[0]], has_more: false });
    const [, , sleep, wake] = all;
    const day = sleep.at.slice(0, 10);
    const found = async (query: string) => (await list(query)).events.toReversed();
    expect(await found(`from=${sleep.at}&to=${wake.at}`)).toEqual([sleep, wake]);
    expect(await found(`from=${day}&to=${day}`)).toEqual(
      all.filter(({ at }: Json) => at.slice(0, 10) === day),
    );
    expect(await found(`from=${wake.at}`)).toEqual(all.slice(3));
    expect(await found(`to=${sleep.at}`)).toEqual(all.slice(0, 3));
    expect(await list("from=2999-01-01")).toMatchObject({ events: [], total: 0 });
  });

  test.each([
    ["from=yesterday", "from"],
    ["from=2026-02-30", "from"],
    ["to=2026-01-01T25:00:00Z", "to"],
    ["to=2026-01-01T12:60:00Z", "to"],
    ["from=2026-01-02&to=2026-01-01", "to"],
    ["page=0", "page"],
    ["size=0", "size"],
  ])("refuses %s", async (query, field) => {
    const answer = await get(await bench.owner(), `/x-events?${query}`);
    properError(answer, 400, "invalid_parameter");
    expect(answer.body.error.message).toContain(`"${field}"`);
  });

  test("is an Owner's, of its own keys", async () => {
    const { owner, user, key } = await createAccounts();
    await fail(user, key, "fault=401");
    await events(owner, 1);
    expectError(await get(user, "/x-events"), 403, "not_owner");
    expect((await get(await bench.owner(), "/x-events")).body.total).toBe(0);
    expect((await bench.call(bench.rootKey, "GET", "/x-events")).body.total).toBe(0);
  });
});
