// The Idempotency-Key of a write: the same for its repeats until it is known what became of it.

import { expect, test } from "bun:test";
import type { Failure } from "../../../console/api/failure.ts";
import { WriteKeys } from "../../../console/api/write-keys.ts";

const refused = (code: string): Failure => ({
  ...{ kind: "refused", status: 400, code, message: "", requestId: null, retryAfterS: null },
});
const UNKNOWN: Failure = { kind: "unknown", code: "service_unavailable", message: "", requestId: null };

function rig() {
  let made = 0;
  return new WriteKeys(() => `id-${++made}`);
}

test("an answer ends a write, and so does a refusal of its first attempt", () => {
  const keys = rig();
  const first = keys.idOf("write");
  expect(keys.idOf("another")).not.toBe(first);
  keys.end("write");
  const second = keys.idOf("write");
  expect(second).not.toBe(first);
  keys.fail("write", refused("invalid_parameter"));
  expect(keys.idOf("write")).not.toBe(second);
});

test("after an unknown outcome a refusal ends nothing, but an answer or an expired key does", () => {
  const keys = rig();
  const first = keys.idOf("write");
  keys.fail("write", UNKNOWN);
  for (const code of ["rpm_exceeded", "invalid_parameter", "account_suspended"]) {
    expect(keys.idOf("write")).toBe(first);
    keys.fail("write", refused(code));
  }
  expect(keys.idOf("write")).toBe(first);
  keys.fail("write", refused("idempotency_expired"));

  const second = keys.idOf("write");
  expect(second).not.toBe(first);
  keys.fail("write", UNKNOWN);
  keys.fail("write", refused("rpm_exceeded"));
  expect(keys.idOf("write")).toBe(second);
  keys.end("write");
  expect(keys.idOf("write")).not.toBe(second);
});

test("a write is in doubt from an unknown outcome until it has an answer", () => {
  const keys = rig();
  keys.idOf("write");
  expect(keys.isInDoubt("write")).toBe(false);
  keys.fail("write", UNKNOWN);
  keys.idOf("write");
  expect([keys.isInDoubt("write"), keys.isInDoubt("another")]).toEqual([true, false]);
  keys.end("write");
  expect(keys.isInDoubt("write")).toBe(false);
});

test("a write that was never sent has nothing to keep", () => {
  const keys = rig();
  keys.fail("write", UNKNOWN);
  keys.fail("write", refused("rpm_exceeded"));
  expect(keys.idOf("write")).toBe(keys.idOf("write"));
});

test("the oldest of more than a hundred is forgotten", () => {
  const keys = rig();
  const first = keys.idOf("write 0");
  const second = keys.idOf("write 1");
  for (let i = 2; i <= 100; i++) keys.idOf(`write ${i}`);
  expect(keys.idOf("write 1")).toBe(second);
  expect(keys.idOf("write 0")).not.toBe(first);
});
