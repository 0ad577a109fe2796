// The smallest actor with everything the runtime must care for: money-like lines, a debt to another purse that is
// delivered as an effect, holds that live in memory only, documents, replies that wait and one that does not.

import { type Refusal, unreachable } from "../../src/base/errors.ts";
import type { Behavior, CommandOf, EffectDone } from "../../src/runtime/actor.ts";

export interface PurseCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  readonly add: { readonly input: { readonly amount: number }; readonly output: number };
  /** As `add`, but marked: once for ever. */
  readonly pay: {
    readonly input: { readonly mark: string; readonly amount: number };
    readonly output: number;
  };
  /** As `add`, and documents stand before the reply. */
  readonly save: { readonly input: { readonly amount: number }; readonly output: number };
  /** So many lines of 1 in one turn. */
  readonly many: { readonly input: { readonly count: number }; readonly output: number };
  readonly read: { readonly input: object; readonly output: number };
  /** As `read`, without waiting for the commit. */
  readonly peek: { readonly input: object; readonly output: number };
  readonly now: { readonly input: object; readonly output: number };
  readonly hold: { readonly input: { readonly open: boolean }; readonly output: number };
  readonly refuse: { readonly input: object; readonly output: never };
  readonly burst: { readonly input: object; readonly output: never };
  /** Money to another purse. */
  readonly give: {
    readonly input: { readonly mark: string; readonly to: string; readonly amount: number };
    readonly output: number;
  };
  readonly receive: {
    readonly input: { readonly mark: string; readonly amount: number };
    readonly output: number;
  };
  /** A reply of so many characters. */
  readonly echo: { readonly input: { readonly size: number }; readonly output: string };
  readonly announce: { readonly input: { readonly word: string }; readonly output: number };
}

type Known = { [K in keyof PurseCommands as string extends K ? never : K]: PurseCommands[K] };
type PurseCommand = CommandOf<Known> | EffectDone;

type PurseEvent =
  | {
      readonly type: "added";
      readonly mark: string | null;
      readonly amount: number;
      readonly balanceAfter: number;
    }
  | { readonly type: "owing"; readonly debt: Debt }
  | { readonly type: "settled"; readonly mark: string }
  | { readonly type: "announced"; readonly word: string };

interface Debt {
  readonly mark: string;
  readonly to: string;
  readonly amount: number;
  readonly bornAt: number;
}

export interface Purse {
  readonly id: string;
  total: number;
  owing: Debt[];
  volatile: { holds: number; dirty: boolean };
}

/** Purses whose id starts so refuse what they are given. */
export const CLOSED = "closed";

const CLOSED_PURSE: Refusal = { code: "account_disabled", message: "this purse is closed" };

export const purse: Behavior<Purse, PurseCommand, PurseEvent> = {
  kind: "account",
  version: 1,
  empty: (id) => ({ id, total: 0, owing: [], volatile: { holds: 0, dirty: false } }),
  decide(state, command, turn) {
    const added = (amount: number, mark: string | null = null): PurseEvent => ({
      type: "added",
      mark,
      amount,
      balanceAfter: state.total + amount,
    });
    switch (command.type) {
      case "add":
        return { reply: state.total + command.amount, events: [added(command.amount)] };
      case "pay":
        if (turn.done) return { reply: -1 };
        return { reply: state.total + command.amount, events: [added(command.amount, command.mark)] };
      case "save":
        return { reply: state.total + command.amount, events: [added(command.amount)], save: true };
      case "many": {
        const events = Array.from({ length: command.count }, (_, i): PurseEvent => {
          return { type: "added", mark: null, amount: 1, balanceAfter: state.total + i + 1 };
        });
        return { reply: state.total + command.count, events };
      }
      case "read":
        return { reply: state.total };
      case "peek":
        return { reply: state.total, ungated: true };
      case "echo":
        return { reply: "x".repeat(command.size) };
      case "now":
        return { reply: turn.now };
      case "hold":
        state.volatile.holds += command.open ? 1 : -1;
        return { reply: state.volatile.holds, ungated: true };
      case "refuse":
        return {
          refused: { code: "not_found", message: "no", retryAfterS: 7, details: { left: [1, null] } },
        };
      case "burst":
        throw new Error("a bug in a behaviour");
      case "give": {
        if (turn.done) return { reply: -1 };
        const { mark, to, amount } = command;
        const debt = { mark, to, amount, bornAt: turn.now };
        return {
          reply: state.total - amount,
          events: [added(-amount, mark), { type: "owing", debt }],
        };
      }
      case "receive":
        if (state.id.startsWith(CLOSED)) return { refused: CLOSED_PURSE };
        if (turn.done) return { reply: -1 };
        return { reply: state.total + command.amount, events: [added(command.amount, command.mark)] };
      case "announce":
        return {
          reply: state.total,
          events: [{ type: "announced", word: command.word }],
          publish: [{ topic: `purse.${state.id}`, body: command.word }],
        };
      case "effectDone": {
        const debt = state.owing.find(({ mark }) => `${mark}:in` === command.effect);
        if (debt === undefined) return { reply: null };
        const back = command.refused === null ? [] : [added(debt.amount)];
        return { reply: null, events: [...back, { type: "settled", mark: debt.mark }] };
      }
      default:
        return unreachable(command);
    }
  },
  evolve(state, event) {
    state.volatile.dirty = true;
    switch (event.type) {
      case "added":
        state.total += event.amount;
        if (state.total !== event.balanceAfter) throw new Error("the line disagrees with the state");
        return;
      case "owing":
        state.owing.push(event.debt);
        return;
      case "settled":
        state.owing = state.owing.filter(({ mark }) => mark !== event.mark);
        return;
      case "announced":
        return;
    }
  },
  pendingEffects: (state) =>
    state.owing.map(({ mark, to, amount, bornAt }) => ({
      id: `${mark}:in`,
      to: { kind: "account", id: to },
      command: { type: "receive", mark, amount } as { type: string },
      bornAt,
    })),
  materialize(state) {
    if (!state.volatile.dirty) return [];
    state.volatile.dirty = false;
    return [{ table: "accounts", id: state.id, body: { nameLower: state.id, total: state.total } }];
  },
  freeze: (state) => ({ total: state.total, owing: structuredClone(state.owing) }),
  thaw(id, frozen) {
    const { total, owing } = structuredClone(frozen) as Pick<Purse, "total" | "owing">;
    return { ...purse.empty(id), total, owing };
  },
  isLine: (event) => event.type === "added",
  dedupIds: (event) => (event.type === "added" && event.mark !== null ? [event.mark] : []),
  dedupIdOf: (command) => ("mark" in command ? command.mark : undefined),
  reliesOnHolds: ({ type }) => type === "hold",
  idle: (state) => state.volatile.holds === 0,
};
