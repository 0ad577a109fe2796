// The cost of a failover, beyond what any proxy pays for the call that failed. Four targets take turns: the service and the
// pass-through, each with working keys, and each with a dead key in front, which gets a 500 at once. The difference is the
// failover; what the service has more of it than the pass-through is its own.

import { WrongResult } from "./books.ts";
import { type Spent, spend } from "./cpu.ts";
import { grouped, median, sum } from "./figures.ts";
import type { Target } from "./load.ts";
import type { Measure, Measured } from "./measure.ts";
import type { Process } from "./process.ts";
import { onStage, type Stage } from "./stage.ts";

const ASK = { stream: false };
const WARM_UP = 500;

const ms = (value: number): string => `${value.toFixed(2)} ms`;
const us = (value: number): string => `${value.toFixed(0)} µs`;

async function timeAdded(stage: Stage, requests: number): Promise<Measured> {
  const before = await stage.facts();
  const loaded = await stage.load({
    targets: [
      // Never the same server twice in a row: the second request would find it warm.
      { ...stage.serviceFor(1), attempts: 1 },
      stage.passThroughTarget,
      { ...stage.failing.service, attempts: 2 },
      stage.failing.passThrough,
    ],
    ask: ASK,
    concurrency: 1,
    most: { requests: WARM_UP + requests },
    times: "whole",
  });
  const refused = (await stage.facts()).refused - before.refused;
  const due = 2 * (WARM_UP + requests);
  if (refused !== due)
    throw new WrongResult(`${due} requests began with the dead key, but it got ${refused}`);

  const [once, plain, twice, repeated] = loaded.times.map((all) => all.slice(WARM_UP));
  const [p50Once, p50Twice, p50Plain, p50Repeated] = [once!, twice!, plain!, repeated!].map(median);
  const service = p50Twice! - p50Once!;
  const passThrough = p50Repeated! - p50Plain!;
  return {
    rows: [
      {
        what: "Time, failover from a dead key, p50",
        service: ms(service),
        passThrough: ms(passThrough),
        result: `+ ${ms(service - passThrough)}`,
        target: "≤ 1 ms",
      },
    ],
    notes: [
      `failover, p50: ${ms(p50Once!)} by one attempt and ${ms(p50Twice!)} by two; ` +
        `the pass-through ${ms(p50Plain!)} and ${ms(p50Repeated!)}`,
    ],
  };
}

/** What a round cost a server: a request without the dead key, one with it in front, and how many calls the key failed. */
interface Round {
  readonly sound: Spent;
  readonly failing: Spent;
  readonly failed: number;
}

async function roundOf(
  sound: () => Promise<Spent>,
  failing: () => Promise<Spent>,
  stage: Stage,
): Promise<Round> {
  const without = await sound();
  const before = await stage.facts();
  const spent = await failing();
  const failed = (await stage.facts()).refused - before.refused;
  if (failed === 0) throw new WrongResult("no request met the dead key");
  return { sound: without, failing: spent, failed };
}

const failedIn = (rounds: readonly Round[]): number => sum(rounds.map(({ failed }) => failed));
const requestsIn = (rounds: readonly Round[]): number => sum(rounds.map(({ failing }) => failing.requests));

/** The difference of two medians, since that of a single round is mostly noise. */
function cpuOfFailure(rounds: readonly Round[]): number {
  const cpu = (of: "sound" | "failing") => median(rounds.map((round) => round[of].cpuUs));
  return ((cpu("failing") - cpu("sound")) * requestsIn(rounds)) / failedIn(rounds);
}

async function cpuPerFailover(stage: Stage, rounds: number, roundMs: number): Promise<Measured> {
  const { service, passThrough, passThroughTarget, failing } = stage;
  const load = (process: Process, target: Target) => () =>
    spend(stage.load, [process], [target], ASK, roundMs);
  const ours: Round[] = [];
  const theirs: Round[] = [];
  for (let round = 0; round <= rounds; round++) {
    const our = await roundOf(load(service, stage.serviceFor(1)), load(service, failing.service), stage);
    const their = await roundOf(
      load(passThrough, passThroughTarget),
      load(passThrough, failing.passThrough),
      stage,
    );
    // The first round warms both up.
    if (round === 0) continue;
    ours.push(our);
    theirs.push(their);
  }
  return {
    rows: [
      {
        what: "CPU per failover",
        service: us(cpuOfFailure(ours)),
        passThrough: us(cpuOfFailure(theirs)),
        result: `× ${(cpuOfFailure(ours) / cpuOfFailure(theirs)).toFixed(2)}`,
        target: "",
      },
    ],
    notes: [
      `failover under load: ${grouped(failedIn(ours))} failed calls in ${grouped(requestsIn(ours))} requests`,
    ],
  };
}

export const failover: Measure = {
  name: "failover",
  about: "time and CPU added by a dead key before a sound one, against the pass-through's",
  run: (quick) =>
    onStage({ deadKey: true }, async (stage) => {
      const time = await timeAdded(stage, quick ? 1_000 : 3_000);
      const cpu = await cpuPerFailover(stage, quick ? 4 : 9, quick ? 600 : 1_200);
      return { rows: [...time.rows, ...cpu.rows], notes: [...time.notes, ...cpu.notes] };
    }),
};
