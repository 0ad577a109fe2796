// Reads the parts of usage (usage/usage-parts.ts) for the groups of a report, in the transaction that reads the report itself.
// The parts of a day are those of the projected lines, and a usage document those of the commits up to its own: what the
// projection has beyond the document is taken out of the parts, and what it does not have yet is added, so that the groups
// of a day are exactly as of its document.

import type { LinesOfCommit } from "../line-rows.ts";
import type { UsageReportQuery } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import {
  type ChargeRow,
  chargesOf,
  dayOfPeriod,
  dayPeriod,
  isApart,
  type Period,
} from "../usage/charge-rows.ts";
import type { UsageAggregator } from "../usage/usage-aggregator.ts";
import type { UsageGroups } from "../usage/usage-groups.ts";
import {
  negated,
  PART_KINDS,
  type PartKind,
  PartsFold,
  PartsTable,
  type PeriodPart,
  parsePart,
} from "../usage/usage-parts.ts";
import { addHour, hoursOf, partKindOf } from "../usage/usage-report.ts";
import { SUMS } from "../usage/usage-rows.ts";
import { CommitIndex, withLines } from "./commit-index.ts";
import type { SqliteConnection } from "./connection.ts";
import { ledgerRowsAfter, projectedRow } from "./ledger-walk.ts";

/** The actors of accounts are named so. */
const ACTOR = "account/";
const actorOf = (account: number): string => `${ACTOR}${account}`;
const accountOf = (actor: string): number => Number(actor.slice(ACTOR.length));

/**
 * Commits that are not projected yet and are read for one report at most: those of two seconds under the most load, since documents are
 * often saved just before they are reported. What comes behind them is in the rest of its totals.
 */
const UNPROJECTED_MAX = 20_000;
/** Commits that are looked up at once. */
const COMMITS_MAX = 200;
const DAY_MS = 86_400_000;

/** A usage document of the query's accounts. `seq` is the last commit that it counts. */
interface UsageDocumentKey {
  readonly account: number;
  readonly day: string;
  readonly seq: number;
}

/** The reads of parts on a connection. */
export class UsagePartsReader {
  readonly #recent: SqliteConnection["recent"];
  readonly #statements: ReturnType<typeof partStatements>;
  readonly #index: CommitIndex;

  constructor(connection: SqliteConnection) {
    this.#index = new CommitIndex(connection);
    this.#recent = connection.recent;
    this.#statements = partStatements(connection);
  }

  /** Adds the parts of the query's days to groups that have the usage of these days. */
  addDays(query: UsageReportQuery, groups: UsageGroups): void {
    const kind = partKindOf(query);
    if (kind === null) return;
    const behind = this.#unprojected();
    const waiting = [...behind.values()].map(([first]) => ({
      actor: first!.actor,
      period: dayPeriod(first!.at),
    }));
    const isAsked = (period: Period) => dayOfPeriod(period) >= query.from && dayOfPeriod(period) <= query.to;
    const days = [...this.#days(query, kind), ...waiting.map(({ period }) => period).filter(isAsked)];
    for (const period of new Set(days)) {
      const more = waiting.filter((one) => one.period === period).map(({ actor }) => actor);
      for (const actor of new Set([...this.#actors(query, period, kind), ...more])) {
        const document = this.#document(query, actor, dayOfPeriod(period));
        if (document === null) continue;
        const parts = this.#partsAsOf(document, kind, behind.get(placeKey(actor, period)) ?? []);
        groups.addParts(null, document.account, parts);
      }
    }
  }

  /** Adds the usage of the query's hours to the sums and groups of a report. */
  addHours(query: UsageReportQuery, sums: UsageAggregator, groups: UsageGroups): void {
    const kind = partKindOf(query);
    const kinds = kind === null ? [PART_KINDS.model] : [PART_KINDS.model, kind];
    for (const hour of hoursOf(query.hours!)) {
      for (const actor of this.#actors(query, hour, PART_KINDS.model)) {
        const document = this.#document(query, actor, dayOfPeriod(hour));
        if (document === null) continue;
        const parts = kinds.flatMap((one) => this.#partsOf(hour, one, actor));
        addHour(sums, groups, { account: document.account, hour }, parts);
      }
    }
  }

  #partsOf(period: Period, kind: PartKind, actor: string): PeriodPart[] {
    return this.#statements.partsOf.all(period, kind, actor).map(parsePart);
  }

  /** The parts of an account on a day as of its usage document. `behind` are charges that are not projected yet. */
  #partsAsOf(
    { account, day, seq }: UsageDocumentKey,
    kind: PartKind,
    behind: readonly ChargeRow[],
  ): PeriodPart[] {
    const [actor, period] = [actorOf(account), `D${day}`];
    const stored = this.#partsOf(period, kind, actor);
    const newest = this.#newestLine(actor, Date.parse(`${day}T00:00:00Z`) + DAY_MS);
    const fold = new PartsFold(new PartsTable(stored));
    if (newest.seq <= seq) {
      for (const charge of behind) {
        if (charge.number > newest.number && charge.seq <= seq) fold.addApart(charge);
      }
      return [...stored, ...fold.added()];
    }
    for (const charge of this.#chargesAfter(actor, seq)) {
      if (charge.number <= newest.number && dayPeriod(charge.at) === period) fold.addApart(charge);
    }
    return [...stored, ...[...fold.added()].map(negated)];
  }

  /** The charges of an actor's commits after one that are kept apart, in the order of its ledger. */
  *#chargesAfter(actor: string, seq: number): Generator<ChargeRow> {
    for (let after = seq; ; ) {
      const entries = this.#index.after(actor, after, COMMITS_MAX);
      for (const entry of withLines(entries)) yield* chargesIn(this.#index.linesOfCommit(entry));
      if (entries.length < COMMITS_MAX) return;
      after = entries.at(-1)!.seq;
    }
  }

  /** The newest projected line of an actor before a time. */
  #newestLine(actor: string, before: number): { readonly seq: number; readonly number: number } {
    const found = this.#statements.newestLine.get(actor, before);
    if (found === null) return { seq: 0, number: 0 };
    const row = new StoredRow("lines", found);
    return { seq: row.integer("seq"), number: row.integer("number") };
  }

  /** Charges that are kept apart, of commits that are not projected yet, by actor and day. */
  #unprojected(): ReadonlyMap<string, ChargeRow[]> {
    const charges: ChargeRow[] = [];
    let count = 0;
    for (const ledgerRow of this.#statements.rowsAfter(this.#statements.projectedRow())) {
      count += ledgerRow.size;
      for (let nth = 0; nth < ledgerRow.size; nth++) {
        if (mayBeApart(ledgerRow.bodyText(nth))) charges.push(...chargesIn(ledgerRow.linesOfCommit(nth)));
      }
      if (count >= UNPROJECTED_MAX) break;
    }
    return Map.groupBy(charges, ({ actor, at }) => placeKey(actor, dayPeriod(at)));
  }

