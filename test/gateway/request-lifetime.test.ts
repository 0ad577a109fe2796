// What ends a request from outside, and that whatever is under way ends with it, for the right reason.

import { describe, expect, test } from "bun:test";
import type { Cancellation } from "../../src/base/cancellation.ts";
import {
  ACCOUNT_CLOSED,
  createRequestDeadlines,
  RequestLifetime,
} from "../../src/gateway/request-lifetime.ts";
import { cutBy } from "../../src/upstream/upstream-failure.ts";
import { manualClock } from "../runtime/manual-clock.ts";

/** A request whose body has been read. */
function rig() {
  const made = unreadRig();
  made.lifetime.startDeadline();
  return made;
}

function unreadRig() {
  const clock = manualClock();
  const client = new AbortController();
  const lifetime = new RequestLifetime(client.signal, clock, createRequestDeadlines(clock, 1_000));
  return { clock, client, lifetime };
}

/** The error of what waits on the attempt. */
const reasonOf = (attempt: Cancellation): string =>
  attempt.signal.aborted ? cutBy(attempt.signal, null).name : "alive";

describe("a request that this process ends", () => {
  test("ends its attempt and every later one, and blames no key", () => {
    const { lifetime } = rig();
    const attempt = lifetime.newAttempt();
    lifetime.abort(ACCOUNT_CLOSED);
    expect([attempt.signal.reason, lifetime.newAttempt().signal.reason, lifetime.ended]).toEqual([
      ACCOUNT_CLOSED,
      ACCOUNT_CLOSED,
      ACCOUNT_CLOSED,
    ]);
    expect(reasonOf(attempt)).toBe("client_gone");
  });

  test("wakes all that wait", async () => {
    const { lifetime } = rig();
    const paused = lifetime.sleep(60_000);
    lifetime.abort(ACCOUNT_CLOSED);
    await paused;
  });

  test("keeps the reason for which it ended first", () => {
    const { lifetime, client } = rig();
    client.abort();
    lifetime.abort(ACCOUNT_CLOSED);
    expect(lifetime.ended?.name).toBe("AbortError");
  });
});

test("a listener is called once when a request has ended", () => {
  const { lifetime } = rig();
  let closings = 0;
  lifetime.onClose({ closed: () => void closings++ });
  expect(closings).toBe(0);
  lifetime.close();
  lifetime.close();
  expect(closings).toBe(1);
});

describe("an attempt", () => {
  test("lives while the request does", async () => {
    const { lifetime, clock } = rig();
    const attempt = lifetime.newAttempt();
    await clock.advance(999);
    expect([reasonOf(attempt), lifetime.ended]).toEqual(["alive", null]);
  });

  test("ends when the client goes", () => {
    const { lifetime, client } = rig();
    const attempt = lifetime.newAttempt();
    client.abort();
    expect([reasonOf(attempt), lifetime.ended?.name]).toEqual(["client_gone", "AbortError"]);
  });

  test("ends when the time of all attempts together is over", async () => {
    const { lifetime, clock } = rig();
    lifetime.newAttempt();
    await clock.advance(600);
    const second = lifetime.newAttempt();
    await clock.advance(400);
    expect([reasonOf(second), lifetime.ended?.name]).toEqual(["timeout", "TimeoutError"]);
  });

  test("has all of its time, however long the client took to send the body", async () => {
    const { lifetime, clock } = unreadRig();
    await clock.advance(5_000);
    expect(lifetime.ended).toBe(null);
    lifetime.startDeadline();
    const attempt = lifetime.newAttempt();
    await clock.advance(999);
    expect(reasonOf(attempt)).toBe("alive");
    await clock.advance(1);
    expect(reasonOf(attempt)).toBe("timeout");
  });

  test("that was given up is not ended once more", async () => {
    const { lifetime, clock } = rig();
    const first = lifetime.newAttempt();
    lifetime.newAttempt();
    await clock.advance(1_000);
    expect(reasonOf(first)).toBe("alive");
  });

  test("has ended before it begins when the client has gone", () => {
    const { lifetime, client } = rig();
    client.abort();
    expect(reasonOf(lifetime.newAttempt())).toBe("client_gone");
  });

  test("has ended before it begins when the client had gone before the request began", () => {
    const client = new AbortController();
    client.abort();
    const clock = manualClock();
    const lifetime = new RequestLifetime(client.signal, clock, createRequestDeadlines(clock, 1_000));
    expect([reasonOf(lifetime.newAttempt()), lifetime.ended?.name]).toEqual(["client_gone", "AbortError"]);
  });

  test("keeps the first reason", async () => {
    const { lifetime, client, clock } = rig();
    const attempt = lifetime.newAttempt();
    await clock.advance(1_000);
    client.abort();
    expect([reasonOf(attempt), lifetime.ended?.name]).toEqual(["timeout", "TimeoutError"]);
  });

  test("is not ended by the time once content has gone out, but by the client still", async () => {
    const { lifetime, client, clock } = rig();
    const attempt = lifetime.newAttempt();
    lifetime.clearDeadline();
    await clock.advance(60_000);
    expect(reasonOf(attempt)).toBe("alive");
    client.abort();
    expect(reasonOf(attempt)).toBe("client_gone");
  });
});

describe("a pause", () => {
  const paused = (promise: Promise<void>) => {
    const state = { over: false };
    promise.then(() => {
      state.over = true;
    });
    return state;
  };

  test("lasts as long as it was asked to", async () => {
    const { lifetime, clock } = rig();
    const pause = paused(lifetime.sleep(500));
    await clock.advance(499);
    expect(pause.over).toBe(false);
    await clock.advance(1);
    expect(pause.over).toBe(true);
  });

  test("ends early when the client goes, and leaves no timer of its own", async () => {
    const { lifetime, client, clock } = rig();
    const pause = paused(lifetime.sleep(500));
    client.abort();
    await clock.advance(0);
    expect(pause.over).toBe(true);
    lifetime.close();
    expect(clock.waiting).toBe(0);
  });

  test("ends early when the time is over", async () => {
    const { lifetime, clock } = rig();
    const pause = paused(lifetime.sleep(1_500));
    await clock.advance(1_000);
    expect([pause.over, lifetime.ended?.name]).toEqual([true, "TimeoutError"]);
  });

  test("does not begin when the request has ended", async () => {
    const { lifetime, client, clock } = rig();
    client.abort();
    const pause = paused(lifetime.sleep(500));
    await clock.advance(0);
    expect(pause.over).toBe(true);
  });
});

test("closed, it waits for nothing, and a client that leaves ends nothing any more", async () => {
  const { lifetime, client, clock } = rig();
  const attempt = lifetime.newAttempt();
  lifetime.close();
  client.abort();
  await clock.advance(60_000);
  expect([clock.waiting, lifetime.ended, reasonOf(attempt)]).toEqual([0, null, "alive"]);
});
