// Reports to the Levels how their keys perform. Requests do not wait for it: a lost report costs at most a
// wrong choice of key, never money.
//
// A Level judges attempts in the order in which they ended, so every report carries the time of the end, and
// a failure report includes the key's last success that the Level may not know of. Failures are sent at once.
// Successes matter only for keys in trouble:
//
//   waking, or failed recently    sent at once; batched while a report to the Level is in flight
//   slept within the last hour    batched every 250 ms

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Success } from "../../../actors/level/state.ts";
import { healthOf, type LevelKey, type LevelView } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { FAILURE_RULES, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { Attempted } from "../context.ts";
import type { KeyChooser } from "./key-chooser.ts";

/** Sends the reports of this node. */
export interface LevelReporter {
  /** Reports a failure. Resolves when the Level has processed it or the report was lost. Never rejects. */
  failed(attempt: Attempted, signal: UpstreamFailure): Promise<void>;
  /** Reports a success, if the key is in trouble. */
  succeeded(attempt: Attempted): void;
  /** Asks whether this node may probe the waking key. Returns false when the Level cannot be reached. */
  probe(owner: AccountId, key: LevelKey): Promise<boolean>;
}

const FLUSH_MS = 250;
/**
 * After a failure, successes of the key are reported for this long (ms), because the Level's new view may not
 * have arrived.
 */
const DOUBT_MS = 1_000;
/** The number of suspect keys, and of keys with unsent successes. Beyond it, further ones are dropped. */
const KEPT_MAX = 10_000;
/** Milliseconds between two ends in the same millisecond, which keeps them distinct. */
const TICK_MS = 1 / 1_024;
/**
 * After a failure that puts a key to sleep or to rest at once, this node avoids it for at most this long
 * (ms).
 */
const SHUN_MS_MAX = 1_000;

/** The successes to be reported to one Level. */
interface Outbox {
  readonly owner: AccountId;
  readonly level: number;
  /** The newest success of each key. */
  waiting: Map<ProviderKeyId, Success>;
  /** Those that are sent and not confirmed; null when no report is in flight. */
  sent: ReadonlyMap<ProviderKeyId, Success> | null;
  /** A timer for the next report runs. */
  isDue: boolean;
}

/** Creates the reporter of this node. */
export function createLevelReporter(parts: {
  system: ActorSystem<Protocol>;
  clock: Clock;
  log: Log;
  chooser: KeyChooser;
  /** Returns the cached view of a Level, or undefined when it is not cached. */
  level(owner: AccountId, level: number): LevelView | undefined;
  /** Consecutive failures after which a key sleeps. */
  keyFailures: number;
}): LevelReporter {
  const { system, clock, log, chooser, keyFailures } = parts;
  const doubted = new Map<ProviderKeyId, number>();
  const outboxes = new Map<string, Outbox>();
  let lastEnd = 0;

  const untold = (what: string) => (error: unknown) =>
    log("warn", "report_failed", { what, error: String(error) });

  function doubt(key: ProviderKeyId, until: number): void {
    if (doubted.size >= KEPT_MAX) doubted.delete(doubted.keys().next().value!);
    doubted.set(key, until);
  }

  /** Returns the newest view of the key's Level: it may have changed while the attempt ran. */
  const known = (owner: AccountId, key: LevelKey, before: LevelView): LevelView =>
    parts.level(owner, key.level) ?? before;

  /** Returns an end time (wall-clock ms) that is later than all earlier ones of this node. */
  function endNow(): number {
    lastEnd = Math.max(clock.wall(), lastEnd - clock.wall() < 1 ? lastEnd + TICK_MS : 0);
    return lastEnd;
  }

  function inTrouble(key: ProviderKeyId, view: LevelView): "waking" | "failing" | "recovering" | null {
    const health = healthOf(view)?.get(key);
    if (health?.waking) return "waking";
    if (health !== undefined && health.failures > 0) return "failing";
    if (isDoubted(key)) return "failing";
    return health !== undefined && health.sleepTimes > 0 ? "recovering" : null;
  }

  function isDoubted(key: ProviderKeyId): boolean {
    if (doubted.size === 0) return false;
    const until = doubted.get(key);
    if (until === undefined) return false;
    if (until > clock.mono()) return true;
    doubted.delete(key);
    return false;
  }

  /** Sends what is waiting, unless a report is in flight; then it is sent after the confirmation. */
  function flush(name: string, outbox: Outbox): void {
    if (outbox.sent !== null) return;
    if (outbox.waiting.size === 0) {
      if (!outbox.isDue) outboxes.delete(name);
      return;
    }
    const sent = outbox.waiting;
    outbox.sent = sent;
    outbox.waiting = new Map();
    system
      .ask(actorRef.level(outbox.owner, outbox.level), "succeeded", { keys: [...sent.values()] })
      .catch(untold("succeeded"))
      .finally(() => {
        outbox.sent = null;
        flush(name, outbox);
      });
  }

  function flushLater(name: string, outbox: Outbox): void {
    if (outbox.isDue) return;
    outbox.isDue = true;
    clock.after(FLUSH_MS, () => {
      outbox.isDue = false;
      flush(name, outbox);
    });
  }

  /** Takes the key's last success out of the outbox, if its Level may not know of it. */
  function untoldAnswer({ key, view }: Attempted): { readonly answered?: Success } {
    const outbox = outboxes.get(view.id);
    const answered = outbox?.waiting.get(key.id) ?? outbox?.sent?.get(key.id);
    outbox?.waiting.delete(key.id);
    return answered === undefined ? {} : { answered };
  }

  return {
    async failed(attempted, signal) {
      const { owner, key, view, model, startedAt } = attempted;
      const what = FAILURE_RULES[signal.name].key;
      if (what === "none") {
        if (inTrouble(key.id, view) !== "waking") return;
        await system
          .ask(actorRef.level(owner, key.level), "releaseProbe", { key: key.id, startedAt })
          .catch(untold("releaseProbe"));
        return;
      }
      const now = clock.wall();
      const endedAt = endNow();
      const { retryAfterMs = null } = signal;
      doubt(key.id, clock.mono() + DOUBT_MS);
      if (what === "long" || what === "rest") {
        const { version } = known(owner, key, view);
        chooser.avoidUntil(key.id, version, now + Math.min(retryAfterMs ?? SHUN_MS_MAX, SHUN_MS_MAX));
      }
      await system
        .ask(actorRef.level(owner, key.level), "failed", {
          key: key.id,
          model,
          startedAt,
          endedAt,
          ...untoldAnswer(attempted),
          what,
          retryAfterMs,
          reason: signal.name,
          limit: keyFailures,
        })
        .catch(untold("failed"));
    },

    succeeded({ owner, key, view, startedAt }) {
      const trouble = inTrouble(key.id, known(owner, key, view));
      if (trouble === null) return;
      const name = view.id;
      const outbox = outboxes.get(name) ?? {
        ...{ owner, level: key.level, waiting: new Map(), sent: null, isDue: false },
      };
      outboxes.set(name, outbox);
      if (outbox.waiting.size >= KEPT_MAX) return;
      outbox.waiting.set(key.id, { key: key.id, startedAt, endedAt: endNow() });
      // The success is now reported, so the view shows the key's health until it fails again.
      doubted.delete(key.id);
      if (trouble === "recovering") flushLater(name, outbox);
      else flush(name, outbox);
    },

    async probe(owner, key) {
      try {
        return (await system.ask(actorRef.level(owner, key.level), "probe", { key: key.id })).granted;
      } catch (error) {
        untold("probe")(error);
        return false;
      }
    },
  };
}
