// A bounded list of requests that delivered nothing, for support, since they have no ledger
// line. It is kept in the memory of this node alone, and nothing is decided by it.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";

/** A request that delivered nothing. */
export interface FailedRequest {
  readonly id: string;
  readonly request: string;
  readonly account: AccountId;
  readonly path: string;
  readonly asked: string;
  readonly model: string;
  readonly level: number;
  /** Wall-clock ms at which it ended. */
  readonly at: number;
  readonly code: string;
  readonly message: string;
  readonly attempts: readonly AttemptRow[];
}

/** The list of failed requests of this node. */
export interface FailedRequestLog {
  /** Adds a request; the oldest one is dropped when the list is full. */
  keep(request: FailedRequest): void;
  /** Returns this account's failed requests with that request id, newest first. */
  find(account: AccountId, request: string): readonly FailedRequest[];
}

const KEPT_MAX = 2_000;

/** Creates an empty list. */
export function createFailedRequestLog(): FailedRequestLog {
  const kept: FailedRequest[] = [];
  let next = 0;
  return {
    keep(request) {
      kept[next] = request;
      next = (next + 1) % KEPT_MAX;
    },
    find: (account, request) =>
      kept
        .filter((one) => one.account === account && (one.request === request || one.id === request))
        .sort((a, b) => b.at - a.at),
  };
}
