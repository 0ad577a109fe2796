// Python for the tests of its SDKs and programs: virtual environments in `.cache` with pinned packages, each made once, and
// processes that run a script in one. Installs nothing outside of them.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "./harness.ts";

const SCRIPTS = join(import.meta.dir, "python");
const CACHE = join(import.meta.dir, "../../.cache");

/** An environment: its folder in the cache, and the file of its packages. */
export interface Environment {
  readonly name: string;
  readonly requirements: string;
}

/** That of the SDKs, and of the programs that get along with them. */
const SDKS: Environment = { name: "python", requirements: join(SCRIPTS, "requirements.txt") };

export type Python =
  | { readonly ok: true; readonly path: string }
  /** Why there is none. */
  | { readonly ok: false; readonly reason: string };

/** The interpreter of an environment, which is made when it is missing or older than its requirements. */
export async function preparePython({ name, requirements }: Environment = SDKS): Promise<Python> {
  const home = join(CACHE, name);
  const base = Bun.which("python3");
  if (base === null) return { ok: false, reason: "python3 is not installed" };
  const made = { ok: true, path: join(home, "bin/python") } as const;
  // An environment belongs to the interpreter that made it.
  const stamp = `${base} ${(await run([base, "--version"])).out}${readFileSync(requirements, "utf8")}`;
  if (stampOf(home) === stamp && existsSync(made.path)) return made;

  // Made aside, and put in place whole: two test runs may begin at the same time.
  const aside = join(CACHE, `${name}-${process.pid}`);
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  try {
    for (const command of [
      [base, "-m", "venv", aside],
      [join(aside, "bin/python"), "-m", "pip", "install", "--quiet", "--no-input", "-r", requirements],
    ]) {
      const { code, out, err } = await run(command);
      const last = `${out}\n${err}`.trim().split("\n").at(-1);
      if (code !== 0)
        return { ok: false, reason: `${command.slice(1, 4).join(" ")} ended with ${code}: ${last}` };
    }
    writeFileSync(join(aside, "made-of.txt"), stamp);
    if (stampOf(home) !== stamp) {
      rmSync(home, { recursive: true, force: true });
      renameSync(aside, home);
    }
    return made;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function stampOf(home: string): string | null {
  const file = join(home, "made-of.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

/** Runs a script with `input` as JSON on its stdin; answers the JSON of each line it printed. */
export async function runScript(python: string, script: string, input: object): Promise<Json[]> {
  const { code, out, err } = await run([python, join(SCRIPTS, script)], JSON.stringify(input));
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${err}`);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function run(command: string[], input = ""): Promise<{ code: number; out: string; err: string }> {
  const child = Bun.spawn(command, {
    // A proxy of the machine is not for loopback, and scripts leave nothing beside themselves.
    env: { ...process.env, NO_PROXY: "127.0.0.1,localhost", PYTHONDONTWRITEBYTECODE: "1" },
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}
