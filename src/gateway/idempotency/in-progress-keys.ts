// The Idempotency-Keys of requests that run in this process, so that a repeat waits for the first request
// even if the account has lost its own record of it. A request holds its key from before the first lookup
// until its answer is kept and its charge is stored (or it ended without a charge), however late that is.
//
// It reads neither ledger nor account and decides nothing. At its bound it drops the oldest key; the
// account's record then protects that one.

import type { Idempotency } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";

/** The request that holds a key. */
export interface FirstRequest {
  /** SHA-256 of its path and body. */
  readonly body: string;
  /** Resolves when its key is free. */
  readonly freed: Promise<void>;
  /** Returns whether its client has disconnected or its hold is being cancelled. */
  readonly isEnding: () => boolean;
}

/** The keys of running requests. */
export interface InProgressKeys {
  /**
   * Takes the key for request `id`, which may hold it already. Returns null on success, otherwise the request
   * that holds it.
   */
  take(
    id: string,
    account: AccountId,
    idempotency: Idempotency,
    isEnding: () => boolean,
  ): FirstRequest | null;
  /** Records that nothing more of its answer will be stored. */
  answered(id: string): void;
  /** Records that its charge is stored, or that there will be none. */
  settled(id: string): void;
  /** Frees the key of a request that does not run, because it was refused or repeats another. */
  drop(id: string): void;
}

const KEPT_MAX = 10_000;

interface Entry extends FirstRequest {
  readonly id: string;
  readonly place: string;
  readonly free: () => void;
  answered: boolean;
  settled: boolean;
}

/** Creates the table; `most` is its bound. */
export function createInProgressKeys(most = KEPT_MAX): InProgressKeys {
  const byPlace = new Map<string, Entry>();
  const byId = new Map<string, Entry>();

  function forget(entry: Entry): void {
    byPlace.delete(entry.place);
    byId.delete(entry.id);
    entry.free();
  }

  /** Records what has become of a request that holds a key, and frees the key when nothing more follows. Most hold none. */
  function note(id: string, isAnswered: boolean, isSettled: boolean): void {
    const entry = byId.get(id);
    if (entry === undefined) return;
    entry.answered ||= isAnswered;
    entry.settled ||= isSettled;
    if (entry.answered && entry.settled) forget(entry);
  }

  return {
    take(id, account, { key, body }, isEnding) {
      const place = `${account}:${key}`;
      const first = byPlace.get(place);
      if (first !== undefined) return first.id === id ? null : first;
      if (byPlace.size >= most) forget(byPlace.values().next().value!);
      const { promise, resolve } = Promise.withResolvers<void>();
      const entry: Entry = {
        id,
        place,
        body,
        freed: promise,
        isEnding,
        free: resolve,
        answered: false,
        settled: false,
      };
      byPlace.set(place, entry);
      byId.set(id, entry);
      return null;
    },
    answered: (id) => note(id, true, false),
    settled: (id) => note(id, false, true),
    drop: (id) => note(id, true, true),
  };
}
