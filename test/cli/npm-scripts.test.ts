// The scripts of package.json that serve until they are stopped, as npm runs them: in a shell, to which it passes a signal on.

import { expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };

/** Arguments behind the script, and the line that says where it serves. */
const SERVING = [
  ["start", "", /serves on (http:\S+)/],
  ["cli", " serve", /serves on (http:\S+)/],
  ["provider", " --port 0", /listens at (http:\S+)/],
] as const;

test.each(SERVING)("a signal to %s ends what it started", async (name, args, line) => {
  const home = mkdtempSync(join(tmpdir(), "arborgate-scripts-"));
  const shell = Bun.spawn(["sh", "-c", manifest.scripts[name] + args], {
    cwd: join(import.meta.dirname, "../.."),
    env: {
      ...{ PATH: process.env.PATH!, PORT: "0" },
      ...{ STORE_URL: `sqlite:${join(home, "live.db")}`, SPOOL_DIR: join(home, "spool") },
    },
    stdout: "pipe",
    stderr: "ignore",
    // A group of its own, all of which is ended when the signal reached the shell alone.
    detached: true,
  });
  let said = "";
  for await (const chunk of shell.stdout) {
    said += Buffer.from(chunk).toString();
    if (line.test(said)) break;
  }
  const url = line.exec(said)![1]!;
  shell.kill("SIGTERM");
  await shell.exited;
  const answered = await fetch(url).then(
    () => true,
    () => false,
  );
  if (answered) process.kill(-shell.pid, "SIGKILL");
  rmSync(home, { recursive: true });
  expect(answered).toBe(false);
});

/** What stands in for Bun of the PATH, which installs, and for the one that is installed. */
const BUN = {
  path: `#!/bin/sh
echo "$1" >>installs
if [ -e offline ]; then exit 1; fi
mkdir -p node_modules/.bin && cp installed-bun node_modules/.bin/bun`,
  installed: '#!/bin/sh\necho "runs $1"',
};

function writeProgram(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** `mark`: the age of the mark beside the lock file. A machine that is offline cannot install. */
test.each([
  [
    { bun: false, mark: null, offline: false },
    { installs: true, code: 0, marked: true },
  ],
  [
    { bun: true, mark: "newer", offline: true },
    { installs: false, code: 0, marked: true },
  ],
  [
    { bun: true, mark: "older", offline: false },
    { installs: true, code: 0, marked: true },
  ],
  // What an install left that was broken off.
  [
    { bun: true, mark: null, offline: false },
    { installs: true, code: 0, marked: true },
  ],
  // An install by hand, which leaves no mark.
  [
    { bun: true, mark: null, offline: true },
    { installs: true, code: 0, marked: false },
  ],
  [
    { bun: true, mark: "older", offline: true },
    { installs: true, code: 1, marked: true },
  ],
  [
    { bun: false, mark: null, offline: true },
    { installs: true, code: 1, marked: false },
  ],
] as const)("bun.sh with %j: %j", ({ bun, mark, offline }, expected) => {
  const home = mkdtempSync(join(tmpdir(), "arborgate-bun-"));
  const at = (path: string) => join(home, path);
  for (const path of ["scripts", "bin", "node_modules/.bin"]) mkdirSync(at(path), { recursive: true });
  copyFileSync(join(import.meta.dirname, "../../scripts/bun.sh"), at("scripts/bun.sh"));
  writeProgram(at("bin/bun"), BUN.path);
  writeProgram(at("installed-bun"), BUN.installed);
  if (bun) writeProgram(at("node_modules/.bin/bun"), BUN.installed);
  if (offline) writeFileSync(at("offline"), "");
  for (const path of ["package.json", "bun.lock"]) writeFileSync(at(path), "");
  utimesSync(at("bun.lock"), 2_000, 2_000);
  if (mark !== null) {
    writeFileSync(at("node_modules/.installed"), "");
    const second = mark === "newer" ? 3_000 : 1_000;
    utimesSync(at("node_modules/.installed"), second, second);
  }
  const env = { PATH: `${at("bin")}:${process.env.PATH!}` };
  const { exitCode, stdout } = Bun.spawnSync(["sh", at("scripts/bun.sh"), "x.ts"], { env });
  const found = {
    ...{ installs: existsSync(at("installs")), code: exitCode },
    marked: existsSync(at("node_modules/.installed")),
  };
  rmSync(home, { recursive: true });
  expect(found).toEqual(expected);
  expect(stdout.toString()).toBe(expected.code === 0 ? "runs x.ts\n" : "");
});

test.each(["demo", "cluster"] as const)("%s is the process that its shell began as", (name) => {
  expect(manifest.scripts[name]).toStartWith("exec ");
});
