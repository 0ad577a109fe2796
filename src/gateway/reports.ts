// What this node tells the Levels of how their keys fared. Failures go at once; successes matter only to keys in trouble
// and go together every 250 ms, a waking key's at once. Nobody waits for either: a lost report costs at most a wrong
// guess, never money.

import type { AccountId, KeyId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import { healthOf, type LevelKey, type LevelView } from "../../actors/level/view.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { ActorSystem } from "../runtime/system.ts";
import { SIGNALS, type Signal } from "../upstream/signal.ts";
import type { KeyChooser } from "./keys.ts";

export interface Attempted {
  readonly owner: AccountId;
  readonly key: LevelKey;
  /** The key's Level as this node knew it when the attempt began. */
  readonly view: LevelView;
  readonly model: string;
  /** Wall ms at which the attempt began. */
  readonly startedAt: number;
}

export interface Reports {
  /** Resolves when the Level has heard of it, or could not be told: for who wants to know what became of the key. */
  failed(attempt: Attempted, signal: Signal): Promise<void>;
  succeeded(attempt: Attempted): void;
  /** May this node send the waking key its probe? Answers no when the Level cannot be asked. */
  probe(owner: AccountId, key: LevelKey): Promise<boolean>;
}

const FLUSH_MS = 250;
/** A key that failed here stays in doubt so long, in case the view that says so is still under way. */
const DOUBT_MS = 1_000;
/** Keys in doubt or with successes to tell; beyond, further ones are forgotten. */
const KEPT_MOST = 10_000;
/** Signals that put a key to sleep or to rest whatever was before: nobody here should use it meanwhile. */
const SHUN_MOST_MS = 1_000;

interface Success {
  readonly key: KeyId;
  readonly startedAt: number;
  readonly endedAt: number;
}

export function createReports(parts: {
  system: ActorSystem<Protocol>;
  clock: Clock;
  log: Log;
  chooser: KeyChooser;
  /** A Level as this node knows it now; undefined: it has not been asked for of late. */
  level(owner: AccountId, level: number): LevelView | undefined;
  /** Failures in a row after which a key sleeps. */
  keyFailures: number;
}): Reports {
  const { system, clock, log, chooser, keyFailures } = parts;
  const doubted = new Map<KeyId, number>();
  const successes = new Map<string, { owner: AccountId; level: number; keys: Map<KeyId, Success> }>();
  let flushing = false;

  const untold = (what: string) => (error: unknown) =>
    log("warn", "report_failed", { what, error: String(error) });

  function doubt(key: KeyId, until: number): void {
    if (doubted.size >= KEPT_MOST) doubted.delete(doubted.keys().next().value!);
    doubted.set(key, until);
  }

  /** What is known of the key's Level by now: while an attempt was under way, others may have changed it. */
  const known = (owner: AccountId, key: LevelKey, before: LevelView): LevelView =>
    parts.level(owner, key.level) ?? before;

  function inTrouble(key: KeyId, view: LevelView): "waking" | "failing" | null {
    const health = healthOf(view)?.get(key);
    if (health?.waking) return "waking";
    if (health !== undefined && (health.failures > 0 || health.sleepTimes > 0)) return "failing";
    if (doubted.size === 0) return null;
    const until = doubted.get(key);
    if (until === undefined) return null;
    if (until > clock.mono()) return "failing";
    doubted.delete(key);
    return null;
  }

  function flush(): void {
    flushing = false;
    for (const { owner, level, keys } of successes.values()) {
      system
        .ask(to.level(owner, level), "succeeded", { keys: [...keys.values()] })
        .catch(untold("succeeded"));
    }
    successes.clear();
  }

  return {
    async failed({ owner, key, view, model, startedAt }, signal) {
      const what = SIGNALS[signal.name].key;
      if (what === "none") {
        if (inTrouble(key.id, view) !== "waking") return;
        await system
          .ask(to.level(owner, key.level), "releaseProbe", { key: key.id, startedAt })
          .catch(untold("releaseProbe"));
        return;
      }
      const now = clock.wall();
      const { retryAfterMs = null } = signal;
      doubt(key.id, clock.mono() + DOUBT_MS);
      if (what === "long" || what === "rest") {
        const { version } = known(owner, key, view);
        chooser.shun(key.id, version, now + Math.min(retryAfterMs ?? SHUN_MOST_MS, SHUN_MOST_MS));
      }
      await system
        .ask(to.level(owner, key.level), "failed", {
          key: key.id,
          model,
          startedAt,
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
      let level = successes.get(view.id);
      if (level === undefined) {
        level = { owner, level: key.level, keys: new Map() };
        successes.set(view.id, level);
      }
      if (level.keys.size >= KEPT_MOST) return;
      level.keys.set(key.id, { key: key.id, startedAt, endedAt: clock.wall() });
      if (trouble === "waking") flush();
      else if (!flushing) {
        flushing = true;
        clock.after(FLUSH_MS, flush);
      }
    },

    async probe(owner, key) {
      try {
        return (await system.ask(to.level(owner, key.level), "probe", { key: key.id })).granted;
      } catch (error) {
        untold("probe")(error);
        return false;
      }
    },
  };
}
