// Programs that are no dependency of the project: each in a folder of its own in `.cache`, made once from pinned versions.
// Installs nothing outside of it.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { type Python, preparePython } from "../python.ts";

const CACHE = join(import.meta.dir, "../../../.cache");

/** Where a program is, or why it is not. */
export type Installed = Python;

/** What is run of Codex: the program itself, without its launcher. */
const CODEX_PROGRAM = "node_modules/@openai/codex-*/vendor/*/bin/codex";

/** Codex, whose package has a program for each platform. */
export async function prepareCodex(): Promise<Installed> {
  const home = join(CACHE, "codex");
  const pinned = join(import.meta.dir, "codex");
  const lock = readFileSync(join(pinned, "bun.lock"), "utf8");
  const stamp = join(home, "made-of.txt");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return programIn(home);

  // Made aside, and put in place whole: two test runs may begin at the same time.
  const aside = `${home}-${process.pid}`;
  mkdirSync(aside, { recursive: true });
  try {
    for (const name of ["package.json", "bun.lock"]) {
      writeFileSync(join(aside, name), readFileSync(join(pinned, name)));
    }
    const child = Bun.spawn([process.execPath, "install", "--frozen-lockfile", "--no-progress"], {
      cwd: aside,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) return { ok: false, reason: `${out}\n${err}`.trim() };
    writeFileSync(join(aside, "made-of.txt"), lock);
    rmSync(home, { recursive: true, force: true });
    renameSync(aside, home);
    return programIn(home);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function programIn(home: string): Installed {
  const [path] = new Glob(CODEX_PROGRAM).scanSync({ cwd: home, followSymlinks: true });
  return path === undefined
    ? { ok: false, reason: "its package has no program for this platform" }
    : { ok: true, path: join(home, path) };
}

/** The versions of Python that aider can be installed on. */
const AIDER_PYTHONS = /^3\.1[012]\./;

/** The interpreter of an environment of its own for aider, which wants older packages than the SDKs. */
export async function prepareAider(): Promise<Installed> {
  const version = (
    await Bun.$`python3 -c "import platform; print(platform.python_version())"`.quiet().nothrow()
  )
    .text()
    .trim();
  if (!AIDER_PYTHONS.test(version)) {
    return { ok: false, reason: `aider needs Python 3.10, 3.11 or 3.12, and this is ${version || "none"}` };
  }
  return preparePython({
    name: "aider",
    requirements: join(import.meta.dir, "python/aider-requirements.txt"),
  });
}
