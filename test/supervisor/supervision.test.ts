// Processes on shared ports as a state machine: crashes and their pauses, stops at every moment, signals, exit codes.

import { describe, expect, test } from "bun:test";
import {
  RESTART_MS_MAX,
  RESTART_MS_MIN,
  STEADY_MS,
  Supervision,
  type SupervisionAction,
  type SupervisionEvent,
} from "../../src/supervisor/supervision.ts";

const STOP_MS = 10_000;

/** A supervision on a clock of the test's own, which records actions as words; log lines are left out. */
function watched(processes: number, below: (n: number) => number = () => 0) {
  const supervision = new Supervision({ processes, stopMs: STOP_MS, below });
  let nowMs = 1_000;
  const said = (action: SupervisionAction): string[] => {
    switch (action.kind) {
      case "start":
        return [`start ${action.process}`];
      case "signal":
        return [`${action.signal} ${action.process}`];
      case "exit":
        return [`exit ${action.code}`];
      case "log":
        return [];
    }
  };
  const step = (event: SupervisionEvent) => supervision.step(event, nowMs).flatMap(said);
  return {
    step,
    ended: (process: number, code: number | null = 1, signal: string | null = null) =>
      step({ kind: "ended", process, code, signal }),
    serving: (process: number) => step({ kind: "serving", process }),
    stop: () => step({ kind: "stop" }),
    wait(ms: number) {
      nowMs += ms;
      return step({ kind: "time" });
    },
    /** Milliseconds until something is due; null: nothing is. */
    dueMs: () => {
      const next = supervision.nextMs();
      return next === null ? null : next - nowMs;
    },
  };
}

/** All of them serve. */
function serving(processes: number, below?: (n: number) => number) {
  const on = watched(processes, below);
  on.step({ kind: "begin" });
  for (let process = 1; process <= processes; process++) on.serving(process);
  return on;
}

describe("a start", () => {
  test("starts each, and waits for nothing by time", () => {
    const on = watched(3);
    expect(on.step({ kind: "begin" })).toEqual(["start 1", "start 2", "start 3"]);
    expect(on.dueMs()).toBeNull();
  });

  test.each([
    ["a bad setting", 2, null, 2],
    ["a bug", 1, null, 1],
    ["a signal", null, "SIGKILL", 1],
    ["no process at all", null, null, 1],
  ])("%s before any process serves ends all of it", (_, code, signal, exit) => {
    const on = watched(2);
    on.step({ kind: "begin" });
    expect(on.ended(1, code, signal)).toEqual(["SIGTERM 2"]);
    expect(on.ended(2, 0)).toEqual([`exit ${exit}`]);
  });

  test("what two processes find at the same time is one exit", () => {
    const on = watched(2);
    on.step({ kind: "begin" });
    on.ended(1, 2);
    expect(on.ended(2, 2)).toEqual(["exit 2"]);
    expect(on.stop()).toEqual([]);
  });

  test("once one serves, another that cannot start is started again", () => {
    const on = watched(2);
    on.step({ kind: "begin" });
    on.serving(1);
    expect(on.ended(2, 2)).toEqual([]);
    expect(on.wait(RESTART_MS_MIN)).toEqual(["start 2"]);
  });
});

