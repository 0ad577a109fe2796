// One Level of one Owner: which keys stand in it and how they fare. It has the last word; front ends choose from the
// versioned view that it publishes, so that no request has to ask. It never calls a provider and never chooses a key.

import { unreachable } from "../../src/base/errors.ts";
import type { Behavior, CommandOf, Decision, Turn } from "../../src/runtime/actor.ts";
import type { ProviderKeyId } from "../ids.ts";
import type { ProviderKey } from "../key-pool/key-pool.ts";
import { MINUTE_MS } from "../time.ts";
import { evolveLevel } from "./evolve.ts";
import { type Failure, failureEvents } from "./failure.ts";
import { afterSuccess, HEALTHY, isUnavailable, visibleHealth } from "./health.ts";
import {
  createLevel,
  freezeLevel,
  type Level,
  type LevelEvent,
  type LevelFold,
  type Success,
  thawLevel,
} from "./state.ts";
import type { LevelChanged, LevelKey, LevelView } from "./view.ts";

export interface LevelCommands {
  [command: string]: { readonly input: object; readonly output: unknown };
  readonly view: { readonly input: object; readonly output: LevelView };
  /** From the key pool: the keys that stand in this Level now. */
  readonly members: {
    readonly input: { readonly version: number; readonly keys: readonly ProviderKey[] };
    readonly output: object;
  };
  /** An attempt failed by its key's or its provider's fault. `answered`: the key's last answer before, of which word may not have come. */
  readonly failed: {
    readonly input: Failure & { readonly answered?: Success };
    readonly output: object;
  };
  /** Attempts that were answered; only those of keys that are not simply well can change something. */
  readonly succeeded: { readonly input: { readonly keys: readonly Success[] }; readonly output: object };
  /** May this request be the one that tries a waking key? The grant ends with its outcome, or after ten minutes. */
  readonly probe: {
    readonly input: { readonly key: ProviderKeyId };
    readonly output: { readonly granted: boolean };
  };
  /** The probe ended without a word about its key: its client left, or its content was refused. */
  readonly releaseProbe: {
    readonly input: { readonly key: ProviderKeyId; readonly startedAt: number };
    readonly output: object;
  };
  /** By hand; null: all of them. Answers those that were asleep or resting. */
  readonly wake: {
    readonly input: { readonly keys: readonly ProviderKeyId[] | null };
    readonly output: { readonly woken: readonly ProviderKeyId[] };
  };
}

type Known = { [K in keyof LevelCommands as string extends K ? never : K]: LevelCommands[K] };
export type LevelCommand = CommandOf<Known>;

const PROBE_MS = 10 * MINUTE_MS;
/** So far the clock of a node that reports may be ahead of this one's: an end further in the future is not believed. */
const CLOCKS_APART_MS_MAX = 2_000;

export const level: Behavior<Level, LevelCommand, LevelEvent> = {
  kind: "level",
  version: 3,
  empty: (id) => createLevel(id),
  decide,
  evolve(state, event, at) {
    state.fold = evolveLevel(state.fold, event, at);
  },
  pendingEffects: () => [],
  materialize: () => [],
  freeze: freezeLevel,
  thaw: thawLevel,
  isLine: () => false,
  dedupIds: () => [],
  dedupIdOf: () => undefined,
  reliesOnHolds: () => false,
  idle: () => true,
};

function decide(state: Level, command: LevelCommand, turn: Turn): Decision<LevelEvent> {
  const { fold } = state;
  const { now } = turn;
  switch (command.type) {
    case "view":
      return { reply: viewOf(state.id, fold, now) };
    case "members":
      return members(state, command, now);
    case "failed":
      endProbe(state, command);
      return failed(state, command, now);
    case "succeeded":
      return decided(state, recoveries(state, command.keys, now), now, {});
    case "probe":
      return { reply: { granted: isGranted(state, command.key, turn) }, ungated: true };
    case "releaseProbe":
      endProbe(state, command);
      return { reply: {}, ungated: true };
    case "wake":
      return wake(state, command.keys, now);
    default:
      return unreachable(command);
  }
}

function members(
  state: Level,
  { version, keys }: { readonly version: number; readonly keys: readonly ProviderKey[] },
  now: number,
): Decision<LevelEvent> {
  if (version <= state.fold.members) return { reply: {} };
  for (const key of state.volatile.probes.keys()) {
    if (!keys.some(({ id }) => id === key)) state.volatile.probes.delete(key);
  }
  for (const key of state.volatile.answeredUntil.keys()) {
    if (!keys.some(({ id }) => id === key)) state.volatile.answeredUntil.delete(key);
  }
  const masks = keys.map(({ id, mask }) => [id, mask] as const);
  const event: LevelEvent = { type: "members_changed", version, keys: keys.map(forGateway), masks };
  return { ...decided(state, [event], now, {}), save: true };
}

