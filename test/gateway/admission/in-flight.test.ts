// Requests of an account that is being deleted: they have their time, and are cut; nobody else's are.

import { expect, test } from "bun:test";
import { accountTopic } from "../../../actors/account/views.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import { createInFlight } from "../../../src/gateway/admission/in-flight.ts";
import { ACCOUNT_CLOSED, type LifetimeListener } from "../../../src/gateway/request-lifetime.ts";
import type { ActorRef } from "../../../src/runtime/actor.ts";
import type { ActorSystem } from "../../../src/runtime/system.ts";
import { profileOf } from "../../actors/account-samples.ts";
import { manualClock, settled } from "../../runtime/manual-clock.ts";

const SEVEN = 7 as AccountId;
const EIGHT = 8 as AccountId;

function rig() {
  const clock = manualClock();
  let deliver: (topic: string, body: unknown) => void = () => {};
  let changed: (topic: string) => void = () => {};
  let missed: (concerns: (actor: ActorRef) => boolean) => void = () => {};
  const closing = new Set<string>();
  const system = {
    async ask({ id }: ActorRef) {
      return { closing: closing.has(id) };
    },
    onStale(handle: typeof missed) {
      missed = handle;
      return () => {};
    },
    subscribe(_topic: string, handle: typeof deliver, handleTooLarge: typeof changed = () => {}) {
      deliver = handle;
      changed = handleTooLarge;
      return () => {};
    },
  } as unknown as ActorSystem<Protocol>;
  const inFlight = createInFlight({ system, clock });
  return {
    clock,
    /** Closes an account, but publishes nothing. */
    close: (id: AccountId) => void closing.add(String(id)),
    missed: (...ids: AccountId[]) => missed(({ id }) => ids.map(String).includes(id)),
    publish: (id: AccountId, closing: boolean) =>
      deliver(accountTopic(id), { profile: profileOf({ id }), version: 2, closing }),
    publishTooLarge: (id: AccountId) => changed(accountTopic(id)),
    begin(account: AccountId) {
      const request = { cut: null as DOMException | null, over: (): void => {} };
      inFlight.add(account, {
        abort: (reason: DOMException) => {
          request.cut = reason;
        },
        onClose(listener: LifetimeListener) {
          request.over = () => listener.closed(this);
        },
      });
      return request;
    },
  };
}

test("the requests of a closing account are cut after 30 s", async () => {
  const { clock, begin, publish } = rig();
  const [one, two] = [begin(SEVEN), begin(SEVEN)];
  publish(SEVEN, true);
  await clock.advance(29_999);
  expect([one.cut, two.cut]).toEqual([null, null]);
  await clock.advance(1);
  expect([one.cut, two.cut]).toEqual([ACCOUNT_CLOSED, ACCOUNT_CLOSED]);
});

test("so are those that began before the account closed and were known a moment later", async () => {
  const { clock, begin, publish } = rig();
  begin(SEVEN);
  publish(SEVEN, true);
  const late = begin(SEVEN);
  await clock.advance(30_000);
  expect(late.cut).toBe(ACCOUNT_CLOSED);
});

test("so are those of an account whose change is too large to be published", async () => {
  const { clock, begin, close, publishTooLarge } = rig();
  const [one, other] = [begin(SEVEN), begin(EIGHT)];
  close(SEVEN);
  for (const id of [SEVEN, EIGHT]) publishTooLarge(id);
  await settled();
  await clock.advance(30_000);
  expect([one.cut, other.cut]).toEqual([ACCOUNT_CLOSED, null]);
});

test("every word of the same closing counts from the first", async () => {
  const { clock, begin, publish } = rig();
  const one = begin(SEVEN);
  publish(SEVEN, true);
  await clock.advance(20_000);
  publish(SEVEN, true);
  await clock.advance(10_000);
  expect(one.cut).toBe(ACCOUNT_CLOSED);
});

test("a request that is over is not cut, and leaves no timer", async () => {
  const { clock, begin, publish } = rig();
  const one = begin(SEVEN);
  publish(SEVEN, true);
  one.over();
  expect(clock.waiting).toBe(0);
  await clock.advance(60_000);
  expect(one.cut).toBeNull();
});

test("what changes an account without closing it cuts nothing", async () => {
  const { clock, begin, publish } = rig();
  const one = begin(SEVEN);
  publish(SEVEN, false);
  await clock.advance(60_000);
  expect(one.cut).toBeNull();
});

test("another account's requests go on", async () => {
  const { clock, begin, publish } = rig();
  const [gone, other] = [begin(SEVEN), begin(EIGHT)];
  publish(SEVEN, true);
  await clock.advance(60_000);
  expect([gone.cut, other.cut]).toEqual([ACCOUNT_CLOSED, null]);
});

test("an account without requests leaves no timer when it closes", () => {
  const { clock, publish } = rig();
  publish(SEVEN, true);
  expect(clock.waiting).toBe(0);
});

test("an account whose closing was not published is asked when changes may have been missed, and its requests are cut", async () => {
  const { clock, begin, close, missed } = rig();
  const [mine, others] = [begin(SEVEN), begin(EIGHT)];
  close(SEVEN);
  missed(EIGHT);
  await clock.advance(30_000);
  expect(mine.cut).toBeNull();
  missed(SEVEN, EIGHT);
  await settled();
  await clock.advance(30_000);
  expect([mine.cut, others.cut]).toEqual([ACCOUNT_CLOSED, null]);
});
