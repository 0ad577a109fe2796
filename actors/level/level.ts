// The actor of one Level of one Owner: its keys and their health. It is authoritative; nodes choose keys by
// the versioned view that it publishes, so that no request has to ask it. It must not call a provider or
// choose a key.

import { unreachable } from "../../src/base/errors.ts";
import type { Behavior, CommandOf, Decision, NoInput, Publication, Turn } from "../../src/runtime/actor.ts";
import type { ProviderKeyId } from "../ids.ts";
import type { ProviderKey } from "../key-pool/key-pool.ts";
import { MINUTE_MS } from "../time.ts";
import { evolveLevel } from "./evolve.ts";
import { type Failure, failureEvents } from "./failure.ts";
import { afterSuccess, HEALTHY, isUnavailable, visibleHealth } from "./health.ts";
import { addRows, happenings, levelRowId } from "./history.ts";
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

/** Maps each command type to its input and output. Times are wall-clock ms. */
export interface LevelCommands {
  readonly view: { readonly input: NoInput; readonly output: LevelView };
  /** The key pool sends the keys that this Level has now. */
  readonly members: {
    readonly input: { readonly version: number; readonly keys: readonly ProviderKey[] };
    readonly output: object;
  };
  /**
   * An attempt failed because of its key or provider. `answered` is the key's last success before it, whose
   * own report may not have arrived.
   */
  readonly failed: {
    readonly input: Failure & { readonly answered?: Success };
    readonly output: object;
  };
  /** Successful attempts. They change something only for keys that are not entirely healthy. */
  readonly succeeded: { readonly input: { readonly keys: readonly Success[] }; readonly output: object };
  /**
   * Asks for the grant to probe a waking key. The grant ends with the outcome of the probe, or after
   * PROBE_MS.
   */
  readonly probe: {
    readonly input: { readonly key: ProviderKeyId };
    readonly output: { readonly granted: boolean };
  };
  /**
   * The probe ended without a result for its key: the client aborted, or the provider refused the content.
   */
  readonly releaseProbe: {
    readonly input: { readonly key: ProviderKeyId; readonly startedAt: number };
    readonly output: object;
  };
  /** Resets the health of these keys by hand; null means all keys. Returns those that slept or rested. */
  readonly wake: {
    readonly input: { readonly keys: readonly ProviderKeyId[] | null };
    readonly output: { readonly woken: readonly ProviderKeyId[] };
  };
}

export type LevelCommand = CommandOf<LevelCommands>;

const PROBE_MS = 10 * MINUTE_MS;
/**
 * Milliseconds by which a reporting node's clock may be ahead or behind: later ends of attempts are cut to this, and an
 * attempt that seems to have begun so much before its grant may be the probe.
 */
const CLOCKS_APART_MS_MAX = 2_000;

/** The actor kind `level`. */
export const level: Behavior<Level, LevelCommand, LevelEvent, never> = {
  kind: "level",
  version: 4,
  empty: (id) => createLevel(id),
  decide,
  evolve(state, event, at) {
    const after = evolveLevel(state.fold, event, at);
    const found = happenings(state.fold, event, after, at);
    state.fold = found.length === 0 ? after : { ...after, rows: after.rows + found.length };
    if (found.length > 0) addRows(state, found, at);
  },
  pendingEffects: () => [],
  materialize: ({ id, volatile }) =>
    volatile.unwrittenRows
      .splice(0)
      .map((row) => ({ table: "levelEvents", id: levelRowId(id, row.number), body: row })),
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

/** Returns the event for the successes that change a key's health; empty if none does. */
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

/** Applies the success before the failure, then the failure. */
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

/**
 * Grants one probe per key at a time; a repeat of the command keeps its grant. A lost grant ends before the
 * shortest sleep that can follow a failed probe does.
 */
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
  if (running !== undefined && startedAt >= running.at - CLOCKS_APART_MS_MAX) volatile.probes.delete(key);
}

/** Returns the events with the publication of the Level's view after them. */
function decided(
  { id, fold }: Level,
  events: readonly LevelEvent[],
  now: number,
  reply: object,
): Decision<LevelEvent> {
  if (events.length === 0) return { reply };
  const next = events.reduce((before, event) => evolveLevel(before, event, now), fold);
  const body = next.keys === fold.keys ? newsOf(id, next, now) : viewOf(id, next, now);
  const published: Publication<LevelChanged> = { topic: `level.${id}`, body };
  return { reply, events, publish: [published] };
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
