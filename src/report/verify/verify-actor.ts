// Verifies one actor's ledger from its first commit to its last: order, dedup ids, books, and all derived
// data, each at its own seq. Holds one page of commits and one state, however long the ledger is.

import type { Account, AccountEvent } from "../../../actors/account/state.ts";
import { behaviors } from "../../../actors/index.ts";
import { type AnyBehavior, refOf } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Commit } from "../../store/store.ts";
import { type Book, emptyBook, enter, type Keeping } from "./account-book.ts";
import { verifyApiKeys } from "./api-key-book.ts";
import { compareDerived, type Derived, derivedOf, missingDocuments } from "./derived-data.ts";
import type { Findings } from "./findings.ts";
import type { ActorAudit, Verification } from "./verification.ts";
import { verifyEmpty } from "./verify-deletion.ts";
import { LevelHistoryComparison } from "./verify-level-history.ts";
import { LineComparison } from "./verify-lines.ts";
import { MoneyComparison } from "./verify-money.ts";

/** An account at the end of its ledger, as far as later checks need it. `balance` is in nano-dollars. */
export interface Folded {
  readonly balance: number;
  readonly owing: Book["owing"];
  /** Null when it cannot be replayed. */
  readonly account: Account | null;
}

const PAGE = 1_000;

/** Verifies a whole actor; adds to totals and findings. Returns null for an actor that is not an account. */
export async function verifyActor(name: string, verification: Verification): Promise<Folded | null> {
  const { audit, totals, findings } = verification;
  const { kind, id } = refOf(name);
  const behavior = behaviors.find((one) => one.kind === kind);
  totals.actors++;
  if (behavior === undefined) {
    findings.add("replay", name, `nothing behaves like a ${kind}`);
    return null;
  }
  const isAccount = kind === "account";
  const reading: ActorAudit = {
    name,
    behavior,
    state: behavior.empty(id),
    book: isAccount ? emptyBook() : null,
    seq: 0,
  };
  const keeping: Keeping = { account: Number(id), totals, findings };
  const derived = await derivedOf(reading, audit);
  const lines = isAccount
    ? new LineComparison(
        name,
        derived.projectedLines,
        verification,
        await verification.keyCosts.actor(name, audit),
      )
    : null;
  // A snapshot of another version is ignored, so that what it covers is still to be written.
  const snapshotSeq = derived.snapshot?.v === behavior.version ? derived.snapshot.seq : 0;
  const history = kind === "level" ? new LevelHistoryComparison(id, snapshotSeq) : null;
  const money = isAccount ? new MoneyComparison(name, derived, verification) : null;
  const check = inOrder(name, findings);

  for (;;) {
    const page = await audit.readCommits(name, reading.seq, PAGE);
    await verifyMarks(name, page, behavior, verification);
    await lines?.compare(page);
    money?.compare(page);
    for (const commit of page) {
      const where = `${name} #${commit.seq}`;
      check(commit, behavior);
      if (reading.book) {
        const events = commit.events as readonly { at: number; e: AccountEvent }[];
        enter(reading.book, events, keeping, { seq: commit.seq, where });
        for (const transfer of reading.book.transfers.splice(0))
          await verification.checkTransfer(keeping.account, transfer, where);
      }
      replay(reading, commit, findings, where);
      reading.seq = commit.seq;
      history?.take(reading);
      await compareDerived(reading, derived, verification);
    }
    totals.commits += page.length;
    verification.progress(page.length);
    if (page.length < PAGE) break;
  }
  await lines?.finish();
  await history?.finish(reading.seq, audit, findings);
  money?.finish();
  return close(reading, derived, verification);
}

