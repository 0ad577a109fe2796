// Decides what becomes of the processes that share one machine's ports: when each starts, when one that ended starts again,
// how all of them stop, and with which exit code. A state machine: time and chance come in with its events, and what is to be
// done goes out as data. It must start, signal and log nothing itself.

import type { LogLevel } from "../base/log.ts";

/** What happened. Processes are counted from 1. */
export type SupervisionEvent =
  | { readonly kind: "begin" }
  /** A process has reported that it serves. */
  | { readonly kind: "serving"; readonly process: number }
  /** A process has ended, or could not be started. `signal`: which one ended it. */
  | {
      readonly kind: "ended";
      readonly process: number;
      readonly code: number | null;
      readonly signal: string | null;
    }
  /** The service is to stop; a second one means at once. */
  | { readonly kind: "stop" }
  /** Nothing but that time has passed. */
  | { readonly kind: "time" };

/** What is to be done, in order. */
export type SupervisionAction =
  | { readonly kind: "start"; readonly process: number }
  | { readonly kind: "signal"; readonly process: number; readonly signal: "SIGTERM" | "SIGKILL" }
  | {
      readonly kind: "log";
      readonly level: LogLevel;
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "exit"; readonly code: number };

/** The first pause before a process starts again, ms, and the longest. Each is shortened by up to a half, by chance. */
export const RESTART_MS_MIN = 500;
export const RESTART_MS_MAX = 30_000;
/** After so long in service, ms, the end of a process is no repetition of the end before. */
export const STEADY_MS = 60_000;
/** How long a killed process may take to end, ms, until it is given up. */
export const KILLED_MS_MAX = 5_000;
/** Exit code for what the operator has to mend. */
const UNUSABLE = 2;

type State =
  | { readonly is: "starting" }
  | { readonly is: "serving"; readonly sinceMs: number }
  | { readonly is: "waiting"; readonly untilMs: number }
  | { readonly is: "ended" };

interface Member {
  state: State;
  /** Ends in a row, without a steady time between them. */
  failures: number;
}

/** How processes are supervised. */
export interface SupervisionRules {
  readonly processes: number;
  /** How long all may take to stop, ms, before they are killed. */
  readonly stopMs: number;
  /** A uniform integer in [0, n). */
  readonly below: (n: number) => number;
}

/** The processes of one machine, from their start to the end of the last one. */
export class Supervision {
  readonly #rules: SupervisionRules;
  readonly #members: readonly Member[];
  /** False until the first process serves: an end before that ends the whole start. */
  #hasServed = false;
  /** When those that still run are killed, or given up; null while the service runs. */
  #stopping: { deadlineMs: number; isKilling: boolean } | null = null;
  #exitCode = 0;
  #isOver = false;

