// Checker 4: every snapshot and document that was stored equals the fold of the ledger up to its seq, by the real
// behaviour for the whole state and by the oracle for the figures that people read.

import type { AnyBehavior } from "../../src/runtime/actor.ts";
import { refOf } from "../../src/runtime/actor.ts";
import type { Commit, Save, StoredDocument } from "../../src/store/store.ts";
import type { DocumentTable } from "../../src/store/tables.ts";
import { addCommit, emptyOracle, type Oracle } from "./oracle.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface DocumentChecker {
  saved(save: Save): void;
  /** Every ledger is covered by its snapshot, and the documents lists read are those of the last commit. */
  atRest(): Promise<void>;
}

/** The kinds of actors whose documents a table has. */
const KINDS: Readonly<Record<DocumentTable, string>> = {
  accounts: "account",
  usage: "account",
  outbox: "account",
  configs: "owner",
  levelEvents: "level",
};

/** The actor of a save and its seq, which is that of the newest document when there is no snapshot. */
export function positionOf({ snapshot, documents }: Save): { readonly actor: string; readonly seq: number } {
  if (snapshot !== null) return snapshot;
  const [{ table, id }] = documents as readonly [StoredDocument];
  return {
    actor: `${KINDS[table]}/${id.split(/[/:]/)[0]}`,
    seq: Math.max(...documents.map((one) => one.seq)),
  };
}

/** A second life of one actor, always at the seq of a save. */
interface Fold {
  seq: number;
  state: unknown;
  readonly oracle: Oracle;
  /** The rows of a Level's history that replay makes, by their documents' ids. */
  readonly rows: Map<string, unknown>;
}

