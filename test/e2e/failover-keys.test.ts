// How keys fall asleep, rest, wake and are probed, as a client and an Owner see it: what is served meanwhile, and by whom.

import { describe, expect, test } from "bun:test";
import { charges, fresh, type Owner, until } from "./harness.ts";
import { ask, createAccounts, fares, fateOf, type TestAccounts, watch } from "./harness-keys.ts";
import { HeldTime } from "./timers.ts";
import { useBench } from "./use-bench.ts";

const MINUTE_MS = 60_000;

const bench = useBench({ settings: { ALLOW_CLOCK_OFFSET: "1" } });

function behave(owner: Owner, ...scripts: (string | null)[]): void {
  for (const [i, script] of scripts.entries()) bench.provider.behave(owner.secrets[i]!, script);
}

/** Asks until the first key was tried so often, and waits until its Level shows it. */
async function failing({ owner, user }: TestAccounts, times: number): Promise<void> {
  const seen = watch(bench);
  const first = owner.keys[0]!;
  for (let asked = 0; seen.order(first).split("1").length - 1 < times; asked++) {
    if (asked > 20) throw new Error("the first key is not tried");
    await ask(bench, user);
  }
}

test("failures with an answer between them are no three in a row, however quickly they follow", async () => {
  const { owner, user } = await createAccounts(bench, null);
  const [key] = owner.keys;
  for (let round = 0; round < 5; round++) {
    // A Level that counts more than five failures a minute would be another story: here nobody stands in for it.
    for (const said of ["[[fault=500]]", "[[fault=500]]", "[[output=1]]"]) await ask(bench, user, { said });
  }
  await ask(bench, user, { said: "[[fault=500]]" });
  expect(await fateOf(bench, owner, key!)).toBe("normal");
  expect((await ask(bench, user)).result).toBe("200");
});

describe("three failures in a row", () => {
  test("put a key to sleep for five minutes, two do not, and the other key serves everybody", async () => {
    const accounts = await createAccounts(bench, "fault=500", null);
    const { owner, user } = accounts;
    const [first, second] = owner.keys as [(typeof owner.keys)[0], (typeof owner.keys)[0]];
    await failing(accounts, 2);
    expect(await fateOf(bench, owner, first)).toBe("normal");
    await failing(accounts, 1);
    await fares(bench, owner, first, "sleeping 5 min");
    const { body } = await bench.call(owner.key, "GET", "/x-conf");
    expect(body.SleepingKeys).toMatchObject([{ ID: first.id, SleepTimes: 1, Reason: "server_error" }]);
    const seen = watch(bench);
    for (let i = 0; i < 5; i++) expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1 });
    expect(seen.order(first, second)).toBe("2 2 2 2 2");
  });

  test("that a success came between are none", async () => {
    const { owner, user } = await createAccounts(bench, null);
    for (const script of ["fault=500", "fault=500", null, "fault=500", "fault=500"]) {
      behave(owner, script);
      await ask(bench, user);
      // Successes are reported to the Level in batches.
      if (script === null) await Bun.sleep(2_000);
    }
    await Bun.sleep(50);
    expect(await fateOf(bench, owner, owner.keys[0]!)).toBe("normal");
  });

  test("by requests that ran at the same time are one", async () => {
    const { owner, user } = await createAccounts(bench, "head_ms=50 fault=500");
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(bench, user)));
    expect(new Set(answers.map(({ result }) => result))).toEqual(new Set(["502 upstream_failed"]));
    behave(owner, null);
    expect((await ask(bench, user)).result).toBe("200");
  });

  test("of the only key: then nobody can serve, and the client hears when one will", async () => {
    const accounts = await createAccounts(bench, "fault=500");
    await failing(accounts, 3);
    await fares(bench, accounts.owner, accounts.owner.keys[0]!, "sleeping 5 min");
    const seen = watch(bench);
    const answer = await ask(bench, accounts.user);
    expect([answer.result, answer.attempts, seen.calls().length]).toEqual(["503 no_available_key", 0, 0]);
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(298, 301);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(charges(await bench.ledger(accounts.user.key))).toEqual([]);
  });
});

