// Requests of which nothing was delivered, for whoever asks why: they have no ledger line to stand in. Bounded; the
// oldest go. A hint for people, kept by this node alone and gone with it.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";

export interface FailedRequest {
  readonly id: string;
  readonly request: string;
  readonly account: AccountId;
  readonly path: string;
  readonly asked: string;
  readonly model: string;
  readonly level: number;
  /** Wall ms. */
  readonly at: number;
  readonly code: string;
  readonly message: string;
  readonly attempts: readonly AttemptRow[];
}

export interface FailedRequestLog {
  keep(request: FailedRequest): void;
  /** This account's failed requests with that request id, newest first. */
  find(account: AccountId, request: string): readonly FailedRequest[];
}

const KEPT_MOST = 2_000;

export function createFailedRequestLog(): FailedRequestLog {
  const kept: FailedRequest[] = [];
  let next = 0;
  return {
    keep(request) {
      kept[next] = request;
      next = (next + 1) % KEPT_MOST;
    },
    find: (account, request) =>
      kept
        .filter((one) => one.account === account && (one.request === request || one.id === request))
        .sort((a, b) => b.at - a.at),
  };
}
