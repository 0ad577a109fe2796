// Requests whose front end is over: what they held is free, they count as admitted, and one whose front end lives after
// all is held again, charged once and counted once.

import { describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import { heldWindows } from "../../../actors/account/held-windows.ts";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import { holdOwnership } from "../../../actors/account/orphaned-holds.ts";
import { MAIN_API_KEY } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import { counted, NO_LIMITS } from "../../../actors/rate-window.ts";
import { admitInput, factsOf, type Living, living, NOON, usd } from "../account-samples.ts";

const KEY = { key: "k".repeat(64), body: "b".repeat(64) };
const limited = (rpm = 3): Living =>
  living({ credit: usd(10), profile: { limits: { ...NO_LIMITS, rpm, tpm: 1_000 } } });

const admit = (one: Living, from: string, id: string, over = {}) =>
  one.ask({ type: "admit", ...admitInput({ id, ...over }) }, { from });

/** As the runtime does when it hears that these are over. */
function depart(one: Living, ...nodes: string[]): void {
  for (;;) {
    const command = holdOwnership.release(one.state, (node) => nodes.includes(node));
    if (command === null) return;
    one.ask(command);
  }
}

const reassert = (one: Living, from: string, id = "r1") =>
  one.ask(
    {
      type: "reassertHolds",
      holds: [
        {
          ...{ id, model: "m", idempotency: null, cost: usd(1), tokens: 100 },
          ...{ apiKey: MAIN_API_KEY, admittedAt: NOON, takenAt: NOON, expiresAt: one.now + HOLD_TTL_MS },
        },
      ],
      ended: [],
    },
    { from },
  );

const types = (one: Living) => one.events.map(({ e }) => e.type).filter((type) => type !== "grant");
const requests = ({ state, now }: Living): number =>
  counted(state.windows, "minute", now).requests +
  counted(heldWindows(state, now).account, "minute", now).requests;

describe("when a front end is over", () => {
  test("its holds end, and nobody else's", () => {
    const one = limited();
    admit(one, "a#1", "r1");
    admit(one, "b#1", "r2");
    depart(one, "a#1");
    expect([...one.state.volatile.holds.keys()]).toEqual(["r2"]);
    expect(one.state.volatile.heldCost).toBe(usd(1));
  });

  test("its requests count as admitted, durably; their tokens are free", () => {
    const one = limited(2);
    admit(one, "a#1", "r1", { outputTokens: 890 });
    depart(one, "a#1");
    expect(types(one)).toEqual(["created", "released"]);
    const replayed = account.empty("7");
    for (const { e, at } of one.events) account.evolve(replayed, e, at);
    expect(counted(replayed.windows, "minute", one.now)).toEqual({ requests: 1, tokens: 0 });
    expect(admit(one, "b#1", "r2", { outputTokens: 890 }).refused).toBeUndefined();
    expect(admit(one, "b#1", "r3").refused?.code).toBe("rpm_exceeded");
  });

  test("a repeat of its keyed request runs", () => {
    const one = limited();
    admit(one, "a#1", "r1", { idempotency: KEY });
    expect(admit(one, "b#1", "r2", { idempotency: KEY }).refused?.code).toBe("repeat_running");
    depart(one, "a#1");
    expect(admit(one, "b#1", "r2", { idempotency: KEY }).refused).toBeUndefined();
  });

  test("more holds than go into a commit end all the same", () => {
    const one = living({ credit: usd(1_000) });
    for (let i = 0; i < 450; i++) admit(one, "a#1", `r${i}`);
    depart(one, "a#1");
    expect([one.state.volatile.holds.size, one.events.length]).toEqual([0, 452]);
  });

  test.each(["admit", "renew", "reassertHolds"] as const)("a hold is the newest teller's: %s", (type) => {
    const one = limited();
    admit(one, "a#1", "r1");
    if (type === "admit") admit(one, "a#2", "r1");
    else if (type === "renew") one.ask({ type, id: "r1", cost: ZERO, tokens: 0 }, { from: "a#2" });
    else reassert(one, "a#2");
    depart(one, "a#1");
    expect([...one.state.volatile.holds.keys()]).toEqual(["r1"]);
    depart(one, "a#2");
    expect(one.state.volatile.holds.size).toBe(0);
  });

  test("charges and cancellations are taken from every node, holds from live nodes", () => {
    const taken = (type: string) => !holdOwnership.opensHold({ type } as never);
    expect(["charge", "cancel", "read", "releaseOrphanedHolds"].every(taken)).toBe(true);
    expect(["admit", "renew", "reassertHolds"].some(taken)).toBe(false);
  });
});

describe("a front end that was taken for dead and lives", () => {
  const abandoned = (): Living => {
    const one = limited();
    admit(one, "a#1", "r1");
    depart(one, "a#1");
    return one;
  };

  test("holds again what it reasserts, and the request counts once", () => {
    const one = abandoned();
    reassert(one, "a#2");
    expect([one.state.volatile.heldCost, requests(one)]).toEqual([usd(1), 1]);
    one.charge({ id: "r1" });
    expect([one.state.volatile.heldCost, requests(one)]).toEqual([ZERO, 1]);
    expect(counted(one.state.windows, "minute", one.now)).toEqual({ requests: 1, tokens: 30 });
    expect(types(one)).toEqual(["created", "released", "charge"]);
  });

  test("is charged once and counted once also where it did not reassert it", () => {
    const one = abandoned();
    one.charge({ id: "r1" });
    one.charge({ id: "r2" });
    expect([requests(one), one.state.creditUsed]).toEqual([2, usd(1)]);
  });

  test.each([
    ["is cancelled", (one: Living) => one.ask({ type: "cancel", id: "r1", aborted: false })],
    ["departs once more", (one: Living) => depart(one, "a#2")],
  ])("and then %s: it holds nothing, and is released once", (_what, end) => {
    const one = abandoned();
    reassert(one, "a#2");
    end(one);
    expect([one.state.volatile.heldCost, requests(one)]).toEqual([ZERO, 1]);
    expect(types(one)).toEqual(["created", "released"]);
  });

  test("gets no new hold by asking: its request would count twice", () => {
    expect(admit(abandoned(), "a#2", "r1").refused?.code).toBe("service_unavailable");
  });
});

describe("two requests with one key, after the first was taken for dead", () => {
  const both = (): Living => {
    const one = limited();
    admit(one, "a#1", "r1", { idempotency: KEY });
    depart(one, "a#1");
    admit(one, "b#1", "r2", { idempotency: KEY });
    return one;
  };
  const charge = (one: Living, id: string, delivered = false) =>
    one.ask({
      type: "charge",
      ...factsOf({ id, idempotency: KEY, ...(delivered && { delivered }) }),
    });

  test.each([
    ["r1", "r2"],
    ["r2", "r1"],
  ])("whichever is charged first is the answer: %s, and not %s", (first, second) => {
    const one = both();
    expect(charge(one, first).refused).toBeUndefined();
    expect(charge(one, second).refused?.code).toBe("service_unavailable");
    expect(one.state.creditUsed).toBe(usd(0.5));
    expect([one.state.volatile.holds.size, requests(one)]).toEqual([0, 2]);
  });

  test("what was delivered before is charged all the same, and its line does not say so", () => {
    const one = both();
    charge(one, "r2");
    expect(charge(one, "r1", true).refused).toBeUndefined();
    expect(one.state.creditUsed).toBe(usd(1));
    expect(one.events.at(-1)!.e).not.toHaveProperty("delivered");
  });

  test("the same charge asked again is not its own twin", () => {
    const one = both();
    charge(one, "r2");
    expect(
      one.ask({ type: "charge", ...factsOf({ id: "r2", idempotency: KEY }) }, { done: true }).refused,
    ).toBeUndefined();
  });
});
