// Walks over the ledger lines of one actor as far as it takes: to find a page far behind the newest line, or one of
// few lines among many, and to count what passes. It walks in steps of bounded length and yields after each, so that
// what reads its steps may stop it. It may take seconds, so the server runs it on a thread of its own
// (usage-worker-pool.ts). It reads only.

import {
  checkLineQuery,
  checkLineWalk,
  type FoundLine,
  type LineAnchor,
  type LineFilter,
  type LineWalk,
} from "../line-filter.ts";
import { anchorOf } from "../line-rows.ts";
import { StoredRow } from "../stored-rows.ts";
import { CommitIndex } from "./commit-index.ts";
import type { SqliteConnection } from "./connection.ts";
import { conditionsOf, lineReader, placeOf, walkOf } from "./lines.ts";

/** What a step found. A walk that seeks lines has no sums, and one that counts has no lines. */
export interface LineWalkStep {
  readonly lines: readonly FoundLine[];
  /** How many lines passed; 0 of a walk that seeks lines. */
  readonly count: number;
  /** The sum of their amounts is `high` times 2 to the 32 and `low`: each of both is a safe integer. */
  readonly high: number;
  readonly low: number;
}

/** Rows of a first step, which is for a page that is near; the steps behind it double, up to some 20 ms. */
const [ROWS_FIRST, ROWS_MAX] = [2_048, 65_536];
/** Lines of a step, with their events, which the receiver reads in a millisecond or two. */
const LINES_MAX = 100;

/** Walks on a connection. Both throw when no store may run such a query. */
export interface LineWalks {
  walk(filter: LineFilter, walk: LineWalk): Iterable<LineWalkStep>;
  totals(filter: LineFilter): Iterable<LineWalkStep>;
}

/** What lies within a step. */
interface Stretch {
  readonly passed: number;
  readonly high: number;
  readonly low: number;
  /** The place of its last row; null when no rows are behind it. */
  readonly end: LineAnchor | null;
}

/** Creates walks on a connection. */
export function sqliteLineWalks(connection: SqliteConnection): LineWalks {
  const { recent } = connection;
  const { page, linesAt } = lineReader(connection, new CommitIndex(connection));

  /** Adds up the next rows behind an anchor. */
  function stretch(filter: LineFilter, after: LineAnchor | null, rows: number): Stretch {
    const walk = walkOf(filter, after);
    const { sql, params } = conditionsOf(filter);
    const stored = recent(
      `SELECT count(*) AS examined, min(at) AS at, min(number) AS number, count(*) FILTER (WHERE passes) AS passed,
         ifnull(sum(amount >> 32) FILTER (WHERE passes), 0) AS high,
         ifnull(sum(amount & 4294967295) FILTER (WHERE passes), 0) AS low
       FROM (SELECT at, number, amount, ${sql} AS passes FROM (${walk.sql} LIMIT ${rows}))`,
    ).get(...params, ...walk.params);
    const row = new StoredRow("lines", stored);
    const isLast = row.integer("examined") < rows;
    return {
      ...{ passed: row.integer("passed"), high: row.integer("high"), low: row.integer("low") },
      end: isLast ? null : { at: row.integer("at"), number: row.integer("number") },
    };
  }

  /** The next places that pass, within so many rows behind an anchor. */
  function places(filter: LineFilter, after: LineAnchor | null, rows: number, skip: number, limit: number) {
    const walk = walkOf(filter, after);
    const { sql, params } = conditionsOf(filter);
    return recent(`SELECT at, number, seq FROM (${walk.sql} LIMIT ${rows}) WHERE ${sql} LIMIT ? OFFSET ?`)
      .all(...walk.params, ...params, limit, skip)
      .map(placeOf);
  }

  function* stretches(filter: LineFilter): Generator<Stretch> {
    let after: LineAnchor | null = null;
    for (let rows = ROWS_FIRST; ; rows = Math.min(2 * rows, ROWS_MAX)) {
      const one = stretch(filter, after, rows);
      yield one;
      if (one.end === null) return;
      after = one.end;
    }
  }

  /** All lines of a request that pass. They are found in commits, not by a walk. */
  function* ofRequest(filter: LineFilter, from: LineAnchor | null): Generator<readonly FoundLine[]> {
    for (let after = from; ; ) {
      const { lines, next } = page(filter, after, LINES_MAX);
      yield lines;
      if (next === null) return;
      after = next;
    }
  }

  function* walkRequest(filter: LineFilter, { after, skip, limit }: LineWalk): Generator<LineWalkStep> {
    let [left, wanted] = [skip, limit];
    for (const lines of ofRequest(filter, after)) {
      const found = lines.slice(left, left + wanted);
      left = Math.max(0, left - lines.length);
      wanted -= found.length;
      yield { ...NOTHING, lines: found };
      if (wanted === 0) return;
    }
  }

  function* walkRows(filter: LineFilter, walk: LineWalk): Generator<LineWalkStep> {
    let { after, skip, limit } = walk;
    for (let rows = ROWS_FIRST; limit > 0; ) {
      const { passed, end } = stretch(filter, after, rows);
      const wanted = Math.min(limit, LINES_MAX);
      const found = passed > skip ? places(filter, after, rows, skip, wanted) : [];
      yield { ...NOTHING, lines: linesAt(filter.actor, found) };
      limit -= found.length;
      if (found.length === wanted) {
        after = anchorOf(found.at(-1)!);
        [skip, rows] = [0, ROWS_FIRST];
        continue;
      }
      if (end === null) return;
      after = end;
      skip = Math.max(0, skip - passed);
      rows = Math.min(2 * rows, ROWS_MAX);
    }
  }

  return {
    walk(filter, walk) {
      checkLineWalk(filter, walk);
      return filter.request === undefined ? walkRows(filter, walk) : walkRequest(filter, walk);
    },
    *totals(filter) {
      checkLineQuery(filter, null, 1);
      if (filter.request === undefined) {
        for (const { passed, high, low } of stretches(filter)) yield { lines: [], count: passed, high, low };
        return;
      }
      for (const lines of ofRequest(filter, null)) yield amountsOf(lines);
    },
  };
}

const NOTHING: LineWalkStep = { lines: [], count: 0, high: 0, low: 0 };

/** The sum of the amounts of lines, which their events have. */
function amountsOf(lines: readonly FoundLine[]): LineWalkStep {
  const amounts = lines.map(({ e }) => Number((e as { readonly amount?: unknown }).amount ?? 0));
  const halves = amounts.map(
    (amount) => [Math.floor(amount / HALF), ((amount % HALF) + HALF) % HALF] as const,
  );
  return {
    ...{ lines: [], count: lines.length },
    high: halves.reduce((sum, [high]) => sum + high, 0),
    low: halves.reduce((sum, [, low]) => sum + low, 0),
  };
}

const HALF = 2 ** 32;

/** The amount that both halves of a step state. */
export const amountOf = ({ high, low }: Pick<LineWalkStep, "high" | "low">): bigint =>
  BigInt(high) * BigInt(HALF) + BigInt(low);
