// The actor of an Owner's configuration: mappers, failover, limits, prices, mail. Every change makes a new
// version that is valid as a whole. After the commit the new version is published, and nodes route by their
// copies of it.

import { assert, unreachable } from "../../src/base/errors.ts";
import type { Behavior, CommandOf, Decision, NoInput, Publication, Turn } from "../../src/runtime/actor.ts";
import { type AccountId, ROOT } from "../ids.ts";
import { type ConfigChange, type Configuring, DEFAULT_CONFIG, type OwnerConfig } from "./config.ts";
import { applyConfiguration } from "./configure.ts";
import { type ConfigRow, changesBetween, rowId } from "./history.ts";
import { faultOfMap } from "./map-parsers.ts";

export type { ConfigChange, MailConfig, OwnerConfig } from "./config.ts";

/** Code of the refusal of a change that was made from an older version. */
export const STALE_CONFIG = "stale_config";

/** Maps each command type to its input and output. */
export interface OwnerCommands {
  readonly read: { readonly input: NoInput; readonly output: OwnerConfig };
  /**
   * Makes one version of all its changes, or none. Refuses invalid_parameter if a map would be too large, and
   * STALE_CONFIG if `version` is given and is not the newest. Edits need no version, since they merge into
   * the current maps. Replies with the version alone, because replies are kept for a while and configurations
   * are large.
   */
  readonly configure: {
    readonly input: Configuring & { readonly by: AccountId; readonly version?: number };
    readonly output: { readonly version: number };
  };
  /** Adds LevelMapper entries for patterns that have none, if the map has room; returns the added entries. */
  readonly completeLevels: {
    readonly input: { readonly patterns: readonly string[]; readonly level: number; readonly by: AccountId };
    readonly output: Readonly<Record<string, number>>;
  };
}

export type OwnerCommand = CommandOf<OwnerCommands>;

/** A new version of the configuration. */
export interface OwnerEvent {
  readonly type: "configured";
  readonly version: number;
  /** The resulting values of the changed settings; replay merges nothing. */
  readonly change: ConfigChange;
  readonly by: AccountId;
}

interface Owner {
  readonly id: string;
  config: OwnerConfig;
  /** History rows that are not written yet, by their document id. */
  readonly rows: Map<string, ConfigRow>;
}

/** Bus topic of an Owner's new configurations. */
export const ownerTopic = (id: AccountId | string): string => `owner.${id}`;

/** The actor kind `owner`. */
export const owner: Behavior<Owner, OwnerCommand, OwnerEvent, never> = {
  kind: "owner",
  // Version 2 snapshots have no history; replaying the ledger writes it. Version 3 snapshots have no `levelAffinity`.
  version: 4,
  empty: (id) => ({ id, config: DEFAULT_CONFIG, rows: new Map() }),
  decide,
  evolve(state, { version, change, by }, at) {
    const before = state.config;
    assert(version === before.version + 1, `owner ${state.id}: version ${version} skips`);
    state.config = { ...before, ...change, version };
    const row = { owner: Number(state.id), version, at, by, changes: changesBetween(before, state.config) };
    state.rows.set(rowId(row), row);
  },
  pendingEffects: () => [],
  materialize(state) {
    const rows = [...state.rows].map(([id, row]) => ({ table: "configs", id, body: { ...row } }) as const);
    state.rows.clear();
    return rows;
  },
  // No copy is needed, since a configuration never changes in place, and copying a large one takes
  // milliseconds.
  freeze: (state) => state.config,
  thaw: (id, frozen) => ({ id, config: frozen as OwnerConfig, rows: new Map() }),
  isLine: () => false,
  dedupIds: () => [],
  dedupIdOf: () => undefined,
  reliesOnHolds: () => false,
  idle: () => true,
};

function decide(state: Owner, command: OwnerCommand, _turn: Turn): Decision<OwnerEvent> {
  switch (command.type) {
    case "read":
      return { reply: state.config };
    case "configure":
      return configure(state, command);
    case "completeLevels":
      return completeLevels(state, command);
    default:
      return unreachable(command);
  }
}

function configure(
  state: Owner,
  { by, version: from, ...step }: OwnerCommands["configure"]["input"],
): Decision<OwnerEvent> {
  if (from !== undefined && from !== state.config.version) {
    const message = "The configuration has been changed meanwhile: read it again.";
    return { refused: { code: STALE_CONFIG, message } };
  }
  const version = state.config.version + 1;
  const change = applyConfiguration(state.config, step, { version, isRoot: state.id === String(ROOT) });
  if (!change.ok) return { refused: { code: "invalid_parameter", message: change.message } };
  return changed(state, change.value, by, { version });
}

function completeLevels(
  state: Owner,
  { patterns, level, by }: OwnerCommands["completeLevels"]["input"],
): Decision<OwnerEvent> {
  const mapped = state.config.levelMapper;
  const missing = patterns.filter((pattern) => !Object.hasOwn(mapped, pattern));
  const added = Object.fromEntries(missing.map((pattern) => [pattern, level]));
  const levelMapper = { ...mapped, ...added };
  if (missing.length === 0 || faultOfMap(levelMapper) !== null) return { reply: {} };
  return changed(state, { levelMapper }, by, added);
}

function changed(state: Owner, change: ConfigChange, by: AccountId, reply: unknown): Decision<OwnerEvent> {
  const version = state.config.version + 1;
  const config: OwnerConfig = { ...state.config, ...change, version };
  const published: Publication<OwnerConfig> = { topic: ownerTopic(state.id), body: config };
  const event: OwnerEvent = { type: "configured", version, change, by };
  return { reply, events: [event], publish: [published], save: true };
}
