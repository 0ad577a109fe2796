// Writes of pages. Each carries an Idempotency-Key that stays the same until the write has an answer, so that a repeat after an
// unknown outcome is safe: the service does it once. /x-self and /x-root take none, and their pages say so.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { callApi, type Method } from "./call.ts";
import { CallFailed, type Failure } from "./failure.ts";
import { refreshAll } from "./queries.ts";
import { WriteKeys } from "./write-keys.ts";

/** A write: what is sent, and where. */
export interface Write {
  readonly method: Exclude<Method, "GET">;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** Paths that take no Idempotency-Key (contract section 2): a repeat of them is another act. */
const UNREPEATABLE: ReadonlySet<string> = new Set(["/x-self", "/x-root", "/x-gkey", "/x-clock"]);

/** A write of a form, and what became of it. */
export interface Writing<A> {
  /** Sends the write; resolves to its answer, or to null after a failure, which is in `failure`. */
  readonly send: (write: Write) => Promise<A | null>;
  readonly isRunning: boolean;
  readonly failure: Failure | null;
  readonly answer: A | null;
  /** The write that was sent last, which a repeat sends again under the same Idempotency-Key. */
  readonly last: Write | null;
  readonly reset: () => void;
}

/** Returns an id that nobody can guess; `crypto.randomUUID` exists on secure origins only. */
export const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );

const describe = (write: Write): string =>
  JSON.stringify(write, (_, value) => (typeof value === "bigint" ? `${value}n` : value));

/** The keys outlive the form: the same write from a form that was closed and opened again is still the same. */
const keys = new WriteKeys(newId);

/** Whether an earlier attempt of the same write may have been done: then sending it repeats that one. */
export const isInDoubt = (write: Write): boolean => keys.isInDoubt(describe(write));

/** Makes the next attempt of a write another act, whatever became of the earlier ones. */
export const forgetWrite = (write: Write): void => keys.end(describe(write));

/** Forgets writes without an answer, which are never repeated by another account. */
export const forgetWrites = (): void => keys.clear();

/**
 * Returns the writes of one form. After an answer everything that the page shows is asked again; `onAnswer` gets it before that.
 */
export function useWrite<A = unknown>(onAnswer?: (answer: A) => void): Writing<A> {
  const client = useQueryClient();
  const mutation = useMutation<A, Error, Write>({
    mutationFn: async (write) => {
      const text = describe(write);
      const kept = UNREPEATABLE.has(write.path) ? {} : { idempotencyKey: keys.idOf(text) };
      try {
        const answer = (await callApi({ ...write, ...kept })) as A;
        keys.end(text);
        onAnswer?.(answer);
        return answer;
      } catch (error) {
        if (error instanceof CallFailed) keys.fail(text, error.failure);
        throw error;
      }
    },
    // The answer is shown at once: it may hold a secret, and a page that cannot be asked again must not keep it back.
    onSettled: () => void refreshAll(client),
  });
  const { error } = mutation;
  if (error !== null && !(error instanceof CallFailed)) throw error;
  return {
    send: (write) => mutation.mutateAsync(write).catch(ignoreFailed),
    isRunning: mutation.isPending,
    failure: error?.failure ?? null,
    answer: mutation.data ?? null,
    last: mutation.variables ?? null,
    reset: mutation.reset,
  };
}

/** A failure is shown from the state of the form; anything else is a bug and is thrown on. */
function ignoreFailed(error: unknown): null {
  if (error instanceof CallFailed) return null;
  throw error;
}
