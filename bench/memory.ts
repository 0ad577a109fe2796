// Does the service's memory grow with the requests it has served? Its resident memory after each 10,000 requests, the most of
// it under that load, and what is left when nothing is asked any more.

import { grouped, megabytes } from "./figures.ts";
import type { Measure } from "./measure.ts";
import { onStage } from "./stage.ts";

const STEP = 10_000;
const CONCURRENCY = 64;
/** What is left is read so long after a load: idle actors are unloaded after 90 seconds, so all are still in memory. */
export const AFTER_LOAD_MS = 30_000;

export const memory: Measure = {
  name: "memory",
  about: "resident memory after 10,000 and after 100,000 requests",
  run: (quick) =>
    onStage({}, async (stage) => {
      const steps = quick ? 3 : 10;
      const curve: number[] = [];
      const fresh = stage.service.rssBytes();
      stage.service.forgetPeak();
      for (let step = 0; step < steps; step++) {
        await stage.load({
          targets: [stage.serviceFor(1)],
          ask: { stream: false },
          concurrency: CONCURRENCY,
          most: { requests: STEP },
          times: "none",
        });
        curve.push(stage.service.rssBytes());
      }
      const first = curve[0]!;
      const last = curve.at(-1)!;
      const peak = stage.service.peakBytes();
      await Bun.sleep(AFTER_LOAD_MS);
      const settled = stage.service.rssBytes();
      return {
        rows: [
          {
            what: `Memory after ${grouped(STEP)} and ${grouped(STEP * steps)} requests`,
            service: `${megabytes(first)} and ${megabytes(last)} MB`,
            passThrough: "",
            result: `× ${(last / first).toFixed(2)}`,
            target: "≤ 1.3",
          },
          {
            what: `Memory at most under load, and ${AFTER_LOAD_MS / 1_000} s after ${grouped(STEP * steps)} requests`,
            service: `${megabytes(peak)} and ${megabytes(settled)} MB`,
            passThrough: "",
            result: "",
            target: "≤ 180 and ≤ 130 MB",
            must: "≤ 220 and ≤ 150 MB",
          },
        ],
        notes: [
          `memory in MB, fresh and after each ${grouped(STEP)} requests: ${[fresh, ...curve].map(megabytes).join(" ")}`,
        ],
      };
    }),
};
