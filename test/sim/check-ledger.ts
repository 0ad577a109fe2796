// Checkers 1 to 3, after every commit: the order of a ledger, each charge once, and no credit made or lost.

import type { AccountEvent } from "../../actors/account/state.ts";
import type { Commit } from "../../src/store/store.ts";
import type { Trace } from "./trace.ts";

export interface LedgerChecker {
  committed(commit: Commit): void;
  /** A client got the reply that this charge is stored. */
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
  stage: "open" | "closing" | "closed";
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
  const given = new Map<string, { amount: number; received: boolean; over: "settled" | "returned" | null }>();
  let minted = 0n;
  let balances = 0n;
  let inFlight = 0n;
  let charged = 0n;
  let expired = 0n;
  let fees = 0n;
  let writtenOff = 0n;
  /** Begun and not over: moves, and requests for AutoQuota, with the account. */
  const open = new Map<string, string>();

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
        // A refund to Root ceases to be with its arrival.
        if (event.amount < 0 && given.has(event.id)) arrived(event.id, -event.amount, fail);
        return;
      case "owing":
        if (given.has(event.transfer.id)) fail("3 conservation", `${event.transfer.id} is given twice`);
        given.set(event.transfer.id, { amount: event.transfer.amount, received: false, over: null });
        inFlight += BigInt(event.transfer.amount);
        return;
      case "settled":
      case "returned": {
        const transfer = given.get(event.id);
        if (transfer === undefined || transfer.over !== null) {
          fail("3 conservation", `${event.id} ends twice`);
          return;
        }
        transfer.over = event.type;
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
      case "auto_quota":
      case "refund": {
        if (account === 1) {
          minted += BigInt(event.amount);
          return;
        }
        open.delete(`quota ${event.id}`);
        arrived(event.id, event.amount, fail);
        return;
      }
      case "query_fee":
      case "delete_fee":
        fees -= BigInt(event.amount);
        return;
      case "write_off":
        if (tail.balance !== 0)
          fail("3 sum", `${event.id} writes off ${event.amount}, and ${tail.balance} is left`);
        writtenOff -= BigInt(event.amount);
        return;
      case "late_charge":
        if (tail.stage === "open") fail("9 life", `${event.id} is late, but its account is there`);
        if (charges.has(event.id)) fail("2 once", `charge ${event.id} stands in the ledger twice`);
        charges.set(event.id, { account, cost: event.cost });
        writtenOff += BigInt(event.cost);
        return;
      case "moving":
        open.set(`move ${event.id}`, commit.actor);
        return;
      case "moved":
      case "move_refused":
        open.delete(`move ${event.id}`);
        return;
      case "quota_asked":
        for (const [what, actor] of open) {
          if (actor === commit.actor && what.startsWith("quota "))
            fail("9 life", `${event.id} is asked beside ${what}`);
        }
        open.set(`quota ${event.id}`, commit.actor);
        return;
      case "declined":
      case "quota_refused":
        open.delete(`quota ${event.id}`);
        return;
      case "closing":
        tail.stage = "closing";
        for (const [what, actor] of open) if (actor === commit.actor) open.delete(what);
        return;
      case "emptied":
        if (tail.balance !== 0) fail("9 life", `it is emptied with a balance of ${tail.balance}`);
        return;
      case "closed":
        tail.stage = "closed";
        return;
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

  function arrived(id: string, amount: number, fail: (checker: string, message: string) => void): void {
    const transfer = given.get(id);
    if (transfer === undefined) {
      fail("3 conservation", `${id} is received, but was never given`);
      return;
    }
    if (transfer.received) fail("3 conservation", `${id} is received twice`);
    if (transfer.amount !== amount) fail("3 conservation", `${id} changes on the way`);
    transfer.received = true;
    inFlight -= BigInt(transfer.amount);
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
        tail = {
          seq: 0,
          at: 0,
          epoch: 0,
          linesTo: 0,
          balance: 0,
          charged: 0,
          stage: "open",
          done: new Map(),
        };
        tails.set(commit.actor, tail);
      }
      order(commit, tail);
      if (!commit.actor.startsWith("account/")) return;
      for (const { e } of commit.events) money(commit, tail, e as AccountEvent);
      const right = balances + inFlight + charged + expired + fees + writtenOff;
      if (minted !== right) {
        trace.violate(
          "3 conservation",
          `after ${commit.actor}/${commit.seq}: minted ${minted}, but balances ${balances} + in flight ${inFlight}` +
            ` + charged ${charged} + expired ${expired} + fees ${fees} + written off ${writtenOff} = ${right}`,
        );
      }
    },
    acked({ id, account, cost }) {
      stored(id, { account, cost }, "although its client got that reply");
    },
    promised: ({ id, account, cost }) => void promises.set(id, { account, cost }),
    gave: (transfer) => given.has(transfer),
    charged: (account) => tails.get(`account/${account}`)?.charged ?? 0,
    atRest() {
      for (const [id, expected] of promises)
        stored(id, expected, "at rest although its client got that reply");
      for (const [id, { received, over }] of given) {
        const ended = over === "settled" ? received : over === "returned";
        if (!ended) trace.violate("7 liveness", `transfer ${id} never settled`);
      }
      for (const [what, actor] of open) trace.violate("7 liveness", `${what} of ${actor} never ended`);
      for (const [actor, { stage, balance }] of tails) {
        if (stage === "closing") trace.violate("7 liveness", `the deletion of ${actor} never ended`);
        if (stage === "closed" && balance !== 0)
          trace.violate("9 life", `${actor} is gone, and has ${balance}`);
      }
    },
  };
}
