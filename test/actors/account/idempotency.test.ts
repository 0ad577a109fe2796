// Requests with an Idempotency-Key at their account: one at a time for each key, and a charge that can be found by it.

import { describe, expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import {
  IDEMPOTENCY_MISMATCH,
  idempotencyDedupId,
  REPEAT_RUNNING,
} from "../../../actors/account/idempotency.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { living, usd } from "../account-samples.ts";

const KEY_1 = { key: "1".repeat(64), body: "a".repeat(64) };
const OTHER_BODY = { key: KEY_1.key, body: "b".repeat(64) };
const KEY_2 = { key: "2".repeat(64), body: "a".repeat(64) };

const first = () => {
  const one = living();
  expect(one.admitted({ id: "first", idempotency: KEY_1 })).toMatchObject({ cost: usd(1) });
  return one;
};

describe("while the first request of a key runs", () => {
  test("a repeat must wait", () => {
    expect(first().admit({ id: "second", idempotency: KEY_1 }).refused).toMatchObject({
      code: REPEAT_RUNNING,
      details: {},
    });
  });

  test("another path or body under its key is refused for good", () => {
    expect(first().admit({ id: "second", idempotency: OTHER_BODY }).refused).toEqual(IDEMPOTENCY_MISMATCH);
  });

  test("another key, and none, are requests of their own", () => {
    const one = first();
    expect(one.admitted({ id: "second", idempotency: KEY_2 })).toMatchObject({ cost: usd(1) });
    expect(one.admitted({ id: "third", idempotency: null })).toMatchObject({ cost: usd(1) });
  });

  test("the first itself may ask again, for its model and for another", () => {
    const one = first();
    expect(one.admitted({ id: "first", idempotency: KEY_1 })).toMatchObject({ cost: usd(1) });
    expect(one.admitted({ id: "first", model: "n", idempotency: KEY_1 })).toMatchObject({ cost: usd(1) });
    expect(one.admitted({ id: "second", idempotency: KEY_1 })).toBe(REPEAT_RUNNING);
  });

  test("a repeat meets that before routing and limits, and after key, flags and IP", () => {
    const one = first();
    const routing = { code: "model_not_found", message: "" } as const;
    const repeat = { id: "second", idempotency: KEY_1 };
    expect(one.admitted({ ...repeat, routing, cost: usd(1_000), promptCost: usd(900) })).toBe(REPEAT_RUNNING);
    expect(one.admitted({ ...repeat, keyHash: "b".repeat(64) })).toBe("invalid_api_key");
    one.state.profile = { ...one.state.profile!, allowIps: ["10.0.0.1"] };
    expect(one.admitted(repeat)).toBe("ip_not_allowed");
    one.state.profile = { ...one.state.profile!, suspended: true };
    expect(one.admitted(repeat)).toBe("account_suspended");
  });
});

describe("a key is free again", () => {
  test("when its request was cancelled", () => {
    const one = first();
    one.ask({ type: "cancel", id: "first", aborted: false });
    expect(one.admitted({ id: "second", idempotency: OTHER_BODY })).toMatchObject({ cost: usd(1) });
  });

  test("when its request's hold expired", () => {
    const one = first();
    one.now += HOLD_TTL_MS;
    expect(one.admitted({ id: "second", idempotency: KEY_1 })).toMatchObject({ cost: usd(1) });
  });
});

describe("a charge with a key", () => {
  const charged = () => {
    const one = first();
    one.charge({ id: "first", idempotency: KEY_1 });
    return one;
  };

  test("is found by its key for ever, at its account alone", () => {
    const { e } = charged().events.at(-1)!;
    expect(account.dedupIds(e)).toEqual(["first", idempotencyDedupId(7 as AccountId, KEY_1.key)]);
    expect(idempotencyDedupId(7 as AccountId, "k")).toBe("repeat:7:k");
    expect(e).toMatchObject({ idempotency: KEY_1 });
  });

  test("without one has no such mark, and says nothing of keys", () => {
    const one = living();
    one.charge();
    expect(account.dedupIds(one.events.at(-1)!.e)).toEqual(["r1"]);
    expect(one.events.at(-1)!.e).not.toHaveProperty("account");
  });

  test("is not durable yet: for ten minutes a repeat waits, and another body is refused", () => {
    const one = charged();
    expect(one.admitted({ id: "second", idempotency: KEY_1 })).toBe(REPEAT_RUNNING);
    expect(one.admitted({ id: "second", idempotency: OTHER_BODY })).toBe(IDEMPOTENCY_MISMATCH.code);
    one.now += 599_999;
    expect(one.admitted({ id: "second", idempotency: KEY_1 })).toBe(REPEAT_RUNNING);
    one.now += 1;
    expect(one.admitted({ id: "second", idempotency: KEY_1 })).toMatchObject({ cost: usd(1) });
  });

  test("is remembered also when its hold was lost", () => {
    const one = living();
    one.charge({ id: "first", idempotency: KEY_1 });
    expect(one.admitted({ id: "second", idempotency: KEY_1 })).toBe(REPEAT_RUNNING);
  });

  test("of a thousand others is forgotten first when it is the oldest", () => {
    const one = charged();
    for (let i = 0; i < 1_000; i++) one.charge({ id: `r${i}`, cost: usd(0.01), idempotency: keyOf(i) });
    expect(one.state.volatile.charged?.size).toBe(1_000);
    expect(one.admitted({ id: "again", idempotency: KEY_1 })).toMatchObject({ cost: usd(1) });
    expect(one.admitted({ id: "again-0", idempotency: keyOf(0) })).toBe(REPEAT_RUNNING);
  });

  test("takes no memory for longer than it is remembered", () => {
    const one = charged();
    one.now += 600_000;
    one.charge({ id: "second", idempotency: KEY_2 });
    expect([...one.state.volatile.charged!.keys()]).toEqual([KEY_2.key]);
  });

  const keyOf = (i: number) => ({ key: `key-${i}`, body: "a" });
});
