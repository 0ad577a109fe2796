// What becomes of an account: its profile changes, it gets another parent, it mails about its soft limit, it is deleted.

import { describe, expect, test } from "bun:test";
import { type AccountCommand, account } from "../../../actors/account/account.ts";
import { CLOSING_MS, type UnfinishedWork } from "../../../actors/account/closing.ts";
import type { Account, ProfileChange } from "../../../actors/account/state.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import {
  createChild,
  DAY,
  factsOf,
  KEY,
  type Living,
  living,
  NOON,
  newAccount,
  ROOT_PROFILE,
  usd,
} from "../account-samples.ts";
import { type AccountTree, accountTree, balanceOf } from "../account-tree.ts";

const by = 2 as AccountId;
const update = (change: ProfileChange, parent: { rates: number; resources: string[] } | null = null) =>
  ({ type: "update", change, parent, by }) as const;

describe("an update", () => {
  test("changes what it names, and nothing else", () => {
    const one = living();
    const before = one.state.profile!;
    one.now += 5;
    const { events, save } = one.ask(update({ hardLimit: usd(5), limits: { rpm: 3 }, level: 4 }));
    expect([events, save]).toEqual([
      [{ type: "updated", change: { hardLimit: usd(5), limits: { rpm: 3 }, level: 4 }, by }],
      true,
    ]);
    const limits = { ...before.limits, rpm: 3 };
    expect(one.state.profile).toEqual({
      ...before,
      hardLimit: usd(5),
      limits,
      level: 4,
      updatedAt: NOON + 5,
    });
  });

  test("answers the account as it is then, and publishes it", () => {
    const one = living();
    const { reply, publish } = one.ask(update({ status: false }));
    expect(reply).toMatchObject({ version: 2, profile: { status: false }, balance: usd(100) });
    expect(publish).toMatchObject([
      { topic: "account.7", body: { version: 2, closing: false, profile: { status: false } } },
    ]);
    expect(one.state.version).toBe(2);
    expect(one.admitted({ version: 2 })).toBe("account_disabled");
  });

  test("of nothing changes nothing", () => {
    const one = living();
    expect(one.ask(update({})).events).toBeUndefined();
  });

  test.each<[string, ProfileChange, string | null]>([
    ["rates as the parent's", { rates: 2 }, null],
    ["rates below the parent's", { rates: 1.99 }, "rate_below_parent"],
    ["resources that the parent's cover", { resources: ["/v1/audio/speech"] }, null],
    ["resources beyond the parent's", { resources: ["/v1/embeddings"] }, "resources_not_subset"],
    ["one bad field", { alias: "x", rates: 1 }, "rate_below_parent"],
  ])("against the parent: %s", (_what, change, code) => {
    const one = living();
    const parent = { rates: 2, resources: ["/v1/audio/*"] };
    expect(one.ask(update(change, parent)).refused?.code ?? null).toBe<string | null>(code);
    expect(one.state.version).toBe(code === null ? 2 : 1);
  });
});

describe("a new account, another key and a new Root are published", () => {
  test("each with the version that it has from then on", () => {
    const tree = accountTree();
    const root = account.decide(
      account.empty("1"),
      { type: "createRoot", keyHash: KEY },
      { id: "t", from: "", now: NOON, epoch: 1, done: false },
    );
    expect(root.publish).toMatchObject([{ topic: "account.1", body: { version: 1 } }]);
    tree.ask(1, createChild({ child: newAccount({ id: 2 as AccountId }) }));
    const born = tree.ask(2, tree.debts()[0]!.effect.command as AccountCommand);
    expect(born.publish).toMatchObject([{ topic: "account.2", body: { version: 1, closing: false } }]);
    const rotated = tree.ask(2, { type: "rotate", keyHash: KEY });
    expect(rotated.publish).toMatchObject([{ body: { version: 2, profile: { keyHash: KEY } } }]);
    expect(tree.of(2).state.version).toBe(2);
  });
});

