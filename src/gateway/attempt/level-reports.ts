// What this node tells the Levels of how their keys fared. Nobody waits for it: a lost report costs at most a wrong guess,
// never money.
//
// The Level judges the attempts in the order in which they ended, so every report says when that was, and a failure takes along
// the key's last answer that its Level may not know of. Failures go at once. Answers matter only to keys in trouble:
//
//   waking, or failed of late     at once; while one report to the Level is under way, further ones gather behind it
//   slept within the last hour    together, every 250 ms

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Success } from "../../../actors/level/state.ts";
import { healthOf, type LevelKey, type LevelView } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { FAILURE_RULES, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { KeyChooser } from "./key-chooser.ts";

export interface Attempted {
  readonly owner: AccountId;
  readonly key: LevelKey;
  /** The key's Level as this node knew it when the attempt began. */
  readonly view: LevelView;
  readonly model: string;
  /** Wall ms at which the attempt began. */
  readonly startedAt: number;
}

export interface LevelReporter {
  /** Resolves when the Level has heard of it, or could not be told: for who wants to know what became of the key. */
  failed(attempt: Attempted, signal: UpstreamFailure): Promise<void>;
  succeeded(attempt: Attempted): void;
  /** May this node send the waking key its probe? Answers no when the Level cannot be asked. */
  probe(owner: AccountId, key: LevelKey): Promise<boolean>;
}

const FLUSH_MS = 250;
/** A key that failed here stays in doubt so long, in case the view that says so is still under way. */
const DOUBT_MS = 1_000;
/** Keys in doubt or with successes to tell; beyond, further ones are forgotten. */
const KEPT_MOST = 10_000;
/** What tells two ends within one millisecond apart. */
const TICK_MS = 1 / 1_024;
/** Signals that put a key to sleep or to rest whatever was before: nobody here should use it meanwhile. */
const SHUN_MOST_MS = 1_000;

/** The answers that one Level is to be told. */
interface Outbox {
  readonly owner: AccountId;
  readonly level: number;
  /** The newest of each key. */
  waiting: Map<ProviderKeyId, Success>;
  /** Those that the Level has not confirmed; null: no report is under way. */
  sent: ReadonlyMap<ProviderKeyId, Success> | null;
  /** A report waits for its time. */
  isDue: boolean;
}

export function createLevelReporter(parts: {
  system: ActorSystem<Protocol>;
  clock: Clock;
  log: Log;
  chooser: KeyChooser;
  /** A Level as this node knows it now; undefined: it has not been asked for of late. */
  level(owner: AccountId, level: number): LevelView | undefined;
  /** Failures in a row after which a key sleeps. */
  keyFailures: number;
}): LevelReporter {
  const { system, clock, log, chooser, keyFailures } = parts;
  const doubted = new Map<ProviderKeyId, number>();
  const outboxes = new Map<string, Outbox>();
  let lastEnd = 0;

  const untold = (what: string) => (error: unknown) =>
    log("warn", "report_failed", { what, error: String(error) });

  function doubt(key: ProviderKeyId, until: number): void {
    if (doubted.size >= KEPT_MOST) doubted.delete(doubted.keys().next().value!);
    doubted.set(key, until);
  }

  /** What is known of the key's Level by now: while an attempt was under way, others may have changed it. */
  const known = (owner: AccountId, key: LevelKey, before: LevelView): LevelView =>
    parts.level(owner, key.level) ?? before;

  /** Later than that of every attempt that ended before on this node. */
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

  /** Sends what waits, unless a report is under way: then it goes when that one is confirmed. */
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

  /** The key's last answer, if its Level may not know of it. */
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
        chooser.avoidUntil(key.id, version, now + Math.min(retryAfterMs ?? SHUN_MOST_MS, SHUN_MOST_MS));
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
      if (outbox.waiting.size >= KEPT_MOST) return;
      outbox.waiting.set(key.id, { key: key.id, startedAt, endedAt: endNow() });
      // From here on it is told: until it fails again the view says how it fares.
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
