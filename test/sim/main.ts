// `npm run sim -- --seed N --runs M [--nodes K] [--jobs J] [--verbose]`: runs seeds N .. N+M-1, says what happened, and on
// a violation prints the one command that shows it again. Exit 1 when any seed failed. `--first` ends with the first one
// that does, `--with JSON` takes the place of what is drawn; `--json` prints the outcome for another process.

import { command, type Failure, type Ran, runApart, runHere } from "./runner.ts";

function argument(name: string, usual: number): number {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return usual;
  const value = Number(process.argv[at + 1]);
  if (!Number.isSafeInteger(value) || value < 0) {
    console.error(`--${name} takes a whole number, not ${process.argv[at + 1]}`);
    process.exit(2);
  }
  return value;
}

const flag = (name: string): boolean => process.argv.includes(`--${name}`);
const wanted = {
  seed: argument("seed", 1),
  runs: argument("runs", 100),
  nodes: argument("nodes", 0) || null,
  first: flag("first"),
  options: JSON.parse(flag("with") ? process.argv[process.argv.indexOf("--with") + 1]! : "{}"),
};
const jobs = argument("jobs", 1);
const begun = performance.now();

function report({ seed, complaints }: Failure): void {
  for (const complaint of complaints) console.log(`seed ${seed} ${complaint}`);
  console.log(`  again: ${command(wanted, seed)}`);
}

function summary({ runs, failed, totals, virtualMs }: Ran): void {
  const seconds = (performance.now() - begun) / 1_000;
  for (const [what, count] of Object.entries(totals).sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(count).padStart(10)}  ${what}`);
  }
  console.log(
    `${runs} seeds from ${wanted.seed}, ${failed.length} failed; ${(virtualMs / 3_600_000).toFixed(1)} virtual hours ` +
      `in ${seconds.toFixed(1)} s, ${(runs / seconds).toFixed(1)} seeds per second`,
  );
}

if (flag("json")) {
  console.log(JSON.stringify(await runHere(wanted)));
} else {
  let done = 0;
  const ran =
    jobs > 1
      ? await runApart(wanted, jobs, ({ runs, failed }) => {
          done += runs;
          for (const failure of failed) report(failure);
          if (process.stderr.isTTY) process.stderr.write(`\r${done}/${wanted.runs} seeds `);
        })
      : await runHere(wanted, flag("verbose") ? (line) => console.log(line) : undefined);
  if (jobs <= 1) for (const failure of ran.failed) report(failure);
  summary(ran);
  process.exit(ran.failed.length > 0 ? 1 : 0);
}
