// Compares data derived from an actor's ledger (documents, snapshot) with the state replayed to the same seq.
// Derived data may lag behind the ledger; it must not differ from it, be ahead of it, or lack what the
// snapshot covers.

import { account } from "../../../actors/account/account.ts";
import type { Account } from "../../../actors/account/state.ts";
import { type AnyBehavior, refOf } from "../../runtime/actor.ts";
import { accountFigures } from "../../store/account-ranks.ts";
import type { AuditedDocument, AuditView, Derivation, DocumentKey } from "../../store/audit.ts";
import type { Snapshot } from "../../store/store.ts";
import { type UsageRow, usageRows } from "../../store/usage/usage-rows.ts";
import type { Book } from "./account-book.ts";
import { asStored, differences, type Findings } from "./findings.ts";
import type { ActorAudit, Verification } from "./verification.ts";

/** The derived data of an actor, and how far it was compared. */
export interface Derived {
  readonly snapshot: Snapshot | null;
  /** Ordered by seq; those before index `next` are compared. */
  readonly documents: readonly DocumentKey[];
  next: number;
  /** The ledger lines up to this number are projected. */
  readonly projectedLines: number;
  readonly money: Derivation["money"];
  readonly moneyTo: number;
  /** Seq of the newest document per id: each day of usage, and the account itself. */
  readonly seqOf: ReadonlyMap<string, number>;
}

/** Reads the derived data of an actor. */
export async function derivedOf({ name, book }: ActorAudit, audit: AuditView): Promise<Derived> {
  const { id } = refOf(name);
  const derived = await audit.derivedOf(name, book === null ? null : Number(id));
  const { snapshot, documents, newer, projectedLines, money, moneyTo } = derived;
  const seqOf = new Map([...documents, ...newer].map((document) => [document.id, document.seq]));
  return { snapshot, documents, next: 0, projectedLines, money, moneyTo, seqOf };
}

/** Compares everything that was derived at the seq that has just been read; adds to totals and findings. */
export async function compareDerived(
  reading: ActorAudit,
  derived: Derived,
  verification: Verification,
): Promise<void> {
  const { audit, totals, findings } = verification;
  const { snapshot, documents } = derived;
  for (;;) {
    const key = documents[derived.next];
    if (key === undefined || key.seq > reading.seq) break;
    derived.next++;
    // Its commit is missing, which is reported already, so there is nothing to compare with.
    if (key.seq < reading.seq) continue;
    const found = await audit.document(key);
    if (found === null) continue;
    const where = `${key.table} ${key.id} at #${key.seq}`;
    if (key.table === "usage") {
      totals.usageDocuments++;
      totals.usageSums += found.sums.length;
      for (const what of usageDifferences(found.body, reading.book!))
        findings.add("usage_document", where, what);
      for (const what of sumsDifferences(found)) findings.add("usage_sums", where, what);
    } else {
      totals.accountDocuments++;
      const wrong = accountDifferences(found.body, reading);
      for (const what of wrong.length > 0 ? wrong : figureDifferences(found))
        findings.add("account_document", where, what);
    }
  }
  if (snapshot?.seq !== reading.seq) return;
  totals.snapshots++;
  for (const what of snapshotDifferences(snapshot, reading))
    findings.add("snapshot", `snapshot of ${reading.name}`, what);
  if (reading.book !== null) unwritten(reading.name, reading.book, derived, findings);
}

/** Compares the sums of a day, then drops the day from the book if it cannot be needed any more. */
function usageDifferences(body: Readonly<Record<string, unknown>>, { days }: Book): string[] {
  const name = String(body.day);
  const day = days.get(name);
  const found = differences(body.models, Object.fromEntries(day?.models ?? []));
  const newest = [...days.keys()].at(-1);
  if (name !== newest) days.delete(name);
  return found;
}

/** Compares the rows that bills add up with the day's usage document. */
function sumsDifferences({ body, sums: rows }: AuditedDocument): string[] {
  const byModel = (all: readonly UsageRow[]) =>
    Object.fromEntries(all.map(({ model, dna, sums }) => [model, { dna, sums }]));
  try {
    const wanted = usageRows({ body });
    if (rows.length !== wanted.length)
      return [`${rows.length} rows are added up, it has ${wanted.length} models`];
    return differences(byModel(rows), byModel(wanted));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return [error.message];
  }
}

