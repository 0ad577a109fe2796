// One Level driven by hand on simulated time: commands are decided and their events folded at once, as the runtime would
// do it. Times are seconds after NOON, so that a row of a table reads as a story.

import type { ProviderKeyId } from "../../actors/ids.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { Failure } from "../../actors/level/failure.ts";
import { type LevelCommand, level } from "../../actors/level/level.ts";
import type { Level, LevelEvent } from "../../actors/level/state.ts";
import { type KeyHealth, type LevelChanged, type LevelView, usability } from "../../actors/level/view.ts";
import type { Decision } from "../../src/runtime/actor.ts";

export const NOON = Date.UTC(2026, 0, 15, 12);
export const MINUTE = 60;
export const HOUR = 3_600;

export const keyId = (id: number): ProviderKeyId => id as ProviderKeyId;

export const keyOf = (id: number, over: Partial<ProviderKey> = {}): ProviderKey => ({
  id: keyId(id),
  name: `key ${id}`,
  level: 4,
  provider: "https://api.example.com/v1",
  secret: { keyId: "k", box: `sealed ${id}` },
  mask: `sk-…abc${id}`,
  status: true,
  config: { Weight: 1 },
  createdAt: 0,
  updatedAt: 0,
  ...over,
});

/** What a failure may leave unsaid. `started`: seconds after NOON; by default the attempt began when it failed. */
export interface FailureGiven extends Partial<Omit<Failure, "key" | "startedAt">> {
  readonly key?: number;
  readonly started?: number;
}

export function living(...keys: ProviderKey[]) {
  let asked = 0;
  const one = {
    state: level.empty("2.4") as Level,
    /** Seconds after NOON. */
    at: 0,
    events: [] as { at: number; e: LevelEvent }[],
    published: [] as LevelChanged[],
    now: (): number => NOON + one.at * 1_000,
    ask(command: LevelCommand, id = `command ${++asked}`): Decision<LevelEvent> {
      const now = one.now();
      const decision = level.decide(one.state, command, { id, from: "", now, epoch: 1, done: false });
      for (const e of decision.events ?? []) {
        level.evolve(one.state, e, now);
        one.events.push({ at: now, e });
      }
      for (const { body } of decision.publish ?? []) one.published.push(body as LevelChanged);
      return decision;
    },
    members: (version: number, ...members: ProviderKey[]): Decision<LevelEvent> =>
      one.ask({ type: "members", version, keys: members }),
    fail({ key = 1, started, ...over }: FailureGiven = {}): Decision<LevelEvent> {
      const startedAt = NOON + (started ?? one.at) * 1_000;
      const plain = {
        model: "m",
        what: "fail",
        retryAfterMs: null,
        reason: "server_error",
        limit: 3,
      } as const;
      return one.ask({ type: "failed", key: keyId(key), startedAt, ...plain, ...over });
    },
    succeed(started?: number, ended?: number, key = 1): Decision<LevelEvent> {
      const [startedAt, endedAt] = [NOON + (started ?? one.at) * 1_000, NOON + (ended ?? one.at) * 1_000];
      return one.ask({ type: "succeeded", keys: [{ key: keyId(key), startedAt, endedAt }] });
    },
    probe: (key = 1, id?: string): boolean =>
      (one.ask({ type: "probe", key: keyId(key) }, id).reply as { granted: boolean }).granted,
    wake: (...wanted: number[]): unknown =>
      one.ask({ type: "wake", keys: wanted.length === 0 ? null : wanted.map(keyId) }).reply,
    view: (): LevelView => one.ask({ type: "view" }).reply as LevelView,
    health: (key = 1): KeyHealth | undefined => one.view().health.find((row) => row.key === key),
    /** What the key may do now, and for how many seconds more it may not. */
    is(key = 1, model = "m"): string {
      const view = one.view();
      const found = usability(
        view.keys.find(({ id }) => id === key)!,
        view.health.find((row) => row.key === key),
        model,
        one.now(),
      );
      return "until" in found ? `${found.state} ${(found.until - one.now()) / 1_000}` : found.state;
    },
    switchedFor: (): number => Math.max(0, one.view().switchedUntil - one.now()) / 1_000,
    /** Falls asleep by three failures in a row, one a second, and goes on to the moment it wakes. */
    sleepOut(key = 1): void {
      for (let i = 0; i < 3; i++) {
        one.at++;
        one.fail({ key });
      }
      one.untilAwake(key);
    },
    untilAwake(key = 1): void {
      one.at = (one.health(key)!.sleepsUntil - NOON) / 1_000;
    },
    restart(): void {
      one.state = level.thaw("2.4", JSON.parse(JSON.stringify(level.freeze(one.state))));
    },
  };
  one.members(1, ...(keys.length === 0 ? [keyOf(1), keyOf(2)] : keys));
  return one;
}

export type Living = ReturnType<typeof living>;

/** Three failures in a row at seconds 1, 2, 3. */
export function threeFailures(one: Living): void {
  for (one.at = 1; one.at <= 3; one.at++) one.fail();
  one.at = 3;
}
