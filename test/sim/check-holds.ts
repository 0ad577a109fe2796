// Checker 5 and 6: every admission is the one that the contract's hold rule and windows give, by a model of its own.
//
// The real behaviour is wrapped, so that its decisions are seen in their true order, one model for each activation:
// what an activation forgot by breaking, its model forgot too, and nothing else; what front ends reasserted, it knows
// again. Ledger lines then may go below zero only by what charges took beyond the hold they were given.
//
// Where nothing is lost and nobody stops without a word (`kind`), no activation may have forgotten anything: whatever a
// client got a reply for is known wherever the account is by then. And nobody holds anything for who has ended.

import type { AccountCommand } from "../../actors/account/account.ts";
import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { ReassertHolds } from "../../actors/account/reassert-holds.ts";
import type { Account, AccountEvent } from "../../actors/account/state.ts";
import type { AnyBehavior, Behavior, Decision, Turn } from "../../src/runtime/actor.ts";
import type { Commit } from "../../src/store/store.ts";
import { checkAdmission, type Model } from "./check-admission.ts";
import { checkEndedFor, checkKeyCommand, checkSecret } from "./check-api-keys.ts";
import type { Timeline } from "./clock.ts";
import { add, addCommit, emptyOracle, type Oracle } from "./oracle.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface HoldChecker {
  /** The same behaviour, watched. `loadedSeq`: the seq of the snapshot that this node read last of an actor. */
  watch(behavior: AnyBehavior, loadedSeq: (actor: string) => number): AnyBehavior;
  committed(commit: Commit): void;
  /** A client got the reply that its request may run; it holds until it `ends`, or `dies` with its front end. */
  runs(account: number, id: string): void;
  ends(account: number, id: string): void;
  dies(account: number, id: string): void;
  /** Its charge or cancellation was answered. */
  ended(id: string): void;
}

/** A hold that nobody renews ends after so long. */
const HOLD_MS = 150_000;

/** A hold that was reasserted before its end may arrive after it, and is taken back then. */
const AFTERWARDS_MS = 2_000;

