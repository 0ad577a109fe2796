// Classifies the errors of the driver for a write: duplicate key, passing, or final. It decides nothing else;
// only the caller knows whether trying again can do harm.

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
import { StoreTimeoutError } from "../store-errors.ts";

/** Thrown when the server answered but the outcome is not yet known, so that the operation is retried. */
export class UnsettledError extends Error {
  override readonly name = "UnsettledError";
}

/**
 * Another document has this key: of an earlier attempt of the same writer, or of another one. Only the stored
 * document tells which.
 */
const DUPLICATE = 11_000;

/**
 * Codes of a server that cannot answer just now, or that cannot say whether a majority has the write. 43, 175
 * and 237 concern a cursor that did not survive the server's change of state; 365 and 462 an overloaded
 * server.
 */
const PASSING: ReadonlySet<unknown> = new Set([
  6, 7, 24, 43, 50, 64, 75, 79, 89, 91, 100, 112, 133, 134, 175, 189, 202, 237, 246, 262, 365, 462, 9001,
  10107, 11600, 11601, 11602, 13435, 13436,
]);

/** Whether the error says that another document has this key. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === DUPLICATE;

/**
 * Errors of a client that was replaced by another one (see `createFailoverClient`), with which a retry may
 * succeed.
 */
const CLIENT_REPLACED = [
  MongoClientClosedError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoTopologyClosedError,
];

/** Whether the server answered, whatever it said. False means that nothing came back. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof UnsettledError || (error instanceof MongoServerError && error.code !== undefined);

/**
 * Whether sending the same again may succeed. It cannot for what the driver or the server refuses as invalid.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof UnsettledError || error instanceof StoreTimeoutError) return true;
  // A bulk write that lost its connection has no code, because the error of the connection is dropped.
  if (error instanceof MongoBulkWriteError) return error.code === undefined || PASSING.has(error.code);
  if (error instanceof MongoServerError) return PASSING.has(error.code);
  if (CLIENT_REPLACED.some((one) => error instanceof one)) return true;
  return (
    error instanceof MongoError && !(error instanceof MongoAPIError) && !(error instanceof MongoParseError)
  );
}

/** The positions of a bulk write that are not stored; a majority has all others. */
export interface BulkFailures {
  /** The positions whose key another document has. */
  readonly duplicates: ReadonlySet<number>;
  /** The positions that were refused for another reason, which concerns no other position. */
  readonly other: ReadonlyMap<number, MongoServerError>;
}

/** Runs an unordered bulk write. Throws when nothing is known about any of its positions. */
export async function bulkFailures(bulk: () => Promise<unknown>): Promise<BulkFailures> {
  try {
    await bulk();
    return { duplicates: new Set(), other: new Map() };
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const refused = [error.writeErrors].flat();
    if (refused.length === 0) throw error;
    // The server's answer may still be rolled back by a new primary.
    if (error.result.getWriteConcernError() !== undefined)
      throw new UnsettledError("no majority has what was sent");
    const duplicates = refused.filter(({ code }) => code === DUPLICATE).map(({ index }) => index);
    const other = refused
      .filter(({ code }) => code !== DUPLICATE)
      .map(
        ({ index, code, errmsg }) => [index, new MongoServerError({ code, message: errmsg ?? "" })] as const,
      );
    return { duplicates: new Set(duplicates), other: new Map(other) };
  }
}

/**
 * Runs an unordered bulk write and returns the positions with a duplicate key. Throws for any other refusal.
 */
export async function duplicatesOf(bulk: () => Promise<unknown>): Promise<ReadonlySet<number>> {
  const { duplicates, other } = await bulkFailures(bulk);
  for (const error of other.values()) throw error;
  return duplicates;
}
