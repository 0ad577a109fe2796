// What an account without traffic forgets: all that has no effect any more, and nothing else.

import { expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import { freshVolatile } from "../../../actors/account/state.ts";
import { living, usd } from "../account-samples.ts";

const KEYED = { key: "key-1", body: "a" };

/** An account that was used, and whose documents are written. */
function used() {
  const one = living();
  one.admit({ id: "r1", idempotency: KEYED });
  one.charge({ id: "r1", idempotency: KEYED });
  account.materialize(one.state);
  return one;
}

const forgetAfter = (one: ReturnType<typeof used>, ms: number): void => {
  one.now += ms;
  account.forgetOld?.(one.state, one.now);
};

test("an ended request is forgotten after a minute, a charged key after ten", () => {
  const one = used();
  forgetAfter(one, 59_000);
  expect([one.state.volatile.ended?.size, one.state.volatile.charged?.size]).toEqual([1, 1]);
  forgetAfter(one, 1_000);
  expect([one.state.volatile.ended?.size, one.state.volatile.charged?.size]).toEqual([0, 1]);
  forgetAfter(one, 540_000);
  expect(one.state.volatile).toEqual(freshVolatile());
});

test("what is settled stays as it was, and the account goes on", () => {
  const one = used();
  const before = account.freeze(one.state);
  forgetAfter(one, 600_000);
  expect(account.freeze(one.state)).toEqual(before);
  expect(one.admitted({ id: "r2" })).toMatchObject({ cost: usd(1) });
});

test("an open hold stays, with all that it counts", () => {
  const one = used();
  one.admit({ id: "r2" });
  const { volatile } = one.state;
  forgetAfter(one, 60_000);
  expect(one.state.volatile).toBe(volatile);
  expect([...volatile.holds.keys()]).toEqual(["r2"]);
  expect(volatile.heldCost).toBe(usd(1));
});

test("aborts count for their minute, and documents that are due are written", () => {
  const one = living();
  for (let i = 0; i < 21; i++) {
    one.admit({ id: `r${i}`, cost: usd(0.1) });
    one.ask({ type: "cancel", id: `r${i}`, aborted: true });
  }
  forgetAfter(one, 30_000);
  expect(one.admitted({ id: "next" })).toBe("too_many_aborts");
  one.charge({ id: "next" });
  forgetAfter(one, 700_000);
  expect(account.materialize(one.state).map(({ table }) => table)).toEqual(["usage", "accounts"]);
});
