// Money and limits while many requests come at once, over real connections: exact counts, no limit passed, and what
// clients were told equals what was booked, to the nano-dollar.

import { describe, expect, test } from "bun:test";
import { type Account, type Answer, asking, charged, charges, MODEL, nano } from "./harness.ts";
import { readStream } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

/** Dear enough that a balance of 2 USD is a thousand tokens: 1000 USD a million in, 2000 out. */
const DEAR = { ChatPricing: { [MODEL]: { InputText: 1_000, OutputText: 2_000 } } };
const MANY = 200;
/** All are decided before the first one ends. */
const SLOW = "head_ms=400";
const HOLD_OUTPUT = 50;

const bench = useBench({ settings: { HOLD_OUTPUT_TOKENS: String(HOLD_OUTPUT) } });
const owner = prepared(() => bench.owner({ pricing: DEAR }));
const cheap = prepared(() => bench.owner());

interface Crowd {
  readonly admitted: Answer[];
  readonly refused: Answer[];
  readonly codes: string[];
}

async function crowd(user: Account, said: string, more: object, count = MANY): Promise<Crowd> {
  const answers = await Promise.all(Array.from({ length: count }, () => bench.chat(user.key, said, more)));
  const refused = answers.filter((answer) => answer.status !== 200);
  return {
    admitted: answers.filter((answer) => answer.status === 200),
    refused,
    codes: [...new Set(refused.map((answer) => answer.body.error.code))],
  };
}

/** Returns the cost that an answer reports to its client, in nano-dollars. */
const costIn = (answer: Answer): number =>
  nano(answer.headers.get("x-arbor-cost") ?? readStream(answer.status, answer.headers, answer.text).cost!);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The cost in the answers, in the ledger and missing from the balance is one number. */
async function agrees(user: Account, credit: number, admitted: readonly Answer[]): Promise<number> {
  const lines = await bench.ledger(user.key);
  const spent = nano(credit) - nano(await bench.balance(user.key));
  expect(charges(lines)).toHaveLength(admitted.length);
  expect(charged(lines)).toBe(spent);
  expect(sum(admitted.map(costIn))).toBe(spent);
  const inOrder = lines.reduce((balance, line) => {
    expect(nano(line.balance_after)).toBe(balance + nano(line.amount));
    return nano(line.balance_after);
  }, 0);
  expect(inOrder).toBe(nano(credit) - spent);
  return spent;
}

/** Dollars that a request may cost at most, as the refusal states. */
const worstOf = (answer: Answer): number =>
  nano(/may cost up to ([\d.]+) USD/.exec(answer.body.error.message)![1]!);

describe("with an output limit", () => {
  const LIMITED = { max_tokens: 100 };
  const SAID = `spend [[${SLOW} prompt=10 output=100]]`;

  test("no more are admitted than the balance can pay at worst, and the balance never falls below 0", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 2 });
    const { admitted, refused, codes } = await crowd(user, SAID, LIMITED);
    expect(codes).toEqual(["insufficient_balance"]);
    expect(refused.every((answer) => answer.status === 429)).toBe(true);
    expect(refused[0]!.body.error.type).toBe("insufficient_quota");
    expect(refused[0]!.headers.get("x-should-retry")).toBe("false");
    expect(admitted).toHaveLength(Math.floor(nano(2) / worstOf(refused[0]!)));
    expect(await agrees(user, 2, admitted)).toBe(admitted.length * (10 * 1_000_000 + 100 * 2_000_000));
    expect(await bench.balance(user.key)).toBeGreaterThanOrEqual(0);
  });

  test("streams are counted like whole answers", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 2 });
    const answers = await Promise.all(
      Array.from({ length: MANY }, (_, i) =>
        bench.chat(
          user.key,
          SAID,
          { ...LIMITED, stream: i % 2 === 0 },
          { headers: { "x-arbor-cost": "stream" } },
        ),
      ),
    );
    const admitted = answers.filter((answer) => answer.status === 200);
    const refused = answers.find((answer) => answer.status !== 200)!;
    // A stream's request is some bytes longer, so that its hold may be some tokens larger.
    expect(admitted.length).toBeWithin(8, Math.floor(nano(2) / worstOf(refused)) + 2);
    await agrees(user, 2, admitted);
  });

  test("the monthly HardLimit is never passed", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 10, HardLimit: 1 });
    const { admitted, codes } = await crowd(user, SAID, LIMITED);
    expect(codes).toEqual(["hard_limit_reached"]);
    expect(admitted).toHaveLength(4);
    expect(await agrees(user, 10, admitted)).toBeLessThanOrEqual(nano(1));
  });

  test("round after round, all that can be spent is spent, and no more", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 2 });
    const admitted: Answer[] = [];
    const said = "spend [[prompt=10 output=40]]";
    for (let round = 0; round < 30; round++) {
      const { admitted: some } = await crowd(user, said, { max_tokens: 40 }, 12);
      if (some.length === 0) break;
      admitted.push(...some);
    }
    const spent = await agrees(user, 2, admitted);
    // The last one may have been alone with less than its worst case; it used at most that.
    expect(spent).toBeWithin(nano(2) - 60_000_000, nano(2) + 90_000_000);
    expect((await bench.chat(user.key, said, { max_tokens: 40 })).body.error.code).toBe(
      "insufficient_balance",
    );
  });
});

