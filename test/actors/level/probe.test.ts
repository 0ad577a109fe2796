// A waking key is tried by one request at a time.

import { describe, expect, test } from "bun:test";
import { keyId, keyOf, type Living, living, MINUTE, threeFailures } from "../level-samples.ts";

/** An attempt that began so many seconds ago, by the clock of its node, gives its probe back. */
const release = (one: Living, secondsAgo: number) =>
  one.ask({ type: "releaseProbe", key: keyId(1), startedAt: one.now() - secondsAgo * 1_000 });

describe("a probe", () => {
  test("is granted to one request at a time", () => {
    const one = living();
    one.sleepOut();
    expect([one.probe(), one.probe()]).toEqual([true, false]);
  });

  test("is granted again to the very command that has it: its answer may have got lost", () => {
    const one = living();
    one.sleepOut();
    expect([one.probe(1, "a"), one.probe(1, "b"), one.probe(1, "a")]).toEqual([true, false, true]);
  });

  test("waits for no commit and writes nothing", () => {
    const one = living();
    one.sleepOut();
    expect(one.ask({ type: "probe", key: keyId(1) })).toEqual({ reply: { granted: true }, ungated: true });
  });

  test.each<[string, (one: Living) => void]>([
    ["well", () => {}],
    ["asleep", threeFailures],
    [
      "awake and answering",
      (one) => {
        one.sleepOut();
        one.succeed();
      },
    ],
    ["no member", (one) => one.members(2, keyOf(2))],
  ])("is not granted for a key that is %s", (_what, story) => {
    const one = living();
    story(one);
    expect(one.probe()).toBe(false);
  });

  test("that says nothing of its key is given back, by the attempt that had it alone", () => {
    const one = living();
    one.sleepOut();
    one.probe();
    release(one, 3);
    expect(one.probe()).toBe(false);
    release(one, 0);
    expect([one.is(), one.probe()]).toEqual(["waking", true]);
  });

  test("is given back by a node whose clock is behind, and not by an attempt from before the sleep", () => {
    const one = living();
    one.sleepOut();
    one.probe();
    release(one, 5 * MINUTE);
    expect(one.probe()).toBe(false);
    release(one, 0.02);
    expect(one.probe()).toBe(true);
  });

  test.each<[string, (one: Living, started: number) => void, string]>([
    [
      "is rate-limited",
      (one, started) => one.fail({ what: "rest", retryAfterMs: 1, started }),
      "resting 0.001",
    ],
    ["lacks the model", (one, started) => one.fail({ what: "pass_over", started }), "passed_over 600"],
  ])("ends when it %s, and leaves the key waking", (_outcome, end, is) => {
    const one = living();
    one.sleepOut();
    one.probe();
    const granted = one.at;
    end(one, granted - 3);
    expect(one.probe()).toBe(false);
    end(one, granted);
    expect(one.is()).toBe(is);
    expect(one.probe()).toBe(true);
  });

  test("ends when it fails: the next waking has its own", () => {
    const one = living();
    one.sleepOut();
    one.probe();
    one.fail();
    expect(one.probe()).toBe(false);
    one.untilAwake();
    expect([one.probe(), one.probe()]).toEqual([true, false]);
  });

  test("ends when it succeeds, though not by the success of an earlier attempt", () => {
    const one = living();
    one.sleepOut();
    one.at++;
    one.probe();
    one.succeed(one.at - 3, one.at);
    expect([one.probe(), one.state.volatile.probes.size]).toEqual([false, 1]);
    one.succeed();
    expect([one.is(), one.state.volatile.probes.size]).toEqual(["normal", 0]);
  });

  test("whose outcome is never reported ends after ten minutes", () => {
    const one = living();
    one.sleepOut();
    one.probe();
    one.at += 10 * MINUTE - 1;
    expect(one.probe()).toBe(false);
    one.at += 1;
    expect(one.probe()).toBe(true);
  });

  test("is lost with the process: one more is granted", () => {
    const one = living();
    one.sleepOut();
    one.probe();
    one.restart();
    expect(one.probe()).toBe(true);
  });

  test("of a key that left is forgotten", () => {
    const one = living();
    one.sleepOut();
    one.probe();
    one.members(2, keyOf(2));
    expect(one.state.volatile.probes.size).toBe(0);
  });
});
