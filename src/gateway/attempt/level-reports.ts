// Reports to the Levels how their keys perform, and counts it for the figures of this node. Requests do not wait for it: a lost report costs at most a
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
import type { AttemptCounts } from "../traffic/attempt-counts.ts";
import type { KeyActivityCounter } from "./key-activity.ts";
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
const SUSPECT_MS = 1_000;
/** The number of suspect keys, and of keys with unsent successes. Beyond it, further ones are dropped. */
const KEPT_MAX = 10_000;
/** Milliseconds between two ends in the same millisecond, which keeps them distinct. */
const TICK_MS = 1 / 1_024;
/**
 * After a failure that puts a key to sleep or to rest at once, this node avoids it for at most this long
 * (ms).
 */
const AVOID_MS_MAX = 1_000;

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

/** The services of the reporter. */
export interface LevelReporterParts {
  readonly system: ActorSystem<Protocol>;
  readonly clock: Clock;
  readonly log: Log;
  readonly chooser: Pick<KeyChooser, "avoidUntil">;
  readonly activity: KeyActivityCounter;
  readonly attempts: Pick<AttemptCounts, "count">;
  /** Returns the cached view of a Level, or undefined when it is not cached. */
  level(owner: AccountId, level: number): LevelView | undefined;
  /** Consecutive failures after which a key sleeps. */
  readonly keyFailures: number;
}

/** Creates the reporter of this node. */
export const createLevelReporter = (parts: LevelReporterParts): LevelReporter => new NodeLevelReporter(parts);

class NodeLevelReporter implements LevelReporter {
  /** Until when (monotonic ms) the successes of a key are reported although its view shows no trouble. */
  private readonly suspects = new Map<ProviderKeyId, number>();
  private readonly outboxes = new Map<string, Outbox>();
  private lastEnd = 0;

  constructor(private readonly parts: LevelReporterParts) {}

  async failed(attempted: Attempted, signal: UpstreamFailure): Promise<void> {
    const { system, clock, chooser, activity, attempts, keyFailures: limit } = this.parts;
    const { owner, key, view, model, modelAtPath = model, startedAt } = attempted;
    const level = actorRef.level(owner, key.level);
    const what = FAILURE_RULES[signal.name].key;
    const now = clock.wall();
    activity.failed(key.id, what !== "none", now);
    attempts.count(key.level, signal.name);
    if (what === "none") {
      if (this.troubleOf(key.id, view) !== "waking") return;
      const probe = { key: key.id, startedAt };
      await system.ask(level, "releaseProbe", probe).catch(this.lost("releaseProbe"));
      return;
    }
    const endedAt = this.endNow();
    const { retryAfterMs = null, name: reason } = signal;
    this.suspect(key.id, clock.mono() + SUSPECT_MS);
    if (what === "long" || what === "rest") {
      const { version } = this.newestView(owner, key, view);
      chooser.avoidUntil(key.id, version, now + Math.min(retryAfterMs ?? AVOID_MS_MAX, AVOID_MS_MAX));
    }
    const attempt = { key: key.id, model: modelAtPath, startedAt, endedAt, ...this.takeSuccess(attempted) };
    const switchTo = attempted.switchOver?.[key.level];
    const failure = {
      ...{ ...attempt, what, retryAfterMs, reason, limit },
      ...(switchTo === undefined ? {} : { switchTo }),
    };
    await system.ask(level, "failed", failure).catch(this.lost("failed"));
  }

  succeeded({ owner, key, view, startedAt }: Attempted): void {
    this.parts.activity.succeeded(key.id, startedAt, this.parts.clock.wall());
    this.parts.attempts.count(key.level, "ok");
    const trouble = this.troubleOf(key.id, this.newestView(owner, key, view));
    if (trouble === null) return;
    const name = view.id;
    const outbox = this.outboxes.get(name) ?? {
      ...{ owner, level: key.level, waiting: new Map(), sent: null, isDue: false },
    };
    this.outboxes.set(name, outbox);
    if (outbox.waiting.size >= KEPT_MAX) return;
    outbox.waiting.set(key.id, { key: key.id, startedAt, endedAt: this.endNow() });
    // The success is now reported, so the view shows the key's health until it fails again.
    this.suspects.delete(key.id);
    if (trouble === "recovering") this.flushLater(name, outbox);
    else this.flush(name, outbox);
  }

  async probe(owner: AccountId, key: LevelKey): Promise<boolean> {
    try {
      const level = actorRef.level(owner, key.level);
      return (await this.parts.system.ask(level, "probe", { key: key.id })).granted;
    } catch (error) {
      this.lost("probe")(error);
      return false;
    }
  }

  private lost(what: string): (error: unknown) => void {
    return (error) => this.parts.log("warn", "report_failed", { what, error: String(error) });
  }

  private suspect(key: ProviderKeyId, until: number): void {
    const { suspects } = this;
    if (suspects.size >= KEPT_MAX) suspects.delete(suspects.keys().next().value!);
    suspects.set(key, until);
  }

  private isSuspect(key: ProviderKeyId): boolean {
    if (this.suspects.size === 0) return false;
    const until = this.suspects.get(key);
    if (until === undefined) return false;
    if (until > this.parts.clock.mono()) return true;
    this.suspects.delete(key);
    return false;
  }

  /** Returns the newest view of the key's Level: it may have changed while the attempt ran. */
  private newestView(owner: AccountId, key: LevelKey, before: LevelView): LevelView {
    return this.parts.level(owner, key.level) ?? before;
  }

  /** Returns an end time (wall-clock ms) that is later than all earlier ones of this node. */
  private endNow(): number {
    const now = this.parts.clock.wall();
    this.lastEnd = Math.max(now, this.lastEnd - now < 1 ? this.lastEnd + TICK_MS : 0);
    return this.lastEnd;
  }

  private troubleOf(key: ProviderKeyId, view: LevelView): "waking" | "failing" | "recovering" | null {
    const health = healthOf(view)?.get(key);
    if (health?.waking) return "waking";
    if (health !== undefined && health.failures > 0) return "failing";
    if (this.isSuspect(key)) return "failing";
    return health !== undefined && health.sleepTimes > 0 ? "recovering" : null;
  }

  /** Sends what is waiting, unless a report is in flight; then it is sent after the confirmation. */
  private flush(name: string, outbox: Outbox): void {
    if (outbox.sent !== null) return;
    if (outbox.waiting.size === 0) {
      if (!outbox.isDue) this.outboxes.delete(name);
      return;
    }
    const sent = outbox.waiting;
    outbox.sent = sent;
    outbox.waiting = new Map();
    this.parts.system
      .ask(actorRef.level(outbox.owner, outbox.level), "succeeded", { keys: [...sent.values()] })
      .catch(this.lost("succeeded"))
      .finally(() => {
        outbox.sent = null;
        this.flush(name, outbox);
      });
  }

  private flushLater(name: string, outbox: Outbox): void {
    if (outbox.isDue) return;
    outbox.isDue = true;
    this.parts.clock.after(FLUSH_MS, () => {
      outbox.isDue = false;
      this.flush(name, outbox);
    });
  }

  /** Takes the key's last success out of the outbox, if its Level may not know of it. */
  private takeSuccess({ key, view }: Attempted): { readonly answered?: Success } {
    const outbox = this.outboxes.get(view.id);
    const answered = outbox?.waiting.get(key.id) ?? outbox?.sent?.get(key.id);
    outbox?.waiting.delete(key.id);
    return answered === undefined ? {} : { answered };
  }
}
