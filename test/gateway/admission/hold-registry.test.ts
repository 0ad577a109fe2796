// A node reasserts the holds of its requests to accounts that moved or lost them: all of them, as they are by then, until it is
// answered, and never that of a request that has ended without reporting its end.

import { describe, expect, test } from "bun:test";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { ReassertHolds } from "../../../actors/account/reassert-holds.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { RefusedError, UnavailableError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import { encode } from "../../../src/bus/codec.ts";
import {
  createHoldRegistry,
  type HoldRegistry,
  type RegisteredHold,
} from "../../../src/gateway/admission/hold-registry.ts";
import type { ActorRef } from "../../../src/runtime/actor.ts";
import type { ActorSystem } from "../../../src/runtime/system.ts";
import { usd } from "../../actors/account-samples.ts";
import { manualClock, settled } from "../../runtime/manual-clock.ts";

const SEVEN = 7 as AccountId;
const EIGHT = 8 as AccountId;

const held = (id: string, over: Partial<RegisteredHold> = {}): RegisteredHold => ({
  ...{
    id,
    model: "m",
    apiKey: MAIN_API_KEY,
    idempotency: null,
    cost: usd(1),
    tokens: 100,
    admittedAt: 1,
    takenAt: 1,
  },
  ...over,
});

function rig() {
  const clock = manualClock();
  const sent: ({ to: string } & ReassertHolds)[] = [];
  let moved: (concerns: (actor: ActorRef) => boolean) => Promise<void> = async () => {};
  let forgot: (actor: ActorRef) => Promise<void> = async () => {};
  /** What the account answers to each `reassertHolds`. */
  const answer: { say: (input: ReassertHolds) => Promise<{ dropped: number }> } = {
    say: async () => ({ dropped: 0 }),
  };
  const system = {
    onMoved(handle: typeof moved) {
      moved = handle;
    },
    onResync(handle: typeof forgot) {
      forgot = handle;
    },
    async ask({ id }: ActorRef, _type: string, input: ReassertHolds) {
      sent.push({ to: id, ...input });
      return answer.say(input);
    },
  } as unknown as ActorSystem<Protocol>;
  const holds = createHoldRegistry({ system, clock, log: silent });
  const move = (...accounts: AccountId[]) => moved(({ id }) => accounts.map(String).includes(id));
  const sentIds = () => sent.map(({ to, holds, ended }) => [to, holds.map(({ id }) => id), ended]);
  return {
    clock,
    holds,
    sent,
    answer,
    move,
    forget: (id: AccountId) => forgot(actorRef.account(id)),
    sentIds,
  };
}

const gate = () => Promise.withResolvers<{ dropped: number }>();
const DONE = { dropped: 0 };

describe("after a move", () => {
  test("the holds of each account that moved are reasserted, and no others", async () => {
    const { holds, move, sentIds } = rig();
    holds.add(SEVEN, held("a"));
    holds.add(EIGHT, held("b"));
    holds.add(SEVEN, held("c"));
    await move(SEVEN);
    expect(sentIds()).toEqual([["7", ["a", "c"], []]]);
  });

  test("a hold is reasserted as it is by then: taken anew, grown, and renewed", async () => {
    const { clock, holds, move, sent } = rig();
    holds.add(SEVEN, held("a"));
    holds.add(SEVEN, held("a", { model: "n", takenAt: 5 }));
    holds.grow("a", { cost: usd(4), tokens: 50 });
    await clock.advance(1_000);
    await move(SEVEN);
    const grown = held("a", { model: "n", takenAt: 5, cost: usd(4), tokens: 100 });
    expect(sent[0]!.holds).toEqual([{ ...grown, expiresAt: clock.wall() + HOLD_TTL_MS }]);
  });

  test("without holds nothing is sent", async () => {
    const { holds, move, sent } = rig();
    holds.add(SEVEN, held("a"));
    holds.remove("a");
    await move(SEVEN);
    expect(sent).toEqual([]);
  });

  test("reasserting ends when the account has answered, however often it must be tried", async () => {
    const { clock, holds, move, sent, answer } = rig();
    holds.add(SEVEN, held("a"));
    answer.say = async () => {
      throw new UnavailableError("account/7", "nobody owns it");
    };
    let over = false;
    const reasserting = move(SEVEN).then(() => {
      over = true;
    });
    await clock.advance(2_000);
    expect([over, sent.length > 2]).toEqual([false, true]);
    answer.say = async () => DONE;
    await clock.advance(5_000);
    await reasserting;
    expect(sent.at(-1)!.holds.map(({ id }) => id)).toEqual(["a"]);
  });

  test("an account that does not exist is asked once", async () => {
    const { clock, holds, move, sent, answer } = rig();
    holds.add(SEVEN, held("a"));
    answer.say = async () => {
      throw new RefusedError({ code: "user_not_found", message: "" });
    };
    await move(SEVEN);
    await clock.advance(10_000);
    expect(sent).toHaveLength(1);
  });

  test("a second move while the first is reasserted sends once more", async () => {
    const { holds, move, sentIds, answer } = rig();
    holds.add(SEVEN, held("a"));
    const first = gate();
    answer.say = () => first.promise;
    const one = move(SEVEN);
    await settled();
    answer.say = async () => DONE;
    const two = move(SEVEN);
    first.resolve(DONE);
    await Promise.all([one, two]);
    expect(sentIds()).toEqual([
      ["7", ["a"], []],
      ["7", ["a"], []],
    ]);
  });

  test("many go in frames that the bus carries, one after the other", async () => {
    const { holds, move, sent } = rig();
    const idempotency = { key: "k".repeat(64), body: "b".repeat(64) };
    for (let i = 0; i < 4_000; i++) {
      holds.add(SEVEN, held(`request-${i}`.padEnd(26, "x"), { model: "m".repeat(200), idempotency }));
    }
    await move(SEVEN);
    expect(new Set(sent.flatMap((one) => one.holds.map(({ id }) => id))).size).toBe(4_000);
    expect(sent.length).toBeGreaterThan(1);
    for (const one of sent) expect(encode(one).length).toBeLessThan(512 * 1024);
  });

  test("holds of at most 32 accounts are reasserted at once", async () => {
    const { holds, move, sent, answer } = rig();
    const accounts = Array.from({ length: 40 }, (_, i) => (i + 1) as AccountId);
    for (const account of accounts) holds.add(account, held(`r${account}`));
    const first = gate();
    answer.say = () => first.promise;
    const moving = move(...accounts);
    await settled();
    expect(sent).toHaveLength(32);
    first.resolve(DONE);
    await moving;
    expect(sent).toHaveLength(40);
  });
});

