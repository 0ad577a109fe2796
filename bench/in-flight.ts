// A thousand calls upstream at once: the upstream answers none before all have come. A limit anywhere on the way would
// leave some outside, and the upstream would see that its gate never filled.

import { WrongResult } from "./books.ts";
import { percentile } from "./figures.ts";
import type { Measure } from "./measure.ts";
import { onStage } from "./stage.ts";

const CALLS = 1_000;

export const inFlight: Measure = {
  name: "in-flight",
  about: "1,000 calls upstream at once, none answered before all have come",
  run: () =>
    onStage({ accounts: 50 }, async (stage) => {
      const loaded = await stage.load({
        targets: [stage.serviceFor(50)],
        ask: { stream: false, word: `bench-gate=${CALLS}` },
        concurrency: CALLS,
        most: { requests: CALLS },
        times: "whole",
      });
      const { peak, gateOpened } = await stage.facts();
      if (!gateOpened) throw new WrongResult(`only ${peak} of ${CALLS} calls were upstream at once`);
      return {
        rows: [
          {
            what: "Calls upstream at once",
            service: String(peak),
            passThrough: "",
            result: `all answered, p99 ${percentile(loaded.times[0]!, 0.99).toFixed(0)} ms`,
            target: String(CALLS),
          },
        ],
        notes: [],
      };
    }),
};
