// Runs one scenario: load on a cluster that is well, the fault, the way back, and the judge's word. The cluster is used
// again while it does well; after a scenario that failed the next one gets a new one.

import { until } from "../harness.ts";
import type { Attempt } from "./attempt.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import {
  healthOf,
  isCalmSince,
  type Judgement,
  judge,
  RECOVERY_MS,
  seconds,
  troubledUntil,
} from "./judge.ts";
import { startLoad } from "./load.ts";
import type { Scenario, Stage } from "./scenarios.ts";

/** After so many scenarios there is a new cluster: the books are read as a whole after each, and grow. */
const TRIALS_MOST = 2;
/** So long without a failure, and it is over. */
const CALM_MS = 2_000;

/** The summary of a scenario, in one line. */
export function summary({ name }: Scenario, judgement: Judgement, figures: readonly string[]): string {
  const { recoveredMs, answered, failed, raised } = judgement;
  const counters = Object.entries(raised).map(([counter, count]) => `${counter} ${count}`);
  const words = [
    recoveredMs === null ? [] : [`recovered in ${seconds(recoveredMs)}`],
    [`${answered} answered`, `${failed} attempts failed`],
    figures,
    counters,
  ];
  return `${name}: ${words.flat().join(", ")}`;
}

export interface Court {
  /** What is wrong after this scenario; null: there is no cluster on this machine. */
  try(scenario: Scenario): Promise<readonly string[] | null>;
  close(): Promise<void>;
}

/** `even`: the shards of each cluster are spread first, which takes a while; else its first node to come has them all. */
export function createCourt(what: string, even: boolean): Court {
  let cluster: Cluster | null = null;
  let trials = 0;

  async function renew(): Promise<void> {
    const old = cluster;
    cluster = null;
    trials = 0;
    await old?.close();
  }

  async function run(on: Cluster, scenario: Scenario): Promise<readonly string[]> {
    const phases: string[] = [];
    let began = performance.now();
    const phase = (name: string) => {
      const now = performance.now();
      phases.push(`${name} ${seconds(now - began)}`);
      began = now;
    };
    on.provider.reset();
    const before = await healthOf(on);
    const load = await startLoad({ cluster: on, limited: true, ...scenario.load });
    phase("load made in");
    let faultAt: number | null = null;
    let calmAt: number | null = null;
    let recoveredMs = 0;
    let hasRecovered = true;
    const open = new Set<Attempt>();
    const stage: Stage = {
      cluster: on,
      load,
      fault() {
        faultAt = performance.now();
        calmAt = null;
        for (const one of load.attempts) if (one.endedAt === Number.POSITIVE_INFINITY) open.add(one);
      },
      async recovered() {
        const from = faultAt!;
        const isCalm = () => {
          const last = troubledUntil(load.attempts, from);
          return performance.now() - last >= CALM_MS && isCalmSince(load, last);
        };
        await until("requests are answered again", isCalm, RECOVERY_MS).catch(() => {
          hasRecovered = false;
        });
        recoveredMs = Math.max(recoveredMs, troubledUntil(load.attempts, from) - from);
        calmAt = performance.now();
      },
      reached: phase,
    };
    try {
      await scenario.run(stage);
      phase("run in");
      await on.settled();
      phase("settled in");
    } finally {
      await load.stop();
      phase("stopped in");
    }
    const judgement = await judge({
      cluster: on,
      load,
      recovery: scenario.breaks
        ? { isSo: hasRecovered, tookMs: recoveredMs, at: calmAt ?? Number.POSITIVE_INFINITY }
        : null,
      // A request that was refused had nothing that could be forgotten.
      forgiven: ({ id }) => [...open].filter(({ user, status }) => user.id === id && status < 400).length,
      raises: scenario.raises ?? [],
      before,
    });
    phase("judged in");
    console.log(summary(scenario, judgement, phases));
    return judgement.wrong;
  }

  return {
    async try(scenario) {
      if (trials === TRIALS_MOST) await renew();
      trials++;
      cluster ??= await startCluster({ what });
      if (cluster === null) return null;
      const on = cluster;
      if (even) await on.balanced();
      let wrong: readonly string[];
      try {
        wrong = await run(on, scenario);
      } catch (error) {
        wrong = [String(error)];
      }
      if (wrong.length > 0) {
        console.error(`${scenario.name}\n${wrong.join("\n")}\n${on.tails()}`);
        await renew();
      }
      return wrong;
    },
    close: renew,
  };
}