describe("the soft limit", () => {
  const limited = (softLimit: Nano) => living({ profile: { softLimit } });
  const reached = (one: Living) => one.events.filter(({ e }) => e.type === "soft_limit_reached");

  test("is mailed with the charge that reaches it, once a month", () => {
    const one = limited(usd(2));
    one.charge({ id: "a", cost: usd(1.999999999) });
    expect(reached(one)).toHaveLength(0);
    const { events } = one.charge({ id: "b", cost: usd(0.000000001) });
    expect(events).toMatchObject([
      { type: "charge" },
      { type: "soft_limit_reached", month: "2026-01", limit: usd(2), spent: usd(2) },
    ]);
    one.charge({ id: "c", cost: usd(5) });
    expect(reached(one)).toHaveLength(1);
    one.now += 31 * DAY;
    one.charge({ id: "d", cost: usd(2) });
    expect(reached(one)).toHaveLength(2);
  });

  test("of 0 is none", () => {
    const one = limited(ZERO);
    one.charge({ cost: usd(50) });
    expect(reached(one)).toHaveLength(0);
  });

  test("waits in the outbox with all that the mail says", () => {
    const one = limited(usd(2));
    one.charge({ cost: usd(3) });
    expect(account.materialize(one.state).find(({ table }) => table === "outbox")).toEqual({
      table: "outbox",
      id: "7:2026-01",
      body: {
        ...{ id: "7:2026-01", state: "waiting", dueAt: NOON, month: "2026-01", limit: usd(2), spent: usd(3) },
        ...{ account: 7, owner: 2, billingEmail: "seven@example.com", name: "seven" },
      },
    });
    expect(account.materialize(one.state).filter(({ table }) => table === "outbox")).toEqual([]);
  });

  test.each([
    ["sent is due no more", true, { state: "sent", dueAt: null }],
    ["that failed is due again", false, { state: "waiting", dueAt: NOON + 60_000 }],
  ])("a mail %s", (_what, ok, body) => {
    const one = limited(usd(2));
    one.charge({ cost: usd(3) });
    one.ask({ type: "mailSent", month: "2026-01", ok, nextAt: NOON + 60_000 });
    expect(account.materialize(one.state).find(({ table }) => table === "outbox")).toMatchObject({ body });
  });

  test("a mail whose end comes with the next month's alert is marked as sent in the outbox, and then forgotten", () => {
    const one = limited(usd(2));
    const mails = () =>
      account
        .materialize(one.state)
        .flatMap(({ table, id, body }) =>
          table === "outbox" ? [[id, (body as { state: string }).state]] : [],
        );
    one.charge({ id: "a", cost: usd(3) });
    expect(mails()).toEqual([["7:2026-01", "waiting"]]);
    one.now += 31 * DAY;
    one.ask({ type: "mailSent", month: "2026-01", ok: true, nextAt: 0 });
    one.charge({ id: "b", cost: usd(3) });
    expect(mails()).toEqual([
      ["7:2026-01", "sent"],
      ["7:2026-02", "waiting"],
    ]);
    expect(one.state.alerts.map(({ month }) => month)).toEqual(["2026-02"]);
    one.ask({ type: "mailSent", month: "2026-02", ok: true, nextAt: 0 });
    expect(mails()).toEqual([["7:2026-02", "sent"]]);
    one.charge({ id: "c", cost: usd(3) });
    expect(reached(one)).toHaveLength(2);
  });

  test("a mail of an account that was deleted since is still acknowledged", () => {
    const one = limited(usd(2));
    one.charge({ cost: usd(3) });
    one.ask(close());
    one.ask(settle());
    const sent = { type: "mailSent", month: "2026-01", ok: true, nextAt: 0 } as const;
    expect(one.ask(sent).events).toMatchObject([{ type: "mail_sent" }]);
  });

  test("a mail is sent once, and one that nobody owes not at all", () => {
    const one = limited(usd(2));
    one.charge({ cost: usd(3) });
    const sent = { type: "mailSent", month: "2026-01", ok: true, nextAt: 0 } as const;
    expect(one.ask(sent).events).toHaveLength(1);
    expect(one.ask(sent).events).toBeUndefined();
    expect(one.ask({ ...sent, month: "2025-12" }).events).toBeUndefined();
  });
});

