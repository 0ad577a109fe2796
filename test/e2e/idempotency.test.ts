// The same request sent again with its Idempotency-Key: answered once more, called and charged once, whatever happens to
// the service in between.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Provider, startProvider } from "../provider/provider.ts";
import {
  type Account,
  type Answer,
  asking,
  type Bench,
  charges,
  fresh,
  type Json,
  type Owner,
  startBench,
  until,
} from "./harness.ts";
import { processBench } from "./process.ts";
import { readStream } from "./streaming.ts";

type Caller = Pick<Bench, "call" | "ledger">;

const keyed = (key: string, more: Record<string, string> = {}) => ({
  headers: { "idempotency-key": key, ...more },
});

const ask = (on: Caller, user: Account, key: string, said: string, more: object = {}): Promise<Answer> =>
  on.call(user.key, "POST", "/v1/chat/completions", { ...asking(said), ...more }, keyed(key));

const chargesOf = async (on: Caller, user: Account): Promise<Json[]> => charges(await on.ledger(user.key));

describe("a repeat", () => {
  let bench: Bench;
  let owner: Owner;
  /** Its provider counts tokens. */
  let counting: Owner;
  let user: Account;
  let calls: number;
  beforeAll(async () => {
    bench = await startBench({ settings: { KEY_FAILURES: "1000" } });
    owner = await bench.owner();
    counting = await bench.owner({ style: "messages" });
  });
  beforeEach(async () => {
    user = await bench.subaccount(owner);
    calls = bench.provider.totals().calls;
  });
  afterAll(() => bench.close());

  const called = () => bench.provider.totals().calls - calls;

  test("gets the first answer byte for byte, its cost and where it came from, under an id of its own", async () => {
    const limited = await bench.subaccount(owner, { RPM: 100 });
    const first = await ask(bench, limited, "key", "say it [[output=5]]");
    const again = await ask(bench, limited, "key", "say it [[output=5]]");
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.text).toBe(first.text);
    for (const name of [
      "x-arbor-cost",
      "x-arbor-model",
      "x-arbor-level",
      "x-arbor-attempts",
      "content-type",
    ]) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(first.headers.get("x-arbor-cost")).not.toBeNull();
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    // What was left then is not what is left now.
    expect(first.headers.has("x-ratelimit-limit-requests")).toBe(true);
    expect(again.headers.has("x-ratelimit-limit-requests")).toBe(false);
    expect(called()).toBe(1);
    expect(await chargesOf(bench, limited)).toHaveLength(1);
  });

  test("of a messages request carries its id where those SDKs look for it", async () => {
    const body = { ...asking("[[output=2]]"), max_tokens: 9 };
    const send = (id: string) =>
      bench.call(counting.key, "POST", "/v1/messages", body, keyed("key", { "x-request-id": id }));
    const [first, again] = [await send("one"), await send("two")];
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect([again.headers.get("request-id"), again.headers.get("x-request-id")]).toEqual(["two", "two"]);
    expect(called()).toBe(1);
  });

  test("fifty at once are one call and one charge, and all get one answer", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => ask(bench, user, "key", "[[head_ms=50 output=3]]")),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers.get("x-arbor-cost"))).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers.get("x-request-id"))).size).toBe(50);
    expect(called()).toBe(1);
    expect(await chargesOf(bench, user)).toHaveLength(1);
  });

  test("fifty keys at once, each three times, are fifty calls and fifty charges", async () => {
    const many = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        ask(bench, user, `key ${i % 50}`, `${i % 50} [[output=1]]`, { max_tokens: 1 }),
      ),
    );
    for (const [i, { status, text }] of many.entries()) {
      expect([status, text]).toEqual([200, many[i % 50]!.text]);
    }
    expect(called()).toBe(50);
    expect(await chargesOf(bench, user)).toHaveLength(50);
  });

  /** What ends without a charge, by what its client sends. */
  const ENDS: readonly (readonly [string, string, object])[] = [
    ["the provider's refusal", "no [[fault=422]]", {}],
    ["a provider that fails", "no [[fault=500]]", {}],
    ["a stream that never begins", "no [[fault=empty]]", { stream: true }],
    ["a refusal of ours", "no", { model: "unheard-of" }],
  ];
  test.each(ENDS)("with another body runs as soon as an error is answered: %s", async (_, said, more) => {
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (let i = 0; i < 10; i++) {
        const key = `${worker} ${i}`;
        const failed = await ask(bench, user, key, said, more);
        expect(failed.status).toBeGreaterThanOrEqual(400);
        const again = await ask(bench, user, key, `${said} again`, more);
        expect([again.status, again.body.error.code]).toEqual([failed.status, failed.body.error.code]);
      }
    });
    await Promise.all(workers);
    expect(await chargesOf(bench, user)).toHaveLength(0);
  });

  test("with another body, or at another path, is 400 idempotency_mismatch, during and after", async () => {
    const first = ask(bench, user, "key", "[[head_ms=200 output=1]]");
    await until("the first is under way", () => bench.provider.inFlight() > 0);
    const elsewhere = () =>
      bench.call(
        user.key,
        "POST",
        "/v1/messages",
        { ...asking("[[head_ms=200 output=1]]"), max_tokens: 1 },
        keyed("key"),
      );
    const other = () => ask(bench, user, "key", "another [[output=1]]");
    const seen = [await other(), await elsewhere()];
    expect((await first).status).toBe(200);
    seen.push(await other(), await elsewhere());
    for (const { status, body } of seen) {
      expect([status, body.error.code]).toEqual([400, "idempotency_mismatch"]);
    }
    expect(called()).toBe(1);
  });

  test("of a stream waits for its end, and is 400 idempotency_expired then", async () => {
    const body = { stream: true };
    const first = ask(bench, user, "key", "[[output=10 chunk_ms=20]]", body);
    await until("the first is under way", () => bench.provider.inFlight() > 0);
    const during = await ask(bench, user, "key", "[[output=10 chunk_ms=20]]", body);
    const { status, headers, text } = await first;
    expect(readStream(status, headers, text).done).toBe(true);
    const after = await ask(bench, user, "key", "[[output=10 chunk_ms=20]]", body);
    for (const one of [during, after]) {
      expect([one.status, one.body.error.code]).toEqual([400, "idempotency_expired"]);
    }
    expect(called()).toBe(1);
    expect(await chargesOf(bench, user)).toHaveLength(1);
  });

  test("of a request that failed is a request like any other", async () => {
    bench.provider.behave(owner.secrets[0]!, "fault=500", 1);
    const first = await ask(bench, user, "key", "[[output=2]]");
    expect(first.status).toBe(502);
    // Another body, too: the key is free.
    for (let i = 0; i < 2; i++) {
      const again = await ask(bench, user, "key", "now well [[output=2]]");
      expect([again.status, again.body.usage.completion_tokens]).toEqual([200, 2]);
    }
    expect(called()).toBe(2);
    expect(await chargesOf(bench, user)).toHaveLength(1);
  });

  test("of a request that was refused is a request like any other", async () => {
    const refused = await ask(bench, user, "key", "hi", { model: "never-heard-of" });
    expect(refused.status).toBe(404);
    expect((await ask(bench, user, "key", "[[output=1]]")).status).toBe(200);
    const broken = await bench.call(user.key, "POST", "/v1/chat/completions", "{", keyed("other"));
    expect(broken.status).toBe(400);
    expect((await ask(bench, user, "other", "[[output=1]]")).status).toBe(200);
  });

  test("of a request whose client went away before any content runs anew", async () => {
    bench.provider.behave(owner.secrets[0]!, "head_ms=2000", 1);
    const leaving = new AbortController();
    const first = bench
      .call(user.key, "POST", "/v1/chat/completions", asking("[[output=1]]"), {
        ...keyed("key"),
        signal: leaving.signal,
      })
      .catch(() => "gone");
    await until("the first is under way", () => bench.provider.inFlight() > 0);
    leaving.abort();
    expect(await first).toBe("gone");
    const again = await ask(bench, user, "key", "[[output=1]]");
    expect(again.status).toBe(200);
    expect(called()).toBe(2);
    expect(await chargesOf(bench, user)).toHaveLength(1);
  });

  test("gets its answer though the balance is gone and RPM is used up", async () => {
    const poor = await bench.subaccount(owner, { CreditGranted: 5, RPM: 1 });
    const first = await ask(bench, poor, "key", "[[output=1]]");
    await bench.subaccount(poor, { CreditGranted: await bench.balance(poor.key) });
    expect(await bench.balance(poor.key)).toBe(0);
    expect((await bench.chat(poor.key, "hi")).status).toBe(429);
    const again = await ask(bench, poor, "key", "[[output=1]]");
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test("of a request that costs nothing is no repeat: counting tokens knows no keys", async () => {
    for (let i = 0; i < 2; i++) {
      const body = asking("count me");
      const path = "/v1/messages/count_tokens";
      const { status } = await bench.call(counting.key, "POST", path, body, keyed("key"));
      expect(status).toBe(200);
    }
    expect(called()).toBe(2);
  });

  test.each([
    ["empty", ""],
    ["of 256 characters", "k".repeat(256)],
    ["of other letters than ASCII", "schl\u00fcssel"],
  ])("by a key that is %s is 400 invalid_parameter", async (_, key) => {
    const { status, body } = await ask(bench, user, key, "[[output=1]]");
    expect([status, body.error.code]).toEqual([400, "invalid_parameter"]);
    expect(body.error.message).toContain("Idempotency-Key");
    expect(called()).toBe(0);
  });
});