/**
 * Compares money by the book's own arithmetic first, then the whole document with what the behavior would
 * write.
 */
function accountDifferences(body: Readonly<Record<string, unknown>>, { book, state }: ActorAudit): string[] {
  const { balance, creditUsed, chargeAmount } = book!;
  const owed = differences(
    { balance: body.balance, creditUsed: body.creditUsed, chargeAmount: body.chargeAmount },
    { balance, creditUsed, chargeAmount },
  );
  if (owed.length > 0 || state === null) return owed;
  const copy = state as Account;
  copy.volatile.profileDirty = true;
  const written = account.materialize(copy).find(({ table }) => table === "accounts");
  const wanted = asStored(written?.body) as Record<string, unknown>;
  // A document of an older version lacks them until the account is saved again.
  for (const name of LATER_FIELDS) if (body[name] === undefined) delete wanted[name];
  return differences(body, wanted);
}

/** Compares the figures by which lists are ordered with the account's document. */
function figureDifferences({ body, figures }: AuditedDocument): string[] {
  if (figures === null) return ["lists do not order it: it has no figures"];
  const { month, monthCost, ...wanted } = accountFigures(body) ?? {};
  const { month: _, monthCost: __, ...found } = figures;
  // What an earlier version stored does not state its month.
  if (body.month === undefined) return differences(found, wanted);
  return differences(figures, { ...wanted, month, monthCost });
}

/** Fields of account documents that earlier versions did not write. */
const LATER_FIELDS = [
  ...["activeDay", "nearMonth", "month", "monthCost", "nearDay", "dayCost"],
  "creditExpiresAt",
] as const;

function snapshotDifferences(snapshot: Snapshot, { behavior, state, book }: ActorAudit): string[] {
  if (snapshot.v !== behavior.version) return [];
  if (state === null) return moneyOf(snapshot, book);
  return differences(snapshot.state, asStored(frozen(behavior, state)));
}

/** Compares the money alone, because replay failed earlier and only the books go on. */
function moneyOf({ state }: Snapshot, book: Book | null): string[] {
  if (book === null) return [];
  const { creditUsed, chargeAmount } = book;
  const found = state as Partial<Account>;
  return differences(
    { creditUsed: found.creditUsed, chargeAmount: found.chargeAmount },
    { creditUsed, chargeAmount },
  );
}

/**
 * Freezes the state as the runtime does: documents first, because writing them drops old days from the state.
 */
function frozen(behavior: AnyBehavior, state: unknown): unknown {
  behavior.materialize(state);
  return behavior.freeze(state);
}

/**
 * Reports documents older than the snapshot says: a snapshot is stored after its documents, so all changes up
 * to it must be written.
 */
function unwritten(name: string, book: Book, { snapshot, seqOf }: Derived, findings: Findings): void {
  const { id } = refOf(name);
  if ((seqOf.get(id) ?? 0) < book.lastLineSeq) {
    findings.add("account_document", name, `the document lacks what was written up to #${snapshot!.seq}`);
  }
  for (const [day, { lastSeq }] of book.days) {
    if ((seqOf.get(`${id}/${day}`) ?? 0) >= lastSeq) continue;
    findings.add(
      "usage_document",
      name,
      `the document of ${day} lacks what was written up to #${snapshot!.seq}`,
    );
  }
}

/** Reports derived data that is ahead of the ledger's end. */
export function missingDocuments(
  { name, seq }: ActorAudit,
  { snapshot, documents, next }: Derived,
  findings: Findings,
): void {
  for (const key of documents.slice(next)) {
    const rule = key.table === "usage" ? "usage_document" : "account_document";
    findings.add(rule, `${key.table} ${key.id}`, `it is of #${key.seq}, which ${name} does not have`);
  }
  if (snapshot !== null && snapshot.seq > seq) {
    findings.add("snapshot", `snapshot of ${name}`, `it is of #${snapshot.seq}, the ledger ends at #${seq}`);
  }
}
