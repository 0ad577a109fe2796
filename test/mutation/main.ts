// `npm run mutate -- --count 100 --seed 1`: changes the sources in small ways, one at a time, and says which changes no test
// notices. An operator becomes another, a number one more, true becomes false, a code another word, a statement is left out.
// Each is judged by the tests of its own area (areas.ts), in a private copy of the tree.
//
//   --count N     how many are drawn (default 100)          --seed N   from this seed (default 1)
//   --only PATH   of sources whose path begins so           --list     says what would be tried, and tries nothing
//   --save FILE   writes the drawn list                     --from FILE   takes that list in place of drawing
//   --map FILE    JSON of old path to new path, or to a list of them; directories too. For a list that is older than the
//                 sources: each mutation is found again by its line, its surroundings and its function (locate.ts)
//   --limit N     seconds for the tests of one mutation (default 90); those who need longer count as found by a timeout
//   --out FILE    a JSON line for each judged mutation, and one of totals (default: in the temporary directory)
//
// Exit 1 when one survived, or could not be located.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { testsOf } from "./areas.ts";
import { choose } from "./choose.ts";
import { createJudge, type Verdict } from "./judge.ts";
import type { Candidate, Mutation } from "./kinds.ts";
import { locate, type Moves } from "./locate.ts";
import { candidatesIn, mutated, sourcePaths } from "./sources.ts";

const ROOT = join(import.meta.dirname, "../..");
const { values } = parseArgs({
  options: {
    count: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    limit: { type: "string", default: "90" },
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    save: { type: "string" },
    from: { type: "string" },
    map: { type: "string" },
    out: { type: "string" },
  },
});

interface Wanted {
  /** As it was drawn. */
  readonly mutation: Mutation;
  /** The place of the mutation; null where nothing in the sources resembles it. */
  readonly candidate: Candidate | null;
  readonly alike: number;
}

const parses = (candidate: Candidate): boolean =>
  mutated(readFileSync(join(ROOT, candidate.file), "utf8"), candidate) !== null;

function draw(candidates: readonly Candidate[]): Wanted[] {
  const chosen = choose(candidates, { count: Number(values.count), seed: Number(values.seed), parses });
  return chosen.map((candidate) => ({ mutation: described(candidate), candidate, alike: 1 }));
}

/** Without its place in the text, which says nothing of another text. */
function described({ start: _, ...mutation }: Candidate): Mutation {
  return mutation;
}

function taken(file: string, candidates: readonly Candidate[]): Wanted[] {
  const list: readonly Mutation[] = JSON.parse(readFileSync(file, "utf8"));
  const moves: Moves = values.map === undefined ? {} : JSON.parse(readFileSync(values.map, "utf8"));
  const wanted = list.map((mutation) => {
    const found = locate(mutation, candidates, moves);
    return { mutation, candidate: found?.candidate ?? null, alike: found?.alike ?? 0 };
  });
  return wanted
    .filter(({ mutation, candidate }) => (candidate ?? mutation).file.startsWith(values.only))
    .slice(0, Number(values.count));
}

const shown = ({ file, line, kind, before, after, text }: Mutation): string =>
  `${file}:${line} ${kind}: ${before} -> ${after === "" ? "(nothing)" : after}${kind === "statement" ? "" : `   in: ${text}`}`;

const paths = sourcePaths(ROOT);
const candidates = await candidatesIn(
  ROOT,
  values.from === undefined ? paths.filter((path) => path.startsWith(values.only)) : paths,
);
const wanted = values.from === undefined ? draw(candidates) : taken(values.from, candidates);
if (values.save !== undefined) {
  writeFileSync(
    values.save,
    `${JSON.stringify(
      wanted.map(({ mutation }) => mutation),
      null,
      2,
    )}\n`,
  );
}

if (values.list) {
  for (const { mutation, candidate, alike } of wanted) {
    const share = candidate === null || alike === 1 ? "" : ` (${Math.round(alike * 100)} % alike)`;
    console.log(candidate === null ? `NOT LOCATED ${shown(mutation)}` : `${shown(candidate)}${share}`);
  }
  console.log(`${wanted.length} of ${candidates.length} mutations`);
  process.exit(wanted.some(({ candidate }) => candidate === null) ? 1 : 0);
}

const out = values.out ?? join(tmpdir(), `arborgate-mutation-${values.seed}-${process.pid}.jsonl`);
const totals: Record<Verdict | "lost", number> = { found: 0, survived: 0, timeout: 0, unsound: 0, lost: 0 };
const judge = createJudge(ROOT, Number(values.limit) * 1_000);
process.on("exit", judge.close);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
for (const { mutation, candidate, alike } of wanted) {
  const began = performance.now();
  const verdict = candidate === null ? "lost" : await judge.judge(candidate, testsOf(candidate.file));
  totals[verdict]++;
  const ms = Math.round(performance.now() - began);
  const now = candidate === null ? null : described(candidate);
  appendFileSync(out, `${JSON.stringify({ verdict, ms, alike, mutation, now })}\n`);
  console.log(`${verdict.padEnd(9)} ${shown(now ?? mutation)}`);
}
appendFileSync(out, `${JSON.stringify({ totals })}\n`);
console.log(
  Object.entries(totals)
    .map(([name, count]) => `${count} ${name}`)
    .join(", "),
);
console.log(`written to ${out}`);
process.exit(totals.survived + totals.lost > 0 ? 1 : 0);
