// What the service adds to the time of a single request: one request in flight, to the service and to the pass-through in
// turn, so that both meet the same moments of the machine. For streams it is the time until the first generated text.

import { percentile } from "./figures.ts";
import type { Measure, Row } from "./measure.ts";
import { onStage } from "./stage.ts";

const KINDS = [
  { what: "whole answer", stream: false, word: "", times: "whole" },
  { what: "first word of a stream", stream: true, word: "bench-apart", times: "first_content" },
] as const;

/** By then the compiler has done most of its work, as in a service that has run for a minute. */
const WARM_UP = 5_000;

const POINTS = [
  { name: "p50", share: 0.5, target: "≤ 0.35 ms", must: "≤ 0.5 ms" },
  { name: "p99", share: 0.99, target: "", must: "" },
] as const;

const ms = (value: number): string => `${value.toFixed(2)} ms`;

export const latency: Measure = {
  name: "latency",
  about: "time added at one request in flight, whole and until the first word",
  run: (quick) =>
    onStage({}, async (stage) => {
      const rows: Row[] = [];
      for (const { what, stream, word, times } of KINDS) {
        const loaded = await stage.load({
          targets: [stage.serviceFor(1), stage.passThroughTarget],
          ask: { stream, word },
          concurrency: 1,
          most: { requests: WARM_UP + (quick ? 1_000 : 4_000) },
          times,
        });
        const [ours, theirs] = loaded.times.map((all) => all.slice(WARM_UP));
        for (const { name, share, target, must } of POINTS) {
          const service = percentile(ours!, share);
          const passThrough = percentile(theirs!, share);
          rows.push({
            what: `Time, ${what}, ${name}`,
            service: ms(service),
            passThrough: ms(passThrough),
            result: `+ ${ms(service - passThrough)}`,
            target,
            must,
          });
        }
      }
      return { rows, notes: [] };
    }),
};
