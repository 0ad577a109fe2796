// Documents and records in memory, and what is found, counted and summed over them.
// Copies everything that it takes and gives, like the rest of the store in memory.

import { accountFigures, checkRanks, type RankOrder } from "../../../src/store/account-ranks.ts";
import { compareText, indexedValues } from "../../../src/store/indexed-fields.ts";
import { iterateByCursor } from "../../../src/store/keyset-cursor.ts";
import type { Commit, Store, StoredDocument } from "../../../src/store/store.ts";
import type { Table } from "../../../src/store/tables.ts";
import {
  chargesOf,
  dayOfPeriod,
  dayPeriod,
  hourPeriod,
  isApart,
  type Period,
} from "../../../src/store/usage/charge-rows.ts";
import { PartsFold, PartsTable, type PeriodPart } from "../../../src/store/usage/usage-parts.ts";
import { usageReportOf } from "../../../src/store/usage/usage-report.ts";
import { summed, usageRows } from "../../../src/store/usage/usage-rows.ts";
import { matching, ordered, type Row, stepped } from "./memory-find.ts";

export interface MemoryDocuments {
  /** Stores documents, each only when newer: all of them, or, when one is refused, none. */
  save(documents: readonly StoredDocument[]): void;
  readonly store: Pick<
    Store,
    | "find"
    | "count"
    | "scan"
    | "rankAccounts"
    | "putRecords"
    | "removeRecords"
    | "usageTotals"
    | "usageReport"
  >;
}

/** By way of JSON, as on disk: a simulation then meets what a real store would do to a body that is not plain data. */
export const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value));

/** `commitsOf` returns the commits of an actor in their order. */
export function memoryDocuments(commitsOf: (actor: string) => readonly Commit[]): MemoryDocuments {
  const tables = new Map<Table, Map<string, Row & { readonly seq?: number }>>();

  function of(name: Table) {
    const table = tables.get(name) ?? new Map<string, Row & { readonly seq?: number }>();
    tables.set(name, table);
    return table;
  }

  return {
    save(documents) {
      // All or nothing: every document is checked before the first is stored.
      for (const document of documents) {
        indexedValues(document.table, document.body);
        if (document.table === "usage") usageRows(document);
      }
      for (const document of documents) {
        const table = of(document.table);
        if (document.seq > (table.get(document.id)?.seq ?? 0)) table.set(document.id, document);
      }
    },
    store: {
      find: async (find) => copy(ordered(find, of(find.table).values()).map(({ body }) => body)),
      count: async (conditions) => matching(conditions, of(conditions.table).values()).length,
      scan: (walk) => iterateByCursor((after) => copy(stepped(walk, of(walk.table).values(), after))),
      async rankAccounts(query) {
        checkRanks(query);
        const { by, descending, month, offset = 0, limit = Number.POSITIVE_INFINITY } = query;
        const rows = matching(query, of("accounts").values()).flatMap(({ body }) => {
          const figures = accountFigures(body);
          if (figures === null) return [];
          const { account: id, balance, monthCost } = figures;
          return {
            id,
            name: String(body.nameLower ?? ""),
            balance,
            monthCost: figures.month === month ? monthCost : 0,
          };
        });
        type Ranked = (typeof rows)[number];
        const orders: Record<RankOrder, (a: Ranked, b: Ranked) => number> = {
          id: () => 0,
          name: (a, b) => compareText(a.name, b.name),
          balance: (a, b) => a.balance - b.balance,
          month_cost: (a, b) => a.monthCost - b.monthCost,
        };
        return rows
          .sort((a, b) => (descending ? -1 : 1) * (orders[by](a, b) || a.id - b.id))
          .slice(offset, offset + limit)
          .map(({ id, monthCost }) => ({ id, monthCost }));
      },
      async putRecords(given) {
        const records = copy(given);
        for (const { table, body } of records) indexedValues(table, body);
        for (const { table, id, body } of records) of(table).set(id, { id, body });
      },
      async removeRecords(table, ids) {
        for (const id of ids) of(table).delete(id);
      },
      async usageTotals(query, signal) {
        signal?.throwIfAborted();
        return summed(query, [...of("usage").values()].flatMap(usageRows));
      },
      async usageReport(query, signal) {
        signal?.throwIfAborted();
        const documents = [...of("accounts").values()];
        const bodyOf = (account: number) => documents.find(({ body }) => body.id === account)?.body;
        const seqOf = (account: number, period: Period) =>
          period.startsWith("D")
            ? (of("usage").get(`${account}/${dayOfPeriod(period)}`)?.seq ?? 0)
            : Infinity;
        const partsOf = (account: number, period: Period) =>
          memoryParts(commitsOf(`account/${account}`), period, seqOf(account, period));
        return usageReportOf(query, [...of("usage").values()].flatMap(usageRows), bodyOf, partsOf);
      },
    },
  };
}

/** The parts of an account's commits up to one in a period, folded anew for each question. */
export function memoryParts(commits: readonly Commit[], period: Period, seq: number): readonly PeriodPart[] {
  const isHour = period.startsWith("H");
  const fold = new PartsFold(new PartsTable());
  for (const charge of commits.filter((one) => one.seq <= seq).flatMap(chargesOf)) {
    if (charge === null || (isHour ? hourPeriod : dayPeriod)(charge.at) !== period) continue;
    if (isHour) fold.addModel(charge);
    if (isApart(charge)) fold.addApart(charge);
  }
  return [...fold.added()];
}
