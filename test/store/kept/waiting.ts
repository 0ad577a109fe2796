// Time for the test of kept stores: a clock that begins at the moment that a store was left, and a wait until what a kill left
// undone has been set right. It bounds a wait and judges nothing.

const PAUSE_MS = 500;

/** A clock that shows `atMs` (wall ms) now and goes on at the machine's pace. */
export function timeFrom(atMs: number): () => number {
  const ahead = atMs - Date.now();
  return () => Date.now() + ahead;
}

/** Tries `check` again and again; throws its last error after `mostMs`. */
export async function settled(mostMs: number, check: () => Promise<void>): Promise<void> {
  const end = Date.now() + mostMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await Bun.sleep(PAUSE_MS);
    }
  }
}