describe("kill -9", () => {
  let provider: Provider;
  beforeAll(() => {
    provider = startProvider();
  });
  afterAll(() => provider.close());

  test("at any moment: a repeat is answered or refused because it is too late, and no key is ever charged twice", async () => {
    const bench = processBench();
    await bench.start();
    const factory = bench.accountFactory(provider.url);
    const owner = await factory.owner();
    const once = (user: Account, key: string) =>
      ask(bench, user, key, "[[output=4 prompt=9 head_ms=3]]", { max_tokens: 4 });
    // An account for each round, and fewer requests than the 100 answers that are kept of one account.
    for (const count of [1, 25, 60]) {
      const user = await factory.subaccount(owner);
      const keys: string[] = [];
      const whole = new Map<string, string>();
      let over = false;
      const client = async () => {
        while (!over && keys.length < 95) {
          const key = `key ${fresh()}`;
          keys.push(key);
          const answer = await once(user, key).catch(() => null);
          if (answer?.status === 200) whole.set(key, answer.text);
        }
      };
      const clients = Array.from({ length: 12 }, client);
      await until("some are answered", () => whole.size >= count);
      over = true;
      await bench.end("SIGKILL");
      await Promise.all(clients);
      await bench.start();

      for (const key of keys) {
        const { status, text, body } = await once(user, key);
        // A client that has an answer gets it again; one without is answered now, or was charged a moment before the kill.
        if (whole.has(key)) expect([status, text]).toEqual([200, whole.get(key)!]);
        else if (status !== 200) expect([status, body.error.code]).toEqual([400, "idempotency_expired"]);
      }
      const lines = await chargesOf(bench, user);
      expect(lines).toHaveLength(keys.length);
      expect(new Set(lines.map((line: Json) => line.amount))).toEqual(new Set([-0.000017]));
    }
    await bench.close();
  }, 90_000);

  test("between the charge and the answer: the mark is there, the answer is not, and the repeat is not charged", async () => {
    const bench = processBench();
    await bench.start();
    const factory = bench.accountFactory(provider.url);
    const user = await factory.subaccount(await factory.owner());
    expect((await ask(bench, user, "key", "[[output=2]]")).status).toBe(200);
    await bench.end("SIGKILL");
    const database = new Database(bench.database);
    expect(database.run("DELETE FROM answers").changes).toBe(1);
    database.close();
    await bench.start();
    const calls = provider.totals().calls;
    const again = await ask(bench, user, "key", "[[output=2]]");
    expect([again.status, again.body.error.code]).toEqual([400, "idempotency_expired"]);
    expect(provider.totals().calls).toBe(calls);
    expect(await chargesOf(bench, user)).toHaveLength(1);
    await bench.close();
  }, 90_000);

  test("in the middle of a stream: nothing was charged, and the repeat runs", async () => {
    const bench = processBench();
    await bench.start();
    const factory = bench.accountFactory(provider.url);
    const user = await factory.subaccount(await factory.owner());
    const said = "[[output=200 chunk_ms=20]]";
    const first = ask(bench, user, "key", said, { stream: true }).catch(() => null);
    await until("the first is under way", () => provider.inFlight() > 0);
    await bench.end("SIGKILL");
    await first;
    await bench.start();
    const again = await ask(bench, user, "key", "[[output=3]]", { stream: true });
    expect(readStream(again.status, again.headers, again.text).done).toBe(true);
    expect(await chargesOf(bench, user)).toHaveLength(1);
    await bench.close();
  }, 90_000);
});