/** Root, Owner 2, its children 3 and 4, and 5 below 3. */
function family(): AccountTree {
  const tree = accountTree();
  tree.born(2, 1, usd(100));
  tree.born(3, 2, usd(20));
  tree.born(4, 2, usd(10));
  tree.born(5, 3, usd(5));
  return tree;
}

const affairs = (tree: AccountTree, id: number) =>
  tree.ask(id, { type: "unfinishedWork" }).reply as UnfinishedWork;

describe("a move", () => {
  const move = (tree: AccountTree, id: number, to: number, mark = "M") =>
    tree.ask(id, {
      ...{ type: "move", id: mark, bornAt: NOON, to: to as AccountId, by: 1 as AccountId },
      dna: `${tree.of(to).state.profile?.dna}${to}.`,
    });
  const children = (tree: AccountTree) => [2, 3, 4].map((id) => tree.of(id).state.children);

  test("takes the account to its new parent, and both count anew", () => {
    const tree = family();
    move(tree, 5, 4);
    tree.rest();
    expect(tree.of(5).state.profile).toMatchObject({ parent: 4, dna: ".1.2.4." });
    expect(children(tree)).toEqual([2, 0, 1]);
    expect(affairs(tree, 5)).toMatchObject({ move: { id: "M", stage: "moved" }, leaving: [] });
  });

  test("is published", () => {
    const tree = family();
    move(tree, 5, 4);
    const join = tree.debts()[0]!;
    tree.deliver(join, "unanswered");
    const { publish } = tree.ask(5, { type: "effectDone", effect: join.effect.id, refused: null });
    expect(publish).toMatchObject([
      { topic: "account.5", body: { version: 2, profile: { dna: ".1.2.4." } } },
    ]);
  });

  test.each<[string, number, number, string]>([
    ["with subaccounts", 3, 4, "has_subaccounts"],
    ["under itself", 5, 5, "invalid_parameter"],
    ["under Root", 5, 1, "invalid_parameter"],
    ["to where it is", 5, 3, "invalid_parameter"],
    ["of Root", 1, 4, "invalid_parameter"],
  ])("is refused: %s", (_what, id, to, code) => {
    expect(move(family(), id, to).refused?.code).toBe<string | undefined>(code);
  });

  test.each<[string, ProfileChange, string]>([
    ["has its UserLimit", { userLimit: 0 }, "user_limit_reached"],
    ["has higher Rates", { rates: 2 }, "rate_below_parent"],
  ])("is refused by a parent that %s, and nothing has changed", (_what, change, code) => {
    const tree = family();
    tree.ask(4, update(change));
    move(tree, 5, 4);
    tree.rest();
    expect(affairs(tree, 5).move).toMatchObject({ stage: "refused", refusal: { code } });
    expect(tree.of(5).state.profile).toMatchObject({ parent: 3, dna: ".1.2.3." });
    expect(children(tree)).toEqual([2, 1, 0]);
  });

  test("is refused by a parent whose own place has changed, or is about to", () => {
    const tree = family();
    tree.ask(5, {
      ...{ type: "move", id: "M", bornAt: NOON, to: 4 as AccountId, dna: ".1.9.4.", by: 1 as AccountId },
    });
    tree.rest();
    expect(affairs(tree, 5).move?.stage).toBe("refused");
  });

  test("lets nobody be born meanwhile, nor the account be deleted, nor another move begin", () => {
    const tree = family();
    move(tree, 5, 4);
    expect(tree.ask(5, createChild()).refused?.code).toBe("service_unavailable");
    expect(tree.ask(5, close()).refused?.code).toBe("service_unavailable");
    expect(move(tree, 5, 2, "N").refused?.code).toBe("service_unavailable");
    expect(move(tree, 5, 4).refused).toBeUndefined();
  });

  test("whose answers are lost counts once", () => {
    const tree = family();
    move(tree, 5, 4);
    for (let i = 0; i < 3; i++) for (const debt of tree.debts()) tree.deliver(debt, "unanswered");
    tree.rest();
    expect(children(tree)).toEqual([2, 0, 1]);
  });
});

