// Requests of this process that carry an Idempotency-Key and are not over yet, so that a repeat waits for the first
// whatever became of the account's own memory of it. A request has its key from before anybody looks for an earlier one
// until its answer is kept and its charge stored (or it ended without a charge), however late that is.
//
// It knows neither ledger nor account and decides nothing. At its bound it forgets the oldest: what the account remembers
// of that one has to do.

import type { Idempotency } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";

/** The request that has a key. */
export interface FirstRequest {
  /** What it was sent with: SHA-256 of path and body. */
  readonly body: string;
  /** Resolves when its key is free. */
  readonly over: Promise<void>;
  /** Its client has left, or its hold is being given back. */
  readonly isEnding: () => boolean;
}

export interface InProgressKeys {
  /** Takes the key for request `id`, which may have it already; or answers the other request that has it. */
  take(id: string, account: AccountId, asked: Idempotency, isEnding: () => boolean): FirstRequest | null;
  /** Nothing more will be kept of its answer. */
  answered(id: string): void;
  /** Its charge is stored, or there will be none. */
  settled(id: string): void;
  /** It does not run: somebody else did, or it was refused. */
  drop(id: string): void;
}

const KEPT_MOST = 10_000;

interface Entry extends FirstRequest {
  readonly id: string;
  readonly place: string;
  readonly free: () => void;
  answered: boolean;
  settled: boolean;
}

export function createInProgressKeys(most = KEPT_MOST): InProgressKeys {
  const byPlace = new Map<string, Entry>();
  const byId = new Map<string, Entry>();

  function forget(entry: Entry): void {
    byPlace.delete(entry.place);
    byId.delete(entry.id);
    entry.free();
  }

  function note(id: string, what: Partial<Pick<Entry, "answered" | "settled">>): void {
    const entry = byId.get(id);
    if (entry === undefined) return;
    Object.assign(entry, what);
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
        over: promise,
        isEnding,
        free: resolve,
        answered: false,
        settled: false,
      };
      byPlace.set(place, entry);
      byId.set(id, entry);
      return null;
    },
    answered: (id) => note(id, { answered: true }),
    settled: (id) => note(id, { settled: true }),
    drop: (id) => note(id, { answered: true, settled: true }),
  };
}