  /** The usage document of an account and day, if it is one of the query's. */
  #document({ accounts }: UsageReportQuery, actor: string, day: string): UsageDocumentKey | null {
    const account = accountOf(actor);
    const found = this.#statements.document.get(`${account}/${day}`);
    if (found === null) return null;
    const row = new StoredRow("usage", found);
    if ("dna" in accounts ? !row.text("dna").startsWith(accounts.dna) : !accounts.ids.includes(account)) {
      return null;
    }
    return { account, day, seq: row.integer("seq") };
  }

  /** The days of the query that have parts of a kind, one index seek each. */
  #days({ from, to }: UsageReportQuery, kind: PartKind): Period[] {
    const days = this.#recent(
      `WITH RECURSIVE days (period) AS (
         SELECT min(period) FROM usageParts WHERE period >= ?1
         UNION ALL SELECT (SELECT min(next.period) FROM usageParts AS next WHERE next.period > days.period)
           FROM days WHERE days.period <= ?2)
       SELECT period FROM days WHERE period <= ?2
         AND EXISTS (SELECT 1 FROM usageParts AS part WHERE part.period = days.period AND part.kind = ?3)`,
    );
    return days.all(`D${from}`, `D${to}`, kind).map((row) => new StoredRow("usageParts", row).text("period"));
  }

  /** The actors of the query that may have parts of a kind in a period, one index seek each. */
  #actors({ accounts }: UsageReportQuery, period: Period, kind: PartKind): string[] {
    if ("ids" in accounts) return accounts.ids.map(actorOf);
    const actors = this.#recent(
      `WITH RECURSIVE actors (actor) AS (
         SELECT min(actor) FROM usageParts WHERE period = ?1 AND kind = ?2
         UNION ALL SELECT (SELECT min(next.actor) FROM usageParts AS next
           WHERE next.period = ?1 AND next.kind = ?2 AND next.actor > actors.actor)
           FROM actors WHERE actor IS NOT NULL)
       SELECT actor FROM actors WHERE actor IS NOT NULL`,
    );
    return actors.all(period, kind).map((row) => new StoredRow("usageParts", row).text("actor"));
  }
}

function partStatements(connection: SqliteConnection) {
  const { prepare } = connection;
  return {
    projectedRow: projectedRow(connection, "lines"),
    rowsAfter: ledgerRowsAfter(connection),
    partsOf: prepare<[Period, PartKind, string]>(
      `SELECT kind, name, value, label, ${SUMS.join(", ")} FROM usageParts
       WHERE period = ? AND kind = ? AND actor = ?`,
    ),
    document: prepare<[string]>("SELECT dna, seq FROM usage WHERE key = ?"),
    newestLine: prepare<[string, number]>(
      "SELECT seq, number FROM lines WHERE actor = ? AND at < ? ORDER BY at DESC, number DESC LIMIT 1",
    ),
  };
}

/** Whether the text of a commit names what charges that are kept apart have; most commits need not be parsed. */
const mayBeApart = (text: string): boolean => text.includes('"tags":') || text.includes('"apiKey":');

/** The charges of a commit that are kept apart. */
const chargesIn = (commit: LinesOfCommit): ChargeRow[] =>
  chargesOf(commit).filter((charge) => charge !== null && isApart(charge)) as ChargeRow[];

const placeKey = (actor: string, period: Period): string => `${actor}\n${period}`;
