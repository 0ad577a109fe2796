// Assertions that stay on in production, at order, money and ownership: a failed one is a bug, and breaks one activation. And the
// two ways in which an actor does not do what it was asked: it refuses, or it cannot be reached.

class AssertionFailed extends Error {}

export function assert(condition: unknown, broken: string): asserts condition {
  if (!condition) throw new AssertionFailed(broken);
}

/** Of a kind that this program does not know: a bug, or of a newer one. Says its type; its body is nobody's to read. */
export class NoCase extends AssertionFailed {
  constructor(readonly value: unknown) {
    const { type } = Object(value);
    super(`no case for ${typeof type === "string" ? type : `a ${typeof value}`}`);
  }
}

/** The end of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new NoCase(value);
}

/** A refusal that the caller will see: data, not an exception. `code` is one of the contract's codes. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  /** Whole seconds after which trying again can help. */
  readonly retryAfterS?: number;
  /** The same request will be refused again, however long one waits. */
  readonly final?: true;
  /** What the caller may use to decide anew, such as a fresher profile. */
  readonly details?: unknown;
  /** The parameter at fault, under the name that SDKs look for. */
  readonly param?: string;
  /** What the client finds under `error.details`, and its SDK decides by. */
  readonly errorDetails?: Readonly<Record<string, unknown>>;
  /** The HTTP status where it is not that of the code. */
  readonly status?: 415;
}

/** The actor decided against it. Final; `refusal.code` is for the caller. */
export class RefusedError extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Not reached inside the budget: for a command that writes, the outcome is unknown; repeat it with the same id. */
export class UnavailableError extends Error {
  constructor(
    readonly actor: string,
    readonly reason: string,
  ) {
    super(`${actor}: ${reason}`);
  }
}