/** Attempts that were answered, as far as that changes something. */
function recoveries(state: Level, successes: readonly Success[], now: number): LevelEvent[] {
  const { fold, volatile } = state;
  const keys: Success[] = [];
  for (const given of successes) {
    endProbe(state, given);
    const success = { ...given, endedAt: Math.min(given.endedAt, now + CLOCKS_APART_MS_MAX) };
    if (!fold.keys.some(({ id }) => id === success.key)) continue;
    const { answeredUntil } = volatile;
    answeredUntil.set(success.key, Math.max(answeredUntil.get(success.key) ?? 0, success.endedAt));
    const health = fold.health.get(success.key);
    if (health !== undefined && afterSuccess(health, success) !== health) keys.push(success);
  }
  return keys.length === 0 ? [] : [{ type: "recovered", keys }];
}

/** The answer before it, and then the failure. */
function failed(
  state: Level,
  { answered: before, ...given }: Failure & { readonly answered?: Success },
  now: number,
): Decision<LevelEvent> {
  const { fold, volatile } = state;
  if (!fold.keys.some(({ id }) => id === given.key)) return { reply: {} };
  const { endedAt } = given;
  const failure =
    endedAt === undefined ? given : { ...given, endedAt: Math.min(endedAt, now + CLOCKS_APART_MS_MAX) };
  const cleared = before === undefined ? [] : recoveries(state, [before], now);
  const since = cleared.reduce((known, event) => evolveLevel(known, event, now), fold);
  const health = since.health.get(failure.key) ?? HEALTHY;
  const answeredUntil = volatile.answeredUntil.get(failure.key) ?? 0;
  const events = failureEvents(since, health, failure, { now, answeredUntil });
  return decided(state, [...cleared, ...events], now, {});
}

function wake(state: Level, named: readonly ProviderKeyId[] | null, now: number): Decision<LevelEvent> {
  const wanted = named === null ? null : new Set(named);
  const found = [...state.fold.health].filter(
    ([key, health]) => wanted?.has(key) !== false && visibleHealth(key, health, now) !== null,
  );
  const keys = found.map(([key]) => key);
  const woken = found.filter(([, health]) => isUnavailable(health, now)).map(([key]) => key);
  return decided(state, keys.length === 0 ? [] : [{ type: "woken", keys }], now, { woken });
}

/** One at a time. A grant that is forgotten ends before the shortest sleep after a waking does. */
function isGranted(state: Level, key: ProviderKeyId, { id, now }: Turn): boolean {
  const { probes } = state.volatile;
  const health = state.fold.health.get(key);
  if (health === undefined || !health.waking || health.sleepsUntil > now) return false;
  const running = probes.get(key);
  if (running !== undefined && now - running.at < PROBE_MS) {
    return running.grant === id;
  }
  probes.set(key, { grant: id, at: now });
  return true;
}

function endProbe({ volatile }: Level, { key, startedAt }: { key: ProviderKeyId; startedAt: number }): void {
  const running = volatile.probes.get(key);
  if (running !== undefined && startedAt >= running.at) volatile.probes.delete(key);
}

/** The events, and the news of what they will have made of the Level. */
function decided(
  { id, fold }: Level,
  events: readonly LevelEvent[],
  now: number,
  reply: object,
): Decision<LevelEvent> {
  if (events.length === 0) return { reply };
  const next = events.reduce((before, event) => evolveLevel(before, event, now), fold);
  const body = next.keys === fold.keys ? newsOf(id, next, now) : viewOf(id, next, now);
  return { reply, events, publish: [{ topic: `level.${id}`, body }] };
}

const viewOf = (id: string, fold: LevelFold, now: number): LevelView => ({
  ...newsOf(id, fold, now),
  keys: fold.keys,
});

const newsOf = (id: string, fold: LevelFold, now: number): Exclude<LevelChanged, LevelView> => ({
  id,
  version: fold.version,
  members: fold.members,
  health: [...fold.health].flatMap(([key, health]) => visibleHealth(key, health, now) ?? []),
  switchedUntil: fold.switchedUntil > now ? fold.switchedUntil : 0,
});

const forGateway = (key: ProviderKey): LevelKey => ({
  id: key.id,
  level: key.level,
  provider: key.provider,
  secret: key.secret,
  ...(key.privateKey ? { privateKey: key.privateKey.secret } : {}),
  config: key.config,
  state: key.status ? "normal" : "disabled",
});