export function holdChecker(parts: {
  disk: SimDisk;
  trace: Trace;
  timeline: Timeline;
  /** Nothing is lost now, and nobody stops without a word. */
  kind: () => boolean;
}): HoldChecker {
  const { disk, trace, timeline, kind } = parts;
  /** Cost of each charge beyond what its request was estimated to use; the latest decision counts. */
  const beyond = new Map<string, number>();
  /** By account: how far below zero it may be. */
  const debtAllowed = new Map<string, number>();
  /** What each request was estimated to use, by its newest admission. */
  const given = new Map<string, number>();
  /** Requests under way, by account. */
  const running = new Map<number, Set<string>>();
  const over = new Map<string, number>();

  function foldOf(actor: string, seq: number): Oracle {
    const oracle = emptyOracle();
    for (const commit of disk.ledger.get(actor) ?? []) if (commit.seq <= seq) addCommit(oracle, commit);
    return oracle;
  }

  function before(model: Model, command: AccountCommand, now: number): void {
    // A late renewal may still save its hold; anything else meets only those that were renewed in time.
    if (command.type === "renew" || command.type === "reassertHolds") return;
    for (const [id, hold] of model.holds) if (hold.expiresAt <= now) model.holds.delete(id);
  }

  function after(
    state: Account,
    model: Model,
    command: AccountCommand,
    turn: Turn,
    decision: Decision<AccountEvent>,
  ): void {
    checkKeyCommand(trace, state, model.oracle, command, turn.now, decision);
    checkEndedFor(trace, state, model.holds, decision);
    switch (command.type) {
      case "admit":
        complete(state, command.id);
        if (!model.holds.has(command.id)) {
          checkSecret(trace, state, model.oracle, command, turn.now, decision);
        }
        if (model.holds.get(command.id)?.model === command.model) return;
        checkAdmission(trace, state.profile, model, command, turn.now, decision);
        if (decision.refused) trace.count(`refused ${decision.refused.code}`);
        else if ("stale" in (decision.reply as object)) trace.count("refused stale_profile");
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
      case "reassertHolds":
        if (!decision.refused) reassert(model, command, turn.now);
        return;
      case "charge": {
        const hold = model.holds.get(command.id);
        model.holds.delete(command.id);
        model.ended.add(command.id);
        if (decision.events === undefined || decision.events.length === 0) return;
        if (hold === undefined) trace.count("charge without its hold");
        else if (command.cost > hold.given) trace.count("charge beyond its hold");
        beyond.set(command.id, Math.max(0, command.cost - (hold?.given ?? 0)));
        return;
      }
      case "releaseOrphanedHolds":
        for (const id of command.ids) {
          trace.count("holds abandoned");
          model.holds.delete(id);
          model.abandoned.add(id);
        }
        return;
      case "cancel":
        model.holds.delete(command.id);
        model.ended.add(command.id);
        return;
      case "settleClosing":
        // A request that is still in flight has had its time.
        if (decision.events === undefined) return;
        model.holds.clear();
        running.delete(Number(state.id));
        return;
    }
  }

  function admitted(model: Model, { id, model: name }: AdmitInput, reply: Admitted, now: number): void {
    const former = model.holds.get(id);
    trace.count(former === undefined ? "admitted" : "moved");
    const { cost, tokens } = reply;
    const at = former?.at ?? now;
    if (reply.admittedAt !== at) {
      trace.violate(
        "6 windows",
        `request ${id} was admitted at ${at}, and its reply says ${reply.admittedAt}`,
      );
    }
    given.set(id, cost);
    model.admits = true;
    const counted = former?.counted ?? false;
    const apiKey = reply.apiKey?.id ?? 0;
    const expiresAt = now + HOLD_MS;
    model.holds.set(id, { model: name, apiKey, given: cost, cost, tokens, at, counted, expiresAt });
  }

  function reassert(model: Model, input: ReassertHolds, now: number): void {
    for (const id of input.ended) {
      model.holds.delete(id);
      model.ended.add(id);
    }
    for (const hold of input.holds) {
      const known = model.holds.get(hold.id);
      if (known === undefined) {
        if (model.ended.has(hold.id) || hold.expiresAt <= now) continue;
        trace.count("holds reasserted");
        const { apiKey, cost, tokens, expiresAt, admittedAt: at } = hold;
        // Elsewhere others were admitted meanwhile, or it was given on grounds that never became durable: as if lost.
        const heldFor = kind() && !model.admits ? (given.get(hold.id) ?? cost) : 0;
        const counted = model.abandoned.has(hold.id);
        const held = { apiKey, given: heldFor, cost, tokens, at, counted, expiresAt };
        model.holds.set(hold.id, { model: hold.model, ...held });
        continue;
      }
      known.expiresAt = Math.max(known.expiresAt, hold.expiresAt);
      if (known.model !== hold.model) continue;
      known.cost = Math.max(known.cost, hold.cost);
      known.tokens = Math.max(known.tokens, hold.tokens);
    }
  }

  /** Everybody who runs is known, nobody who has ended. */
  function complete({ id: account, volatile: { holds } }: Account, asking: string): void {
    if (!kind()) return;
    const fail = (message: string) =>
      trace.violate("14 holds", `account ${account}, request ${asking}: ${message}`);
    for (const id of running.get(account) ?? []) {
      if (id !== asking && !holds.has(id)) fail(`${id} is under way and forgotten`);
    }
    for (const id of holds.keys()) {
      const since = over.get(id) ?? Number.POSITIVE_INFINITY;
      if (timeline.now() - since > AFTERWARDS_MS) fail(`${id} has ended and holds`);
    }
  }

  return {
    runs(account, id) {
      const mine = running.get(account) ?? new Set();
      running.set(account, mine.add(id));
    },
    ends: (account, id) => void running.get(account)?.delete(id),
    dies: (account, id) => void running.get(account)?.delete(id),
    ended: (id) => void over.set(id, timeline.now()),
    watch(behavior, loadedSeq) {
      if (behavior.kind !== "account") return behavior;
      const real = behavior as Behavior<Account, AccountCommand, AccountEvent>;
      const models = new WeakMap<Account, Model>();
      const watched: typeof real = {
        ...real,
        empty(id) {
          const state = real.empty(id);
          models.set(state, {
            oracle: emptyOracle(),
            holds: new Map(),
            ended: new Set(),
            abandoned: new Set(),
            admits: false,
          });
          return state;
        },
        thaw(id, frozen) {
          const state = real.thaw(id, frozen);
          const actor = `account/${id}`;
          models.set(state, {
            oracle: foldOf(actor, loadedSeq(actor)),
            holds: new Map(),
            ended: new Set(),
            abandoned: new Set(),
            admits: false,
          });
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
