// What an error of the driver says about a write: taken, passing, or final. Decides nothing else; whoever asks knows
// whether trying again can do harm.

import { MongoAPIError, MongoBulkWriteError, MongoError, MongoParseError, MongoServerError } from "mongodb";

/** Not yet known, though the server answered: ask again. */
export class Unsettled extends Error {
  override readonly name = "Unsettled";
}

/** Another document has this key: an earlier attempt of one's own, or somebody else's. Only what is stored can tell. */
const DUPLICATE = 11_000;

/** Codes of a server that is in no state to answer just now, or that cannot say whether a majority has the write. */
const PASSING: ReadonlySet<unknown> = new Set([
  6, 7, 24, 50, 64, 75, 79, 89, 91, 100, 112, 134, 189, 202, 246, 262, 9001, 10107, 11600, 11601, 11602,
  13435, 13436,
]);

export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE;

/** May the same, sent again, fare better? What the driver or the server refuses as wrong may not. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unsettled) return true;
  // A bulk that ended on the way has no code: the error of the connection is gone.
  if (error instanceof MongoBulkWriteError) return error.code === undefined || PASSING.has(error.code);
  if (error instanceof MongoServerError) return PASSING.has(error.code);
  return (
    error instanceof MongoError && !(error instanceof MongoAPIError) && !(error instanceof MongoParseError)
  );
}

/**
 * Runs an unordered bulk and answers the places of those that another document's key refused; all others are stored by
 * a majority. Throws when anything else was wrong: then nothing is known about any of them.
 */
export async function duplicatesOf(bulk: () => Promise<unknown>): Promise<ReadonlySet<number>> {
  try {
    await bulk();
    return new Set();
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const refused = [error.writeErrors].flat();
    if (refused.length === 0) throw error;
    // Of a server that may yet be overruled.
    if (error.result.getWriteConcernError() !== undefined)
      throw new Unsettled("no majority has what was sent");
    const strange = refused.find(({ code }) => code !== DUPLICATE);
    if (strange !== undefined) throw new Unsettled(`write refused: ${strange.code} ${strange.errmsg}`);
    return new Set(refused.map(({ index }) => index));
  }
}