describe("waking", () => {
  /** One key asleep for five minutes, the other well. */
  async function asleep(...others: null[]): Promise<TestAccounts> {
    const accounts = await createAccounts(bench, "fault=500", ...others);
    await failing(accounts, 3);
    await fares(bench, accounts.owner, accounts.owner.keys[0]!, "sleeping 5 min");
    behave(accounts.owner, null);
    return accounts;
  }

  test("by hand is at once, without a probe", async () => {
    const { owner, user } = await asleep(null);
    const { body } = await bench.call(owner.key, "POST", "/x-conf", { DelKeys: true });
    expect(body).toMatchObject({ success: true, DelKeys: "true" });
    expect(await fateOf(bench, owner, owner.keys[0]!)).toBe("normal");
    const seen = watch(bench);
    for (let i = 0; i < 4; i++) await ask(bench, user);
    expect(
      seen
        .order(...owner.keys)
        .split(" ")
        .sort()
        .join(" "),
    ).toBe("1 1 2 2");
  });

  test("by time begins with a probe; when it succeeds the key serves like the others", async () => {
    const { owner, user } = await asleep(null);
    bench.moveClock(5 * MINUTE_MS);
    expect(await fateOf(bench, owner, owner.keys[0]!)).toBe("waking");
    const seen = watch(bench);
    expect((await ask(bench, user)).result).toBe("200");
    expect(seen.order(...owner.keys)).toBe("1");
    await fares(bench, owner, owner.keys[0]!, "normal");
  });

  test("ends in the next longer sleep when the probe fails, and the client does not notice", async () => {
    const { owner, user } = await asleep(null);
    behave(owner, "fault=500");
    bench.moveClock(5 * MINUTE_MS);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 2 });
    await fares(bench, owner, owner.keys[0]!, "sleeping 15 min");
  });

  test("has one probe at a time: meanwhile the others go elsewhere", async () => {
    const { owner, user } = await asleep(null);
    bench.moveClock(5 * MINUTE_MS);
    behave(owner, "head_ms=150");
    const seen = watch(bench);
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(bench, user)));
    expect(answers.every(({ result, attempts }) => result === "200" && attempts === 1)).toBe(true);
    expect(
      seen
        .order(...owner.keys)
        .split(" ")
        .sort()
        .join(" "),
    ).toBe("1 2 2 2 2 2 2 2");
  });

  test("has no others to go to: they use the key beside its probe", async () => {
    const { owner, user } = await asleep();
    bench.moveClock(5 * MINUTE_MS);
    behave(owner, "head_ms=100");
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(bench, user)));
    expect(answers.map(({ result }) => result)).toEqual(Array(5).fill("200"));
    await fares(bench, owner, owner.keys[0]!, "normal");
  });

  test("is not held up by a probe whose client left, or whose content was refused", async () => {
    const { owner, user } = await asleep(null);
    bench.moveClock(5 * MINUTE_MS);
    behave(owner, "head_ms=5000");
    const leaving = new AbortController();
    const seen = watch(bench);
    const left = bench.chat(user.key, "hi", {}, { signal: leaving.signal }).catch(() => "left");
    await until("the probe is out", () => seen.order(...owner.keys) === "1");
    leaving.abort();
    expect(await left).toBe("left");
    await until("the call is aborted", () => seen.calls()[0]!.aborted);
    behave(owner, "fault=400");
    await until("the next probe goes out", async () => (await ask(bench, user)).result.startsWith("400"));
    behave(owner, null);
    await until(
      "the third one wakes it",
      async () =>
        (await ask(bench, user)).result === "200" &&
        (await fateOf(bench, owner, owner.keys[0]!)) === "normal",
    );
  });
});

