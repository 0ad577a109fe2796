// What stands against an account now: every limit that is set with what counts of it, and what any request would be refused with.

import { describe, expect, test } from "bun:test";
import { DAY_MS, MINUTE_MS } from "../../../actors/time.ts";
import { type Json, MODEL, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ config: { MODEL_LIMITS: { "gpt-*": { rpd: 50 } } } }));

const liveOf = async (key: string): Promise<Json> => (await bench.call(key, "GET", "/dashboard/live")).body;
const windowsOf = async (key: string): Promise<Json[]> => (await liveOf(key)).windows;
const seenFrom = async (user: number): Promise<Json> =>
  (await bench.call(owner.key, "GET", `/x-info?user=${user}`)).body;
const chat = (key: string, said = "[[prompt=4 output=2]]", more: object = {}) =>
  bench.chat(key, said, { max_tokens: 2, ...more });

describe("windows", () => {
  test("are the limits that are set, and no others", async () => {
    const user = await bench.subaccount(owner);
    expect(await windowsOf(user.key)).toEqual([]);
    const limited = await bench.subaccount(owner, { RPM: 5, TPD: 900, HardLimit: 3 });
    const windows = await windowsOf(limited.key);
    expect(windows).toEqual([
      { scope: "account", name: "rpm", limit: 5, used: 0, resets_at: null },
      { scope: "account", name: "tpd", limit: 900, used: 0, resets_at: null },
      { scope: "account", name: "hard_limit", limit: 3, used: 0, resets_at: expect.any(String) },
    ]);
    expect(new Date(windows[2].resets_at).getUTCDate()).toBe(1);
  });

  test("count requests, tokens and money, and say until when", async () => {
    const user = await bench.subaccount(owner, { RPM: 5, TPD: 900, HardLimit: 3 });
    const before = bench.now();
    await chat(user.key);
    const [rpm, tpd, hard] = await windowsOf(user.key);
    expect([rpm.used, tpd.used, hard.used]).toEqual([1, 6, 0.000008]);
    expect(Date.parse(rpm.resets_at)).toBeWithin(before + MINUTE_MS - 1_000, bench.now() + MINUTE_MS + 2_000);
    expect(Date.parse(tpd.resets_at) % DAY_MS).toBe(0);
  });

  test("count what requests under way have reserved", async () => {
    const user = await bench.subaccount(owner, { RPM: 5, HardLimit: 3 });
    const running = chat(user.key, "[[head_ms=600 output=1]]");
    await until("it is held", async () => (await windowsOf(user.key))[1].used > 0);
    expect((await windowsOf(user.key))[0].used).toBe(1);
    await running;
  });

  test("say more than the limit when more was spent than it allows", async () => {
    const user = await bench.subaccount(owner);
    await chat(user.key);
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { HardLimit: 0.000001 });
    expect(await windowsOf(user.key)).toMatchObject([{ limit: 0.000001, used: 0.000008 }]);
  });

  test("of models: those that have limits by name, and those in use that have them by a pattern", async () => {
    const user = await bench.subaccount(owner, {
      ModelLimits: { [MODEL]: { rpm: 9, tpm: 400 }, "o*": { rpm: 3 } },
    });
    const named = (rpm: number, tpm: number) => [
      {
        scope: "model",
        name: "rpm",
        model: MODEL,
        limit: 9,
        used: rpm,
        resets_at: rpm ? expect.any(String) : null,
      },
      {
        scope: "model",
        name: "tpm",
        model: MODEL,
        limit: 400,
        used: tpm,
        resets_at: tpm ? expect.any(String) : null,
      },
    ];
    expect(await windowsOf(user.key)).toEqual(named(0, 0));
    await chat(user.key);
    await chat(user.key, "[[prompt=4 output=2]]", { model: "gpt-4o-mini" });
    expect(await windowsOf(user.key)).toEqual([
      ...named(1, 6),
      {
        scope: "model",
        name: "rpd",
        model: "gpt-4o-mini",
        limit: 50,
        used: 1,
        resets_at: expect.any(String),
      },
    ]);
  });
});

describe("blocked", () => {
  test("is null for an account that could ask", async () => {
    const user = await bench.subaccount(owner, { RPM: 5 });
    expect((await liveOf(user.key)).blocked).toBeNull();
    expect((await liveOf(bench.rootKey)).blocked).toBeNull();
  });

  test("is what a request is refused with: its rate limit, until there is room", async () => {
    const user = await bench.subaccount(owner, { RPM: 1 });
    await chat(user.key);
    const { blocked } = await liveOf(user.key);
    const refused = await chat(user.key);
    expect(blocked).toMatchObject({ code: "rpm_exceeded", message: expect.stringContaining("1 RPM") });
    expect(refused.body.error.code).toBe("rpm_exceeded");
    expect(Date.parse(blocked.until) % 1_000).toBe(0);
    expect(Date.parse(blocked.until)).toBeWithin(bench.now() + 55_000, bench.now() + 62_000);
    // It does not move while nothing happens.
    await Bun.sleep(400);
    expect((await liveOf(user.key)).blocked.until).toBe(blocked.until);
  });

  test("HardLimit and DailyLimit, until the month and the day are over", async () => {
    for (const [limit, code] of [
      [{ HardLimit: 0.000005 }, "hard_limit_reached"],
      [{ DailyLimit: 0.000005 }, "daily_limit_reached"],
    ] as const) {
      const user = await bench.subaccount(owner);
      await chat(user.key);
      await bench.call(owner.key, "PUT", `/x-users/${user.id}`, limit);
      const { windows, blocked } = await liveOf(user.key);
      expect(blocked.code).toBe(code);
      expect(blocked.until).toBe(windows[0].resets_at);
      expect((await chat(user.key)).body.error.code).toBe(code);
    }
  });

  test("a balance that is used up, which no time mends", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 2 });
    const refund = { CreditGranted: -2 };
    expect((await bench.call(owner.key, "PUT", `/x-users/${user.id}`, refund)).status).toBe(200);
    expect((await liveOf(user.key)).blocked).toMatchObject({ code: "insufficient_balance", until: null });
    expect((await chat(user.key)).body.error.code).toBe("insufficient_balance");
  });

  test("flags, as an ancestor sees them; the account's addresses are not judged", async () => {
    const user = await bench.subaccount(owner, { AllowIPs: "192.0.2.1" });
    expect((await seenFrom(user.id)).blocked).toBeNull();
    for (const [change, code] of [
      [{ Suspended: true }, "account_suspended"],
      [{ Status: false }, "account_disabled"],
    ] as const) {
      await bench.call(owner.key, "PUT", `/x-users/${user.id}`, change);
      expect((await seenFrom(user.id)).blocked).toMatchObject({ code, until: null });
    }
  });

  test("a suspended account may still read why", async () => {
    const user = await bench.subaccount(owner);
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { Suspended: true });
    expect((await liveOf(user.key)).blocked.code).toBe("account_suspended");
  });
});