test("a nearly empty account can still call, one request at a time", async () => {
  const user = await bench.subaccount(owner, { CreditGranted: 2 });
  const first = crowd(user, `[[${SLOW} output=5]]`, { max_tokens: 5_000 }, 20);
  const { admitted, codes } = await first;
  expect(admitted).toHaveLength(1);
  expect(codes).toEqual(["insufficient_balance"]);
  expect((await crowd(user, "[[output=5]]", { max_tokens: 5_000 }, 1)).admitted).toHaveLength(1);
});

describe("without an output limit", () => {
  test.each([false, true])(
    "the overrun is what each request in flight used beyond its hold (streamed: %p)",
    async (stream) => {
      const user = await bench.subaccount(owner, { CreditGranted: 2 });
      const used = HOLD_OUTPUT * 3;
      const { admitted, refused } = await crowd(user, `[[${SLOW} prompt=10 output=${used}]]`, { stream });
      const most = Math.floor(nano(2) / worstOf(refused[0]!));
      expect(admitted.length).toBeWithin(1, most + 1);
      const lines = await bench.ledger(user.key);
      const beyond = admitted.length * (used - HOLD_OUTPUT) * 2_000_000;
      expect(charged(lines)).toBe(admitted.length * (10 * 1_000_000 + used * 2_000_000));
      expect(nano(2) - nano(await bench.balance(user.key))).toBe(charged(lines));
      expect(charged(lines)).toBeLessThanOrEqual(nano(2) + beyond);
    },
  );

  test("a stream that passes its hold grows it: nobody is admitted against what it used", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 2 });
    const beside = () => bench.chat(user.key, "[[output=1]]", { max_tokens: 550 });
    expect((await beside()).status).toBe(200);
    const stream = await fetch(`${bench.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}` },
      body: JSON.stringify({ ...asking("[[output=700 chunk_ms=1]]"), stream: true }),
    });
    // When 500 of 700 tokens have come, the same request does not fit beside them. Beside the hold of 50 it would.
    let events = 0;
    let refusal: Answer | null = null;
    for await (const chunk of stream.body!) {
      events += Buffer.from(chunk).toString("latin1").split("\n\n").length - 1;
      if (events >= 500) refusal ??= await beside();
    }
    expect([refusal?.status, refusal?.body.error.code]).toEqual([429, "insufficient_balance"]);
    expect(charges(await bench.ledger(user.key)).map((line) => line.completion_tokens)).toEqual([1, 700]);
    expect(await bench.balance(user.key)).toBeGreaterThanOrEqual(0);
  });
});

