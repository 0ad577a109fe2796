// `npm run sim:mutants [-- --only TEXT] [--jobs J]`: takes one rule after another out of a copy of the sources, and runs
// seeds until a checker speaks. Exit 1 when a rule can be missing unnoticed, or does not stand where the list says.

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { MUTANTS, type Mutant } from "./mutants.ts";
import type { Failure, Ran } from "./runner.ts";

const ROOT = resolve(import.meta.dir, "../..");
const COPIED = ["actors", "src", "test/sim", "test/store/memory", "package.json", "tsconfig.json"];
const LINKED = ["node_modules"];
const SEEDS = 40;
const VAIN_MOST = 6;
/** A mutant may hang for ever: that counts as seen, since a seed ends. */
const MOST_MS = 600_000;

const value = (name: string): string | null => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : (process.argv[at + 1] ?? null);
};

function copied(): string {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-mutants-"));
  for (const path of COPIED) cpSync(join(ROOT, path), join(directory, path), { recursive: true });
  for (const path of LINKED) symlinkSync(join(ROOT, path), join(directory, path));
  return directory;
}

/** The first seed that fails from there on; null: none does, or nothing could be said. */
async function firstFailing(
  directory: string,
  seed: number,
  runs: number,
  mutant: Mutant,
): Promise<Failure | null> {
  const args = ["--json", "--first", "--seed", `${seed}`, "--runs", `${runs}`];
  const options = ["--with", JSON.stringify(mutant.options ?? {})];
  const run = Bun.spawn([process.execPath, join(directory, "test/sim/main.ts"), ...args, ...options], {
    stdout: "pipe",
    stderr: "pipe",
    timeout: MOST_MS,
  });
  const [said, error] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ]);
  if (said === "") return { seed, complaints: [`it does not end well: ${error.slice(-300)}`] };
  const { failed }: Ran = JSON.parse(said);
  return failed[0] ?? null;
}

/** What is wrong with the mutant or with what it shows; null: it was found. */
async function survives(directory: string, mutant: Mutant): Promise<string | null> {
  const changes = [mutant, ...(mutant.also === undefined ? [] : [mutant.also])].map(({ file, from, to }) => {
    const path = join(directory, file);
    const text = readFileSync(path, "utf8");
    return { file, path, text, changed: text.replace(from, () => to), stands: text.split(from).length - 1 };
  });
  const astray = changes.find(({ stands }) => stands !== 1);
  if (astray !== undefined) return `its text stands ${astray.stands} times in ${astray.file}`;
  const end = 1 + (mutant.seeds ?? SEEDS);
  let vain = 0;
  for (let seed = 1; seed < end; seed++) {
    for (const { path, changed } of changes) writeFileSync(path, changed);
    const failure = await firstFailing(directory, seed, end - seed, mutant);
    for (const { path, text } of changes) writeFileSync(path, text);
    if (failure === null) break;
    seed = failure.seed;
    // What fails without it too shows nothing of it.
    const control = await firstFailing(directory, seed, 1, mutant);
    const besides = control === null ? "" : " (fails without it too)";
    console.log(`    seed ${seed}${besides}: ${failure.complaints[0]!.split("\n")[0]!.slice(0, 140)}`);
    if (control === null) return null;
    if (++vain === VAIN_MOST) return `${vain} seeds fail without it too`;
  }
  return `survived ${end - 1} seeds`;
}

const only = value("only");
const waiting = MUTANTS.filter(({ name }) => only === null || name.includes(only));
const survivors: string[] = [];
async function work(): Promise<void> {
  const directory = copied();
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const why = await survives(directory, mutant);
    console.log(
      `${why === null ? "found    " : "SURVIVED "} ${mutant.name}${why === null ? "" : `: ${why}`}`,
    );
    if (why !== null) survivors.push(mutant.name);
  }
  rmSync(directory, { recursive: true });
}
await Promise.all(Array.from({ length: Number(value("jobs") ?? 1) }, work));
console.log(
  `${survivors.length} of the rules can be missing unnoticed${survivors.length > 0 ? `: ${survivors.join(", ")}` : ""}`,
);
process.exit(survivors.length > 0 ? 1 : 0);