  constructor(rules: SupervisionRules) {
    this.#rules = rules;
    this.#members = Array.from({ length: rules.processes }, () => ({
      state: { is: "ended" },
      failures: 0,
    }));
  }

  /** Takes an event at `nowMs`, on a monotonic clock, and returns what is to be done. Nothing follows an exit. */
  step(event: SupervisionEvent, nowMs: number): readonly SupervisionAction[] {
    if (this.#isOver) return [];
    const actions = this.#actionsOf(event, nowMs);
    const isOver = this.#stopping !== null && this.#running().length === 0;
    return isOver ? [...actions, this.#exit()] : actions;
  }

  /** When the next `time` is due, on the clock of `step`; null: only another event can change anything. */
  nextMs(): number | null {
    if (this.#isOver) return null;
    if (this.#stopping !== null) return this.#stopping.deadlineMs;
    const due = this.#members.flatMap(({ state }) => (state.is === "waiting" ? [state.untilMs] : []));
    return due.length === 0 ? null : Math.min(...due);
  }

  #actionsOf(event: SupervisionEvent, nowMs: number): readonly SupervisionAction[] {
    switch (event.kind) {
      case "begin":
        return this.#members.map((_, i) => this.#start(i + 1));
      case "serving":
        return this.#serves(event.process, nowMs);
      case "ended":
        return this.#stopping === null ? this.#ended(event, nowMs) : this.#endedAtStop(event);
      case "stop":
        return this.#stopping === null ? this.#stop(nowMs) : this.#kill(nowMs, "a second signal");
      case "time":
        return this.#stopping === null ? this.#restart(nowMs) : this.#late(nowMs);
    }
  }

  #start(process: number): SupervisionAction {
    this.#member(process).state = { is: "starting" };
    return { kind: "start", process };
  }

  #serves(process: number, nowMs: number): readonly SupervisionAction[] {
    const member = this.#member(process);
    if (member.state.is !== "starting") return [];
    member.state = { is: "serving", sinceMs: nowMs };
    this.#hasServed = true;
    return [log("info", "process_serves", { process })];
  }

  #ended(event: SupervisionEvent & { kind: "ended" }, nowMs: number): readonly SupervisionAction[] {
    const { process, code, signal } = event;
    const member = this.#member(process);
    const { state } = member;
    member.state = { is: "ended" };
    if (!this.#hasServed) {
      this.#exitCode = code === UNUSABLE ? UNUSABLE : 1;
      return [log("error", "process_did_not_start", { process, code, signal }), ...this.#stop(nowMs)];
    }
    const wasSteady = state.is === "serving" && nowMs - state.sinceMs >= STEADY_MS;
    member.failures = wasSteady ? 1 : member.failures + 1;
    const pauseMs = this.#pauseMs(member.failures);
    member.state = { is: "waiting", untilMs: nowMs + pauseMs };
    return [log("error", "process_ended", { process, code, signal, restartMs: pauseMs })];
  }

  #pauseMs(failures: number): number {
    // The exponent is bounded, since a power of a large one is infinite.
    const most = Math.min(RESTART_MS_MAX, RESTART_MS_MIN * 2 ** Math.min(failures - 1, 16));
    return most - this.#rules.below(Math.floor(most / 2) + 1);
  }

  #restart(nowMs: number): readonly SupervisionAction[] {
    return this.#members.flatMap(({ state }, i) =>
      state.is === "waiting" && state.untilMs <= nowMs ? [this.#start(i + 1)] : [],
    );
  }

  #stop(nowMs: number): readonly SupervisionAction[] {
    this.#stopping = { deadlineMs: nowMs + this.#rules.stopMs, isKilling: false };
    for (const member of this.#members) if (member.state.is === "waiting") member.state = { is: "ended" };
    return this.#running().map((process) => ({ kind: "signal", process, signal: "SIGTERM" }));
  }

  #endedAtStop(event: SupervisionEvent & { kind: "ended" }): readonly SupervisionAction[] {
    const { process, code, signal } = event;
    const member = this.#member(process);
    // One that is stopped before it hears signals is ended by that signal.
    const isClean = code === 0 || (signal === "SIGTERM" && member.state.is === "starting");
    member.state = { is: "ended" };
    if (isClean) return [];
    this.#exitCode ||= 1;
    return [log("error", "process_ended_unclean", { process, code, signal })];
  }

  #late(nowMs: number): readonly SupervisionAction[] {
    const { deadlineMs, isKilling } = this.#stopping!;
    if (nowMs < deadlineMs) return [];
    if (!isKilling) return this.#kill(nowMs, "not ended in time");
    // Not even a kill has ended them: the parent does not wait for ever.
    const left = this.#running();
    for (const process of left) this.#member(process).state = { is: "ended" };
    return left.map((process) => log("error", "process_left", { process }));
  }

  #kill(nowMs: number, because: string): readonly SupervisionAction[] {
    this.#stopping = { deadlineMs: nowMs + KILLED_MS_MAX, isKilling: true };
    this.#exitCode ||= 1;
    return this.#running().flatMap((process) => [
      log("error", "process_killed", { process, because }),
      { kind: "signal", process, signal: "SIGKILL" } as const,
    ]);
  }

  #exit(): SupervisionAction {
    this.#isOver = true;
    return { kind: "exit", code: this.#exitCode };
  }

  /** Processes that have not ended. */
  #running(): readonly number[] {
    return this.#members.flatMap(({ state: { is } }, i) =>
      is === "starting" || is === "serving" ? [i + 1] : [],
    );
  }

  #member(process: number): Member {
    return this.#members[process - 1]!;
  }
}

const log = (
  level: LogLevel,
  event: string,
  fields: Readonly<Record<string, unknown>>,
): SupervisionAction & { kind: "log" } => ({ kind: "log", level, event, fields });
