// `npm run sim -- --seed N --runs M [--verbose]`: runs seeds N .. N+M-1, says what happened, and on a violation prints
// the one command that shows it again. Exit 1 when any seed failed.

import { type Outcome, simulate } from "./simulate.ts";

const argument = (name: string, usual: number): number => {
  const at = process.argv.indexOf(`--${name}`);
  if (at < 0) return usual;
  const value = Number(process.argv[at + 1]);
  if (!Number.isSafeInteger(value) || value < 0) {
    console.error(`--${name} takes a whole number, not ${process.argv[at + 1]}`);
    process.exit(2);
  }
  return value;
};

const seed = argument("seed", 1);
const runs = argument("runs", 100);
const verbose = process.argv.includes("--verbose");

const unhandled: string[] = [];
process.on("unhandledRejection", (error) => {
  unhandled.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
});

const totals = new Map<string, number>();
const failed: number[] = [];
const begun = performance.now();
let virtualMs = 0;
for (let i = 0; i < runs; i++) {
  const outcome = await simulate(seed + i, verbose ? { print: (line) => console.log(line) } : {});
  await new Promise((resolve) => setImmediate(resolve));
  virtualMs += outcome.virtualMs;
  for (const [what, count] of outcome.counts) totals.set(what, (totals.get(what) ?? 0) + count);
  if (outcome.violations.length > 0 || unhandled.length > 0) report(outcome);
  if (process.stderr.isTTY) process.stderr.write(`\r${i + 1}/${runs} seeds, ${failed.length} failed `);
}
summary();
process.exit(failed.length > 0 ? 1 : 0);

function report(outcome: Outcome): void {
  failed.push(outcome.seed);
  for (const { at, checker, message } of outcome.violations.slice(0, 3)) {
    console.log(`seed ${outcome.seed} at ${(at / 1000).toFixed(3)} s: ${checker}: ${message}`);
  }
  for (const error of unhandled.splice(0)) console.log(`seed ${outcome.seed}: unhandled rejection: ${error}`);
  console.log(`  again: npm run sim -- --seed ${outcome.seed} --runs 1 --verbose`);
}

function summary(): void {
  const seconds = (performance.now() - begun) / 1000;
  for (const [what, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(count).padStart(10)}  ${what}`);
  }
  console.log(
    `${runs} seeds from ${seed}, ${failed.length} failed; ${(virtualMs / 3_600_000).toFixed(1)} virtual hours ` +
      `in ${seconds.toFixed(1)} s, ${(runs / seconds).toFixed(1)} seeds per second`,
  );
}
