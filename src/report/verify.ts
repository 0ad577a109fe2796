// Verifies a store: reads the whole ledger anew, actor by actor, and compares everything that was derived from it.
// It answers findings as data and changes nothing. Memory: one actor and its page of commits, and the totals; whether
// a charge stands twice is asked of the store's index of marks, page by page, so that no list of ids is ever held.

import type { Audit } from "../store/audit.ts";
import { verifyActor } from "./verify-actor.ts";
import { createFamilies } from "./verify-children.ts";
import { verifyClaimants, verifyClaimsOf } from "./verify-claims.ts";
import { createFindings, type Finding, type Findings } from "./verify-findings.ts";
import type { Verification } from "./verify-reading.ts";
import { exactUsd, noTotals, type Totals, unaccounted } from "./verify-totals.ts";
import { inFlight, verifyTold } from "./verify-transfers.ts";

export interface Verified {
  readonly totals: Totals;
  readonly claims: number;
  readonly unconfirmedClaims: number;
  /** The first thousand. */
  readonly findings: readonly Finding[];
  readonly findingCount: number;
}

/** Commits read, and how many there are. */
export type Progress = (done: number, all: number) => void;

const PAGE = 500;

/** Reads everything once. The picture stays the caller's, who closes it. */
export async function verify(audit: Audit, progress: Progress = () => {}): Promise<Verified> {
  const counts = await audit.counts();
  const findings = createFindings();
  const totals = noTotals();
  const families = createFamilies(audit);
  let done = 0;
  let confirmed = 0;
  const verification: Verification = {
    audit,
    totals,
    findings,
    told: (account, told, where) => verifyTold(audit, account, told, { findings, where }),
    progress(commits) {
      done += commits;
      progress(done, counts.commits);
    },
  };

  for (let after = ""; ; ) {
    const names = await audit.actors("", after, PAGE);
    for (const name of names) {
      const folded = await verifyActor(name, verification);
      if (folded === null) continue;
      totals.inFlight += await inFlight(audit, folded.owing);
      await families.enter(folded.account);
      const { profile, stage } = folded;
      if (profile !== null) confirmed += await verifyClaimsOf(profile, stage, { audit, findings });
    }
    if (names.length < PAGE) break;
    after = names.at(-1)!;
  }

  families.tell(findings);
  if (confirmed !== counts.claims - counts.unconfirmed) await verifyClaimants({ audit, findings });
  verifyCounts(totals, counts, findings);
  verifyConservation(totals, findings);
  return {
    totals,
    claims: counts.claims,
    unconfirmedClaims: counts.unconfirmed,
    findings: findings.kept,
    findingCount: findings.count(),
  };
}

/** Rows that no actor of the ledger accounts for. Those of an actor that were looked at in vain are told with it. */
function verifyCounts(
  totals: Totals,
  counts: Awaited<ReturnType<Audit["counts"]>>,
  findings: Findings,
): void {
  const rows = [
    ["mark", "marks", counts.marks, totals.marks],
    ["snapshot", "snapshots", counts.snapshots, totals.snapshots],
    ["account_document", "documents of accounts", counts.accounts, totals.accountDocuments],
    ["usage_document", "documents of usage", counts.usage, totals.usageDocuments],
    ["usage_sums", "rows of usage", counts.usageSums, totals.usageSums],
  ] as const;
  for (const [rule, what, stored, read] of rows) {
    if (stored !== read) findings.add(rule, "store", `it has ${stored} ${what}, the ledger knows ${read}`);
  }
}

function verifyConservation(totals: Totals, findings: Findings): void {
  const rest = unaccounted(totals);
  if (rest === 0n) return;
  const which = rest > 0n ? "is lost" : "came from nowhere";
  findings.add("conservation", "all accounts", `${exactUsd(rest > 0n ? rest : -rest)} USD ${which}`);
}