export function documentChecker(
  disk: SimDisk,
  behaviors: readonly AnyBehavior[],
  trace: Trace,
): DocumentChecker {
  const folds = new Map<string, Fold>();
  const behaviorOf = (actor: string) => behaviors.find(({ kind }) => kind === refOf(actor).kind)!;
  const fail = (message: string) => trace.violate("4 fold", message);

  function foldTo(actor: string, seq: number): Fold {
    const behavior = behaviorOf(actor);
    let fold = folds.get(actor);
    if (fold === undefined) {
      fold = { seq: 0, state: behavior.empty(refOf(actor).id), oracle: emptyOracle(), rows: new Map() };
      folds.set(actor, fold);
    }
    const commits = disk.ledger.get(actor) ?? [];
    for (const commit of commits.slice(fold.seq, seq)) {
      advance(behavior, fold, commit);
    }
    return fold;
  }

  function advance(behavior: AnyBehavior, fold: Fold, commit: Commit): void {
    for (const { at, e } of commit.events) behavior.evolve(fold.state, e, at);
    if (behavior.kind === "account") addCommit(fold.oracle, commit);
    fold.seq = commit.seq;
  }

  function document(actor: string, { oracle, rows }: Fold, { table, id, body }: StoredDocument): void {
    if (table === "accounts") {
      const credit = oracle.entries.reduce((sum, entry) => sum + entry.amount, 0);
      const entries = (body.entries as { amount: number }[]).reduce((sum, entry) => sum + entry.amount, 0);
      const expected = {
        balance: oracle.balance,
        creditUsed: oracle.charged,
        chargeAmount: oracle.received,
        children: oracle.children,
        dueAt: dueAt(oracle),
        creditExpiresAt: oracle.entries[0]?.expiresAt ?? null,
      };
      for (const [field, value] of Object.entries(expected)) {
        if (body[field] !== value) fail(`document of ${actor}: ${field} is ${body[field]}, not ${value}`);
      }
      if (entries !== credit) fail(`document of ${actor}: entries add up to ${entries}, not ${credit}`);
      return;
    }
    if (table === "outbox") {
      const alert = oracle.alerts.get(body.month as string);
      const found = { dueAt: body.dueAt, limit: body.limit, spent: body.spent };
      // No mail is sent here, so it waits.
      if (body.state !== "waiting" || !Bun.deepEquals(found, alert)) {
        fail(`mail ${id}: ${JSON.stringify(body)}, not ${JSON.stringify(alert)}`);
      }
      return;
    }
    // The history of configurations has a checker of its own.
    if (table === "configs") return;
    if (table === "levelEvents") {
      const row = rows.get(id);
      if (!Bun.deepEquals(body, row)) fail(`row ${id}: ${JSON.stringify(body)}, not ${JSON.stringify(row)}`);
      return;
    }
    const day = oracle.days.get(body.day as string) ?? new Map();
    const models = body.models as Record<string, Record<string, number>>;
    if (Object.keys(models).length !== day.size) fail(`usage ${id} has ${Object.keys(models)}`);
    for (const [model, sums] of day) {
      for (const [field, value] of Object.entries(sums)) {
        const found = models[model]?.[field];
        if (found !== value) fail(`usage ${id} ${model}: ${field} is ${found}, not ${value}`);
      }
    }
  }

  return {
    saved(save) {
      const { snapshot, documents } = save;
      const { actor, seq } = positionOf(save);
      const last = disk.ledger.get(actor)?.at(-1)?.seq ?? 0;
      if (seq > last) return fail(`the save of ${actor} at ${seq} is ahead of the ledger at ${last}`);
      // An older save that arrives late is ignored by the store.
      if (seq < (folds.get(actor)?.seq ?? 0)) return;
      const behavior = behaviorOf(actor);
      const fold = foldTo(actor, seq);
      // Lets go of the days that a live actor lets go of when it saves.
      for (const { table, id, body } of behavior.materialize(fold.state)) {
        if (table === "levelEvents") fold.rows.set(id, JSON.parse(JSON.stringify(body)));
      }
      if (snapshot !== null) {
        const expected = JSON.parse(JSON.stringify(behavior.freeze(fold.state)));
        if (!Bun.deepEquals(snapshot.state, expected)) {
          fail(`the snapshot of ${actor} at ${seq} differs: ${difference(snapshot.state, expected, "")}`);
        }
      }
      for (const one of documents) document(actor, fold, one);
    },
    async atRest() {
      for (const [actor, commits] of disk.ledger) {
        const last = commits.at(-1)!.seq;
        const snapshot = await disk.store.loadSnapshot(actor);
        if (snapshot?.seq !== last) {
          trace.violate(
            "7 liveness",
            `the snapshot of ${actor} is at ${snapshot?.seq ?? 0}, its ledger at ${last}`,
          );
        }
        if (!actor.startsWith("account/")) continue;
        const account = Number(refOf(actor).id);
        const fold = foldTo(actor, last);
        const where = [{ field: "id", is: "=", value: account }] as const;
        const [body] = await disk.store.find({ table: "accounts", where, order: "id" });
        // Whose birth was forgone has nothing to show.
        const { forgone } = fold.state as { forgone: boolean };
        if (forgone !== (body === undefined)) fail(`${actor} has ${forgone ? "a" : "no"} document`);
        if (body !== undefined)
          document(actor, fold, { table: "accounts", id: String(account), seq: last, body });
        const of = [{ field: "account", is: "=", value: account }] as const;
        const days = await disk.store.find({ table: "usage", where: of, order: "day" });
        if (days.length !== fold.oracle.days.size) fail(`${actor} has ${days.length} days of usage`);
        for (const day of days) {
          document(actor, fold, { table: "usage", id: `${account}/${day.day}`, seq: last, body: day });
        }
      }
    },
  };
}

function dueAt({ entries, keys }: Oracle): number | null {
  const due = [entries[0]?.expiresAt ?? null, keys.nextDeathAt()].filter((at) => at !== null);
  return due.length === 0 ? null : Math.min(...due);
}

/** The first place where two plain values differ. */
export function difference(a: unknown, b: unknown, path: string): string {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return Object.is(a, b) ? "" : `${path || "value"} is ${JSON.stringify(a)}, not ${JSON.stringify(b)}`;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(
      (a as Record<string, unknown>)[key],
      (b as Record<string, unknown>)[key],
      `${path}.${key}`,
    );
    if (found !== "") return found;
  }
  return "";
}
