// What a verification has at hand: where it reads, where its sums and findings go, and the actor it is reading.
// Types only.

import type { AnyBehavior } from "../../runtime/actor.ts";
import type { Audit } from "../../store/audit.ts";
import type { Book, Told } from "./account-book.ts";
import type { Totals } from "./conservation.ts";
import type { Findings } from "./findings.ts";

export interface Verification {
  readonly audit: Audit;
  readonly totals: Totals;
  readonly findings: Findings;
  /** What an account says of a transfer, to be held against the other side. */
  told(account: number, told: Told, where: string): Promise<void>;
  /** Commits read since the last call. */
  progress(commits: number): void;
}

/** One actor while its ledger is read. */
export interface Reading {
  readonly name: string;
  readonly behavior: AnyBehavior;
  /** Null from the first event on that the behaviour cannot replay. */
  state: unknown;
  readonly book: Book | null;
  seq: number;
}
