// `npm run bench:guard`: compares what requests cost, as a ratio to the pass-through, with bench/baseline.json. What is more than
// a quarter worse is measured again on new processes; the exit code is 1 only when it is worse again, or when an answer is
// wrong. `--write` writes the baseline of this processor instead. A process gets faster over tens of thousands of requests, so
// every pass has the same kinds in the same order as the baseline's.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { WrongResult } from "../books.ts";
import { type Baseline, ratioIn, readBaselines, writeBaseline } from "./baseline.ts";
import { finalVerdict, type Judgment, judge, QUIET_ROUNDS_MIN } from "./judge.ts";
import { GUARD_KINDS, measureRounds } from "./measure.ts";

/** Both passes together. What is left of the two minutes is for starting and ending processes. */
const BUDGET_MS = 105_000;
/** The second pass has time for all kinds, if all of them are worse. */
const FIRST_PASS_MS = 65_000;
const ROUNDS = { quiet: 5, most: 8 };
/** Passes of a baseline, each on new processes: it has the largest ratio of them. */
const PASSES_OF_BASELINE = 3;

const times = (ratio: number): string => `× ${ratio.toFixed(2)}`;

function outcomeOf(judgment: Judgment): string {
  switch (judgment.verdict) {
    case "busy":
      return `machine too busy, not judged: ${judgment.quiet} of ${judgment.rounds} rounds count`;
    case "unknown":
      return `${times(judgment.ratio)}, not in the baseline`;
    case "kept":
    case "worse": {
      const { ratio, change, verdict } = judgment;
      return `${times(ratio)}, ${change < 0 ? "" : "+"}${(change * 100).toFixed(0)} %${verdict === "worse" ? ", worse" : ""}`;
    }
  }
}

/** Returns the number of kinds that failed. */
async function compare(baselines: readonly Baseline[]): Promise<number> {
  const startedAt = performance.now();
  const judged = async (kinds: typeof GUARD_KINDS, untilMs: number) => {
    const rounds = await measureRounds(kinds, { ...ROUNDS, untilMs });
    return new Map(kinds.map(({ id }) => [id, judge(rounds.get(id) ?? [], ratioIn(baselines, id))]));
  };
  const first = await judged(GUARD_KINDS, startedAt + FIRST_PASS_MS);
  const worse = GUARD_KINDS.filter(({ id }) => first.get(id)!.verdict === "worse");
  const again = GUARD_KINDS.filter(({ keys }) => worse.some((one) => one.keys === keys));
  const second = worse.length === 0 ? null : await judged(again, startedAt + BUDGET_MS);
  const verdicts = GUARD_KINDS.map(({ id, what }) => {
    const one = first.get(id)!;
    const other = one.verdict === "worse" ? (second?.get(id) ?? null) : null;
    const outcomes = [one, other].filter((judgment) => judgment !== null).map(outcomeOf);
    const known = ratioIn(baselines, id);
    const stored = known === undefined ? "" : `${times(known)} → `;
    console.log(`  ${what}: ${stored}${outcomes.join("; measured again: ")}`);
    return finalVerdict(one, other);
  });
  const count = (verdict: (typeof verdicts)[number]) => verdicts.filter((one) => one === verdict).length;
  console.log(
    `bench:guard: ${count("passed")} kept, ${count("failed")} worse twice, ${count("not judged")} not judged ` +
      `(baseline of ${baselines.map(({ processor, date }) => `${processor}, ${date}`).join("; ")})`,
  );
  return count("failed");
}

/** Returns whether the machine was quiet enough. */
async function write(): Promise<boolean> {
  const ratios: Record<string, number> = {};
  for (let pass = 1; pass <= PASSES_OF_BASELINE; pass++) {
    const rounds = await measureRounds(GUARD_KINDS, { ...ROUNDS, untilMs: Number.POSITIVE_INFINITY });
    for (const { id, what } of GUARD_KINDS) {
      const judgment = judge(rounds.get(id) ?? [], undefined);
      console.log(`  ${what}, pass ${pass}: ${outcomeOf(judgment)}`);
      if (judgment.verdict !== "unknown") return false;
      ratios[id] = Math.max(ratios[id] ?? 0, Number(judgment.ratio.toFixed(2)));
    }
  }
  writeBaseline(ratios);
  return true;
}

async function run(isWriting: boolean): Promise<number> {
  if (isWriting) {
    if (await write()) return 0;
    console.error(
      `bench:guard: a kind has fewer than ${QUIET_ROUNDS_MIN} quiet rounds, no baseline is written`,
    );
    return 1;
  }
  const baselines = readBaselines();
  if (baselines.length === 0) {
    console.log("bench:guard: there is no baseline, not judged");
    return 0;
  }
  // With fewer cores the service shares its own with load and upstream, which raises every ratio.
  const cores = Math.min(...baselines.map((one) => one.cores));
  if (cpus().length < cores) {
    console.log(`bench:guard: ${cpus().length} cores, but ${cores} in the baseline, not judged`);
    return 0;
  }
  return (await compare(baselines)) > 0 ? 1 : 0;
}

const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
try {
  process.exitCode = await run(values.write);
} catch (error) {
  if (!(error instanceof WrongResult)) throw error;
  console.error(`bench:guard: WRONG RESULT: ${error.message}`);
  process.exitCode = 1;
}
