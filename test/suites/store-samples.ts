// Small well-formed commits, snapshots and documents for the rules; what a rule is about it passes itself.

import type { Commit, Save, Snapshot, StoredDocument, StoredRecord } from "../../src/store/store.ts";
import type { DocumentBody, DocumentTable, RecordTable } from "../../src/store/tables.ts";

/** One ledger line by default, so that line n stands in commit n. */
export const commit = (actor: string, seq: number, over: Partial<Commit> = {}): Commit => ({
  actor,
  seq,
  shard: 7,
  epoch: 1,
  by: `writer of ${actor}/${seq}`,
  at: 1_000 + seq,
  v: 1,
  done: [{ id: `command-${seq}`, reply: { balance: seq } }],
  marks: [],
  linesTo: seq,
  lines: 1,
  events: [{ at: 1_000 + seq, line: true, e: { type: "charged", amountNano: seq } }],
  ...over,
});

/** Commits 1 to `count` of one actor. */
export const commits = (actor: string, count: number): readonly Commit[] =>
  Array.from({ length: count }, (_, i) => commit(actor, i + 1));

export const snapshot = (actor: string, seq: number, over: Partial<Snapshot> = {}): Snapshot => ({
  actor,
  shard: 7,
  seq,
  at: 1_000 + seq,
  epoch: 1,
  linesTo: seq,
  v: 3,
  state: { balanceNano: seq },
  done: [{ id: `command-${seq}`, at: 1_000 + seq, reply: null }],
  pending: false,
  ...over,
});

export const document = (
  table: DocumentTable,
  id: string,
  seq: number,
  body: DocumentBody,
): StoredDocument => ({ table, id, seq, body });

/** A record under the id that its body has. */
export const record = (table: RecordTable, body: DocumentBody & { readonly id: number }): StoredRecord => ({
  table,
  id: String(body.id),
  body,
});

export const save = (
  actor: string,
  seq: number,
  documents: readonly StoredDocument[] = [],
  over: Partial<Snapshot> = {},
): Save => ({ documents, snapshot: snapshot(actor, seq, over) });

/** Texts that break careless storing: quotes, wildcards, NUL, emoji, a lone surrogate, an attempt to inject, length. */
export const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "it's",
  `a "quoted" word`,
  "100%_\\",
  "a\0b",
  "héllo 👩‍👩‍👧 \u{10ffff}",
  "\uffff",
  "'; DROP TABLE accounts; --",
  "$where: {}",
  "line\nfeed\u2028",
  "x".repeat(100_000),
];
