// `npm run bench`: measures the service beside a raw pass-through in one run and prints a table for bench/README.md.
// Exits 1 when a result is wrong (a bad answer, unlike bytes, a charge too many or too few), never because it is slow.

import { parseArgs } from "node:util";
import { allocations } from "./allocations.ts";
import { apiKeys } from "./api-keys.ts";
import { WrongResult } from "./books.ts";
import { cluster } from "./cluster-measure.ts";
import { consolePaint } from "./console-paint.ts";
import { conversations } from "./conversations.ts";
import { cpu, messages, translated } from "./cpu.ts";
import { failover } from "./failover.ts";
import { halfLoad } from "./half-load.ts";
import { hostile } from "./hostile.ts";
import { inFlight } from "./in-flight.ts";
import { largeBodies } from "./large-bodies.ts";
import { latency } from "./latency.ts";
import { manyAccounts } from "./many-accounts.ts";
import type { Measure, Measured } from "./measure.ts";
import { memory } from "./memory.ts";
import { memoryAccounts, memoryMixed, memoryStreams } from "./memory-crowd.ts";
import { comparePeers } from "./peers/peers.ts";
import { isProfileKind, PROFILE_KINDS, profile } from "./profile.ts";
import { startUp } from "./start-up.ts";
import { machine, table } from "./table.ts";
import { traces } from "./traces.ts";

const MEASURES: readonly Measure[] = [
  cpu,
  messages,
  translated,
  latency,
  halfLoad,
  manyAccounts,
  startUp,
  failover,
  memory,
  memoryAccounts,
  memoryMixed,
  memoryStreams,
  largeBodies,
  conversations,
  hostile,
  inFlight,
  apiKeys,
  cluster,
  consolePaint,
  traces,
  allocations,
];

const USAGE = `npm run bench -- [--quick] [--only NAMES] [--peers] [--profile KIND] [--help]

  --quick         shorter rounds and fewer requests: a look, not a result
  --only NAMES    these measures, such as cpu,start; those marked by * run only when they are named:
${MEASURES.map(({ name, about, isLong }) => `                    ${name.padEnd(16)} ${about}${isLong ? " *" : ""}`).join("\n")}
  --minutes N     how long memory-mixed runs
  --peers         no table, but docs/speed.md and its chart: nginx and other gateways in the same run
  --profile KIND  no table, but where the server's CPU time goes under that load: ${PROFILE_KINDS.join(", ")}`;

/** Takes the measures one after another, and prints what they found: also when one of them throws, for a run takes half an hour. */
async function run(chosen: Iterable<Measure>, quick: boolean, minutes?: number): Promise<void> {
  const measured: Measured[] = [];
  try {
    for (const measure of chosen) {
      console.error(`${measure.name}: ${measure.about} …`);
      measured.push(await measure.run(quick, minutes));
    }
  } finally {
    if (measured.length > 0) print(measured, quick);
  }
}

function print(measured: readonly Measured[], quick: boolean): void {
  const rows = measured.flatMap((one) => one.rows);
  const cells = rows.map((row) => [
    row.what,
    row.service,
    row.passThrough,
    row.result,
    row.target,
    row.must ?? "",
  ]);
  console.log(
    `\n${table(["", "arborgate", "pass-through", "", "target", "must"], cells)}\n\n${machine()}${quick ? " A quick run: rough." : ""}`,
  );
  const notes = measured.flatMap((one) => one.notes);
  if (notes.length > 0) console.log(`\n${notes.map((note) => `- ${note}`).join("\n")}`);
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    minutes: { type: "string" },
    peers: { type: "boolean", default: false },
    profile: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const only = values.only?.split(",");
const unknown = only?.find((asked) => MEASURES.every(({ name }) => name !== asked));
const chosen = MEASURES.filter(({ name, isLong }) => only?.includes(name) ?? !isLong);
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);

if (values.help) {
  console.log(USAGE);
} else if (unknown !== undefined) {
  console.error(`bench: there is no measure "${unknown}"\n\n${USAGE}`);
  process.exitCode = 2;
} else if (values.profile !== undefined && !isProfileKind(values.profile)) {
  console.error(`bench: there is no profile of "${values.profile}"\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  try {
    if (values.peers) await comparePeers(values.quick);
    else await (values.profile === undefined ? run(chosen, values.quick, minutes) : profile(values.profile));
  } catch (error) {
    if (!(error instanceof WrongResult)) throw error;
    console.error(`bench: WRONG RESULT: ${error.message}`);
    process.exitCode = 1;
  }
}