const close = (recursive = false, id = "D"): AccountCommand => ({
  ...{ type: "close", id, bornAt: NOON, by, recursive },
});
const settle = (id = "S"): AccountCommand => ({ type: "settleClosing", id, bornAt: NOON });

describe("a deletion", () => {
  const amounts = (tree: AccountTree, id: number): [string, Nano][] =>
    tree.of(id).events.flatMap((e) => ("balanceAfter" in e ? [[e.type, e.amount] as [string, Nano]] : []));

  test("takes the fee, gives the rest to the parent for 180 days, and the parent has a child less", () => {
    const tree = family();
    tree.ask(5, close());
    expect(tree.ask(5, settle()).reply).toEqual({ fee: usd(0.2), refunded: usd(4.8) });
    tree.rest();
    tree.ask(5, { type: "endClosing" });
    tree.rest();
    expect(amounts(tree, 5).slice(1)).toEqual([
      ["delete_fee", usd(-0.2)],
      ["refund_out", usd(-4.8)],
    ]);
    expect(tree.of(3).events.filter(({ type }) => type === "refund")).toMatchObject([
      { from: 5, amount: usd(4.8), expiresAt: NOON + 180 * DAY },
    ]);
    expect([tree.of(3).state.children, affairs(tree, 5).stage]).toEqual([0, "closed"]);
  });

  test.each<[string, Nano, [string, Nano][]]>([
    ["less than the fee: it is all fee", usd(0.15), [["delete_fee", usd(-0.15)]]],
    ["the fee exactly", usd(0.2), [["delete_fee", usd(-0.2)]]],
    ["nothing: no line", ZERO, []],
    ["a debt: written off, no fee", usd(-3), [["write_off", usd(3)]]],
  ])("of an account with %s", (_what, balance, lines) => {
    const tree = family();
    tree.ask(5, { type: "charge", ...factsOf({ cost: (usd(5) - balance) as Nano }) });
    tree.ask(5, close());
    tree.ask(5, settle());
    expect(amounts(tree, 5).slice(2)).toEqual(lines);
    expect(tree.of(5).state.credit).toEqual({ entries: [], owed: ZERO });
  });

  test("a repeat of any step answers as the first, and moves nothing", () => {
    const tree = family();
    for (let i = 0; i < 2; i++) {
      expect(tree.ask(5, close(false, `D${i}`)).refused).toBeUndefined();
    }
    for (let i = 0; i < 2; i++) {
      expect(tree.ask(5, settle(`S${i}`)).reply).toEqual({ fee: usd(0.2), refunded: usd(4.8) });
    }
    tree.rest();
    for (let i = 0; i < 2; i++) expect(tree.ask(5, { type: "endClosing" }).reply).toEqual({});
    tree.rest();
    expect([balanceOf(tree, 3), tree.of(3).state.children]).toEqual([usd(19.8), 0]);
  });

  test("is refused where accounts are below, unless they go too", () => {
    const tree = family();
    expect(tree.ask(3, close()).refused?.code).toBe("has_subaccounts");
    expect(tree.ask(3, close(true)).refused).toBeUndefined();
    expect(tree.ask(3, settle()).refused?.code).toBe("closing_busy");
    expect(tree.ask(1, close(true)).refused?.code).toBe("not_ancestor");
  });

  test("waits for requests in flight, at most 35 s; then their holds end", () => {
    const one = living();
    one.admit({ id: "r" });
    one.ask(close());
    expect(one.ask(settle("S1")).refused?.code).toBe("closing_busy");
    one.now += CLOSING_MS + 4_999;
    expect(one.ask(settle("S2")).refused?.code).toBe("closing_busy");
    one.now += 1;
    expect(one.ask(settle("S3")).refused).toBeUndefined();
    expect(one.state.volatile).toMatchObject({ heldCost: ZERO, holds: new Map() });
  });

  test("a request in flight moves to another model, renews and is charged as ever", () => {
    const one = living();
    one.admit({ id: "r" });
    one.ask(close());
    expect(one.admit({ id: "r", model: "other", version: 2 }).refused).toBeUndefined();
    expect(one.ask({ type: "renew", id: "r", cost: usd(2), tokens: 9 }).reply).toEqual({ held: true });
    expect(one.charge({ id: "r" }).events).toMatchObject([{ type: "charge" }]);
    expect(one.ask(settle()).reply).toEqual({ fee: usd(0.2), refunded: usd(99.3) });
  });

  test("a charge after it is a loss, once, and no use of the account's", () => {
    const one = living();
    one.ask(close());
    one.ask(settle());
    const { events } = one.charge({ id: "late", cost: usd(2) });
    expect(events).toMatchObject([
      { type: "late_charge", id: "late", amount: usd(-2), balanceAfter: usd(-2) },
      { type: "write_off", id: "late:write_off", amount: usd(2), balanceAfter: ZERO },
    ]);
    expect(account.dedupIds(events![0]!)).toContain("late");
    expect(one.state).toMatchObject({ creditUsed: ZERO, usage: new Map() });
    expect(one.ask({ type: "charge", ...factsOf({ id: "late" }) }, { done: true })).toEqual({ reply: {} });
  });

  test("whose refund comes back is emptied once more, without a second fee", () => {
    const one = living();
    one.ask(close());
    one.ask(settle("S1"));
    one.ask({ type: "effectDone", effect: "S1:refund:in", refused: { code: "user_not_found", message: "" } });
    expect(one.ask({ type: "endClosing" }).refused?.code).toBe("closing_busy");
    expect(one.ask(settle("S2")).reply).toEqual({ fee: usd(0.2), refunded: usd(99.8) });
    expect(one.events.filter(({ e }) => e.type === "delete_fee")).toHaveLength(1);
  });

  test("whose refund came back is not emptied again by a repeat of the first", () => {
    const one = living();
    one.ask(close());
    one.ask(settle("S1"));
    one.ask({ type: "effectDone", effect: "S1:refund:in", refused: { code: "user_not_found", message: "" } });
    expect(one.ask(settle("S1"), { done: true }).events ?? []).toEqual([]);
  });

  test("ends only when the refund has arrived", () => {
    const one = living();
    one.ask(close());
    expect(one.ask({ type: "endClosing" }).refused?.code).toBe("closing_busy");
    one.ask(settle());
    expect(one.ask({ type: "endClosing" }).refused?.code).toBe("closing_busy");
    one.ask({ type: "effectDone", effect: "S:refund:in", refused: null });
    expect(one.ask({ type: "endClosing" }).refused).toBeUndefined();
  });

  test("shows in the document: 1 while it closes, 2 when it is over", () => {
    const one = living();
    const closed = () =>
      account.materialize(one.state).find(({ table }) => table === "accounts")?.body.closed;
    expect(closed()).toBe(0);
    one.ask(close());
    expect(closed()).toBe(1);
    one.ask(settle());
    one.ask({ type: "effectDone", effect: "S:refund:in", refused: null });
    one.ask({ type: "endClosing" });
    expect(closed()).toBe(2);
  });
});

