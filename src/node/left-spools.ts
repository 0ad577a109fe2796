// Spools of processes that are no longer started, since PROCESSES was higher before: the first process gets their charges. It
// must remove no charge.

import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";

const SPOOL_OF = /^process-(\d{1,5})$/;

/** Returns the spools below a directory that is there: the first process's, which is the directory itself, and those of others. */
export const spoolsIn = (directory: string): readonly string[] => [
  directory,
  ...readdirSync(directory)
    .filter((name) => SPOOL_OF.test(name))
    .map((name) => join(directory, name)),
];

/**
 * Moves charges from the spools of processes above `processes` into `directory`, the first process's, which sends them at
 * its start. Returns how many. A charge that another process still sends may be sent twice; the ledger takes it once.
 */
export function takeLeftSpools(directory: string, processes: number): number {
  if (!existsSync(directory)) return 0;
  const left = readdirSync(directory)
    .filter((name) => Number(SPOOL_OF.exec(name)?.[1] ?? 0) > processes)
    .flatMap((name) => readdirSync(join(directory, name)).map((file) => ({ from: name, file })))
    .filter(({ file }) => file.endsWith(".json"));
  let moved = 0;
  for (const { from, file } of left) {
    try {
      renameSync(join(directory, from, file), join(directory, file));
      moved++;
    } catch (error) {
      // Its process has just sent it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return moved;
}
