// How long the slowest requests take at half of the load that the service can take here, beside how long the slowest writes
// to the disk take: every answer waits for one. Writes and requests take turns, because either would slow the other down.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowingRefusals, type Books } from "./books.ts";
import { CONCURRENCY, spend } from "./cpu.ts";
import { grouped, median, percentile, range } from "./figures.ts";
import { SPREAD } from "./kinds.ts";
import type { Measure } from "./measure.ts";
import { inTurns } from "./rounds.ts";
import { onStage, type Stage } from "./stage.ts";

/** The size of a page of the store. */
const WRITE_BYTES = 4_096;
const WRITES = 300;
const WRITES_QUICK = 100;

const p99 = (samples: readonly number[]): number => percentile(samples, 0.99);
const ms = (value: number): string => `${value.toFixed(2)} ms`;

export const halfLoad: Measure = {
  name: "half-load",
  about: "p99 at half of the most load, beside the p99 of an fsync",
  run: (quick) =>
    onStage({ accounts: SPREAD.accounts }, async (stage) => {
      const roundMs = quick ? 1_000 : 4_000;
      const { load, refused } = allowingRefusals(stage.load);
      const mostPerS = await mostLoad(stage, load, roundMs);
      const perS = mostPerS / 2;
      const [requests, writes] = await inTurns<readonly number[]>(
        [() => timesAt(stage, load, perS, roundMs), async () => writeTimes(quick ? WRITES_QUICK : WRITES)],
        quick ? 3 : 6,
      );
      const added = requests!.map((times, round) => p99(times) - p99(writes![round]!));
      const service = p99(requests!.flat());
      const disk = p99(writes!.flat());
      return {
        rows: [
          {
            what: `Time, whole answer, p99 at half load (${grouped(perS)} requests/s)`,
            service: ms(service),
            passThrough: `an fsync: ${ms(disk)}`,
            result: `+ ${ms(service - disk)} (${range(added, 2)})`,
            target: "≤ 5 ms",
          },
        ],
        notes: [
          `half load: the most is ${grouped(mostPerS)} requests a second with ${CONCURRENCY} in flight; ` +
            `p50 at half ${ms(median(requests!.flat()))}, p50 of an fsync ${ms(median(writes!.flat()))}; ` +
            `${refused()} requests refused, because the store was slow`,
        ],
      };
    }),
};

/** Requests a second with all connections busy: the median of three rounds behind one that warms up. */
async function mostLoad(stage: Stage, load: Books["load"], roundMs: number): Promise<number> {
  const target = stage.serviceFor(SPREAD.accounts);
  const [rounds] = await inTurns([() => spend(load, [stage.service], [target], SPREAD, roundMs)], 3);
  return median(rounds!.map((round) => round.perS));
}

async function timesAt(
  stage: Stage,
  load: Books["load"],
  perS: number,
  roundMs: number,
): Promise<readonly number[]> {
  const { times } = await load({
    targets: [stage.serviceFor(SPREAD.accounts)],
    ask: SPREAD,
    concurrency: CONCURRENCY,
    perS,
    most: { ms: roundMs },
    times: "whole",
  });
  return times[0]!;
}

/** Milliseconds that each write of a page takes until it is on the disk where stores of the benchmark are. */
function writeTimes(writes: number): number[] {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-fsync-"));
  const file = openSync(join(directory, "pages"), "w");
  try {
    const page = Buffer.alloc(WRITE_BYTES, 1);
    return Array.from({ length: writes }, () => {
      const startedAt = performance.now();
      writeSync(file, page);
      fsyncSync(file);
      return performance.now() - startedAt;
    });
  } finally {
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
}
