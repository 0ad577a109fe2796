// Memory and file descriptors of the service through a soak, from the kernel's account of its process, and whether they stay
// where they are. What a short run shows is the warm-up, so it is not judged.

import { readdirSync } from "node:fs";
import { median } from "../figures.ts";
import type { Process } from "../process.ts";

/** One look at the process. */
export interface Sample {
  readonly minute: number;
  readonly rssBytes: number;
  readonly descriptors: number;
  /** What its collector counts as in use, garbage included; null while it has not said. It is shown, and not judged. */
  readonly heapBytes: number | null;
}

/** What the samples of a run say. */
export interface Growth {
  /**
   * Slope of resident memory after the warm-up, by least squares through the least of each minute: garbage that waits for its
   * collection comes and goes.
   */
  readonly rssPerMinute: number;
  /** Medians of the first and of the last third after the warm-up. */
  readonly descriptors: readonly [first: number, last: number];
  /** The minute from which on it counts. */
  readonly fromMinute: number;
}

/** A run that is shorter is not judged. */
export const JUDGED_MINUTES_MIN = 20;
export const RSS_PER_MINUTE_MAX = 1024 * 1024;
/** Ids of charges are kept for ten minutes, so there are ever more of them until then. */
const WARM_UP_MINUTES_MAX = 12;
/** Connections of clients come and go. */
const DESCRIPTORS_MORE_MAX = 16;
const SAMPLE_MS = 2_000;

/** Samples the process until it is stopped. `readHeap` asks it for the size of its heap; each sample has the last answer. */
export function sample(
  service: Process,
  readHeap: () => Promise<number | null>,
): { readonly samples: readonly Sample[]; stop(): void } {
  const samples: Sample[] = [];
  let heapBytes: number | null = null;
  const startedAt = performance.now();
  const look = () => {
    void readHeap().then((bytes) => {
      heapBytes = bytes;
    });
    samples.push({
      heapBytes,
      minute: (performance.now() - startedAt) / 60_000,
      rssBytes: service.rssBytes(),
      descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
    });
  };
  look();
  const timer = setInterval(look, SAMPLE_MS);
  return {
    samples,
    stop() {
      clearInterval(timer);
      look();
    },
  };
}

/** How memory and descriptors grew after the warm-up of a run. */
export function growthOf(samples: readonly Sample[]): Growth {
  const lastMinute = samples.at(-1)!.minute;
  const fromMinute = Math.min(WARM_UP_MINUTES_MAX, lastMinute / 2);
  const warm = samples.filter(({ minute }) => minute >= fromMinute);
  const third = (lastMinute - fromMinute) / 3;
  const descriptors = (least: number, most: number) =>
    median(warm.filter(({ minute }) => minute >= least && minute <= most).map((one) => one.descriptors));
  return {
    rssPerMinute: slopeOf(leastOfMinutes(warm)),
    descriptors: [descriptors(fromMinute, fromMinute + third), descriptors(lastMinute - third, lastMinute)],
    fromMinute,
  };
}

function leastOfMinutes(samples: readonly Sample[]): readonly (readonly [minute: number, bytes: number])[] {
  const least = new Map<number, number>();
  for (const { minute, rssBytes } of samples) {
    const whole = Math.floor(minute);
    least.set(whole, Math.min(least.get(whole) ?? rssBytes, rssBytes));
  }
  return [...least];
}

/** What is wrong with the growth of a run that is long enough to be judged; empty: nothing is. */
export function breachesOf({ rssPerMinute, descriptors: [first, last] }: Growth): string[] {
  const breaches: string[] = [];
  if (rssPerMinute > RSS_PER_MINUTE_MAX)
    breaches.push(`resident memory grows by ${(rssPerMinute / 1024 / 1024).toFixed(2)} MB a minute`);
  if (last > first + DESCRIPTORS_MORE_MAX) breaches.push(`file descriptors grow from ${first} to ${last}`);
  return breaches;
}

/** The slope of the line through the points, by least squares; 0 of a single point. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([x]) => x), mean(([, y]) => y)];
  const spread = mean((point) => (point[0] - x) ** 2);
  return spread === 0 ? 0 : mean((point) => (point[0] - x) * (point[1] - y)) / spread;
}
