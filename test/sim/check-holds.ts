// Checker 5 and 6: every admission is the one that the contract's hold rule and windows give, by a model of its own.
//
// The real behaviour is wrapped, so that its decisions are seen in their true order, one model for each activation:
// what an activation forgot by breaking, its model forgot too, and nothing else. Ledger lines then may go below zero
// only by what charges took beyond the hold they were given.

import type { AccountCommand } from "../../actors/account/account.ts";
import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { Account, AccountEvent, Profile, RateLimits } from "../../actors/account/state.ts";
import type { AnyBehavior, Behavior, Decision, Turn } from "../../src/runtime/actor.ts";
import type { Commit } from "../../src/store/store.ts";
import { add, addCommit, duePart, emptyOracle, type Oracle, spentIn, windowOf } from "./oracle.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface HoldChecker {
  /** The same behaviour, watched. `loadedSeq`: the seq of the snapshot that this node read last of an actor. */
  watch(behavior: AnyBehavior, loadedSeq: (actor: string) => number): AnyBehavior;
  committed(commit: Commit): void;
}

interface Held {
  /** What the request was told to use. */
  readonly given: number;
  cost: number;
  tokens: number;
  readonly at: number;
  expiresAt: number;
}

interface Model {
  readonly oracle: Oracle;
  readonly holds: Map<string, Held>;
}

/** A hold that nobody renews ends after so long. */
const HOLD_MS = 150_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** A window may count up to this much longer than it is, never shorter. */
const SPANS = [
  { requests: "rpm", tokens: "tpm", ms: MINUTE, slackMs: 1_000 },
  { requests: "rph", tokens: "tph", ms: HOUR, slackMs: MINUTE },
  { requests: "rpd", tokens: "tpd", ms: DAY, slackMs: 0 },
] as const satisfies { requests: keyof RateLimits; tokens: keyof RateLimits; ms: number; slackMs: number }[];

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
    if (command.type !== "admit" && command.type !== "expireCredit") return;
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
        if (model.holds.has(command.id)) return;
        checkAdmission(trace, state.profile, model, command, turn.now, decision);
        if (decision.refused) return trace.count(`refused ${decision.refused.code}`);
        {
          const { cost, tokens } = decision.reply as Admitted;
          trace.count("admitted");
          model.holds.set(command.id, {
            given: cost,
            cost,
            tokens,
            at: turn.now,
            expiresAt: turn.now + HOLD_MS,
          });
        }
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
    }
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
        if (!("balanceAfter" in event)) continue;
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

function checkAdmission(
  trace: Trace,
  profile: Profile | null,
  model: Model,
  input: AdmitInput,
  now: number,
  decision: Decision<AccountEvent>,
): void {
  const { refused } = decision;
  const code = refused?.code ?? "admitted";
  const guards = [
    "invalid_api_key",
    "stale_profile",
    "account_disabled",
    "too_many_aborts",
    "service_unavailable",
  ];
  if (profile === null || guards.includes(code)) return;
  const fail = (checker: string, message: string) =>
    trace.violate(checker, `account ${profile.id}, request ${input.id} at ${now}: ${code}, but ${message}`);

  const holds = [...model.holds.values()];
  const alone = holds.length === 0;
  const given = refused ? null : (decision.reply as Admitted);
  const worst = input.promptTokens + input.outputTokens;

  // ---- windows
  let most = worst;
  for (const span of SPANS) {
    const requestLimit = profile.limits[span.requests];
    const tokenLimit = profile.limits[span.tokens];
    const from = span.ms === DAY ? Math.floor(now / DAY) * DAY - 1 : now - span.ms;
    const inside = count(model, holds, from);
    const longest = count(model, holds, from - span.slackMs - 1);
    const room = tokenLimit === 0 ? Number.POSITIVE_INFINITY : tokenLimit - inside.tokens;
    if (given !== null && requestLimit > 0 && inside.requests + 1 > requestLimit) {
      fail("6 windows", `${inside.requests} requests count already against ${span.requests} ${requestLimit}`);
    }
    if (given !== null && given.tokens > room) {
      fail(
        "6 windows",
        `${given.tokens} tokens are held and ${room} are left of ${span.tokens} ${tokenLimit}`,
      );
    }
    if (code === `${span.requests}_exceeded` && longest.requests + 1 <= requestLimit) {
      fail("6 windows", `only ${longest.requests} requests count against ${requestLimit}`);
    }
    const leastRoom = tokenLimit - longest.tokens;
    const fits = most <= leastRoom || (alone && leastRoom > 0 && leastRoom >= input.promptTokens);
    if (code === `${span.tokens}_exceeded` && fits) {
      fail("6 windows", `${leastRoom} tokens are left of ${tokenLimit} for ${most}`);
    }
    if (tokenLimit > 0) most = Math.min(most, Math.max(0, leastRoom));
  }
  if (code.endsWith("_exceeded")) return;
  if (given !== null && (given.tokens < most || (!alone && given.tokens !== worst))) {
    fail("6 windows", `${given.tokens} tokens are held where ${most} to ${worst} fit`);
  }

  // ---- money
  const expected = moneyRule(profile, model, holds, input, now);
  const found = given === null ? code : given.cost;
  if (found !== expected) fail("5 money", `the hold rule gives ${expected}, not ${found}`);
}

/** The cost to hold, or the code of the refusal: the contract's section on metering, once more. */
function moneyRule(
  profile: Profile,
  model: Model,
  holds: readonly Held[],
  input: AdmitInput,
  now: number,
): number | string {
  if (profile.parent === null) return input.cost;
  const { oracle } = model;
  const held = holds.reduce((sum, hold) => sum + hold.cost, 0);
  const balance = oracle.balance - duePart(oracle, held, now);
  if (balance + profile.xCredit <= input.threshold) return "insufficient_balance";
  const date = new Date(now).toISOString();
  const rests: [string, number][] = [["insufficient_balance", balance + profile.xCredit - held]];
  if (profile.hardLimit > 0) {
    rests.push(["hard_limit_reached", profile.hardLimit - spentIn(oracle, date.slice(0, 7)) - held]);
  }
  if (profile.dailyLimit > 0) {
    rests.push(["daily_limit_reached", profile.dailyLimit - spentIn(oracle, date.slice(0, 10)) - held]);
  }
  let cost: number = input.cost;
  for (const [code, rest] of rests) {
    if (cost <= rest) continue;
    if (holds.length > 0 || rest <= 0 || rest < input.promptCost) return code;
    cost = rest;
  }
  return cost;
}

function count(model: Model, holds: readonly Held[], from: number): { requests: number; tokens: number } {
  const settled = windowOf(model.oracle, from);
  for (const hold of holds) {
    if (hold.at <= from) continue;
    settled.requests++;
    settled.tokens += hold.tokens;
  }
  return settled;
}
