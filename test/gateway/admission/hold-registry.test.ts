// What a node's requests hold is told again to accounts that moved or forgot: all of it, as it is by then, until it is
// heard, and never of a request that is over without saying so.

import { describe, expect, test } from "bun:test";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { ReassertHolds } from "../../../actors/account/reassert-holds.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { RefusedError, UnavailableError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import { encode } from "../../../src/bus/codec.ts";
import { createHoldRegistry, type RegisteredHold } from "../../../src/gateway/admission/hold-registry.ts";
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
  const told: ({ to: string } & ReassertHolds)[] = [];
  let moved: (concerns: (actor: ActorRef) => boolean) => Promise<void> = async () => {};
  let forgot: (actor: ActorRef) => Promise<void> = async () => {};
  /** What the account says to each telling. */
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
      told.push({ to: id, ...input });
      return answer.say(input);
    },
  } as unknown as ActorSystem<Protocol>;
  const holds = createHoldRegistry({ system, clock, log: silent });
  const move = (...accounts: AccountId[]) => moved(({ id }) => accounts.map(String).includes(id));
  const idsTold = () => told.map(({ to, holds, ended }) => [to, holds.map(({ id }) => id), ended]);
  return {
    clock,
    holds,
    told,
    answer,
    move,
    forget: (id: AccountId) => forgot(actorRef.account(id)),
    idsTold,
  };
}

const gate = () => Promise.withResolvers<{ dropped: number }>();
const DONE = { dropped: 0 };

describe("after a move", () => {
  test("each account that is concerned is told what is held of it, and nobody else is", async () => {
    const { holds, move, idsTold } = rig();
    holds.add(SEVEN, held("a"));
    holds.add(EIGHT, held("b"));
    holds.add(SEVEN, held("c"));
    await move(SEVEN);
    expect(idsTold()).toEqual([["7", ["a", "c"], []]]);
  });

  test("it is told as it is by then: taken anew, grown, and renewed by the telling", async () => {
    const { clock, holds, move, told } = rig();
    holds.add(SEVEN, held("a"));
    holds.add(SEVEN, held("a", { model: "n", takenAt: 5 }));
    holds.grow("a", { cost: usd(4), tokens: 50 });
    await clock.advance(1_000);
    await move(SEVEN);
    const grown = held("a", { model: "n", takenAt: 5, cost: usd(4), tokens: 100 });
    expect(told[0]!.holds).toEqual([{ ...grown, expiresAt: clock.wall() + HOLD_TTL_MS }]);
  });

  test("who holds nothing tells nothing", async () => {
    const { holds, move, told } = rig();
    holds.add(SEVEN, held("a"));
    holds.remove("a");
    await move(SEVEN);
    expect(told).toEqual([]);
  });

  test("the telling is over when the account has heard it, however often it must be tried", async () => {
    const { clock, holds, move, told, answer } = rig();
    holds.add(SEVEN, held("a"));
    answer.say = async () => {
      throw new UnavailableError("account/7", "nobody owns it");
    };
    let over = false;
    const telling = move(SEVEN).then(() => {
      over = true;
    });
    await clock.advance(2_000);
    expect([over, told.length > 2]).toEqual([false, true]);
    answer.say = async () => DONE;
    await clock.advance(5_000);
    await telling;
    expect(told.at(-1)!.holds.map(({ id }) => id)).toEqual(["a"]);
  });

  test("an account that is nobody's is told once", async () => {
    const { clock, holds, move, told, answer } = rig();
    holds.add(SEVEN, held("a"));
    answer.say = async () => {
      throw new RefusedError({ code: "user_not_found", message: "" });
    };
    await move(SEVEN);
    await clock.advance(10_000);
    expect(told).toHaveLength(1);
  });

  test("a second move while the first is told tells once more", async () => {
    const { holds, move, idsTold, answer } = rig();
    holds.add(SEVEN, held("a"));
    const first = gate();
    answer.say = () => first.promise;
    const one = move(SEVEN);
    await settled();
    answer.say = async () => DONE;
    const two = move(SEVEN);
    first.resolve(DONE);
    await Promise.all([one, two]);
    expect(idsTold()).toEqual([
      ["7", ["a"], []],
      ["7", ["a"], []],
    ]);
  });

  test("many go in frames that the bus carries, one after the other", async () => {
    const { holds, move, told } = rig();
    const idempotency = { key: "k".repeat(64), body: "b".repeat(64) };
    for (let i = 0; i < 4_000; i++) {
      holds.add(SEVEN, held(`request-${i}`.padEnd(26, "x"), { model: "m".repeat(200), idempotency }));
    }
    await move(SEVEN);
    expect(new Set(told.flatMap((one) => one.holds.map(({ id }) => id))).size).toBe(4_000);
    expect(told.length).toBeGreaterThan(1);
    for (const one of told) expect(encode(one).length).toBeLessThan(512 * 1024);
  });

  test("at most 32 accounts are told at once", async () => {
    const { holds, move, told, answer } = rig();
    const accounts = Array.from({ length: 40 }, (_, i) => (i + 1) as AccountId);
    for (const account of accounts) holds.add(account, held(`r${account}`));
    const first = gate();
    answer.say = () => first.promise;
    const moving = move(...accounts);
    await settled();
    expect(told).toHaveLength(32);
    first.resolve(DONE);
    await moving;
    expect(told).toHaveLength(40);
  });
});

