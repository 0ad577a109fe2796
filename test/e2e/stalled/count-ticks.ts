// Counts the turns of an event loop: loaded into the service before its own code, and run alone as the measure of a loop that
// does nothing else. The count stands in the file TICKS, anew every few turns. Used by stalled-store.test.ts.

import { writeFileSync } from "node:fs";

let ticks = 0;
if (Bun.isMainThread) {
  setInterval(() => {
    ticks++;
    if (ticks % 10 === 0) writeFileSync(process.env.TICKS!, String(ticks));
  }, 5);
}
