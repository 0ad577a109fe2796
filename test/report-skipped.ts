// Says once more, loudly, at the end of the whole run what was skipped. Loaded before all tests (bunfig.toml), so that its
// hook comes after them all.

import { afterAll } from "bun:test";
import { skipped } from "./skipped.ts";

afterAll(() => {
  for (const line of skipped) console.error(`\n*** SKIPPED ${line} ***\n`);
});
