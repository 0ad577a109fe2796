// What can become of a call that did not succeed. A failure is shown by components/failure-notice.tsx.

/** A call that did not succeed, and what is known of it. */
export type Failure =
  /** The service refused it: nothing was done. */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly requestId: string | null;
      readonly retryAfterS: number | null;
    }
  /** A write may have been done, or not: 503 and 5xx answers, and connections that broke. */
  | {
      readonly kind: "unknown";
      readonly code: string;
      readonly message: string;
      readonly requestId: string | null;
    }
  /** The service could not be reached for a question, which changes nothing. */
  | { readonly kind: "unreachable" };

/** Carries a failure where a promise rejects. */
export class CallFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.kind === "unreachable" ? "unreachable" : failure.message);
  }
}

/** Returns the failure that an exception stands for; anything else is a bug of the console and is thrown on. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CallFailed) return error.failure;
  throw error;
}
