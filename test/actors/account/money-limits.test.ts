// Credit that moves after birth: recharges, refunds, fees, figures set by hand. One row of a rule, one test.

import { describe, expect, test } from "bun:test";
import type { AccountCommand } from "../../../actors/account/account.ts";
import { account } from "../../../actors/account/account.ts";
import { accountTopic } from "../../../actors/account/views.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { DAY, done, factsOf, living, NOON, ROOT_PROFILE, usd } from "../account-samples.ts";
import { accountTree, balanceOf } from "../account-tree.ts";

type Command<T extends AccountCommand["type"]> = Extract<AccountCommand, { type: T }>;

const give = (over: Partial<Command<"startTransfer">> = {}): Command<"startTransfer"> => ({
  ...{ type: "startTransfer", id: "G", bornAt: NOON, to: 8 as AccountId, amount: usd(10) },
  ...{ days: 30, keep: ZERO, kind: "transfer_in" },
  ...over,
});
const giveBack = (amount: Nano, id = "B"): Command<"startRefund"> => ({
  ...{ type: "startRefund", id, bornAt: NOON, amount },
});
const fee = (amount: Nano, id = "F"): Command<"fee"> => ({
  ...{ type: "fee", id, amount, apiKey: MAIN_API_KEY },
});

/** Root, Owner 2 with 100 USD, its child 3 with 10 USD. */
function family() {
  const tree = accountTree();
  tree.born(2, 1, usd(110));
  tree.born(3, 2, usd(10));
  return tree;
}

describe("a recharge", () => {
  test("leaves the parent and reaches the child with the days it was given", () => {
    const tree = family();
    tree.ask(2, give({ to: 3 as AccountId }));
    tree.rest();
    expect([balanceOf(tree, 2), balanceOf(tree, 3)]).toEqual([usd(90), usd(20)]);
    expect(tree.of(2).events).toContainEqual(
      expect.objectContaining({ type: "transfer_out", id: "G", to: 3, amount: usd(-10) }),
    );
    expect(tree.of(3).events.at(-1)).toMatchObject({
      ...{ type: "transfer_in", id: "G", from: 2, amount: usd(10), expiresAt: NOON + 30 * DAY },
    });
    expect(tree.of(3).state.chargeAmount).toBe(usd(20));
  });

  test("by Root is minted, and a grant at the child, however deep it is", () => {
    const tree = family();
    tree.ask(1, give({ to: 3 as AccountId }));
    tree.rest();
    expect(tree.of(1).state.minted).toBe(usd(120));
    expect(tree.of(3).events.at(-1)).toMatchObject({ type: "grant", from: 1, amount: usd(10) });
  });

  test.each([
    ["all that is free", usd(100), ZERO, null],
    ["more than is free", usd(100.000000001), ZERO, "insufficient_parent_balance"],
    ["what UserMinBalance leaves", usd(95), usd(5), null],
    ["more than UserMinBalance leaves", usd(95.01), usd(5), "insufficient_parent_balance"],
    ["nothing", ZERO, ZERO, "invalid_parameter"],
  ])("%s", (_what, amount, keep, code) => {
    expect(living().ask(give({ amount, keep })).refused?.code ?? null).toBe<string | null>(code);
  });

  test("of oneself is refused: its two halves would be one line", () => {
    expect(living().ask(give({ to: 7 as AccountId })).refused?.code).toBe("not_ancestor");
  });

  test("twice with one id is one line on each side", () => {
    const tree = family();
    tree.ask(2, give({ to: 3 as AccountId }));
    const [debt] = tree.debts();
    tree.deliver(debt!, "unanswered");
    tree.ask(2, give({ to: 3 as AccountId }));
    tree.rest();
    expect([balanceOf(tree, 2), balanceOf(tree, 3)]).toEqual([usd(90), usd(20)]);
  });

  const MILLIONS = usd(9_000_000);

  test("of more than an account can hold exactly comes back, and the account lives on", () => {
    const tree = family();
    tree.ask(1, give({ to: 3 as AccountId, amount: MILLIONS }));
    tree.rest();
    tree.ask(1, give({ id: "H", to: 3 as AccountId, amount: MILLIONS }));
    tree.rest();
    expect(balanceOf(tree, 3)).toBe(usd(9_000_010));
    expect(tree.of(1).state.minted).toBe(usd(9_000_110));
  });

  test("that comes back always has its room again", () => {
    const tree = family();
    tree.ask(1, give({ to: 2 as AccountId, amount: MILLIONS }));
    tree.rest();
    tree.ask(2, give({ id: "H", to: 99 as AccountId, amount: usd(8_000_000) }));
    tree.ask(1, give({ id: "I", to: 2 as AccountId, amount: usd(8_000_000) }));
    for (const debt of tree.debts()) if (debt.from === 1) tree.deliver(debt);
    tree.rest();
    expect(balanceOf(tree, 2)).toBe(usd(9_000_100));
  });

  test("from somebody who is not the parent comes back", () => {
    const tree = family();
    tree.born(4, 1, usd(50));
    tree.ask(4, give({ to: 3 as AccountId }));
    tree.rest();
    expect([balanceOf(tree, 4), balanceOf(tree, 3)]).toEqual([usd(50), usd(10)]);
    expect(tree.of(4).events.at(-1)).toMatchObject({ type: "returned", why: "not_ancestor" });
  });
});

