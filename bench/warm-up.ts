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
/** The step of what is warm already while others are not. */
const KEPT_WARM_MS = 500;
const COMPILER_SHARE_MAX = 0.01;
/** The name of the threads that compile. */
const COMPILER = "JITWorker";

/** Servers to warm up, and the work that does it, which takes the milliseconds that it is given. */
export interface WarmUp {
  readonly servers: readonly Process[];
  readonly times: WarmUpTimes;
  readonly work: (ms: number) => Promise<unknown>;
}

/** Warms servers up. */
export async function warmUp(
  servers: readonly Process[],
  times: WarmUpTimes,
  work: WarmUp["work"],
): Promise<WarmedUp> {
  const [ended] = await warmUpInTurns([{ servers, times, work }]);
  return ended!;
}

/**
 * Warms several up, a step of each in turn. What is warm goes on with short steps until all are: what is idle for minutes puts
 * its accounts aside, and has to read all of them again at the first request.
 */
export async function warmUpInTurns(all: readonly WarmUp[]): Promise<readonly WarmedUp[]> {
  const reached = all.map((): WarmedUp => ({ tookMs: 0, compilerShare: 1 }));
  const isWarmNow = (i: number) => isWarm(all[i]!.times, reached[i]!);
  while (!all.every((_, i) => isWarmNow(i))) {
    for (const [i, one] of all.entries()) {
      if (isWarmNow(i)) await one.work(KEPT_WARM_MS);
      else reached[i] = await step(one, reached[i]!);
    }
  }
  return reached;
}

const isWarm = ({ warmUpMs, warmUpMsMax }: WarmUpTimes, { tookMs, compilerShare }: WarmedUp): boolean =>
  tookMs >= warmUpMsMax || (tookMs >= warmUpMs && compilerShare <= COMPILER_SHARE_MAX);

async function step({ servers, work }: WarmUp, { tookMs }: WarmedUp): Promise<WarmedUp> {
  const compilerMs = () => sum(servers.map(({ pid }) => threadsMsOf(pid).get(COMPILER) ?? 0));
  const cpuMs = () => sum(servers.map((server) => server.cpuMs()));
  const [before, compiledBefore] = [cpuMs(), compilerMs()];
  await work(STEP_MS);
  const compiledMs = compilerMs() - compiledBefore;
  // A thread that has ended takes its time with it, so that such a step says nothing.
  const compilerShare = compiledMs < 0 ? 1 : compiledMs / (cpuMs() - before);
  return { tookMs: tookMs + STEP_MS, compilerShare };
}

/** Says how a warm-up ended. */
export const warmUpNote = ({ tookMs, compilerShare }: WarmedUp): string =>
  `warmed up for ${tookMs / 1_000} s, the compiler at ${(100 * compilerShare).toFixed(1)} %`;