function close(reading: ActorAudit, derived: Derived, { totals, findings }: Verification): Folded | null {
  missingDocuments(reading, derived, findings);
  const { book, state } = reading;
  if (!book) return null;
  totals.accounts++;
  totals.balances += BigInt(book.balance);
  const account = state as Account | null;
  verifyEmpty(reading.name, book, findings);
  if (account !== null) verifyApiKeys(reading.name, account, book.apiKeys, findings);
  return { balance: book.balance, owing: book.owing, account };
}

/**
 * Returns a check of the order of commits and lines. It continues from the recorded numbers, so that each
 * error is reported once.
 */
function inOrder(name: string, findings: Findings): (commit: Commit, behavior: AnyBehavior) => void {
  let seq = 0;
  let epoch = 0;
  let at = 0;
  let linesTo = 0;
  return (commit, behavior) => {
    const where = `${name} #${commit.seq}`;
    if (commit.seq !== seq + 1) findings.add("sequence", where, `follows #${seq}`);
    if (commit.epoch < epoch) findings.add("epoch", where, `its epoch ${commit.epoch} falls below ${epoch}`);
    for (const moment of [...commit.events.map((event) => event.at), commit.at]) {
      if (moment < at) findings.add("time", where, `its time ${moment} falls below ${at}`);
      at = moment;
    }
    const lines = commit.events.filter(({ e }) => behavior.isLine(e)).length;
    if (commit.lines !== lines || commit.events.filter(({ line }) => line).length !== lines) {
      findings.add("line_numbers", where, `it says ${commit.lines} lines and has ${lines}`);
    }
    if (commit.linesTo !== linesTo + commit.lines) {
      findings.add(
        "line_numbers",
        where,
        `its lines end at ${commit.linesTo}, computed ${linesTo + commit.lines}`,
      );
    }
    seq = commit.seq;
    epoch = commit.epoch;
    linesTo = commit.linesTo;
  };
}

/**
 * Checks that every dedup id is stored with its commit, and that a charge occurs once in the whole ledger.
 */
async function verifyMarks(
  name: string,
  page: readonly Commit[],
  behavior: AnyBehavior,
  { audit, totals, findings }: Verification,
): Promise<void> {
  const marks: { mark: string; seq: number }[] = [];
  const charges = new Set<string>();
  for (const { seq, marks: given, events } of page) {
    const due = new Set<string>();
    for (const { e } of events) {
      for (const mark of behavior.dedupIds(e)) due.add(mark);
      const { type, id } = e as { type: string; id: string };
      if (type !== "charge" && type !== "late_charge") continue;
      if (charges.has(id)) findings.add("charge_twice", `${name} #${seq}`, `charge ${id} stands here again`);
      charges.add(id);
    }
    for (const mark of due) {
      if (!given.includes(mark))
        findings.add("mark", `${name} #${seq}`, `it does not carry its mark ${mark}`);
    }
    for (const mark of new Set(given)) marks.push({ mark, seq });
  }
  totals.marks += marks.length;
  if (marks.length === 0) return;
  for (const mark of await audit.missing(name, marks)) {
    findings.add("mark", name, `the mark ${mark} cannot be found`);
  }
  for (const id of await audit.repeated([...charges])) await chargedTwice(name, id, audit, findings);
}

const HOLDERS_MAX = 10;

/** Reports a duplicate charge at the first actor that has it only, so that it is reported once. */
async function chargedTwice(name: string, id: string, audit: AuditView, findings: Findings): Promise<void> {
  const holders = await audit.holders(id, HOLDERS_MAX);
  if (holders[0]?.actor !== name) return;
  const places = holders.map(({ actor, seq }) => `${actor} #${seq}`).join(", ");
  findings.add("charge_twice", `${name} #${holders[0].seq}`, `charge ${id} stands in ${places}`);
}

function replay(reading: ActorAudit, commit: Commit, findings: Findings, where: string): void {
  if (reading.state === null) return;
  try {
    for (const { at, e } of commit.events) reading.behavior.evolve(reading.state, e, at);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    findings.add("replay", where, error.message);
    reading.state = null;
  }
}
