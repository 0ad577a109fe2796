// The context of a verification: its source, its sums and findings, and the actor that is being read. Types
// only.

import type { AnyBehavior } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Book, TransferRecord } from "./account-book.ts";
import type { LedgerTotals } from "./conservation.ts";
import type { Findings } from "./findings.ts";
import type { KeyCostComparison } from "./verify-key-costs.ts";

/** The context that all checks share. */
export interface Verification {
  readonly audit: AuditView;
  readonly totals: LedgerTotals;
  readonly findings: Findings;
  readonly keyCosts: KeyCostComparison;
  /** Compares what an account says about a transfer with the other account's ledger. */
  checkTransfer(account: number, transfer: TransferRecord, where: string): Promise<void>;
  /** Reports the number of commits read since the last call. */
  progress(commits: number): void;
}

/** One actor while its ledger is read. */
export interface ActorAudit {
  readonly name: string;
  readonly behavior: AnyBehavior;
  /** Null after the first event that the behavior cannot replay. */
  state: unknown;
  readonly book: Book | null;
  seq: number;
}
