// A list without pages: read a few rows at a time, each time behind the last one given. Holds no rows but these, and
// lets the event loop turn between them, however fast its reader is.

import type { DocumentBody } from "./tables.ts";

/** Where a row stands in an order: its value there, then its id. */
export interface CursorPosition {
  readonly value: string | number;
  readonly key: string;
}

export interface CursorRow extends CursorPosition {
  readonly body: DocumentBody;
}

/** Parsed in well under a millisecond. */
export const CURSOR_ROWS = 250;

/** Bodies one after another; `next` answers up to CURSOR_ROWS behind a place, or the first ones. */
export async function* iterateByCursor(
  next: (after: CursorPosition | null) => readonly CursorRow[] | Promise<readonly CursorRow[]>,
): AsyncGenerator<DocumentBody> {
  let after: CursorPosition | null = null;
  for (;;) {
    const steps: readonly CursorRow[] = await next(after);
    for (const { body } of steps) yield body;
    const last = steps.at(-1);
    if (last === undefined || steps.length < CURSOR_ROWS) return;
    after = last;
    await new Promise(setImmediate);
  }
}
