// How long the service takes from the start of its process until it is ready, on a store that does not exist yet.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, range } from "./figures.ts";
import type { Measure } from "./measure.ts";
import { type Process, start } from "./process.ts";
import { inTurns } from "./rounds.ts";
import { serve } from "./serve.ts";

const STARTS = 9;
const STARTS_QUICK = 3;
const POLL_MS = 2;

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

export const startUp: Measure = {
  name: "start",
  about: "time from the start to ready, on an empty store",
  run: async (quick) => {
    const [service, passThrough] = await inTurns(
      [startService, startPassThrough],
      quick ? STARTS_QUICK : STARTS,
    );
    return {
      rows: [
        {
          what: "Time from start to ready, empty store",
          service: seconds(median(service!)),
          passThrough: seconds(median(passThrough!)),
          result: `${range(
            service!.map((ms) => ms / 1_000),
            2,
          )} s`,
          target: "≤ 0.5 s",
          must: "≤ 0.5 s",
        },
      ],
      notes: [],
    };
  },
};

async function startService(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-start-"));
  try {
    return await timeOf(
      () =>
        serve({
          storeUrl: `sqlite:${join(directory, "bench.db")}`,
          spoolDir: join(directory, "spool"),
          rootKey: `sk-${randomBytes(24).toString("hex")}`,
          secretsKey: randomBytes(32).toString("base64"),
        }),
      (url) => `${url}/readyz`,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The pass-through is ready when it has an address. */
const startPassThrough = (): Promise<number> =>
  timeOf(() => start([join(import.meta.dirname, "pass-through.ts"), "http://127.0.0.1:9", "authorization"]));

/** Milliseconds until a process has its address, and until `readyUrl` of it answers 200. */
async function timeOf(
  starting: () => Promise<Process>,
  readyUrl: ((url: string) => string) | null = null,
): Promise<number> {
  const startedAt = performance.now();
  const started = await starting();
  try {
    while (readyUrl !== null && !(await fetch(readyUrl(started.url))).ok) await Bun.sleep(POLL_MS);
    return performance.now() - startedAt;
  } finally {
    await started.stop();
  }
}
