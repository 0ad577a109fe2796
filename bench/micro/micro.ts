// `npm run bench:micro`: what single functions of a request's path cost, in nanoseconds of CPU time per call. It shows effects of less than
// eight microseconds, which the paired benchmark does not.

import { parseArgs } from "node:util";
import { grouped } from "../figures.ts";
import { machineFacts, table } from "../table.ts";
import {
  activation,
  activationWithKeys,
  admitDecision,
  cappedKeyAdmit,
  chargeDecision,
  mainKeyAdmitBesideKeys,
} from "./account-cases.ts";
import { attemptCounted } from "./activity-cases.ts";
import { conversationMeetsKey } from "./affinity-cases.ts";
import { chargeNoted, refusalReported } from "./history-cases.ts";
import {
  chatParse,
  chatStreamFeed,
  http1Whole,
  meterUsageOf,
  routeLookUp,
  sseRead,
} from "./request-cases.ts";
import { appendBatch } from "./store-cases.ts";
import { type Call, type Repetitions, time } from "./timing.ts";

interface Case {
  readonly name: string;
  readonly what: string;
  prepare(): Call | Promise<Call>;
  /** Calls of a repetition, where a million would need too much memory. */
  readonly callsMax?: number;
}

const CASES: readonly Case[] = [
  { name: "parse", what: "chat request, parsed", prepare: chatParse },
  { name: "route", what: "route, found again", prepare: routeLookUp },
  { name: "affinity", what: "conversation, its key of five", prepare: conversationMeetsKey },
  { name: "admit", what: "admit, decided and evolved", prepare: admitDecision },
  { name: "admit-key", what: "the same of a named key with four caps", prepare: cappedKeyAdmit },
  {
    name: "admit-beside",
    what: "the same of the main key beside 200 others",
    prepare: mainKeyAdmitBesideKeys,
  },
  { name: "http1", what: "whole answer, split into head and body", prepare: http1Whole },
  { name: "attempt", what: "attempt, counted for its key's figures", prepare: attemptCounted },
  { name: "meter", what: "usage and charge of an answer", prepare: meterUsageOf },
  { name: "charge", what: "charge, decided and evolved", prepare: chargeDecision },
  { name: "activate", what: "account, from its snapshot's text", prepare: activation },
  { name: "activate-keys", what: "the same with 200 named keys", prepare: activationWithKeys },
  { name: "history", what: "charge, noted among the last requests", prepare: chargeNoted },
  { name: "report", what: "refusal, reported to the last requests", prepare: refusalReported },
  { name: "append", what: "32 commits, appended in memory", prepare: appendBatch, callsMax: 500 },
  { name: "sse", what: "100 events, read from one chunk", prepare: sseRead },
  { name: "feed", what: "100 events, fed to a chat stream", prepare: chatStreamFeed },
];

const FULL: Repetitions = { repetitions: 10, callsMax: 1_000_000, msMax: 3_000 };
const QUICK: Repetitions = { repetitions: 3, callsMax: 1_000_000, msMax: 300 };

const USAGE = `npm run bench:micro -- [--quick] [--only NAME] [--help]

  --quick      shorter repetitions: a look, not a result
  --only NAME  one function: ${CASES.map(({ name }) => name).join(", ")}`;

async function run(cases: readonly Case[], wanted: Repetitions): Promise<void> {
  const rows: string[][] = [];
  for (const { name, what, prepare, callsMax = wanted.callsMax } of cases) {
    console.error(`${name} …`);
    const { bestNs, medianNs, calls } = await time(await prepare(), { ...wanted, callsMax });
    rows.push([`${name}: ${what}`, grouped(bestNs), grouped(medianNs), grouped(calls)]);
  }
  const best = `best of ${wanted.repetitions}`;
  console.log(`\n${table(["", `CPU ns, ${best}`, "median", "calls"], rows)}\n\n${machineFacts()}.`);
}

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const cases = CASES.filter(({ name }) => values.only === undefined || name === values.only);
if (values.help) {
  console.log(USAGE);
} else if (cases.length === 0) {
  console.error(`bench: there is no function "${values.only}"\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  await run(cases, values.quick ? QUICK : FULL);
}
