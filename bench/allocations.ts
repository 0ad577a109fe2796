// What the main thread allocates for a request: objects by type, counted in a service whose collector is off, between two
// loads of the same kind. It is a count of work: the same in every run, however busy the machine is, so it shows what a
// change of a few objects did where CPU time does not. Objects that the compiler no longer makes are not counted either,
// so the service is warmed up first, which takes two gigabytes of memory.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectCounts } from "./allocation-probe.ts";
import { CONCURRENCY } from "./cpu.ts";
import { grouped, sum } from "./figures.ts";
import { ONE_BY_ONE, WHOLE } from "./kinds.ts";
import type { Measure, Row } from "./measure.ts";
import { onStage } from "./stage.ts";
import type { Ask } from "./styles.ts";

interface Counted {
  readonly what: string;
  readonly ask: Ask;
  /** Requests before the first count, and between the two. */
  readonly warmUp: number;
  readonly requests: number;
}

const KINDS: readonly Counted[] = [
  { what: WHOLE.what, ask: WHOLE, warmUp: 40_000, requests: 2_000 },
  { what: ONE_BY_ONE.what, ask: ONE_BY_ONE, warmUp: 4_000, requests: 500 },
];
/** Types that are worth a figure of their own, by what they are called here. */
const NAMED: Readonly<Record<string, string>> = {
  Function: "closures",
  JSLexicalEnvironment: "environments of closures",
  Promise: "promises",
  AsyncFunctionGenerator: "async functions",
};

export const allocations: Measure = {
  name: "allocations",
  about: "objects that the main thread allocates for a request",
  isLong: true,
  async run() {
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(await count(kind));
    return { rows, notes: [] };
  },
};

async function count({ what, ask, warmUp, requests }: Counted): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-allocations-"));
  const socket = join(directory, "probe");
  try {
    return await onStage(
      {
        flags: ["--preload", join(import.meta.dirname, "allocation-probe.ts")],
        env: { ALLOCATION_PROBE: socket, BUN_JSC_useGC: "0" },
      },
      async (stage) => {
        const load = (requests: number) =>
          stage.load({
            targets: [stage.serviceFor(1)],
            ask,
            concurrency: CONCURRENCY,
            most: { requests },
            times: "none",
          });
        await load(warmUp);
        const before = await objectsIn(socket);
        await load(requests);
        const after = await objectsIn(socket);
        const grown = (type: string) => Math.max(0, (after[type] ?? 0) - (before[type] ?? 0)) / requests;
        const named = Object.entries(NAMED).map(([type, called]) => `${called} ${grown(type).toFixed(1)}`);
        return {
          what: `Objects per request, ${what}`,
          service: grouped(sum(Object.keys(after).map(grown))),
          passThrough: "",
          result: named.join(", "),
          target: "",
        };
      },
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const objectsIn = async (unix: string): Promise<ObjectCounts> =>
  (await fetch("http://allocation-probe/", { unix })).json() as Promise<ObjectCounts>;
