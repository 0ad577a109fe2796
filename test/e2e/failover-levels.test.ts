// When a Level has no key left, or fails too often, its SWITCH_OVER backup serves; how that begins and ends. Keys never
// fall asleep here, so that what is seen is the Level's doing.

import { describe, expect, test } from "bun:test";
import { type Account, charges, MODEL, type Owner, type UpstreamKey, until } from "./harness.ts";
import { ask, watch } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({ settings: { ALLOW_CLOCK_OFFSET: "1", KEY_FAILURES: "1000" } });

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
  readonly primary: readonly UpstreamKey[];
  readonly backup: readonly UpstreamKey[];
}

/** Level 1 with failing keys, Level 2 with one that is well. */
async function createAccounts(given: { config?: object; keys?: number } = {}): Promise<TestAccounts> {
  const { config = { SWITCH_OVER: "1=2" }, keys = 1 } = given;
  const owner = await bench.owner({ keys, config });
  const backup = await bench.level(owner, 2, 1);
  for (const { secret } of owner.keys) bench.provider.behave(secret, "fault=500");
  return { owner, user: await bench.subaccount(owner), primary: owner.keys, backup };
}

/** Asks and leaves the Level's failures time to arrive: requests do not wait for reports. */
async function failures({ user }: TestAccounts, times: number): Promise<void> {
  for (let i = 0; i < times; i++)
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 2, level: 2 });
  await Bun.sleep(300);
}

/** Waits until requests would go to the backup, as their explanation says, which asks no key. */
const switched = ({ owner }: Pick<TestAccounts, "owner">) =>
  until("the Level is switched over", async () => {
    const path = `/dashboard/explain?model=${MODEL}&path=/v1/chat/completions`;
    return (await bench.call(owner.key, "GET", path)).body.decision.level === 2;
  });

describe("a Level without a key left", () => {
  test("is followed by its backup, and the answer says which Level it was", async () => {
    const { user, owner, primary, backup } = await createAccounts({ keys: 2 });
    const seen = watch(bench);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 3, level: 2 });
    expect(seen.order(...primary, ...backup)).toBe("1 2 3");
    const answer = await ask(bench, user, { headers: { "x-request-id": `of-${owner.id}` } });
    const { body } = await bench.call(owner.key, "GET", `/x-explain?user=${user.id}&request=of-${owner.id}`);
    expect(body.decision.level).toBe(answer.level);
    expect(
      body.attempts.map(({ level, signal }: { level: number; signal: string }) => [level, signal]),
    ).toEqual([
      [1, "server_error"],
      [1, "server_error"],
      [2, "ok"],
    ]);
    expect(charges(await bench.ledger(user.key))).toHaveLength(2);
  });

  test("because all are disabled has its backup too", async () => {
    const { user, owner, primary } = await createAccounts();
    await bench.call(owner.key, "PUT", `/x-keys/${primary[0]!.id}`, { Status: false });
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 2 });
  });

  test("goes along the whole chain", async () => {
    const { user, owner, backup } = await createAccounts({ config: { SWITCH_OVER: "1=2,2=3,3=1" } });
    const [last] = await bench.level(owner, 3, 1);
    bench.provider.behave(backup[0]!.secret, "fault=529");
    const seen = watch(bench);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 3, level: 3 });
    expect(seen.order(last!)).toBe("? ? 1");
    bench.provider.behave(last!.secret, "fault=401");
    expect(await ask(bench, user)).toMatchObject({ result: "502 upstream_failed", attempts: 3 });
  });

  test("has none when none is set", async () => {
    const { user } = await createAccounts({ config: {} });
    expect(await ask(bench, user)).toMatchObject({ result: "502 upstream_failed", attempts: 1 });
  });
});

describe("more than five failures within a minute", () => {
  test("switch the Level over for a minute: its own keys are not asked; then they are again", async () => {
    const accounts = await createAccounts();
    const { user, primary, backup } = accounts;
    await failures(accounts, 5);
    const seen = watch(bench);
    await failures(accounts, 1);
    await switched(accounts);
    expect(seen.order(...primary, ...backup)).toBe("1 2");
    for (let i = 0; i < 3; i++)
      expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 2 });
    bench.moveClock(59_000);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 2 });
    bench.provider.behave(primary[0]!.secret, null);
    bench.moveClock(1_000);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 1 });
  });

  test("count only within one minute", async () => {
    const accounts = await createAccounts();
    await failures(accounts, 5);
    bench.moveClock(60_000);
    await failures(accounts, 6);
  });

  test("are counted one by one, also when the requests ran at the same time", async () => {
    const { user, owner, primary } = await createAccounts();
    bench.provider.behave(primary[0]!.secret, "head_ms=50 fault=500");
    await Promise.all(Array.from({ length: 6 }, () => ask(bench, user)));
    await switched({ owner });
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 2 });
  });

  test.each(["429 retry=1", "404", "400", "409"])("do not count when they are %s", async (fault) => {
    const { user, owner, primary } = await createAccounts();
    bench.provider.behave(primary[0]!.secret, `fault=${fault}`);
    for (let i = 0; i < 7; i++) {
      await ask(bench, user);
      await bench.call(owner.key, "POST", "/x-conf", { DelKeys: true });
    }
    bench.provider.behave(primary[0]!.secret, null);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 1 });
  });

  test("lead nowhere when the backup cannot serve: then its own keys are asked after all", async () => {
    const accounts = await createAccounts();
    const { user, owner, primary, backup } = accounts;
    await failures(accounts, 6);
    await switched(accounts);
    await bench.call(owner.key, "PUT", `/x-keys/${backup[0]!.id}`, { Status: false });
    bench.provider.behave(primary[0]!.secret, null);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1, level: 1 });
  });

  test("switch over a stream's Level as well", async () => {
    const accounts = await createAccounts();
    await failures(accounts, 6);
    await switched(accounts);
    expect(await ask(bench, accounts.user, { stream: true })).toMatchObject({
      result: "200",
      attempts: 1,
      level: 2,
    });
  });
});
