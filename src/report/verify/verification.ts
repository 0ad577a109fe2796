// What a verification has at hand: where it reads, where its sums and findings go, and the actor it is reading.
// Types only.

import type { AnyBehavior } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Book, TransferRecord } from "./account-book.ts";
import type { LedgerTotals } from "./conservation.ts";
import type { Findings } from "./findings.ts";

export interface Verification {
  readonly audit: AuditView;
  readonly totals: LedgerTotals;
  readonly findings: Findings;
  /** What an account says of a transfer, to be held against the other side. */
  told(account: number, told: TransferRecord, where: string): Promise<void>;
  /** Commits read since the last call. */
  progress(commits: number): void;
}

/** One actor while its ledger is read. */
export interface ActorAudit {
  readonly name: string;
  readonly behavior: AnyBehavior;
  /** Null from the first event on that the behaviour cannot replay. */
  state: unknown;
  readonly book: Book | null;
  seq: number;
}