test("many accounts at once: every one adds up to the last digit, whole and streamed", async () => {
  const users = await Promise.all(Array.from({ length: 20 }, () => bench.subaccount(owner)));
  const scripts = [
    "output=7",
    "output=13 cached=3 prompt=50",
    "output=1 usage=none",
    "output=3 usage=cumulative",
  ];
  const answers = await Promise.all(
    users.flatMap((user, nth) =>
      scripts.flatMap((script, i) =>
        [false, true].map(async (stream) => {
          const said = `account ${nth} says ${i} [[${script}]]`;
          const sending = { headers: { "x-arbor-cost": "stream" } };
          const answer = await bench.chat(user.key, said, { stream, max_tokens: 100 }, sending);
          return { user, answer };
        }),
      ),
    ),
  );
  for (const user of users) {
    const own = answers.filter((one) => one.user === user).map((one) => one.answer);
    expect(own.map((answer) => answer.status)).toEqual(own.map(() => 200));
    await agrees(user, 10, own);
  }
});

describe("rates are exact", () => {
  test.each([
    ["RPM", "rpm_exceeded", 37, 60],
    ["RPH", "rph_exceeded", 23, 3_660],
    ["RPD", "rpd_exceeded", 11, 86_400],
  ])("%s admits as many as it says and not one more", async (field, code, limit, longest) => {
    const user = await bench.subaccount(cheap, { CreditGranted: 30, [field]: limit });
    const { admitted, refused, codes } = await crowd(user, "[[output=1 prompt=1 head_ms=50]]", {
      max_tokens: 1,
    });
    expect(admitted).toHaveLength(limit);
    expect(codes).toEqual([code]);
    const [one] = refused;
    expect(one!.body.error).toMatchObject({
      type: "rate_limit_error",
      message: expect.stringContaining("account"),
    });
    expect(Number(one!.headers.get("retry-after"))).toBeWithin(1, longest + 2);
    expect(charges(await bench.ledger(user.key))).toHaveLength(limit);
  });

  test("TPM holds each request's worst case and never admits past the limit", async () => {
    const user = await bench.subaccount(cheap, { CreditGranted: 30, TPM: 3_000 });
    const said = `[[${SLOW} output=20 prompt=10]]`;
    const probe = await bench.subaccount(cheap, { CreditGranted: 5, TPM: 3_000 });
    const alone = await bench.chat(probe.key, said, { max_tokens: 20 });
    const each = 3_000 - Number(alone.headers.get("x-ratelimit-remaining-tokens"));
    expect(each).toBeGreaterThanOrEqual(40);
    const { admitted, codes } = await crowd(user, said, { max_tokens: 20 });
    expect(codes).toEqual(["tpm_exceeded"]);
    expect(admitted).toHaveLength(Math.floor(3_000 / each));
    // Once settled, only what was really used counts.
    const used = admitted.length * 30;
    const after = await bench.chat(user.key, said, { max_tokens: 20 });
    expect(3_000 - Number(after.headers.get("x-ratelimit-remaining-tokens"))).toBe(used + each);
  });

  test("ModelLimits hold for the model alone, and the message says so", async () => {
    const user = await bench.subaccount(cheap, {
      CreditGranted: 10,
      ModelLimits: { [MODEL]: { rpm: 3 } },
    });
    const { admitted, refused, codes } = await crowd(user, "[[output=1 prompt=1]]", { max_tokens: 1 }, 20);
    expect(admitted).toHaveLength(3);
    expect(codes).toEqual(["rpm_exceeded"]);
    expect(refused[0]!.body.error.message).toContain(`model ${MODEL}`);
    const other = await bench.chat(user.key, "[[output=1]]", { model: "gpt-4o-mini", max_tokens: 1 });
    expect(other.status).toBe(200);
  });

  test("a request that failed counts all the same", async () => {
    const user = await bench.subaccount(cheap, { RPM: 2 });
    for (let i = 0; i < 2; i++) expect((await bench.chat(user.key, "[[fault=500]]")).status).toBe(502);
    expect((await bench.chat(user.key, "[[output=1]]")).body.error.code).toBe("rpm_exceeded");
  });
});