describe("a refund", () => {
  test("is a negative line at the child and an entry of 180 days at the parent", () => {
    const tree = family();
    tree.ask(3, giveBack(usd(4)));
    tree.rest();
    expect(tree.of(3).events.find(({ type }) => type === "refund_out")).toMatchObject({
      ...{ id: "B", to: 2, amount: usd(-4), balanceAfter: usd(6) },
    });
    expect(tree.of(2).events.at(-1)).toMatchObject({
      ...{ type: "refund", id: "B", from: 3, amount: usd(4), expiresAt: NOON + 180 * DAY },
    });
    expect(tree.of(2).state.chargeAmount).toBe(usd(110));
  });

  test("to Root is un-minted", () => {
    const tree = family();
    tree.ask(2, giveBack(usd(60)));
    tree.rest();
    expect(tree.of(1).state).toMatchObject({ minted: usd(50), credit: { entries: [], owed: 0 } });
  });

  test.each([
    ["balance − holds", usd(7), null],
    ["more than balance − holds", usd(7.000000001), "insufficient_balance"],
    ["nothing", ZERO, "invalid_parameter"],
  ])("takes at most balance − holds, not an overdraft: %s", (_what, amount, code) => {
    const one = living({ credit: usd(10), profile: { xCredit: usd(50) } });
    one.admit({ cost: usd(3) });
    expect(one.ask(giveBack(amount)).refused?.code ?? null).toBe<string | null>(code);
  });

  test("by Root there is none", () => {
    const root = living({ profile: ROOT_PROFILE, credit: ZERO });
    expect(root.ask(giveBack(usd(1))).refused?.code).toBe("not_ancestor");
  });

  test("lets what is due leave first", () => {
    const entries = [
      { amount: usd(4), expiresAt: NOON + 1 },
      { amount: usd(40), expiresAt: NOON + DAY },
    ];
    const one = living({ credit: entries });
    one.now += 10;
    expect(one.ask(giveBack(usd(40))).events).toMatchObject([
      { type: "expire", amount: usd(-4) },
      { type: "refund_out", balanceAfter: ZERO },
      { type: "owing", transfer: { kind: "refund", taken: [{ amount: usd(40) }] } },
    ]);
  });
});

describe("a fee", () => {
  test("is a line, once", () => {
    const one = living();
    expect(one.ask(fee(usd(0.05)))).toMatchObject({
      reply: { paid: usd(0.05) },
      events: [{ type: "query_fee", id: "F", amount: usd(-0.05), balanceAfter: usd(99.95) }],
    });
    expect(one.ask(fee(usd(0.05)), { done: true })).toEqual({ reply: { paid: usd(0.05) } });
    expect(account.dedupIdOf(fee(usd(1)))).toBe("F");
  });

  test("is refused where balance and overdraft, less the holds, do not reach", () => {
    const one = living({ credit: usd(1), profile: { xCredit: usd(1) } });
    one.admit({ cost: usd(1.5) });
    expect(one.ask(fee(usd(0.5), "ok")).refused).toBeUndefined();
    expect(one.ask(fee(usd(0.000000001))).refused?.code).toBe("insufficient_balance");
  });

  test("is paid however large the overdraft is", () => {
    const one = living({ credit: usd(9_000), profile: { xCredit: usd(9_000_000) } });
    expect(one.ask(fee(usd(0.05))).refused).toBeUndefined();
  });

  test("is nothing to Root", () => {
    const root = living({ profile: ROOT_PROFILE, credit: ZERO });
    expect(root.ask(fee(usd(1)))).toEqual({ reply: { paid: ZERO } });
  });

  test("is no use: neither CreditUsed nor the month counts it", () => {
    const one = living();
    one.ask(fee(usd(1)));
    expect(one.state).toMatchObject({ creditUsed: ZERO, month: { cost: ZERO } });
  });
});