describe("a process that ends", () => {
  test.each([
    [1, null],
    [0, null],
    [null, "SIGKILL"],
    [null, "SIGSEGV"],
  ])("by code %p or signal %p starts again after a pause, and no other is touched", (code, signal) => {
    const on = serving(3);
    expect(on.ended(2, code, signal)).toEqual([]);
    expect(on.dueMs()).toBe(RESTART_MS_MIN);
    expect(on.wait(RESTART_MS_MIN - 1)).toEqual([]);
    expect(on.wait(1)).toEqual(["start 2"]);
    expect(on.dueMs()).toBeNull();
  });

  test("in a loop waits twice as long each time, up to a bound", () => {
    const on = serving(1);
    const pauses = Array.from({ length: 12 }, () => {
      on.ended(1);
      const dueMs = on.dueMs()!;
      expect(on.wait(dueMs)).toEqual(["start 1"]);
      on.serving(1);
      return dueMs;
    });
    expect(pauses.slice(0, 6)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(new Set(pauses.slice(6))).toEqual(new Set([RESTART_MS_MAX]));
  });

  test("ten thousand times still waits that long", () => {
    const on = serving(1);
    for (let i = 0; i < 10_000; i++) {
      on.ended(1);
      on.wait(on.dueMs()!);
    }
    on.ended(1);
    expect(on.dueMs()).toBe(RESTART_MS_MAX);
  });

  test("after a steady time begins with the short pause again", () => {
    const on = serving(1);
    for (let i = 0; i < 4; i++) {
      on.ended(1);
      on.wait(on.dueMs()!);
      on.serving(1);
    }
    on.wait(STEADY_MS);
    on.ended(1);
    expect(on.dueMs()).toBe(RESTART_MS_MIN);
  });

  test("chance shortens its pause by a half at most", () => {
    const most = serving(1, (n) => n - 1);
    most.ended(1);
    expect(most.dueMs()).toBe(RESTART_MS_MIN / 2);
  });

  test("two that wait start each at its own time", () => {
    let drawn = 0;
    const on = serving(2, () => 100 * drawn++);
    on.ended(1);
    on.ended(2);
    expect(on.dueMs()).toBe(RESTART_MS_MIN - 100);
    expect(on.wait(RESTART_MS_MIN - 100)).toEqual(["start 2"]);
    expect(on.wait(100)).toEqual(["start 1"]);
  });
});

describe("a stop", () => {
  test("asks each to end, and exits when the last has", () => {
    const on = serving(2);
    expect(on.stop()).toEqual(["SIGTERM 1", "SIGTERM 2"]);
    expect(on.ended(2, 0)).toEqual([]);
    expect(on.ended(1, 0)).toEqual(["exit 0"]);
    expect(on.dueMs()).toBeNull();
  });

  test("starts none again, neither one that waits nor one that ends now", () => {
    const on = serving(2);
    on.ended(1);
    expect(on.stop()).toEqual(["SIGTERM 2"]);
    expect(on.wait(RESTART_MS_MAX > STOP_MS ? STOP_MS - 1 : 0)).toEqual([]);
    expect(on.ended(2, 0)).toEqual(["exit 0"]);
  });

  test("while all wait for their restart exits at once", () => {
    const on = serving(1);
    on.ended(1);
    expect(on.stop()).toEqual(["exit 0"]);
  });

  test("ends one that is starting; a signal it did not yet hear of is no fault", () => {
    const on = serving(2);
    on.ended(1);
    on.wait(on.dueMs()!);
    expect(on.stop()).toEqual(["SIGTERM 1", "SIGTERM 2"]);
    on.ended(2, 0);
    expect(on.ended(1, null, "SIGTERM")).toEqual(["exit 0"]);
  });

  test.each([
    ["an exit code", 1, null],
    ["a crash", null, "SIGSEGV"],
    ["a signal that a serving process should have handled", null, "SIGTERM"],
  ])("with %s exits 1", (_, code, signal) => {
    const on = serving(2);
    on.stop();
    on.ended(1, code, signal);
    expect(on.ended(2, 0)).toEqual(["exit 1"]);
  });

  test("that a process outlasts kills it and exits 1", () => {
    const on = serving(2);
    on.stop();
    on.ended(1, 0);
    expect(on.wait(STOP_MS - 1)).toEqual([]);
    expect(on.wait(1)).toEqual(["SIGKILL 2"]);
    expect(on.ended(2, null, "SIGKILL")).toEqual(["exit 1"]);
  });

  test("that not even a kill ends is given up", () => {
    const on = serving(1);
    on.stop();
    on.wait(STOP_MS);
    expect(on.wait(on.dueMs()!)).toEqual(["exit 1"]);
  });

  test("twice kills at once and exits 1", () => {
    const on = serving(2);
    on.stop();
    on.ended(1, 0);
    expect(on.stop()).toEqual(["SIGKILL 2"]);
    expect(on.ended(2, null, "SIGKILL")).toEqual(["exit 1"]);
  });

  test("before anything serves exits 0", () => {
    const on = watched(2);
    on.step({ kind: "begin" });
    on.stop();
    on.ended(1, 0);
    expect(on.ended(2, null, "SIGTERM")).toEqual(["exit 0"]);
  });

  test("after a start that failed does not hide why", () => {
    const on = watched(2);
    on.step({ kind: "begin" });
    on.ended(1, 2);
    on.stop();
    expect(on.ended(2, null, "SIGKILL")).toEqual(["exit 2"]);
  });
});
