// Verifies a store: reads the whole ledger, actor by actor, and compares all data derived from it. It returns
// findings as data and must not change anything. It holds one actor, its page of commits and the totals in
// memory; whether a charge occurs twice is read from the store's index of dedup ids, page by page, so that no
// list of all ids is held.

import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { actorName } from "../../runtime/actor.ts";
import type { AuditView, Met } from "../../store/audit.ts";
import { exactUsd, type LedgerTotals, noLedgerTotals, unaccounted } from "./conservation.ts";
import { createFindings, type Finding, type Findings, type Rule } from "./findings.ts";
import type { Verification } from "./verification.ts";
import { verifyActor } from "./verify-actor.ts";
import { createFamilies } from "./verify-children.ts";
import { verifyClaimants, verifyClaimsOf } from "./verify-claims.ts";
import { KeyCostComparison } from "./verify-key-costs.ts";
import { inFlight, verifyTransfer } from "./verify-transfers.ts";

/** The result of a verification. */
export interface Verified {
  readonly totals: LedgerTotals;
  readonly claims: number;
  readonly unconfirmedClaims: number;
  /** The first findings; see `createFindings`. */
  readonly findings: readonly Finding[];
  readonly findingCount: number;
}

/** Receives the number of commits read and the number of all commits. */
export type Progress = (done: number, all: number) => void;

const PAGE = 500;

/** Verifies everything that `audit` shows. The caller closes `audit`. */
export async function verify(audit: AuditView, progress: Progress = () => {}): Promise<Verified> {
  const counts = await audit.counts();
  const findings = createFindings();
  const totals = noLedgerTotals();
  const families = createFamilies(audit);
  const keyCosts = await KeyCostComparison.open(audit);
  let done = 0;
  let confirmed = 0;
  const verification: Verification = {
    audit,
    totals,
    findings,
    keyCosts,
    checkTransfer: (account, transfer, where) =>
      verifyTransfer(audit, account, transfer, { findings, where }),
    progress(commits) {
      done += commits;
      progress(done, counts.commits);
    },
  };

  for (let after = ""; ; ) {
    const names = await audit.listActors("", after, PAGE);
    for (const name of names) {
      const folded = await verifyActor(name, verification);
      if (folded === null) continue;
      totals.inFlight += await inFlight(audit, folded.owing);
      await families.enter(folded.account);
      if (folded.account !== null) confirmed += await verifyClaimsOf(folded.account, { audit, findings });
    }
    if (names.length < PAGE) break;
    after = names.at(-1)!;
  }

  families.report(findings);
  keyCosts.report(findings);
  if (confirmed !== counts.claims - counts.unconfirmed) await verifyClaimants({ audit, findings });
  await verifyStrays(verification);
  verifyConservation(totals, findings);
  return {
    totals,
    claims: counts.claims,
    unconfirmedClaims: counts.unconfirmed,
    findings: findings.kept,
    findingCount: findings.count(),
  };
}

/**
 * Reports rows that belong to no actor of the ledger. Rows of a known actor that were missed are reported
 * with it.
 */
async function verifyStrays({ audit, totals, findings }: Verification): Promise<void> {
  const met: Met = { ...totals, accounts: totals.accountDocuments, usage: totals.usageDocuments };
  const strays = await audit.strays(met, (account) => actorName(actorRef.account(account as AccountId)));
  for (const [kind, rule, what] of KINDS) {
    if (strays[kind] !== 0)
      findings.add(rule, "store", `${what}: ${strays[kind]} that the ledger does not know`);
  }
}

const KINDS: readonly (readonly [keyof Met, Rule, what: string])[] = [
  ["commits", "sequence", "commits"],
  ["marks", "mark", "marks"],
  ["snapshots", "snapshot", "snapshots"],
  ["accounts", "account_document", "documents of accounts"],
  ["usage", "usage_document", "documents of usage"],
  ["usageSums", "usage_sums", "rows of usage"],
  ["lineRows", "line_projection", "projected lines"],
  ["usageParts", "usage_parts", "parts of usage"],
  ["moneyRows", "money_sums", "sums of credit"],
];

function verifyConservation(totals: LedgerTotals, findings: Findings): void {
  const rest = unaccounted(totals);
  if (rest === 0n) return;
  const which = rest > 0n ? "is lost" : "came from nowhere";
  findings.add("conservation", "all accounts", `${exactUsd(rest > 0n ? rest : -rest)} USD ${which}`);
}