describe("a frozen account", () => {
  const frozen = (tree: AccountTree, id: number) => account.freeze(tree.of(id).state);

  test("goes on with its move, its closing, its alert and its request for more where it stood", () => {
    const tree = family();
    tree.ask(5, update({ autoQuota: usd(1), softLimit: usd(1) }));
    tree.ask(5, { type: "charge", ...factsOf({ cost: usd(5), keep: ZERO }) });
    tree.ask(5, { type: "move", id: "M", bornAt: NOON, to: 4 as AccountId, dna: ".1.2.4.", by });
    tree.ask(4, close());
    tree.ask(4, settle());
    for (const id of [4, 5]) {
      const before = structuredClone(frozen(tree, id));
      const debts = account.pendingEffects(tree.of(id).state);
      tree.crash(id);
      expect(frozen(tree, id)).toEqual(before);
      expect(account.pendingEffects(tree.of(id).state)).toEqual(debts);
    }
    expect(frozen(tree, 5)).toMatchObject({
      ...{ move: { stage: "asked" }, quota: { asked: { from: 3 } }, alerts: [{ state: "waiting" }] },
    });
    expect(frozen(tree, 4)).toMatchObject({ closing: { stage: "emptied" }, owing: [{ kind: "refund" }] });
  });

  test("leaves what it used on the day of a move where it is then, and earlier days where they were", () => {
    const tree = family();
    const dnas = () =>
      account
        .materialize(tree.of(5).state)
        .flatMap(({ table, body }) => (table === "usage" ? [body.dna] : []));
    tree.ask(5, { type: "charge", ...factsOf({ cost: usd(1) }) });
    expect(dnas()).toEqual([".1.2.3."]);
    const move = (id: string, to: number): AccountCommand => ({
      ...{ type: "move", id, bornAt: NOON, to: to as AccountId, dna: `.1.2.${to}.`, by },
    });
    tree.ask(5, move("M", 4));
    tree.rest();
    expect(dnas()).toEqual([".1.2.4."]);
    tree.now += DAY;
    tree.ask(5, move("N", 3));
    tree.rest();
    expect(dnas()).toEqual([]);
  });

  test("writes an earlier day where it was, also when that is written after the move, or again by a replay", () => {
    const tree = family();
    const usageOf = (state: Account) =>
      account
        .materialize(state)
        .flatMap(({ table, body }) => (table === "usage" ? [[body.day, body.dna]] : []));
    const times: number[] = [];
    const endDay = (): void => {
      while (times.length < tree.of(5).events.length) times.push(tree.now);
      tree.now += DAY;
    };
    const moveTo = (id: string, to: number): void => {
      tree.ask(5, { ...{ type: "move", id, bornAt: NOON, to: to as AccountId }, dna: `.1.2.${to}.`, by });
      tree.rest();
    };
    const charge = (id: string) => tree.ask(5, { type: "charge", ...factsOf({ id, cost: usd(1) }) });
    charge("a");
    endDay();
    moveTo("M", 4);
    charge("b");
    endDay();
    moveTo("N", 3);
    charge("c");
    endDay();
    const replayed = account.empty("5");
    for (const [i, event] of tree.of(5).events.entries()) account.evolve(replayed, event, times[i]!);
    const days = [
      ["2026-01-15", ".1.2.3."],
      ["2026-01-16", ".1.2.4."],
      ["2026-01-17", ".1.2.3."],
    ];
    expect(usageOf(tree.of(5).state)).toEqual(days);
    expect(usageOf(replayed)).toEqual(days);
    expect(usageOf(replayed)).toEqual([]);
  });
});

