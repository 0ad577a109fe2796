// Checkers 1 to 3, after every commit: the order of a ledger, each charge once, and no credit made or lost.

import type { AccountEvent } from "../../actors/account/state.ts";
import type { Commit } from "../../src/store/store.ts";
import type { Trace } from "./trace.ts";

export interface LedgerChecker {
  committed(commit: Commit): void;
  /** A client was told that this charge is stored. */
  acked(charge: { id: string; account: number; cost: number }): void;
  /** Acknowledged by way of the spool: to be in the ledger once the dust has settled. */
  promised(charge: { id: string; account: number; cost: number }): void;
  /** Was this id given out, as the mark of a transfer? */
  gave(transfer: string): boolean;
  /** Sum of what is charged durably on an account. */
  charged(account: number): number;
  atRest(): void;
}

interface Tail {
  seq: number;
  at: number;
  epoch: number;
  linesTo: number;
  balance: number;
  charged: number;
  /** Command ids answered in commits, with the time. */
  readonly done: Map<string, number>;
}

/** A command id is remembered so long; a repeat after it is refused, never executed. */
const DEDUP_MS = 900_000;

export function ledgerChecker(trace: Trace): LedgerChecker {
  const tails = new Map<string, Tail>();
  const charges = new Map<string, { account: number; cost: number }>();
  const promises = new Map<string, { account: number; cost: number }>();
  /** Transfers given: amount, and whether the receiver has it. */
  const given = new Map<string, { amount: number; received: boolean; over: boolean }>();
  let minted = 0n;
  let balances = 0n;
  let inFlight = 0n;
  let charged = 0n;
  let expired = 0n;

  function order(commit: Commit, tail: Tail): void {
    const fail = (message: string) => trace.violate("1 order", `${commit.actor}/${commit.seq}: ${message}`);
    if (commit.seq !== tail.seq + 1) fail(`follows ${tail.seq}`);
    if (commit.at < tail.at) fail(`at ${commit.at} falls below ${tail.at}`);
    if (commit.epoch < tail.epoch) fail(`epoch ${commit.epoch} falls below ${tail.epoch}`);
    if (commit.by === "") fail("no writer");
    const lines = commit.events.filter(({ e }) => "balanceAfter" in (e as object)).length;
    if (commit.lines !== lines || commit.linesTo !== tail.linesTo + lines) fail("lines are misnumbered");
    let at = tail.at;
    for (const event of commit.events) {
      if (event.at < at || event.at > commit.at) fail(`an event at ${event.at} is out of order`);
      at = event.at;
    }
    for (const { id } of commit.done) {
      const before = tail.done.get(id);
      if (before !== undefined && commit.at - before < DEDUP_MS) fail(`command ${id} was executed twice`);
      tail.done.set(id, commit.at);
    }
    tail.seq = commit.seq;
    tail.at = commit.at;
    tail.epoch = commit.epoch;
    tail.linesTo = commit.linesTo;
  }

  function money(commit: Commit, tail: Tail, event: AccountEvent): void {
    const account = Number(commit.actor.slice("account/".length));
    const fail = (checker: string, message: string) =>
      trace.violate(checker, `${commit.actor}/${commit.seq}: ${message}`);
    if ("balanceAfter" in event) {
      tail.balance += event.amount;
      balances += BigInt(event.amount);
      if (event.balanceAfter !== tail.balance) {
        fail(
          "3 sum",
          `${event.type} ${event.id} says ${event.balanceAfter}, the lines add up to ${tail.balance}`,
        );
      }
    }
    switch (event.type) {
      case "minted":
        minted += BigInt(event.amount);
        return;
      case "owing":
        if (given.has(event.transfer.id)) fail("3 conservation", `${event.transfer.id} is given twice`);
        given.set(event.transfer.id, { amount: event.transfer.amount, received: false, over: false });
        inFlight += BigInt(event.transfer.amount);
        return;
      case "settled":
      case "returned": {
        const transfer = given.get(event.id);
        if (transfer === undefined || transfer.over) {
          fail("3 conservation", `${event.id} ends twice`);
          return;
        }
        transfer.over = true;
        if (event.type === "settled") {
          if (!transfer.received) fail("3 conservation", `${event.id} is settled, but nobody has it`);
        } else {
          if (transfer.received) fail("3 conservation", `${event.id} is returned, but received as well`);
          inFlight -= BigInt(transfer.amount);
        }
        return;
      }
      case "grant":
      case "transfer_in":
      case "refund": {
        if (account === 1) {
          minted += BigInt(event.amount);
          return;
        }
        const transfer = given.get(event.id);
        if (transfer === undefined) {
          fail("3 conservation", `${event.id} is received, but was never given`);
          return;
        }
        if (transfer.received) fail("3 conservation", `${event.id} is received twice`);
        if (transfer.amount !== event.amount) fail("3 conservation", `${event.id} changes on the way`);
        transfer.received = true;
        inFlight -= BigInt(transfer.amount);
        return;
      }
      case "charge": {
        if (charges.has(event.id)) fail("2 once", `charge ${event.id} stands in the ledger twice`);
        if (event.amount !== -event.cost && event.cost !== 0) fail("3 sum", `charge ${event.id}: wrong sign`);
        if (!commit.marks.includes(event.id)) fail("2 once", `charge ${event.id} has no mark`);
        charges.set(event.id, { account, cost: event.cost });
        tail.charged += event.cost;
        charged += BigInt(event.cost);
        return;
      }
      case "expire":
        expired -= BigInt(event.amount);
        return;
    }
  }

  function stored(id: string, expected: { account: number; cost: number }, when: string): void {
    const found = charges.get(id);
    if (found === undefined) trace.violate("2 once", `charge ${id} is not in the ledger ${when}`);
    else if (found.account !== expected.account || found.cost !== expected.cost) {
      trace.violate("2 once", `charge ${id} is in the ledger as ${found.account}: ${found.cost}`);
    }
  }

  return {
    committed(commit) {
      let tail = tails.get(commit.actor);
      if (tail === undefined) {
        tail = { seq: 0, at: 0, epoch: 0, linesTo: 0, balance: 0, charged: 0, done: new Map() };
        tails.set(commit.actor, tail);
      }
      order(commit, tail);
      if (!commit.actor.startsWith("account/")) return;
      for (const { e } of commit.events) money(commit, tail, e as AccountEvent);
      const right = balances + inFlight + charged + expired;
      if (minted !== right) {
        trace.violate(
          "3 conservation",
          `after ${commit.actor}/${commit.seq}: minted ${minted}, but balances ${balances} + in flight ${inFlight}` +
            ` + charged ${charged} + expired ${expired} = ${right}`,
        );
      }
    },
    acked({ id, account, cost }) {
      stored(id, { account, cost }, "although its client was told so");
    },
    promised: ({ id, account, cost }) => void promises.set(id, { account, cost }),
    gave: (transfer) => given.has(transfer),
    charged: (account) => tails.get(`account/${account}`)?.charged ?? 0,
    atRest() {
      for (const [id, expected] of promises) stored(id, expected, "at rest although its client was told so");
      for (const [id, { received, over }] of given) {
        if (!over || !received) trace.violate("7 liveness", `transfer ${id} never settled`);
      }
    },
  };
}
