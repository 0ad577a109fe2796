// What is reported to Levels of their keys, and when: failures at once, successes only of keys in trouble, in the order in which the
// attempts ended.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { KeyActivityCounter } from "../../../src/gateway/attempt/key-activity.ts";
import { createKeyChooser } from "../../../src/gateway/attempt/key-chooser.ts";
import { createLevelReporter } from "../../../src/gateway/attempt/level-reports.ts";
import { AttemptCounts } from "../../../src/gateway/traffic/attempt-counts.ts";
import type { ActorSystem } from "../../../src/runtime/system.ts";
import {
  FAILURE_RULES,
  type FailureKind,
  type UpstreamFailure,
} from "../../../src/upstream/upstream-failure.ts";
import { manualClock, NOON, settled } from "../../runtime/manual-clock.ts";
import { type KeyGiven, keyId, resting, sleeping, viewOf, WAKING } from "../level-samples.ts";

interface SentCommand {
  readonly to: string;
  readonly type: string;
  readonly input: Record<string, unknown>;
}

function rig(...given: (number | KeyGiven)[]) {
  const clock = manualClock();
  const sent: SentCommand[] = [];
  const logged: string[] = [];
  const chooser = createKeyChooser(clock);
  const reach = { level: true, answered: Promise.resolve() };
  /** The Level as this node knows it by now. */
  const known: { view?: LevelView } = {};
  const system = {
    async ask(to: { id: string }, type: string, input: Record<string, unknown>) {
      if (!reach.level) throw new Error("not reached");
      sent.push({ to: to.id, type, input });
      await reach.answered;
      return { granted: true };
    },
  } as unknown as ActorSystem<Protocol>;
  const log = (_: string, event: string) => void logged.push(event);
  const level = () => known.view;
  const activity = new KeyActivityCounter();
  const attempts = new AttemptCounts();
  const parts = { system, clock, log, chooser, activity, attempts, level, keyFailures: 3 };
  const reports = createLevelReporter(parts);
  const view = viewOf(4, given.length === 0 ? [1, 2] : given, { version: 7 });
  const owner = 2 as AccountId;
  const attempt = (key = 1, on: LevelView = view) => ({
    owner,
    key: on.keys.find(({ id }) => id === key)!,
    view: on,
    model: "m",
    startedAt: clock.wall() - 50,
  });
  /** May the key be chosen now, by the view as it was? */
  const chosen = (on: LevelView = view, now = clock.wall()) =>
    chooser.choose(on, {
      model: "m",
      serves: () => "served",
      now,
      conversation: null,
      isLaterTurn: false,
      tried: new Set(),
      probing: new Set([keyId(1)]),
    }) !== null;
  return { clock, sent, logged, reach, known, reports, view, attempt, chosen, owner };
}

