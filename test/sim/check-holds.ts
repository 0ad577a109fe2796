// Checker 5 and 6: every admission is the one that the contract's hold rule and windows give, by a model of its own.
//
// The real behaviour is wrapped, so that its decisions are seen in their true order, one model for each activation:
// what an activation forgot by breaking, its model forgot too, and nothing else. Ledger lines then may go below zero
// only by what charges took beyond the hold they were given.

import type { AccountCommand } from "../../actors/account/account.ts";
import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { Account, AccountEvent } from "../../actors/account/state.ts";
import type { AnyBehavior, Behavior, Decision, Turn } from "../../src/runtime/actor.ts";
import type { Commit } from "../../src/store/store.ts";
import { checkAdmission, type Model } from "./check-admission.ts";
import { add, addCommit, emptyOracle, type Oracle } from "./oracle.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface HoldChecker {
  /** The same behaviour, watched. `loadedSeq`: the seq of the snapshot that this node read last of an actor. */
  watch(behavior: AnyBehavior, loadedSeq: (actor: string) => number): AnyBehavior;
  committed(commit: Commit): void;
}

/** A hold that nobody renews ends after so long. */
const HOLD_MS = 150_000;

export function holdChecker(disk: SimDisk, trace: Trace): HoldChecker {
  /** Cost of each charge beyond what its request was told to use; the latest decision counts. */
  const beyond = new Map<string, number>();
  /** By account: how far below zero it may be. */
  const debtAllowed = new Map<string, number>();

  function foldOf(actor: string, seq: number): Oracle {
    const oracle = emptyOracle();
    for (const commit of disk.ledger.get(actor) ?? []) if (commit.seq <= seq) addCommit(oracle, commit);
    return oracle;
  }

  function before(model: Model, command: AccountCommand, now: number): void {
    // A late renewal may still save its hold; anything else meets only those that were renewed in time.
    if (command.type === "renew") return;
    for (const [id, hold] of model.holds) if (hold.expiresAt <= now) model.holds.delete(id);
  }

  function after(
    state: Account,
    model: Model,
    command: AccountCommand,
    turn: Turn,
    decision: Decision<AccountEvent>,
  ): void {
    switch (command.type) {
      case "admit":
        if (model.holds.get(command.id)?.model === command.model) return;
        checkAdmission(trace, state.profile, model, command, turn.now, decision);
        if (decision.refused) trace.count(`refused ${decision.refused.code}`);
        else admitted(model, command, decision.reply as Admitted, turn.now);
        return;
      case "renew": {
        const hold = model.holds.get(command.id);
        if (hold === undefined) return;
        hold.expiresAt = turn.now + HOLD_MS;
        hold.cost = Math.max(hold.cost, command.cost);
        hold.tokens = Math.max(hold.tokens, command.tokens);
        return;
      }
      case "charge": {
        const hold = model.holds.get(command.id);
        model.holds.delete(command.id);
        if (decision.events === undefined || decision.events.length === 0) return;
        if (hold === undefined) trace.count("charge without its hold");
        else if (command.cost > hold.given) trace.count("charge beyond its hold");
        beyond.set(command.id, Math.max(0, command.cost - (hold?.given ?? 0)));
        return;
      }
      case "cancel":
        model.holds.delete(command.id);
        return;
      case "settleClosing":
        // Whoever is still in flight has had its time.
        if (decision.events !== undefined) model.holds.clear();
        return;
    }
  }

  function admitted(model: Model, { id, model: name }: AdmitInput, given: Admitted, now: number): void {
    const former = model.holds.get(id);
    trace.count(former === undefined ? "admitted" : "moved");
    const { cost, tokens } = given;
    const at = former?.at ?? now;
    if (given.admittedAt !== at) {
      trace.violate("6 windows", `request ${id} was admitted at ${at}, and is told ${given.admittedAt}`);
    }
    model.holds.set(id, { model: name, given: cost, cost, tokens, at, expiresAt: now + HOLD_MS });
  }

  return {
    watch(behavior, loadedSeq) {
      if (behavior.kind !== "account") return behavior;
      const real: Behavior<Account, AccountCommand, AccountEvent> = behavior;
      const models = new WeakMap<Account, Model>();
      const watched: typeof real = {
        ...real,
        empty(id) {
          const state = real.empty(id);
          models.set(state, { oracle: emptyOracle(), holds: new Map() });
          return state;
        },
        thaw(id, frozen) {
          const state = real.thaw(id, frozen);
          const actor = `account/${id}`;
          models.set(state, { oracle: foldOf(actor, loadedSeq(actor)), holds: new Map() });
          return state;
        },
        evolve(state, event, at) {
          real.evolve(state, event, at);
          add(models.get(state)!.oracle, event, at);
        },
        decide(state, command, turn) {
          const model = models.get(state)!;
          before(model, command, turn.now);
          const decision = real.decide(state, command, turn);
          after(state, model, command, turn, decision);
          return decision;
        },
      };
      return watched;
    },
    committed(commit) {
      if (commit.actor === "account/1") return;
      for (const { e } of commit.events) {
        const event = e as AccountEvent;
        // A late charge is a loss: its write-off stands beside it.
        if (!("balanceAfter" in event) || event.type === "late_charge") continue;
        let allowed = debtAllowed.get(commit.actor) ?? 0;
        if (event.type === "charge") allowed += beyond.get(event.id) ?? 0;
        debtAllowed.set(commit.actor, allowed);
        if (event.balanceAfter < -allowed) {
          trace.violate(
            "5 money",
            `${commit.actor}/${commit.seq}: ${event.type} ${event.id} leaves ${event.balanceAfter}; charges beyond ` +
              `their holds and of lost holds explain ${-allowed}`,
          );
        }
      }
    },
  };
}
