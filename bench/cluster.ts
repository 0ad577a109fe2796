// `npm run bench:cluster`: measures three nodes on NATS and MongoDB's protocol beside one node, in one run, and prints a
// table for bench/README.md. Exits 1 when a result is wrong (a bad answer, unlike bytes, a charge too many or too few), never
// because it is slow.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WrongResult } from "./books.ts";
import { CLUSTER_ACCOUNTS, measureCluster } from "./cluster-measure.ts";
import { measureProcesses } from "./cluster-processes.ts";
import { type Fleet, onCluster } from "./cluster-stage.ts";
import { CONCURRENCY } from "./cpu.ts";
import {
  askedIn,
  isProfileKind,
  PROFILE_KINDS,
  type ProfileKind,
  printProfile,
  watch,
  watching,
} from "./profile.ts";
import { machine, table } from "./table.ts";

const PROFILES = PROFILE_KINDS.filter(
  (kind) => askedIn(kind).style === "chat" && askedIn(kind).keys === "chat",
);

const USAGE = `npm run bench:cluster -- [--quick] [--profile KIND] [--processes COUNTS] [--help]

  --quick         shorter rounds and fewer requests: a look, not a result
  --profile KIND  no table, but where the CPU time of the nodes goes under that load: ${PROFILES.join(", ")}
  --processes COUNTS  another table: one machine with so many processes on one port, such as 1,2,4`;

async function run(quick: boolean): Promise<void> {
  const { rows, notes } = await measureCluster(quick);
  console.log(`\n${table(["", "three nodes", "one node", "", "target", "must"], rows)}`);
  console.log(`\n${machine()}${quick ? " A quick run: rough." : ""}\n`);
  for (const line of notes) console.log(`- ${line}`);
}

async function processes(counts: readonly number[], quick: boolean): Promise<void> {
  const { rows, notes } = await measureProcesses(counts, quick);
  const heads = ["", "requests/s", "to the first", "CPU per request", "NATS and database"];
  console.log(`\n${table(heads, rows)}`);
  console.log(`\n${machine()}${quick ? " A quick run: rough." : ""}\n`);
  for (const line of notes) console.log(`- ${line}`);
}

/** Returns null where these are no numbers of processes. */
function countsIn(text: string): readonly number[] | null {
  const counts = text.split(",").map(Number);
  return counts.every((count) => Number.isInteger(count) && count >= 1 && count <= 16) ? counts : null;
}

async function profile(kind: ProfileKind): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-profile-"));
  const of = (node: string) => join(directory, node);
  try {
    const watched = await onCluster(
      { accounts: CLUSTER_ACCOUNTS, flagsOf: (node) => watching(of(node)) },
      async (stage) => {
        const load = ({ nodes, targets }: Fleet) =>
          watch(nodes, (ms) =>
            stage.load({
              targets,
              ask: askedIn(kind),
              concurrency: CONCURRENCY,
              most: { ms },
              times: "none",
            }),
          );
        return { "bench-1": await load(stage.cluster), single: await load(stage.single) };
      },
    );
    for (const [node, spent] of Object.entries(watched)) {
      console.log(`\n== ${node === "single" ? "one node" : `three nodes; part and place by ${node}`}`);
      printProfile(spent, of(node));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    profile: { type: "string" },
    processes: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const counts = values.processes === undefined ? [] : countsIn(values.processes);

if (values.help) {
  console.log(USAGE);
} else if (counts === null) {
  console.error(`bench: "${values.processes}" is no list of 1 to 16, such as 1,2,4\n\n${USAGE}`);
  process.exitCode = 2;
} else if (
  values.profile !== undefined &&
  !(isProfileKind(values.profile) && PROFILES.includes(values.profile))
) {
  console.error(`bench: there is no profile of "${values.profile}"\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  try {
    if (counts.length > 0) await processes(counts, values.quick);
    else await (values.profile === undefined ? run(values.quick) : profile(values.profile as ProfileKind));
  } catch (error) {
    if (!(error instanceof WrongResult)) throw error;
    console.error(`bench: WRONG RESULT: ${error.message}`);
    process.exitCode = 1;
  }
}
