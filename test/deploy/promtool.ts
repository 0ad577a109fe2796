// promtool of Debian's package prometheus, which checks configurations, rules and metrics, and runs the tests of rules. Where it
// is not installed the tests that need it are skipped, loudly; with CI=true that is a failure.

import { announceSkipped } from "../skipped.ts";

/** What promtool said. */
export interface Checked {
  readonly code: number;
  readonly text: string;
}

/** Runs promtool in a directory, with an input. */
export type Promtool = (args: readonly string[], directory: string, input?: string) => Checked;

/** Returns promtool, or null where it is not installed: then `what` is skipped. */
export function promtool(what: string): Promtool | null {
  const program = Bun.which("promtool");
  if (program === null) {
    const why = "no promtool in PATH (Debian's package prometheus)";
    if (process.env.CI === "true") throw new Error(`${what}: ${why}`);
    announceSkipped(what, why);
    return null;
  }
  return (args, cwd, input = "") => {
    const stdin = new TextEncoder().encode(input);
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { cwd, stdin, timeout: 30_000 });
    return { code: exitCode, text: `${stdout}${stderr}` };
  };
}
