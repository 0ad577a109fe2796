// Iterates over a list without pages by keyset pagination: it reads a few rows at a time, each time after the
// last row that was returned. It holds no other rows, and returns to the event loop between two reads,
// however fast its consumer is.

import type { DocumentBody } from "./tables.ts";

/** The position of a row in an order: its value of the ordering field, then its id. */
export interface CursorPosition {
  readonly value: string | number;
  readonly key: string;
}

/** A document and its position. */
export interface CursorRow extends CursorPosition {
  readonly body: DocumentBody;
}

/** Rows per read: this many bodies are parsed in well under a millisecond. */
export const CURSOR_ROWS = 250;

/**
 * Yields the bodies of all rows in order. `next` returns up to CURSOR_ROWS rows after a position, or the
 * first rows for null.
 */
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