describe("to whom an account is nobody", () => {
  const closing = () => {
    const one = living();
    one.ask(close());
    return one;
  };
  const refusal = (one: Living, command: AccountCommand) => one.ask(command).refused?.code ?? null;

  test("its key is nobody's from the moment it closes", () => {
    const one = closing();
    expect(one.admitted({ version: 2 })).toBe("invalid_api_key");
    const identify = {
      type: "identify",
      keyHash: KEY,
      ip: "192.0.2.1",
      scope: "read",
      suspendedToo: true,
    } as const;
    expect(refusal(one, identify)).toBe("invalid_api_key");
    expect(
      (one.ask({ type: "admitDryRun", ...previewInput() }).reply as { refusal: object }).refusal,
    ).toMatchObject({
      code: "invalid_api_key",
    });
  });

  const previewInput = () => ({
    ...{
      keyHash: KEY,
      ip: "192.0.2.1",
      version: 2,
      path: "/v1/chat/completions",
      routing: null,
      idempotency: null,
      model: "m",
    },
    ...{
      promptTokens: 1,
      outputTokens: 1,
      cost: usd(1),
      promptCost: usd(1),
      modelLimits: null,
      threshold: ZERO,
    },
  });

  const to = 8 as AccountId;
  const OTHERS: readonly AccountCommand[] = [
    { type: "read" },
    update({ alias: "x" }),
    { type: "adjust", id: "A", by },
    createChild(),
    {
      type: "startTransfer",
      id: "G",
      bornAt: NOON,
      to,
      amount: usd(1),
      days: 1,
      keep: ZERO,
      kind: "transfer_in",
    },
    { type: "startRefund", id: "B", bornAt: NOON, amount: usd(1) },
    { type: "fee", id: "F", amount: usd(1), apiKey: MAIN_API_KEY },
    { type: "topUp", keep: ZERO },
    { type: "move", id: "M", bornAt: NOON, to, dna: ".1.2.8.", by },
    { type: "addChild", id: "J", child: to, dna: ".1.2.7.", rates: 1, resources: [] },
    { type: "rotate", keyHash: "b".repeat(64) },
  ];
  test.each(OTHERS.map((command) => [command.type, command] as const))(
    "%s meets nobody",
    (_type, command) => {
      expect(refusal(closing(), command)).toBe("user_not_found");
    },
  );

  test("what was done before it closed is answered as done", () => {
    const one = closing();
    const given = OTHERS.find(({ type }) => type === "startTransfer")!;
    expect(one.ask(given, { done: true })).toEqual({ reply: {} });
  });

  test("a recharge under way goes back, a refund from below still comes in until it is emptied", () => {
    const transfer = (kind: string, id: string) =>
      ({
        ...{ id, to: 7, amount: usd(1), expiresAt: NOON + DAY, kind, taken: [], child: null, bornAt: NOON },
      }) as never;
    const one = closing();
    const receive = (kind: string, id: string, from: number) =>
      refusal(one, { type: "receiveCredit", transfer: transfer(kind, id), from: from as AccountId });
    expect(receive("transfer_in", "a", 2)).toBe("user_not_found");
    expect(receive("grant", "b", 1)).toBe("user_not_found");
    expect(receive("refund", "c", 9)).toBeNull();
    one.ask(settle());
    expect(receive("refund", "d", 9)).toBe("user_not_found");
  });

  test("its profile is there for those below it, and says that it closes", () => {
    const one = closing();
    expect(one.ask({ type: "profile" }).reply).toMatchObject({ version: 2, closing: true });
    expect(living({ profile: ROOT_PROFILE }).ask({ type: "profile" }).reply).toMatchObject({
      closing: false,
    });
  });

  test("a child that is gone is counted off, also by an account that closes", () => {
    const tree = family();
    tree.ask(3, close(true));
    tree.ask(5, close());
    tree.ask(5, settle());
    tree.rest();
    tree.ask(5, { type: "endClosing" });
    tree.rest();
    expect(tree.ask(3, settle("S3")).reply).toEqual({ fee: usd(0.2), refunded: usd(19.6) });
  });
});
