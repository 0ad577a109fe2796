// A list without pages: read a few rows at a time, each time behind the last one given. Holds no rows but these, and
// lets the event loop turn between them, however fast its reader is.

import type { Body } from "./tables.ts";

/** Where a row stands in an order: its value there, then its id. */
export interface Place {
  readonly value: string | number;
  readonly key: string;
}

export interface Step extends Place {
  readonly body: Body;
}

/** Parsed in well under a millisecond. */
export const STEP_ROWS = 250;

/** Bodies one after another; `next` answers up to STEP_ROWS behind a place, or the first ones. */
export async function* walked(
  next: (after: Place | null) => readonly Step[] | Promise<readonly Step[]>,
): AsyncGenerator<Body> {
  let after: Place | null = null;
  for (;;) {
    const steps: readonly Step[] = await next(after);
    for (const { body } of steps) yield body;
    const last = steps.at(-1);
    if (last === undefined || steps.length < STEP_ROWS) return;
    after = last;
    await new Promise(setImmediate);
  }
}
