// One account driven by hand: commands are decided and their events folded at once, as the runtime would do it.

import { type AccountCommand, account } from "../../actors/account/account.ts";
import type { AdmitInput } from "../../actors/account/admit.ts";
import type { NewAccount } from "../../actors/account/profile.ts";
import type { Account, AccountEvent, ChargeFacts, Profile } from "../../actors/account/state.ts";
import type { CreateChild } from "../../actors/account/transfer.ts";
import type { AccountId } from "../../actors/ids.ts";
import { fromUsd, type Nano, plus, ZERO } from "../../actors/money.ts";
import { NO_USAGE } from "../../actors/pricing/usage.ts";
import { NO_LIMITS } from "../../actors/rate-window.ts";
import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, EffectDone } from "../../src/runtime/actor.ts";

/** Returns a deep copy whose objects keep their methods, which `structuredClone` takes from them. */
export function copyOf<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map || value instanceof Set) return structuredClone(value);
  const copy: object = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
  for (const [name, field] of Object.entries(value)) Object.assign(copy, { [name]: copyOf(field) });
  return copy as T;
}

export const NOON = Date.UTC(2026, 0, 15, 12);
export const DAY = 86_400_000;
export const usd = (dollars: number): Nano => fromUsd(dollars)!;
export const KEY = "a".repeat(64);

export const profileOf = (over: Partial<Profile> = {}): Profile => ({
  id: 7 as AccountId,
  name: "seven",
  email: "seven@example.com",
  alias: "seven",
  billingEmail: "seven@example.com",
  parent: 2 as AccountId,
  dna: ".1.2.",
  keyHash: KEY,
  status: true,
  suspended: false,
  level: 0,
  role: 0,
  gear: 1,
  tier: 0,
  factor: 1,
  rates: 1,
  hardLimit: ZERO,
  softLimit: ZERO,
  dailyLimit: ZERO,
  autoQuota: ZERO,
  xCredit: ZERO,
  userLimit: null,
  limits: NO_LIMITS,
  allowIps: [],
  allowModels: [],
  allowLevels: [],
  resources: [],
  modelLimits: {},
  modelMapper: {},
  levelMapper: {},
  qrCode: "",
  createdAt: NOON,
  updatedAt: NOON,
  ...over,
});

export const ROOT_PROFILE = { id: 1 as AccountId, name: "root", parent: null, dna: "." } as const;

export const admitInput = (over: Partial<AdmitInput> = {}): AdmitInput => ({
  id: "r1",
  keyHash: KEY,
  ip: "192.0.2.1",
  version: 1,
  path: "/v1/chat/completions",
  routing: null,
  idempotency: null,
  model: "m",
  promptTokens: 10,
  outputTokens: 90,
  cost: usd(1),
  promptCost: usd(0.1),
  modelLimits: null,
  threshold: ZERO,
  ...over,
});

export const factsOf = (over: Partial<ChargeFacts> = {}): ChargeFacts => ({
  id: "r1",
  request: over.id ?? "r1",
  path: "/v1/chat/completions",
  asked: "m",
  model: "m",
  level: 0,
  usage: { ...NO_USAGE, inText: 10, outText: 20 },
  prompt: 10,
  completion: 20,
  cost: usd(0.5),
  basis: "provider",
  price: null,
  priceVersion: 0,
  admittedAt: NOON,
  stream: false,
  attempts: [],
  ...over,
});

export interface Living {
  state: Account;
  /** Lines and other events since genesis, with their time. */
  readonly events: { readonly e: AccountEvent; readonly at: number }[];
  now: number;
  /** Decides, folds, answers the decision. */
  ask(command: AccountCommand, turn?: { id?: string; from?: string; done?: boolean }): Decision<AccountEvent>;
  admit(over?: Partial<AdmitInput>): Decision<AccountEvent>;
  /** The code of the refusal, or what was reserved. */
  admitted(over?: Partial<AdmitInput>): string | { cost: Nano; tokens: number };
  charge(over?: Partial<ChargeFacts>): Decision<AccountEvent>;
  fold(...events: AccountEvent[]): void;
}

export interface Born {
  readonly profile?: Partial<Profile>;
  /** Amounts, all expiring in half a year; or entries. */
  readonly credit?: Nano | readonly { readonly amount: Nano; readonly expiresAt: number }[];
  readonly now?: number;
}

export function living({ profile = {}, credit = usd(100), now = NOON }: Born = {}): Living {
  const born = profileOf(profile);
  const events: Living["events"] = [];
  let turns = 0;
  const one: Living = {
    state: account.empty(String(born.id)),
    events,
    now,
    ask(command, { id = `turn-${++turns}`, from = "", done = false } = {}) {
      const decision = account.decide(one.state, command, { id, from, now: one.now, epoch: 1, done });
      one.fold(...(decision.events ?? []));
      return decision;
    },
    admit: (over) => one.ask({ type: "admit", ...admitInput(over) }),
    admitted(over) {
      const { refused, reply } = one.admit(over);
      if (refused) return refused.code;
      if ("stale" in (reply as object)) return "stale";
      const { cost, tokens } = reply as { cost: Nano; tokens: number };
      return { cost, tokens };
    },
    charge: (over) => one.ask({ type: "charge", ...factsOf({ admittedAt: one.now, ...over }) }),
    fold(...more) {
      for (const e of more) {
        account.evolve(one.state, e, one.now);
        events.push({ e, at: one.now });
      }
    },
  };
  one.fold({ type: "created", profile: born });
  const entries = typeof credit === "number" ? [{ amount: credit, expiresAt: NOON + 180 * DAY }] : credit;
  let balance = ZERO;
  for (const [i, { amount, expiresAt }] of entries.entries()) {
    if (amount === 0) continue;
    balance = plus(balance, amount);
    one.fold({
      type: "grant",
      id: `credit-${i}`,
      from: 1 as AccountId,
      amount,
      expiresAt,
      balanceAfter: balance,
    });
  }
  return one;
}

/** What a creator says of account 8. */
export const newAccount = (over: Partial<NewAccount> = {}): NewAccount => ({
  id: 8 as AccountId,
  name: "eight",
  email: "eight@example.com",
  keyHash: "8".repeat(64),
  ...over,
});

type CreateCommand = { type: "createChild" } & CreateChild;
export const createChild = (over: Partial<CreateChild> = {}): CreateCommand => ({
  type: "createChild",
  id: "X",
  bornAt: NOON,
  child: newAccount(),
  amount: usd(10),
  days: 30,
  keep: ZERO,
  ...over,
});

export const CLOSED: Refusal = { code: "account_disabled", message: "closed" };
export const done = (effect: string, refused: Refusal | null): EffectDone => ({
  type: "effectDone",
  effect,
  refused,
});
