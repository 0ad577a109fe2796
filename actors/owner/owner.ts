// An Owner's configuration: mappers, failover, limits, prices, mail. Every change makes a new version, valid as a whole.
// It is a replica's source: after the commit the new version is published, and front ends route by it.

import type { Behavior, CommandOf, Decision, Turn } from "../../src/runtime/actor.ts";
import { assert, unreachable } from "../../src/runtime/assert.ts";
import type { RateLimits } from "../account/state.ts";
import type { AccountId } from "../ids.ts";
import type { Sealed } from "../key-pool/provider-key.ts";
import { type Nano, ZERO } from "../money.ts";
import type { Pricing } from "../price-table.ts";

/** How mail of this tree is sent. Without `emailSmtp` there is no mail server. */
export interface MailConfig {
  /** Host name or address of the SMTP server; empty: none. */
  readonly emailSmtp: string;
  /** null: the usual one. */
  readonly emailPort: number | null;
  /** The account at the mail server; empty: none is needed. */
  readonly emailAuth: string;
  readonly emailPass: Sealed | null;
  /** TLS is demanded: from the first byte on, or by STARTTLS on the ports that begin with it. */
  readonly emailTls: boolean;
  /** From whom mail comes, and who hears of a Level without keys; empty: nobody. */
  readonly serviceMail: string;
}

export interface OwnerConfig extends MailConfig {
  /** 0: the built-in defaults, nothing was ever set. */
  readonly version: number;
  readonly modelMapper: Readonly<Record<string, string>>;
  readonly levelMapper: Readonly<Record<string, number>>;
  /** Level to backup Level. Chains are followed; a circle is no fault, since routing follows each Level once. */
  readonly switchOver: Readonly<Record<string, number>>;
  /** Model, or pattern of models, to its backups in order of preference. */
  readonly modelFailover: Readonly<Record<string, readonly string[]>>;
  readonly resources: readonly string[];
  readonly modelLimits: Readonly<Record<string, Partial<RateLimits>>>;
  /** The override alone; null: the default prices. */
  readonly pricing: Pricing | null;
  readonly userMinBalance: Nano;
  readonly userApiBalance: Nano;
  /** Of Root's alone it counts: whether the operation log is written, for everybody. */
  readonly logEnable: boolean;
}

const DEFAULT_CONFIG: OwnerConfig = {
  version: 0,
  modelMapper: {},
  levelMapper: {},
  switchOver: {},
  modelFailover: {},
  resources: [],
  modelLimits: {},
  pricing: null,
  userMinBalance: ZERO,
  userApiBalance: ZERO,
  logEnable: true,
  emailSmtp: "",
  emailPort: null,
  emailAuth: "",
  emailPass: null,
  emailTls: false,
  serviceMail: "",
};

/** Any of the settings; what is absent stays. */
export type ConfigChange = Partial<Omit<OwnerConfig, "version">>;

export interface OwnerCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  readonly read: { readonly input: object; readonly output: OwnerConfig };
  readonly configure: {
    readonly input: { readonly change: ConfigChange; readonly by: AccountId };
    readonly output: OwnerConfig;
  };
  /** Adds Levels for patterns that are not mapped yet; answers those it added. */
  readonly completeLevels: {
    readonly input: { readonly patterns: readonly string[]; readonly level: number; readonly by: AccountId };
    readonly output: Readonly<Record<string, number>>;
  };
}

type Known = { [K in keyof OwnerCommands as string extends K ? never : K]: OwnerCommands[K] };
export type OwnerCommand = CommandOf<Known>;

export interface OwnerEvent {
  readonly type: "configured";
  readonly version: number;
  readonly change: ConfigChange;
  readonly by: AccountId;
}

interface Owner {
  readonly id: string;
  config: OwnerConfig;
}

export const ownerTopic = (id: AccountId | string): string => `owner.${id}`;

export const owner: Behavior<Owner, OwnerCommand, OwnerEvent> = {
  kind: "owner",
  version: 2,
  empty: (id) => ({ id, config: DEFAULT_CONFIG }),
  decide,
  evolve(state, event) {
    assert(event.version === state.config.version + 1, `owner ${state.id}: version ${event.version} skips`);
    state.config = { ...state.config, ...event.change, version: event.version };
  },
  pending: () => [],
  materialise: () => [],
  freeze: (state) => structuredClone(state.config),
  thaw: (id, frozen) => ({ id, config: structuredClone(frozen) as OwnerConfig }),
  isLine: () => false,
  marks: () => [],
  mark: () => undefined,
  idle: () => true,
};

function decide(state: Owner, command: OwnerCommand, _turn: Turn): Decision<OwnerEvent> {
  switch (command.type) {
    case "read":
      return { reply: state.config };
    case "configure":
      return change(state, command.change, command.by, (config) => config);
    case "completeLevels": {
      const missing = command.patterns.filter((pattern) => !Object.hasOwn(state.config.levelMapper, pattern));
      const added = Object.fromEntries(missing.map((pattern) => [pattern, command.level]));
      if (missing.length === 0) return { reply: added };
      const levelMapper = { ...state.config.levelMapper, ...added };
      return change(state, { levelMapper }, command.by, () => added);
    }
    default:
      return unreachable(command);
  }
}

function change(
  state: Owner,
  change: ConfigChange,
  by: AccountId,
  reply: (config: OwnerConfig) => unknown,
): Decision<OwnerEvent> {
  const version = state.config.version + 1;
  const config: OwnerConfig = { ...state.config, ...change, version };
  return {
    reply: reply(config),
    events: [{ type: "configured", version, change, by }],
    publish: [{ topic: ownerTopic(state.id), body: config }],
    save: true,
  };
}
