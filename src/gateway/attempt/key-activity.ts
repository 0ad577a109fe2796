// What this node did with each provider key in the last hour: attempts and failures by the minute, durations of
// successes in a histogram, requests in flight. It lies in memory, is bounded, and decides nothing; the figures of
// all nodes are added up by src/admin/key-activity.ts. Counting an attempt costs some tens of nanoseconds.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import { MINUTE_MS } from "../../../actors/time.ts";
import type { KeyChooser } from "./key-chooser.ts";

/** Minutes that are counted one by one: the last hour, the current minute included. */
export const MINUTES = 60;
/** Durations are kept by parts of this many minutes, so that they are of the last 60 to 70 minutes. */
const PART_MINUTES = 10;
const PARTS = MINUTES / PART_MINUTES + 1;
/** Buckets of durations: four to each doubling, from 1 ms to 17 minutes. Longer ones count in the last. */
export const BUCKETS = 80;
/** Provider keys with figures on one node, 2.7 KB each. Beyond it the key that came first is forgotten. */
const KEYS_MAX = 4_096;

/** The activity of a key on one node or on several. Plain data. */
export interface KeyActivity {
  readonly key: ProviderKeyId;
  readonly inFlight: number;
  /** Attempts by the minute, the oldest first; the last one is the current minute. MINUTES numbers. */
  readonly perMinute: readonly number[];
  /** Attempts of the same hour that failed because of the key or its provider. */
  readonly failures: number;
  /** Successful attempts by their duration. BUCKETS numbers. */
  readonly durations: readonly number[];
}

/** The activity of this node's keys. */
export class KeyActivityCounter {
  private readonly hours = new Map<ProviderKeyId, KeyHour>();

  /** Counts an attempt that succeeded. Both times are wall-clock ms. */
  succeeded(key: ProviderKeyId, startedAt: number, endedAt: number): void {
    const hour = this.hourOf(key, endedAt);
    hour.attempted();
    hour.took(endedAt - startedAt);
  }

  /** Counts an attempt that failed, at `now` (wall-clock ms). `isOfKey`: its key or provider is the cause. */
  failed(key: ProviderKeyId, isOfKey: boolean, now: number): void {
    const hour = this.hourOf(key, now);
    hour.attempted();
    if (isOfKey) hour.failed();
  }

  /** Returns the activity of those of these keys that have any, in the hour that ends at `now` (wall-clock ms). */
  read(keys: readonly ProviderKeyId[], chooser: Pick<KeyChooser, "inFlight">, now: number): KeyActivity[] {
    const found: KeyActivity[] = [];
    for (const key of keys) {
      const hour = this.hours.get(key);
      const inFlight = chooser.inFlight(key);
      if (hour !== undefined) found.push({ key, inFlight, ...hour.read(minuteOf(now)) });
      else if (inFlight > 0) found.push({ ...noActivity(key), inFlight });
    }
    return found;
  }

  private hourOf(key: ProviderKeyId, now: number): KeyHour {
    const minute = minuteOf(now);
    const known = this.hours.get(key);
    if (known !== undefined) {
      if (known.minute !== minute) known.moveTo(minute);
      return known;
    }
    if (this.hours.size >= KEYS_MAX) this.hours.delete(this.hours.keys().next().value!);
    const hour = new KeyHour(minute);
    this.hours.set(key, hour);
    return hour;
  }
}

const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

/** The activity of a key that was not used. */
export const noActivity = (key: ProviderKeyId): KeyActivity => ({
  key,
  inFlight: 0,
  perMinute: new Array<number>(MINUTES).fill(0),
  failures: 0,
  durations: new Array<number>(BUCKETS).fill(0),
});

/** One key's last hour. Minutes and parts lie in rings, whose places are cleared when time reaches them again. */
class KeyHour {
  private readonly attempts = new Uint32Array(MINUTES);
  private readonly failures = new Uint32Array(MINUTES);
  private readonly durations = new Uint32Array(PARTS * BUCKETS);

  /** `minute` is the newest minute, counted from 1970. */
  constructor(public minute: number) {}

  attempted(): void {
    this.attempts[this.minute % MINUTES]!++;
  }

  failed(): void {
    this.failures[this.minute % MINUTES]!++;
  }

  took(ms: number): void {
    this.durations[placeOf(partOf(this.minute)) + bucketOf(ms)]!++;
  }

  /** Makes `minute` the newest one. A clock that steps back a little keeps the newest minute. */
  moveTo(minute: number): void {
    const passed = minute - this.minute;
    if (passed < 0 && passed > -MINUTES) return;
    if (passed < 0 || passed >= MINUTES + PART_MINUTES) {
      this.attempts.fill(0);
      this.failures.fill(0);
      this.durations.fill(0);
    } else {
      for (let m = Math.max(this.minute, minute - MINUTES) + 1; m <= minute; m++) {
        this.attempts[m % MINUTES] = 0;
        this.failures[m % MINUTES] = 0;
      }
      for (let part = partOf(this.minute) + 1; part <= partOf(minute); part++) {
        this.durations.fill(0, placeOf(part), placeOf(part) + BUCKETS);
      }
    }
    this.minute = minute;
  }

  read(minute: number): Omit<KeyActivity, "key" | "inFlight"> {
    this.moveTo(minute);
    const perMinute: number[] = [];
    for (let m = this.minute + 1; m <= this.minute + MINUTES; m++)
      perMinute.push(this.attempts[m % MINUTES]!);
    const durations = new Array<number>(BUCKETS).fill(0);
    for (let i = 0; i < this.durations.length; i++) durations[i % BUCKETS]! += this.durations[i]!;
    return { perMinute, failures: this.failures.reduce((sum, count) => sum + count, 0), durations };
  }
}

const partOf = (minute: number): number => Math.floor(minute / PART_MINUTES);

/** Where the buckets of a part begin. */
const placeOf = (part: number): number => (part % PARTS) * BUCKETS;

/** Returns the bucket of a duration. A duration below 1 ms counts as 1 ms. */
export function bucketOf(ms: number): number {
  const whole = ms < 1 ? 1 : ms > 0xfffff ? 0xfffff : ms | 0;
  const exponent = 31 - Math.clz32(whole);
  return exponent * 4 + (((whole << 2) >> exponent) & 3);
}

/** Returns the middle of a bucket in ms. */
const middleOf = (bucket: number): number => 2 ** (bucket >> 2) * (1 + ((bucket & 3) + 0.5) / 4);

/** Returns the activity of a key on several nodes, added up. */
export const addActivity = (a: KeyActivity, b: KeyActivity): KeyActivity => ({
  key: a.key,
  inFlight: a.inFlight + b.inFlight,
  perMinute: a.perMinute.map((count, i) => count + b.perMinute[i]!),
  failures: a.failures + b.failures,
  durations: a.durations.map((count, i) => count + b.durations[i]!),
});

/** Returns the duration in ms below which `share` (0 to 1) of the successes are, within an eighth; null for none. */
export function quantileMs(durations: readonly number[], share: number): number | null {
  const total = durations.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * share));
  const bucket = durations.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  return Math.round(middleOf(bucket));
}
