// The scripts of package.json that serve until they are stopped, as npm runs them: in a shell, to which it passes a signal on.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
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

test.each(["demo", "cluster"] as const)("%s is the process that its shell began as", (name) => {
  expect(manifest.scripts[name]).toStartWith("exec ");
});
