// Warms servers up with the work that is measured after it, until their compilers have next to nothing left to do: before that a
// request costs what compiling costs. It measures nothing else.

import { sum } from "./figures.ts";
import { type Process, threadsMsOf } from "./process.ts";

/** How long a warm-up takes, ms, at least and at most. */
export interface WarmUpTimes {
  readonly warmUpMs: number;
  readonly warmUpMsMax: number;
}

/** The warm-up of a service in a full run, and the one of a quick run, which leaves it to the first rounds. */
export const FULL_WARM_UP: WarmUpTimes = { warmUpMs: 20_000, warmUpMsMax: 90_000 };
export const NO_WARM_UP: WarmUpTimes = { warmUpMs: 0, warmUpMsMax: 0 };

/** How a warm-up ended. */
export interface WarmedUp {
  readonly tookMs: number;
  /** The share of the servers' CPU time that their compilers had in the last step. */
  readonly compilerShare: number;
}

/** Between two looks at the compilers, which end the warm-up with less than this share of the CPU time. */
const STEP_MS = 5_000;
const COMPILER_SHARE_MAX = 0.01;
/** The name of the threads that compile. */
const COMPILER = "JITWorker";

/** Warms servers up with `work`, which takes the milliseconds that it is given. */
export async function warmUp(
  servers: readonly Process[],
  { warmUpMs, warmUpMsMax }: WarmUpTimes,
  work: (ms: number) => Promise<unknown>,
): Promise<WarmedUp> {
  const compilerMs = () => sum(servers.map(({ pid }) => threadsMsOf(pid).get(COMPILER) ?? 0));
  const cpuMs = () => sum(servers.map((server) => server.cpuMs()));
  let tookMs = 0;
  let compilerShare = 1;
  while (tookMs < warmUpMsMax && (tookMs < warmUpMs || compilerShare > COMPILER_SHARE_MAX)) {
    const [before, compiledBefore] = [cpuMs(), compilerMs()];
    await work(STEP_MS);
    tookMs += STEP_MS;
    const compiledMs = compilerMs() - compiledBefore;
    // A thread that has ended takes its time with it, so that such a step says nothing.
    compilerShare = compiledMs < 0 ? 1 : compiledMs / (cpuMs() - before);
  }
  return { tookMs, compilerShare };
}

/** Says how a warm-up ended. */
export const warmUpNote = ({ tookMs, compilerShare }: WarmedUp): string =>
  `warmed up for ${tookMs / 1_000} s, the compiler at ${(100 * compilerShare).toFixed(1)} %`;
