// What could not be tested on this machine, and why: said once more, loudly, at the end of the whole run. Loaded before all
// tests (bunfig.toml), so that its hook comes after them all. With CI=true whoever reports here fails as well.

import { afterAll } from "bun:test";

const skipped: string[] = [];

/** Announces tests that are skipped. */
export const announceSkipped = (what: string, why: string): void => void skipped.push(`${what}: ${why}`);

afterAll(() => {
  for (const line of skipped) console.error(`\n*** SKIPPED ${line} ***\n`);
});