describe("figures set by hand", () => {
  const by = 1 as AccountId;

  test("are a line of amount 0 with before and after", () => {
    const one = living();
    one.charge({ cost: usd(2) });
    const { events } = one.ask({ type: "adjust", id: "A", creditUsed: usd(7), xCredit: usd(3), by });
    expect(events).toEqual([
      {
        ...{ type: "adjust", id: "A", amount: ZERO, balanceAfter: usd(98), by },
        before: { creditUsed: usd(2), xCredit: ZERO },
        after: { creditUsed: usd(7), xCredit: usd(3) },
      },
    ]);
    expect(one.state).toMatchObject({ creditUsed: usd(7), chargeAmount: usd(100) });
    expect(one.state.profile?.xCredit).toBe(usd(3));
  });

  test("an overdraft is published", () => {
    const one = living();
    const { publish } = one.ask({ type: "adjust", id: "A", xCredit: usd(3), by });
    expect(publish).toMatchObject([
      { topic: accountTopic(7 as AccountId), body: { version: 2, profile: { xCredit: usd(3) } } },
    ]);
    expect(one.state.version).toBe(2);
    expect(one.ask({ type: "adjust", id: "B", chargeAmount: usd(1), by }).publish).toBeUndefined();
  });
});

describe("AutoQuota", () => {
  const topUp = { type: "topUp", keep: ZERO } as const;
  const poor = (over = {}) => living({ credit: usd(10), profile: { autoQuota: usd(5), ...over } });

  test.each([
    ["that leaves more than UserMinBalance asks nothing", usd(7.999999999), false],
    ["that leaves UserMinBalance asks the parent", usd(8), true],
    ["that leaves less asks the parent", usd(12), true],
  ])("a charge %s", (_what, cost, asked) => {
    const one = poor();
    one.charge({ cost, keep: usd(2) });
    expect(one.state.quota.asked !== null).toBe(asked);
  });

  test("is asked of the parent with what it must keep", () => {
    const one = poor();
    one.charge({ id: "c", cost: usd(9), keep: usd(2) });
    expect(account.pendingEffects(one.state)).toEqual([
      {
        id: "c:quota:give",
        to: { kind: "account", id: "2" },
        bornAt: NOON,
        command: {
          ...{ type: "startTransfer", id: "c:quota", bornAt: NOON, to: 7, amount: usd(5) },
          ...{ days: 180, keep: usd(2), kind: "auto_quota" },
        },
      } as never,
    ]);
  });

  test("keeps UserMinBalance out of the ledger", () => {
    const one = poor();
    one.charge({ cost: usd(9), keep: usd(2) });
    expect(one.events.find(({ e }) => e.type === "charge")?.e).not.toHaveProperty("keep");
  });

  test("is off at 0, and where nobody says what the Owner's UserMinBalance is", () => {
    const off = poor({ autoQuota: ZERO });
    off.charge({ cost: usd(10), keep: ZERO });
    expect(off.ask(topUp).reply).toEqual({ asked: false });
    const unsaid = poor();
    unsaid.charge({ cost: usd(10) });
    expect([off.state.quota.asked, unsaid.state.quota.asked]).toEqual([null, null]);
  });

  test("is asked for once at a time", () => {
    const one = poor();
    expect(one.ask(topUp).reply).toEqual({ asked: true });
    expect(one.ask(topUp)).toEqual({ reply: { asked: true } });
    one.charge({ cost: usd(10), keep: ZERO });
    expect(one.events.filter(({ e }) => e.type === "quota_asked")).toHaveLength(1);
  });

  test("is over when the credit is here, not when it was promised", () => {
    const one = poor();
    one.ask(topUp, { id: "t" });
    one.ask(done("t:quota:give", null));
    expect([one.state.quota.asked?.granted, account.pendingEffects(one.state)]).toEqual([true, []]);
    expect(one.ask(topUp).events).toBeUndefined();
    const transfer = {
      ...{ id: "t:quota", to: 7, amount: usd(5), expiresAt: NOON + 180 * DAY, kind: "auto_quota" },
      ...{ taken: [], child: null, bornAt: NOON },
    };
    one.ask({ type: "receiveCredit", transfer: transfer as never, from: 2 as AccountId });
    expect([one.state.quota.asked, one.state.chargeAmount]).toEqual([null, usd(15)]);
    expect(one.ask(topUp).reply).toEqual({ asked: true });
  });

  describe("after a refusal", () => {
    const refused = () => {
      const one = poor();
      one.ask(topUp, { id: "t" });
      one.ask(done("t:quota:give", { code: "insufficient_parent_balance", message: "" }));
      return one;
    };
    const spent = (one: ReturnType<typeof poor>, id: string) => {
      const facts = factsOf({ id, cost: usd(0.001), keep: usd(100) });
      return one.ask({ type: "charge", ...facts }).events!.map(({ type }) => type);
    };

    test("is asked again by a request at once, by a charge after 60 s", () => {
      const one = refused();
      one.now += 59_999;
      expect(spent(one, "a")).toEqual(["charge"]);
      one.now += 1;
      expect(spent(one, "b")).toEqual(["charge", "quota_asked"]);
      expect(refused().ask(topUp).reply).toEqual({ asked: true });
    });

    test("is asked again by a charge once credit has come by it, or the amount is another", () => {
      const one = refused();
      one.ask({ type: "update", change: { autoQuota: usd(1) }, parent: null, by: 2 as AccountId });
      expect(spent(one, "a")).toEqual(["charge", "quota_asked"]);
      const two = refused();
      two.ask(topUp, { id: "u" });
      two.ask(arrival("u:quota", usd(5)));
      expect(spent(two, "b")).toEqual(["charge", "quota_asked"]);
    });
  });

  const arrival = (id: string, amount: Nano): AccountCommand => {
    const entry = { taken: [], child: null, bornAt: NOON, expiresAt: NOON + 180 * DAY };
    const transfer = { id, to: 7 as AccountId, amount, kind: "auto_quota", ...entry } as const;
    return { type: "receiveCredit", transfer, from: 2 as AccountId };
  };

  test("is not asked for what the balance cannot hold; what does not fit on arrival goes back, for good", () => {
    const one = poor({ autoQuota: usd(9_000_000) });
    one.ask(topUp, { id: "t" });
    one.ask(arrival("other", usd(8_000_000)));
    expect(one.ask(arrival("t:quota", usd(9_000_000))).refused?.code).toBe("invalid_parameter");
    expect(one.state.quota.asked).toBeNull();
    expect(one.ask(topUp).reply).toEqual({ asked: false });
    // Delivered once more when there is room: its giver may have it back by then.
    one.charge({ id: "c", cost: usd(8_000_000) });
    const again = one.ask(arrival("t:quota", usd(9_000_000)));
    expect([again.refused?.code, again.events]).toEqual(["invalid_parameter", []]);
  });

  test("moves from the parent to the child, as an entry of 180 days", () => {
    const tree = family();
    tree.ask(3, { type: "update", change: { autoQuota: usd(5) }, parent: null, by: 2 as AccountId });
    tree.ask(3, { type: "charge", ...factsOf({ cost: usd(10), keep: ZERO }) });
    tree.rest();
    expect(tree.of(3).events.findLast((e) => "balanceAfter" in e)).toMatchObject({
      ...{ type: "auto_quota", from: 2, amount: usd(5), balanceAfter: usd(5), expiresAt: NOON + 180 * DAY },
    });
    expect(tree.of(2).events.find(({ type }) => type === "transfer_out")).toBeDefined();
    expect(balanceOf(tree, 2)).toBe(usd(95));
  });

  test("asks the parent that was there when it was asked, and takes the credit after a move", () => {
    const tree = family();
    tree.born(4, 2, usd(50));
    tree.ask(3, { type: "update", change: { autoQuota: usd(5) }, parent: null, by: 2 as AccountId });
    tree.ask(3, topUp, "t");
    const asked = tree.debts().find(({ from }) => from === 3)!;
    tree.deliver(asked, "unanswered");
    tree.ask(3, {
      ...{ type: "move", id: "M", bornAt: NOON, to: 4 as AccountId, dna: ".1.2.4." },
      by: 1 as AccountId,
    });
    tree.rest();
    expect(tree.of(3).state.profile?.parent).toBe(4 as AccountId);
    expect([2, 3, 4].map((id) => balanceOf(tree, id))).toEqual([usd(45), usd(15), usd(50)]);
  });
});
