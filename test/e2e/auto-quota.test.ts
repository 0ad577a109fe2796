// AutoQuota through the whole service: credit comes from the parent when the balance falls, or when a request finds too
// little of it; the request waits for it and is answered, and every move is in both ledgers and in the operation log.

import { describe, expect, test } from "bun:test";
import { type Account, asking, charges, type Json, MODEL, nano, until } from "./harness.ts";
import { HeldTime } from "./timers.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());

/** A million tokens of output cost 2 USD. */
const ask = (user: Account, output: number, script = "") =>
  bench.chat(user.key, `go [[output=${output} ${script}]]`, { max_tokens: output });
/** Spends about so many dollars in one request. */
const spend = (user: Account, dollars: number, script?: string) =>
  ask(user, Math.round(dollars * 500_000), script);

async function poor(quota: number, given: { credit?: number; parent?: Account } = {}): Promise<Account> {
  const { credit = 2, parent = owner } = given;
  return bench.subaccount(parent, { CreditGranted: credit, AutoQuota: quota });
}

const quotas = async (user: Account): Promise<Json[]> =>
  (await bench.ledger(user.key)).filter(({ type }) => type === "auto_quota");

const sum = (lines: readonly Json[]): number => lines.reduce((all, line) => all + nano(line.amount), 0);

describe("a request that finds too little balance", () => {
  test("waits for the parent's credit and is answered", async () => {
    const user = await poor(5, { credit: 2 });
    // Two requests at once cannot both hold 1.5 of 2 USD.
    const answers = await Promise.all([spend(user, 1.5), spend(user, 1.5)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await quotas(user)).map(({ amount }) => amount)).toEqual([5]);
    expect(charges(await bench.ledger(user.key))).toHaveLength(2);
  });

  test("is foreseen so by a quote and an explanation, which move nothing", async () => {
    // Less than 3 USD admits no request.
    const rich = await bench.owner({ config: { USER_API_BALANCE: 3, USER_MIN_BALANCE: 0 } });
    const poorest = await bench.subaccount(rich, { CreditGranted: 3 });
    for (const [parent, code] of [
      [rich, null],
      [poorest, "insufficient_balance"],
    ] as const) {
      const user = await poor(5, { credit: 2, parent });
      const body = { ...asking("go [[output=1]]"), max_tokens: 50 };
      const quoted = await bench.call(user.key, "POST", "/v1/quote", { path: "/v1/chat/completions", body });
      expect([quoted.body.admitted, quoted.body.refusal?.code ?? null]).toEqual([code === null, code]);
      const explained = await bench.call(user.key, "GET", `/dashboard/explain?model=${MODEL}`);
      expect(explained.body.decision.refusal?.code ?? null).toBe(code);
      expect([await bench.balance(user.key), await quotas(user)]).toEqual([2, []]);
      const answer = await bench.call(user.key, "POST", "/v1/chat/completions", body);
      expect(answer.body.error?.code ?? null).toBe(code);
    }
  });

  test("is refused where the parent cannot give, while the other still runs", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 3 });
    const user = await poor(50, { parent });
    // It holds its credit until the other is decided upon, after which the rest would be enough.
    const time = new HeldTime();
    try {
      const running = spend(user, 1.5, "head_ms=60000");
      await until("the first holds its credit", () => bench.provider.inFlight() === 1);
      const { outcome: refused, passedMs } = await time.passing(spend(user, 1.5), () => true);
      expect(refused.body.error?.code).toBe("insufficient_balance");
      expect([passedMs < 60_000, bench.provider.inFlight()]).toEqual([true, 1]);
      const { outcome } = await time.passing(running, () => true);
      expect(outcome.status).toBe(200);
    } finally {
      time.release();
    }
    expect(await quotas(user)).toEqual([]);
    expect(await bench.balance(parent.key)).toBe(1);
  });
});

describe("a charge that brings the balance to UserMinBalance", () => {
  test("asks the parent, one move at a time", async () => {
    const own = await bench.owner({ config: { USER_MIN_BALANCE: 1 } });
    const user = await bench.subaccount(own, { CreditGranted: 2, AutoQuota: 3 });
    expect((await spend(user, 0.5)).status).toBe(200);
    await Bun.sleep(100);
    expect(await quotas(user)).toEqual([]);
    expect((await spend(user, 0.6)).status).toBe(200);
    await until("the credit is there", async () => (await quotas(user)).length === 1);
    expect(nano(await bench.balance(user.key))).toBe(sum(await bench.ledger(user.key)));
    expect(await bench.balance(own.key)).toBe(1_000 - 2 - 3);
  });
});

describe("a move", () => {
  test("is a line of both ledgers, valid for 180 days, and a line of the operation log", async () => {
    const user = await poor(4);
    await Promise.all([spend(user, 1.5), spend(user, 1.5)]);
    const [line] = await quotas(user);
    expect(nano(line.amount)).toBe(nano(4));
    const given = (await bench.ledger(owner.key)).filter(({ id }) => id === line.id);
    expect(given.map(({ type, amount }) => [type, amount])).toEqual([["transfer_out", -4]]);
    const info = await bench.call(user.key, "GET", "/dashboard/info");
    const days = (Date.parse(info.body.balance.credits.at(-1).expires_at) - bench.now()) / 86_400_000;
    expect(days).toBeWithin(179.9, 180.1);
    const logs = await bench.call(owner.key, "GET", `/dashboard/logs?action=auto_quota&target_id=${user.id}`);
    expect(logs.body.logs).toHaveLength(1);
    expect(logs.body.logs[0]).toMatchObject({
      action: "auto_quota",
      operator_id: user.id,
      target_id: user.id,
      details: `AutoQuota: 4 USD from account ${owner.id}`,
      status: "success",
    });
  });

  test("is made as often as many requests at once need, and never makes or loses a dollar", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 40 });
    const user = await poor(2, { parent });
    const answers = await Promise.all(Array.from({ length: 12 }, () => spend(user, 0.9)));
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThanOrEqual(2);
    expect(answers.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
    await until("everything is settled", () => bench.nothingHeld(user.key));
    const [mine, parents] = [await bench.ledger(user.key), await bench.ledger(parent.key)];
    expect(charges(mine).length).toBe(served + 1);
    expect(nano(await bench.balance(user.key))).toBe(sum(mine));
    expect(nano(await bench.balance(parent.key))).toBe(sum(parents));
    expect(sum(mine) + sum(parents) - sum(charges(mine))).toBe(nano(40));
  });
});