describe("a request that ends", () => {
  test("while its hold is reasserted leaves nothing behind: its end is sent afterwards", async () => {
    const { holds, move, sentIds, answer } = rig();
    holds.add(SEVEN, held("a"));
    const first = gate();
    answer.say = () => first.promise;
    const moving = move(SEVEN);
    await settled();
    holds.remove("a");
    await settled();
    expect(sentIds()).toEqual([["7", ["a"], []]]);
    answer.say = async () => DONE;
    first.resolve(DONE);
    await moving;
    expect(sentIds().slice(1)).toEqual([["7", [], ["a"]]]);
  });

  test("after its hold was reasserted is reported: the hold may arrive later than its end", async () => {
    const { holds, move, sentIds } = rig();
    holds.add(SEVEN, held("a"));
    await move(SEVEN);
    holds.remove("a");
    await settled();
    expect(sentIds().at(-1)).toEqual(["7", [], ["a"]]);
  });

  test("and was never reasserted is not reported", async () => {
    const { holds, sent } = rig();
    holds.add(SEVEN, held("a"));
    holds.remove("a");
    await settled();
    expect(sent).toEqual([]);
  });

  test("reports itself alone, not all others on its account", async () => {
    const { holds, move, sentIds } = rig();
    for (const id of ["a", "b", "c"]) holds.add(SEVEN, held(id));
    await move(SEVEN);
    holds.remove("b");
    await settled();
    expect(sentIds().at(-1)).toEqual(["7", [], ["b"]]);
  });

  test("with an unknown outcome is reported until its account has answered, or no hold could be left", async () => {
    const { clock, holds, sent, answer } = rig();
    answer.say = async () => {
      throw new UnavailableError("account/7", "nobody owns it");
    };
    holds.removeUnconfirmed(SEVEN, "a");
    await clock.advance(HOLD_TTL_MS);
    const tries = sent.length;
    expect(tries).toBeGreaterThan(10);
    await clock.advance(HOLD_TTL_MS);
    expect(sent.length).toBeLessThanOrEqual(tries + 2);
  });
});

describe("a hold is taken at once", () => {
  const ways: Record<string, [isAtOnce: boolean, then: (holds: HoldRegistry) => void, expected: boolean]> = {
    "when its admission was decided on the caller's stack": [true, () => {}, true],
    "not when its admission was sent": [false, () => {}, false],
    "not when a later admission was sent": [true, (holds) => holds.sent("a"), false],
    "not when it was taken again by an admission that was sent": [
      true,
      (holds) => holds.add(SEVEN, held("a", { model: "n" })),
      false,
    ],
    "not when an admission was sent before it was taken again": [
      false,
      (holds) => holds.add(SEVEN, held("a", { model: "n" }), true),
      false,
    ],
    "not when it has ended": [true, (holds) => holds.remove("a"), false],
  };
  test.each(Object.entries(ways))("%s", (_way, [isAtOnce, then, expected]) => {
    const { holds } = rig();
    holds.add(SEVEN, held("a"), isAtOnce);
    then(holds);
    expect(holds.isTakenAtOnce("a")).toBe(expected);
  });

  test("not when it was reasserted", async () => {
    const { holds, move } = rig();
    holds.add(SEVEN, held("a"), true);
    await move(SEVEN);
    expect(holds.isTakenAtOnce("a")).toBe(false);
  });
});

test("the holds of an account that lost them without moving are reasserted", async () => {
  const { holds, forget, sentIds } = rig();
  holds.add(SEVEN, held("a"));
  holds.add(EIGHT, held("b"));
  await forget(SEVEN);
  expect(sentIds()).toEqual([["7", ["a"], []]]);
});

test("the holds of an account that is back are reasserted at once, however long the next try would have waited", async () => {
  const { clock, holds, move, forget, sent, answer } = rig();
  holds.add(SEVEN, held("a"));
  answer.say = async () => {
    throw new UnavailableError("account/7", "its store is away");
  };
  void move(SEVEN);
  await clock.advance(8_000);
  const tries = sent.length;
  answer.say = async () => DONE;
  await forget(SEVEN);
  expect(sent.length).toBeGreaterThan(tries);
});

test("an admission sees that holds were reasserted while it ran", async () => {
  const { holds, move, forget } = rig();
  const before = holds.generation();
  await move(EIGHT);
  const moved = holds.generation();
  await forget(SEVEN);
  expect([moved > before, holds.generation() > moved]).toEqual([true, true]);
});

test("one request's hold is reasserted alone, and not at all once it has ended", async () => {
  const { holds, sentIds } = rig();
  holds.add(SEVEN, held("a"));
  holds.add(SEVEN, held("b"));
  holds.reassert("b");
  holds.reassert("nobody's");
  await settled();
  expect(sentIds()).toEqual([["7", ["b"], []]]);
});