const signal = (name: FailureKind, retryAfterMs?: number): UpstreamFailure => ({
  name,
  status: 500,
  note: "",
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const BLAMED = (Object.keys(FAILURE_RULES) as FailureKind[]).filter(
  (name) => FAILURE_RULES[name].key !== "none",
);
const BLAMELESS = (Object.keys(FAILURE_RULES) as FailureKind[]).filter(
  (name) => FAILURE_RULES[name].key === "none",
);

describe("a failure", () => {
  test.each(BLAMED)("by %s is reported at once, with all that its Level judges by", (name) => {
    const { reports, sent, attempt } = rig();
    reports.failed(attempt(), signal(name, 7_000));
    expect(sent).toEqual([
      {
        to: "2.4",
        type: "failed",
        input: {
          key: keyId(1),
          model: "m",
          startedAt: NOON - 50,
          endedAt: NOON,
          what: FAILURE_RULES[name].key as never,
          retryAfterMs: 7_000,
          reason: name,
          limit: 3,
        },
      },
    ]);
  });

  test.each(BLAMELESS)("by %s says nothing of a key that is well", (name) => {
    const { reports, sent, attempt } = rig();
    reports.failed(attempt(), signal(name));
    expect(sent).toEqual([]);
  });

  test.each(BLAMELESS)("by %s gives the probe of a waking key back", (name) => {
    const { reports, sent, attempt } = rig({ id: 1, health: WAKING });
    reports.failed(attempt(), signal(name));
    expect(sent).toEqual([
      { to: "2.4", type: "releaseProbe", input: { key: keyId(1), startedAt: NOON - 50 } },
    ]);
  });

  test("that could not be reported is a line in the log, and no request waits for it", async () => {
    const { reports, reach, attempt, logged } = rig();
    reach.level = false;
    reports.failed(attempt(), signal("server_error"));
    await settled();
    expect(logged).toEqual(["report_failed"]);
  });
});

describe("a key is not chosen here while its Level still thinks about", () => {
  /** What; the signal; ms for which it is passed over. */
  const ROWS: readonly [FailureKind, number | undefined, number][] = [
    ["invalid_key", undefined, 1_000],
    ["quota_gone", undefined, 1_000],
    ["rate_limited", undefined, 1_000],
    ["rate_limited", 60_000, 1_000],
    ["rate_limited", 300, 300],
    ["server_error", undefined, 0],
    ["model_unavailable", undefined, 0],
  ];
  test.each(ROWS)("%s with a wait of %p: %p ms", (name, retryAfterMs, ms) => {
    const { reports, attempt, chosen, clock } = rig(1);
    reports.failed(attempt(), signal(name, retryAfterMs));
    if (ms > 0) expect(chosen(undefined, clock.wall() + ms - 1)).toBe(false);
    expect(chosen(undefined, clock.wall() + ms)).toBe(true);
  });

  test("it, also when the Level has spoken of others since the attempt began", () => {
    const { reports, attempt, chosen, known, view } = rig(1);
    const before = attempt();
    known.view = { ...view, version: 9 };
    reports.failed(before, signal("invalid_key"));
    expect(chosen(known.view)).toBe(false);
    expect(chosen({ ...view, version: 10 })).toBe(true);
  });

  test("it, until the Level has spoken", () => {
    const { reports, attempt, chosen, view } = rig(1);
    reports.failed(attempt(), signal("invalid_key"));
    expect(chosen({ ...view, version: 8 })).toBe(true);
  });
});

describe("a success", () => {
  test("of a key that is well is no news", async () => {
    const { reports, sent, attempt, clock } = rig();
    reports.succeeded(attempt());
    await clock.advance(10_000);
    expect([sent, clock.waiting]).toEqual([[], 0]);
  });

  test("of a key that slept once is reported within 250 ms, not before", async () => {
    const { reports, sent, attempt, clock } = rig({ id: 1, health: { sleepTimes: 1 } });
    reports.succeeded(attempt());
    await clock.advance(249);
    expect(sent).toEqual([]);
    await clock.advance(1);
    const keys = [{ key: keyId(1), startedAt: NOON - 50, endedAt: NOON }];
    expect(sent).toEqual([{ to: "2.4", type: "succeeded", input: { keys } }]);
  });

  test("of a key that failed while its answer was in flight is reported: what counts is how the key fares now", async () => {
    const { reports, sent, attempt, known, clock } = rig();
    const before = attempt();
    known.view = viewOf(4, [{ id: 1, health: { failures: 2 } }, 2], { version: 8 });
    reports.succeeded(before);
    await clock.advance(250);
    expect(sent.map(({ type }) => type)).toEqual(["succeeded"]);
  });

  test("of a key that has become well in the meantime is no news", async () => {
    const { reports, sent, attempt, known, clock } = rig({ id: 1, health: { failures: 1 } });
    const before = attempt();
    known.view = viewOf(4, [1], { version: 8 });
    reports.succeeded(before);
    await clock.advance(250);
    expect(sent).toEqual([]);
  });

  test("of a waking key is reported at once", () => {
    const { reports, sent, attempt } = rig({ id: 1, health: WAKING });
    reports.succeeded(attempt());
    expect(sent.map(({ type }) => type)).toEqual(["succeeded"]);
  });

  test("of a key that only rested is no news", async () => {
    const { reports, sent, attempt, clock } = rig({ id: 1, health: resting(-1) });
    reports.succeeded(attempt());
    await clock.advance(1_000);
    expect(sent).toEqual([]);
  });

  test("of a key that failed before is reported at once", () => {
    const { reports, sent, attempt } = rig({ id: 1, health: { failures: 1 } });
    reports.succeeded(attempt());
    const keys = [{ key: keyId(1), startedAt: NOON - 50, endedAt: NOON }];
    expect(sent).toEqual([{ to: "2.4", type: "succeeded", input: { keys } }]);
  });

  test("gathers with others behind a report that is under way", async () => {
    const { reports, sent, attempt, reach } = rig({ id: 1, health: { failures: 1 } });
    const answer = Promise.withResolvers<void>();
    reach.answered = answer.promise;
    for (let i = 0; i < 1_000; i++) reports.succeeded(attempt());
    expect(sent).toHaveLength(1);
    reach.answered = Promise.resolve();
    answer.resolve();
    await settled();
    expect(sent).toHaveLength(2);
  });

  test("goes together with those of the same Level, each key with its last one", async () => {
    const slept = { sleepTimes: 1 };
    const { reports, sent, attempt, clock } = rig({ id: 1, health: slept }, { id: 2, health: slept });
    reports.succeeded(attempt(1));
    reports.succeeded(attempt(2));
    await clock.advance(100);
    reports.succeeded(attempt(1));
    await clock.advance(150);
    expect(sent.map(({ input }) => input.keys)).toEqual([
      [
        { key: keyId(1), startedAt: NOON + 50, endedAt: NOON + 100 },
        { key: keyId(2), startedAt: NOON - 50, endedAt: NOON + 1 / 1_024 },
      ],
    ]);
  });

  test("is reported separately for each Level, and again after the first went", async () => {
    const failing = { failures: 1 };
    const { reports, sent, attempt, clock } = rig({ id: 1, health: failing });
    reports.succeeded(attempt());
    reports.succeeded(attempt(9, viewOf(5, [{ id: 9, health: failing }])));
    await clock.advance(250);
    expect(sent.map(({ to }) => to)).toEqual(["2.4", "2.5"]);
    reports.succeeded(attempt());
    await clock.advance(250);
    expect(sent.map(({ to }) => to)).toEqual(["2.4", "2.5", "2.4"]);
  });

  test("soon after a failure here is reported, although the view does not know of the failure yet", async () => {
    const { reports, sent, attempt, clock } = rig();
    reports.failed(attempt(), signal("server_error"));
    await clock.advance(999);
    reports.succeeded(attempt());
    await clock.advance(250);
    expect(sent.map(({ type }) => type)).toEqual(["failed", "succeeded"]);
  });

  test("a second after a failure here counts only what the view says", async () => {
    const { reports, sent, attempt, clock } = rig();
    reports.failed(attempt(), signal("server_error"));
    await clock.advance(1_000);
    reports.succeeded(attempt());
    await clock.advance(250);
    expect(sent.map(({ type }) => type)).toEqual(["failed"]);
  });
});

describe("the order in which attempts ended", () => {
  const endsOf = (sent: readonly SentCommand[]): unknown[] =>
    sent.flatMap(({ type, input }) => {
      const { keys = [], answered, endedAt } = input as Record<string, never>;
      if (type === "succeeded") return (keys as { endedAt: number }[]).map((one) => ["ok", one.endedAt]);
      const before = answered === undefined ? [] : [["ok", (answered as { endedAt: number }).endedAt]];
      return [...before, ["failed", endedAt]];
    });

  test.each([
    ["is a batch's", { sleepTimes: 1 }],
    ["is under way", { failures: 2 }],
  ])("is reported, although the answer between two failures %s", async (_, health) => {
    const { reports, sent, attempt, clock, reach } = rig({ id: 1, health });
    reach.answered = new Promise(() => {});
    reports.succeeded(attempt());
    await clock.advance(1);
    void reports.failed(attempt(), signal("server_error"));
    const ends = endsOf(sent);
    expect(ends.slice(-2)).toEqual([
      ["ok", NOON],
      ["failed", NOON + 1],
    ]);
  });

  test("within a millisecond is reported too", () => {
    const { reports, sent, attempt } = rig();
    for (let i = 0; i < 20; i++) {
      void reports.failed(attempt(), signal("server_error"));
      reports.succeeded(attempt());
    }
    const times = endsOf(sent).map((one) => (one as [string, number])[1]);
    expect(times.length).toBeGreaterThan(20);
    for (const [i, time] of times.slice(1).entries()) expect(time).toBeGreaterThanOrEqual(times[i]!);
    expect(Math.max(...times)).toBeLessThan(NOON + 1);
  });
});

describe("a probe", () => {
  test("is asked of the key's Level", async () => {
    const { reports, sent, view, owner } = rig({ id: 1, health: sleeping(-1) });
    expect(await reports.probe(owner, view.keys[0]!)).toBe(true);
    expect(sent).toEqual([{ to: "2.4", type: "probe", input: { key: keyId(1) } }]);
  });

  test("is not granted when the Level cannot be asked", async () => {
    const { reports, reach, view, owner, logged } = rig();
    reach.level = false;
    expect(await reports.probe(owner, view.keys[0]!)).toBe(false);
    expect(logged).toEqual(["report_failed"]);
  });
});
