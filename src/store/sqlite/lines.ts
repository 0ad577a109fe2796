// Finds ledger lines by filters: walks the projected rows of one actor from the newest to the oldest, a
// bounded number of them per page, and reads the events of those that pass from their commits. A request is
// found by its dedup ids, in the commits themselves. It reads only.

import {
  checkLineQuery,
  type FoundLine,
  type FoundLines,
  type LineAnchor,
  type LineFilter,
} from "../line-filter.ts";
import {
  anchorOf,
  dedupIdsOfRequest,
  type LinesOfCommit,
  pageOfRequest,
  tagPairs,
  withEvents,
} from "../line-rows.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { CommitIndex } from "./commit-index.ts";
import type { SqliteConnection } from "./connection.ts";
import type { IndexEntry } from "./index-tail.ts";
import type { Query } from "./query-builder.ts";

/** Rows that one page examines, in a few milliseconds. */
const EXAMINED_MAX = 10_000;

/** The lines of the store's contract, on a connection. */
export function sqliteLines(connection: SqliteConnection, index: CommitIndex): Pick<Store, "lines"> {
  const { page } = lineReader(connection, index);
  return {
    async lines(filter, after, limit) {
      await index.catchUp();
      return page(filter, after, limit);
    },
  };
}

/** Reads lines on a connection, a bounded number of rows at a time. */
export interface LineReader {
  /** A page of the store's contract. Throws when no store may run such a query. */
  page(filter: LineFilter, after: LineAnchor | null, limit: number): FoundLines;
  /** The lines at these places of an actor, with their events. */
  linesAt(actor: string, places: readonly LinePlace[]): FoundLine[];
}

/** Creates a reader of lines. */
export function lineReader(connection: SqliteConnection, index: CommitIndex): LineReader {
  const { recent } = connection;
  /** The commits of an actor that carry a dedup id of a request, the newest first. */
  function commitsOfRequest(actor: string, request: string): readonly IndexEntry[] {
    const seqs = dedupIdsOfRequest(request).flatMap((mark) => index.seqsOfMark(mark, actor));
    return [...index.findAll(actor, seqs).values()].sort((a, b) => b.seq - a.seq);
  }

  function byRequest(
    filter: LineFilter,
    request: string,
    after: LineAnchor | null,
    limit: number,
  ): FoundLines {
    const below = (after?.number ?? Number.MAX_SAFE_INTEGER) - 1;
    const commits: LinesOfCommit[] = [];
    for (const entry of commitsOfRequest(filter.actor, request)) {
      const commit = index.linesOfCommit(entry);
      if (commit.linesTo - commit.lines >= below) continue;
      commits.push(commit);
      if (commits.length > limit) break;
    }
    return pageOfRequest(filter, after, limit, commits);
  }

  function byRows(filter: LineFilter, after: LineAnchor | null, limit: number): FoundLines {
    const walk = walkOf(filter, after);
    const { sql, params } = conditionsOf(filter);
    const places = recent(
      `SELECT at, number, seq FROM (${walk.sql} LIMIT ${EXAMINED_MAX}) WHERE ${sql} LIMIT ?`,
    )
      .all(...walk.params, ...params, limit)
      .map(placeOf);
    const lines = linesAt(filter.actor, places);
    return { lines, next: places.length === limit ? anchorOf(places.at(-1)!) : lastExamined(walk) };
  }

  function linesAt(actor: string, places: readonly LinePlace[]): FoundLine[] {
    const entries = index.findAll(
      actor,
      places.map(({ seq }) => seq),
    );
    const commits = new Map<number, LinesOfCommit>();
    for (const [seq, entry] of entries) commits.set(seq, index.linesOfCommit(entry));
    return withEvents(places, commits);
  }

  /** The last row of a walk that has as many as a page examines; null when it ends before. */
  function lastExamined({ sql, params }: Query): LineAnchor | null {
    const row = recent(`${sql} LIMIT 1 OFFSET ${EXAMINED_MAX - 1}`).get(...params);
    return row === null ? null : anchorOf(placeOf(row));
  }

  return {
    page(filter, after, limit) {
      checkLineQuery(filter, after, limit);
      const { request } = filter;
      return request === undefined ? byRows(filter, after, limit) : byRequest(filter, request, after, limit);
    },
    linesAt,
  };
}

/** The place of a line, and the seq of its commit. */
export type LinePlace = LineAnchor & { readonly seq: number };

/**
 * The projected rows of the filter's actor and times behind the anchor, newest first; without the charges where none
 * passes, since an index has all others.
 */
export function walkOf({ actor, from, until, types }: LineFilter, after: LineAnchor | null): Query {
  const hasCharges = types === undefined || types.includes("charge");
  const bounds: readonly (readonly [sql: string, params: Query["params"]])[] = [
    ["actor = ?", [actor]],
    ...(hasCharges ? [] : [["type <> 'charge'", []] as const]),
    ...(from === undefined ? [] : [["at >= ?", [from]] as const]),
    ...(until === undefined ? [] : [["at < ?", [until]] as const]),
    ...(after === null ? [] : [["(at, number) < (?, ?)", [after.at, after.number]] as const]),
  ];
  return {
    sql: `SELECT at, number, seq, type, model, apiKey, tags, amount
      FROM lines ${hasCharges ? "" : "INDEXED BY lines_other"}
      WHERE ${bounds.map(([sql]) => sql).join(" AND ")} ORDER BY at DESC, number DESC`,
    params: bounds.flatMap(([, params]) => params),
  };
}

/** The conditions on the other columns of a row. */
export function conditionsOf({ types, model, apiKey, tags }: LineFilter): Query {
  const pairs = tagPairs(tags ?? {});
  const sql = [
    ...(types === undefined ? [] : ["type IN (SELECT value FROM json_each(?))"]),
    ...(model === undefined ? [] : ["model = ?"]),
    ...(apiKey === undefined ? [] : ["apiKey = ?"]),
    ...pairs.map(() => "instr(tags, ?) > 0"),
  ];
  return {
    sql: sql.length === 0 ? "true" : sql.join(" AND "),
    params: [
      ...(types === undefined ? [] : [JSON.stringify(types)]),
      ...[model, apiKey].filter((value) => value !== undefined),
      ...pairs.map((pair) => `,${pair},`),
    ],
  };
}

/** Parses a place. */
export function placeOf(stored: unknown): LinePlace {
  const row = new StoredRow("lines", stored);
  return { at: row.integer("at"), number: row.integer("number"), seq: row.integer("seq") };
}