describe("a request that ends", () => {
  test("while it is told leaves nothing behind: its account hears of the end after the telling", async () => {
    const { holds, move, idsTold, answer } = rig();
    holds.add(SEVEN, held("a"));
    const first = gate();
    answer.say = () => first.promise;
    const moving = move(SEVEN);
    await settled();
    holds.remove("a");
    await settled();
    expect(idsTold()).toEqual([["7", ["a"], []]]);
    answer.say = async () => DONE;
    first.resolve(DONE);
    await moving;
    expect(idsTold().slice(1)).toEqual([["7", [], ["a"]]]);
  });

  test("after it was told is told of too: what was told may come later than its end", async () => {
    const { holds, move, idsTold } = rig();
    holds.add(SEVEN, held("a"));
    await move(SEVEN);
    holds.remove("a");
    await settled();
    expect(idsTold().at(-1)).toEqual(["7", [], ["a"]]);
  });

  test("and was never told is no news", async () => {
    const { holds, told } = rig();
    holds.add(SEVEN, held("a"));
    holds.remove("a");
    await settled();
    expect(told).toEqual([]);
  });

  test("tells of itself alone, not of all others on its account", async () => {
    const { holds, move, idsTold } = rig();
    for (const id of ["a", "b", "c"]) holds.add(SEVEN, held(id));
    await move(SEVEN);
    holds.remove("b");
    await settled();
    expect(idsTold().at(-1)).toEqual(["7", [], ["b"]]);
  });

  test("without anybody's knowing whether its account has heard is told until it has, or no hold could be left", async () => {
    const { clock, holds, told, answer } = rig();
    answer.say = async () => {
      throw new UnavailableError("account/7", "nobody owns it");
    };
    holds.removeUnconfirmed(SEVEN, "a");
    await clock.advance(HOLD_TTL_MS);
    const tries = told.length;
    expect(tries).toBeGreaterThan(10);
    await clock.advance(HOLD_TTL_MS);
    expect(told.length).toBeLessThanOrEqual(tries + 2);
  });
});

test("an account that has forgotten without moving is told again", async () => {
  const { holds, forget, idsTold } = rig();
  holds.add(SEVEN, held("a"));
  holds.add(EIGHT, held("b"));
  await forget(SEVEN);
  expect(idsTold()).toEqual([["7", ["a"], []]]);
});

test("an account that is there again is told at once, however long the next try would have waited", async () => {
  const { clock, holds, move, forget, told, answer } = rig();
  holds.add(SEVEN, held("a"));
  answer.say = async () => {
    throw new UnavailableError("account/7", "its store is away");
  };
  void move(SEVEN);
  await clock.advance(8_000);
  const tries = told.length;
  answer.say = async () => DONE;
  await forget(SEVEN);
  expect(told.length).toBeGreaterThan(tries);
});

test("whoever was given a hold while accounts were told again can know it", async () => {
  const { holds, move, forget } = rig();
  const before = holds.generation();
  await move(EIGHT);
  const moved = holds.generation();
  await forget(SEVEN);
  expect([moved > before, holds.generation() > moved]).toEqual([true, true]);
});

test("one request's hold is told again alone, and not at all once it is over", async () => {
  const { holds, idsTold } = rig();
  holds.add(SEVEN, held("a"));
  holds.add(SEVEN, held("b"));
  holds.reassert("b");
  holds.reassert("nobody's");
  await settled();
  expect(idsTold()).toEqual([["7", ["b"], []]]);
});
