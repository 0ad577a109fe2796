// Large bodies read on the spot, by the jobs that worker threads do, and what was asked of them. What a message between
// threads cannot carry fails here too.

import { realClock } from "../../../src/base/clock.ts";
import { JOB_HANDLERS } from "../../../src/gateway/large-body/job-handlers.ts";
import type { JobResult, Jobs } from "../../../src/gateway/large-body/jobs.ts";
import type { LargeBodies } from "../../../src/gateway/large-body/worker-pool.ts";
import { createCounter } from "../../../src/gateway/metering/token-counter.ts";

const counter = createCounter({ clock: realClock() });

/** The jobs that were done, in order. */
export interface InProcessBodies extends LargeBodies {
  readonly done: readonly (keyof Jobs)[];
}

export function inProcess(bytesMin: number): InProcessBodies {
  const done: (keyof Jobs)[] = [];
  return {
    bytesMin,
    done,
    async run<K extends keyof Jobs>(kind: K, input: Jobs[K]["input"], buffers: readonly ArrayBuffer[]) {
      done.push(kind);
      const received = structuredClone(input, { transfer: [...buffers] });
      return structuredClone(await JOB_HANDLERS[kind](received, counter)) as JobResult<K>;
    },
  };
}
