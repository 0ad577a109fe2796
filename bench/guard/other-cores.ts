// How busy the machine is with processes that are not the benchmark's, from the kernel's account of all processors.

import { readFileSync } from "node:fs";
import { ownCpuMs } from "../process.ts";

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;
/** Where user, nice, system and stolen time stand in the line of all processors. Interrupts are left out: most are ours. */
const BUSY_FIELDS = [1, 2, 3, 8];

/** Begins to count. The function that it returns answers how many cores other processes have used on average since then. */
export function watchOtherCores(): () => number {
  const busyBefore = busyMs();
  const ownBefore = ownCpuMs();
  const startedAt = performance.now();
  return () => {
    const othersMs = busyMs() - busyBefore - (ownCpuMs() - ownBefore);
    return Math.max(0, othersMs / (performance.now() - startedAt));
  };
}

function busyMs(): number {
  const fields = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!.split(/\s+/);
  return BUSY_FIELDS.reduce((sum, field) => sum + Number(fields[field] ?? 0) * TICK_MS, 0);
}
