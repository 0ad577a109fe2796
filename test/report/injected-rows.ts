// A sound store spoiled by hand, to see what verification says of it. Each hand works on a copy.

import { Database } from "bun:sqlite";
import { copyFileSync } from "node:fs";
import { realClock } from "../../src/base/clock.ts";
import { type Verified, verify } from "../../src/report/verify/verify.ts";
import { openAudit, openStore } from "../../src/store/open.ts";
import { packLedger, unpackLedger } from "../store/ledger-by-hand.ts";

/** Verifies the store at a path. */
export const verified = (path: string): Promise<Verified> => verifiedAt(`sqlite:${path}`);

/** Verifies the store at an address. */
export async function verifiedAt(url: string): Promise<Verified> {
  const audit = await openAudit(url);
  const result = await verify(audit);
  await audit.close();
  return result;
}

/** Opens the store at a path until the lines of all its commits are projected. */
export async function projectLines(path: string): Promise<void> {
  const store = await openStore(`sqlite:${path}`, { clock: realClock() });
  const db = new Database(path, { readonly: true });
  const behind = db.query("SELECT 1 FROM meta WHERE key = 'lines' AND value < (SELECT max(row) FROM ledger)");
  while (behind.get() !== null) await Bun.sleep(20);
  db.close();
  await store.close();
}

export interface Row {
  row: number;
  actor: string;
  seq: number;
  epoch: number;
  at: number;
  linesTo: number;
  lines: number;
  marks: string[];
  // biome-ignore lint/suspicious/noExplicitAny: what is injected here is meant to be wrong
  events: { at: number; line: boolean; e: any }[];
}

export interface Hand {
  readonly db: Database;
  commits(): Row[];
  /** Changes the first commit that fits. */
  edit(which: (commit: Row) => boolean, change: (commit: Row) => void): void;
  body(table: "accounts" | "usage", key: string, change: (body: Row["events"][number]["e"]) => void): void;
}

let injectedCount = 0;

/** Verifies a copy of a sound store after `spoil`. The copy stays beside it. */
export const verifyInjected = (sound: string, spoil: (hand: Hand) => void): Promise<Verified> =>
  verified(spoiltIn(sound, spoil));

/** The path of a copy of a sound store after `spoil`. */
export function spoiltIn(sound: string, spoil: (hand: Hand) => void): string {
  const path = `${sound}.injected-${++injectedCount}.db`;
  copyFileSync(sound, path);
  const db = new Database(path);
  unpackLedger(db);
  const commits = (): Row[] =>
    db
      .query<Omit<Row, "marks" | "events"> & { marks: string; events: string }, []>(
        "SELECT * FROM commits ORDER BY row",
      )
      .all()
      .map((row) => ({ ...row, marks: JSON.parse(row.marks), events: JSON.parse(row.events) }));
  spoil({
    db,
    commits,
    edit(which, change) {
      const commit = commits().find(which);
      if (!commit) throw new Error("no commit fits");
      change(commit);
      db.run(
        "UPDATE commits SET seq = ?, epoch = ?, at = ?, linesTo = ?, lines = ?, marks = ?, events = ? WHERE row = ?",
        [
          ...[commit.seq, commit.epoch, commit.at, commit.linesTo, commit.lines],
          ...[JSON.stringify(commit.marks), JSON.stringify(commit.events), commit.row],
        ],
      );
    },
    body(table, key, change) {
      const { body } = db
        .query<{ body: string }, [string]>(`SELECT body FROM ${table} WHERE key = ?`)
        .get(key)!;
      const changed = JSON.parse(body);
      change(changed);
      db.run(`UPDATE ${table} SET body = ? WHERE key = ?`, [JSON.stringify(changed), key]);
    },
  });
  packLedger(db);
  db.close();
  return path;
}