describe("a limited key", () => {
  test("rests as long as the provider said, the other one serves, and then it is used again", async () => {
    const { owner, user } = await createAccounts(bench, "fault=429 retry=40", null);
    const [first, second] = owner.keys as [(typeof owner.keys)[0], (typeof owner.keys)[0]];
    const seen = watch(bench);
    for (let i = 0; i < 4; i++) expect((await ask(bench, user)).result).toBe("200");
    expect(seen.order(first, second)).toBe("1 2 2 2 2");
    behave(owner, null);
    bench.moveClock(40_000);
    expect(await fateOf(bench, owner, first)).toBe("normal");
    await ask(bench, user);
    expect(seen.order(first, second)).toEndWith("1");
  });

  test("that named its pause has not failed, however often it did", async () => {
    const { owner, user } = await createAccounts(bench, "fault=429 retry=40", null);
    for (let i = 0; i < 4; i++) {
      await ask(bench, user);
      await fares(bench, owner, owner.keys[0]!, "resting 40 s");
      bench.moveClock(40_000);
    }
  });

  test("is waited for once when it asks for no more than two seconds and there is nobody else", async () => {
    const { owner, user } = await createAccounts(bench, null);
    bench.provider.behave(owner.secrets[0]!, "fault=429 retry_ms=1500", 1);
    const seen = watch(bench);
    const time = new HeldTime();
    try {
      const asked = ask(bench, user);
      const { outcome, passedMs } = await time.passing(asked, () => seen.calls()[0]?.outcome === "complete");
      expect(outcome).toMatchObject({ result: "200", attempts: 2 });
      expect(passedMs).toBeGreaterThanOrEqual(1_500);
    } finally {
      time.release();
    }
    // Business time has stood still meanwhile.
    bench.moveClock(1_500);
    behave(owner, "fault=429 retry_ms=200");
    const again = await ask(bench, user);
    expect([again.result, again.attempts]).toEqual(["429 upstream_rate_limited", 2]);
    expect(charges(await bench.ledger(user.key))).toHaveLength(1);
  });

  test("is not waited for when it asks for more", async () => {
    const { user } = await createAccounts(bench, "fault=429 retry_ms=2500");
    const answer = await ask(bench, user);
    expect([answer.result, answer.attempts]).toEqual(["429 upstream_rate_limited", 1]);
    expect(Number(answer.headers.get("retry-after"))).toBeWithin(1, 4);
  });

  test("that asks for the shortest pause is the one waited for, whichever failed after it", async () => {
    const { owner, user } = await createAccounts(
      bench,
      "fault=429 retry_ms=900",
      "fault=429 retry_ms=200",
      "fault=500",
    );
    const seen = watch(bench);
    bench.provider.behave(owner.secrets[1]!, "fault=429 retry_ms=200", 1);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 4 });
    expect(seen.order(...owner.keys)).toBe("1 2 3 2");
  });

  test("is not waited for by a client that left", async () => {
    const { owner, user } = await createAccounts(bench, "fault=429 retry_ms=1500");
    const leaving = new AbortController();
    const mark = `left-${fresh()}`;
    const seen = watch(bench);
    const left = bench.chat(user.key, mark, {}, { signal: leaving.signal }).catch(() => "left");
    await until("it was tried", () => seen.calls()[0]?.outcome === "complete");
    await Bun.sleep(50);
    leaving.abort();
    expect(await left).toBe("left");
    await bench.level(owner, 1, 1);
    await until("nothing is held", () => bench.nothingHeld(user.key));
    expect(seen.order(...owner.keys)).toMatch(/^1( \?)+$/);
  });
});

describe("when all keys rest", () => {
  test("the client gets the smallest wait, and nobody is asked", async () => {
    const { owner, user } = await createAccounts(bench, "fault=429 retry=50", "fault=429 retry=20");
    const first = await ask(bench, user);
    expect([first.result, first.attempts, first.headers.get("retry-after")]).toEqual([
      "429 upstream_rate_limited",
      2,
      "20",
    ]);
    await fares(bench, owner, owner.keys[1]!, "resting 20 s");
    const seen = watch(bench);
    const second = await ask(bench, user, { stream: true });
    expect([second.result, second.attempts, seen.calls().length]).toEqual([
      "429 upstream_rate_limited",
      0,
      0,
    ]);
    expect(Number(second.headers.get("retry-after"))).toBeWithin(19, 21);
  });

  test("too big for every key's tokens per minute: repeating it is no use, and the keys stay well", async () => {
    const { owner, user } = await createAccounts(bench, "fault=429.too_big", "fault=429.too_big");
    const answer = await ask(bench, user);
    expect([answer.result, answer.attempts]).toEqual(["429 upstream_rate_limited", 2]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(answer.headers.has("retry-after")).toBe(false);
    for (const key of owner.keys) expect(await fateOf(bench, owner, key)).toBe("normal");
  });
});

test("a Level whose keys are all disabled is 503, and asks nobody", async () => {
  const { owner, user } = await createAccounts(bench, null);
  await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Status: false });
  const seen = watch(bench);
  expect([(await ask(bench, user)).result, seen.calls().length]).toEqual(["503 no_available_key", 0]);
});
