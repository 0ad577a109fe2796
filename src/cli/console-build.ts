// Brings the console up to date where its sources are: in a child process, so that the service answers meanwhile and keeps none
// of the bundler's memory. A released image has no sources, and serves what it carries.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../base/log.ts";
import { BUILT_CONSOLE, type ConsoleSource } from "../node/console-files.ts";

const HOME = join(import.meta.dirname, "../..");
/** Characters of the builder's complaint that are shown. */
const COMPLAINT_LENGTH_MAX = 2_000;

/** The console, and how to begin with it. */
export interface ConsoleUpdate extends ConsoleSource {
  /** Begins to bring it up to date, once; the first request for it does so too. */
  start(): void;
}

/**
 * Returns the console of this installation. `command` brings it up to date and ends at once where it is; `sources`: the folder
 * without which nothing is built.
 */
export function consoleUpdate(
  log: Log,
  sources: string = join(HOME, "console"),
  command: readonly string[] = [process.execPath, join(HOME, "scripts/build-console.ts")],
): ConsoleUpdate {
  let outcome: Promise<string | null> | null = null;
  const ready = (): Promise<string | null> => {
    outcome ??= existsSync(sources) ? run(command, log) : Promise.resolve(null);
    return outcome;
  };
  return { directory: BUILT_CONSOLE.directory, ready, start: () => void ready() };
}

/** Resolves to null when the command ended well, otherwise to a text for the reader of the page. */
async function run(command: readonly string[], log: Log): Promise<string | null> {
  const child = Bun.spawn([...command], { cwd: HOME, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [complaint, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code === 0) return null;
  log("error", "console_not_built", { code, error: complaint });
  // Paths of the machine are nobody's business but the log's.
  const shown = complaint.replaceAll(HOME, ".").trim().slice(0, COMPLAINT_LENGTH_MAX);
  return `The console could not be built. Correct this, then start the service again:\n\n${shown}`;
}
