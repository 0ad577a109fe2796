// The browser of the console's tests: Debian's Chromium, started once per process and shared by all test files. Where there is
// none, the tests are skipped with a closing line that says so; with CI=true that is a failure. Knows nothing of pages.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { shared } from "../shared.ts";
import { announceSkipped } from "../skipped.ts";

const USUAL_PATH = "/usr/bin/chromium";

/** A page of the console must ask nobody but its service; neither may the browser, which would disturb what tests see. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--font-render-hinting=none",
];

/** The path of Chromium (`CHROMIUM_PATH`, else where Debian puts it), or null. */
export const chromiumPath = (): string | null => {
  const path = process.env.CHROMIUM_PATH || USUAL_PATH;
  return existsSync(path) ? path : null;
};

/** The one browser of this process. Its profile is a directory of its own, which goes with it. */
export const openBrowser = shared<Browser>(
  async () => {
    const executablePath = chromiumPath();
    if (executablePath === null) throw new Error("there is no Chromium");
    return chromium.launch({ executablePath, args: ARGUMENTS, headless: true });
  },
  (browser) => browser.close(),
);

/**
 * Declares the tests of a file that need a browser. Without one it skips `what` they test, and says so at the end of the run;
 * with CI=true it throws.
 */
export function inBrowser(what: string, declare: () => void): void {
  if (chromiumPath() !== null) {
    declare();
    return;
  }
  const why = `no Chromium at ${process.env.CHROMIUM_PATH || USUAL_PATH} (CHROMIUM_PATH)`;
  if (process.env.CI === "true") throw new Error(`${what}: ${why}`);
  announceSkipped(what, why);
}
