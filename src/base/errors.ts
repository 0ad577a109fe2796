// Assertions, and the two ways in which an actor does not execute a command: it refuses, or it cannot be
// reached. Assertions stay on in production. They guard order, money and ownership; a failed one is a bug and
// fails one activation.

import { parseRefusalCode, type RefusalCode } from "./error-codes.ts";

class AssertionFailed extends Error {}

/** Throws an error with the text `broken` when the condition is falsy. */
export function assert(condition: unknown, broken: string): asserts condition {
  if (!condition) throw new AssertionFailed(broken);
}

/**
 * Thrown for a value of an unknown type, which comes from a bug or from a newer program. The message names
 * the type only, because the value may contain secrets.
 */
export class NoCase extends AssertionFailed {
  constructor(readonly value: unknown) {
    const { type } = Object(value);
    super(`no case for ${typeof type === "string" ? type : `a ${typeof value}`}`);
  }
}

/** Returns what is logged of something that was thrown and that nobody expected: an error's text with its stack. */
export const stackOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** Ends an exhaustive switch. Throws `NoCase`. */
export function unreachable(value: never): never {
  throw new NoCase(value);
}

/** A decision against a request, as data that the caller will see. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** Whole seconds after which a retry can succeed. */
  readonly retryAfterS?: number;
  /** The same request will always be refused. */
  readonly final?: true;
  /** Data with which the caller can decide anew, such as a newer profile. */
  readonly details?: unknown;
  /** The name of the parameter at fault, as SDKs look for it. */
  readonly param?: string;
  /** The fields under `error.details` of the response, by which an SDK decides. */
  readonly errorDetails?: Readonly<Record<string, unknown>>;
  /** The HTTP status, where it differs from that of `code`. */
  readonly status?: 415;
}

/**
 * Returns a refusal that came from stored data or from another node, whose version may know other codes. See
 * `parseRefusalCode`.
 */
export const parseRefusal = (refusal: Omit<Refusal, "code"> & { readonly code: string }): Refusal => ({
  ...refusal,
  code: parseRefusalCode(refusal.code),
});

/** Thrown when the actor refused the command, which is final. `refusal.code` is for the caller. */
export class RefusedError extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/**
 * Thrown when an actor did not answer within the budget. The outcome of a write is unknown; repeat it with
 * the same id.
 */
export class UnavailableError extends Error {
  constructor(
    readonly actor: string,
    readonly reason: string,
  ) {
    super(`${actor}: ${reason}`);
  }
}
