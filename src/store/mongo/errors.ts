// What an error of the driver says about a write: taken, passing, or final. Decides nothing else; whoever asks knows
// whether trying again can do harm.

import {
  MongoAPIError,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNotConnectedError,
  MongoParseError,
  MongoServerClosedError,
  MongoServerError,
  MongoTopologyClosedError,
} from "mongodb";
import { StoreTimeoutError } from "../store.ts";

/** Not yet known, though the server answered: ask again. */
export class Unsettled extends Error {
  override readonly name = "Unsettled";
}

/** Another document has this key: an earlier attempt of one's own, or somebody else's. Only what is stored can tell. */
const DUPLICATE = 11_000;

/**
 * Codes of a server that is in no state to answer just now, or that cannot say whether a majority has the write. 43, 175
 * and 237 are of a cursor that did not survive the server's change of state; 365 and 462 of one that is overloaded.
 */
const PASSING: ReadonlySet<unknown> = new Set([
  6, 7, 24, 43, 50, 64, 75, 79, 89, 91, 100, 112, 133, 134, 175, 189, 202, 237, 246, 262, 365, 462, 9001,
  10107, 11600, 11601, 11602, 13435, 13436,
]);

export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE;

/** Of a client that was put away for another one, which may do better. */
const PUT_AWAY = [
  MongoClientClosedError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoTopologyClosedError,
];

/** Has the server said it, whatever it means? Else nothing came back. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof Unsettled || (error instanceof MongoServerError && error.code !== undefined);

/** May the same, sent again, fare better? What the driver or the server refuses as wrong may not. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unsettled || error instanceof StoreTimeoutError) return true;
  // A bulk that ended on the way has no code: the error of the connection is gone.
  if (error instanceof MongoBulkWriteError) return error.code === undefined || PASSING.has(error.code);
  if (error instanceof MongoServerError) return PASSING.has(error.code);
  if (PUT_AWAY.some((one) => error instanceof one)) return true;
  return (
    error instanceof MongoError && !(error instanceof MongoAPIError) && !(error instanceof MongoParseError)
  );
}

/** What became of the places of a bulk that are not stored; all others are, by a majority. */
export interface BulkFailures {
  /** Another document's key stands there. */
  readonly taken: ReadonlySet<number>;
  /** Refused for another reason, which concerns no other place. */
  readonly other: ReadonlyMap<number, MongoServerError>;
}

/** Runs an unordered bulk. Throws when nothing is known about any of its places. */
export async function refusedOf(bulk: () => Promise<unknown>): Promise<BulkFailures> {
  try {
    await bulk();
    return { taken: new Set(), other: new Map() };
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const refused = [error.writeErrors].flat();
    if (refused.length === 0) throw error;
    // Of a server that may yet be overruled.
    if (error.result.getWriteConcernError() !== undefined)
      throw new Unsettled("no majority has what was sent");
    const taken = refused.filter(({ code }) => code === DUPLICATE).map(({ index }) => index);
    const other = refused
      .filter(({ code }) => code !== DUPLICATE)
      .map(
        ({ index, code, errmsg }) => [index, new MongoServerError({ code, message: errmsg ?? "" })] as const,
      );
    return { taken: new Set(taken), other: new Map(other) };
  }
}

/** Runs an unordered bulk and answers the places of those that another document's key refused. Throws for any other. */
export async function duplicatesOf(bulk: () => Promise<unknown>): Promise<ReadonlySet<number>> {
  const { taken, other } = await refusedOf(bulk);
  for (const error of other.values()) throw error;
  return taken;
}
