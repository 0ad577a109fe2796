// Finds ledger lines by filters: walks the projected lines of one actor from the newest to the oldest, by the
// range of their keys, and reads the events of those that pass from their commits. A request is found by its
// dedup ids, in the commits themselves. It reads only.

import type { Document } from "mongodb";
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
  type LineRow,
  pageOfRequest,
  tagPairs,
  withEvents,
} from "../line-rows.ts";
import { parseLineRow, parseLinesOfCommit, StoredRow } from "../stored-rows.ts";
import { type CommitDocument, commitKey } from "./append.ts";
import type { MongoConnection } from "./connection.ts";
import { type LineDocument, lineKey, paddedWhole } from "./line-projection.ts";
import { LINES_OF_COMMIT } from "./recent-commits.ts";

/** The place of a line, and the seq of its commit. */
type LinePlace = LineAnchor & { readonly seq: number };

/** Reads lines on a connection. */
export interface MongoLineReader {
  /** A page of the store's contract. Rejects when no store may run such a query. */
  page(filter: LineFilter, after: LineAnchor | null, limit: number): Promise<FoundLines>;
  /** The lines of these projected documents of an actor, with their events. */
  linesOf(actor: string, rows: readonly Document[]): Promise<FoundLine[]>;
}

/** Creates a reader of lines. */
export function mongoLineReader({ collection, read }: MongoConnection): MongoLineReader {
  const commits = collection<CommitDocument>("commits");
  const projected = collection<LineDocument>("lines");

  async function byRequest(
    filter: LineFilter,
    request: string,
    after: LineAnchor | null,
    limit: number,
  ): Promise<FoundLines> {
    const first = { $subtract: ["$linesTo", "$lines"] };
    const carrying = { actor: filter.actor, marks: { $in: [...dedupIdsOfRequest(request)] } };
    const behind = after === null ? {} : { $expr: { $lt: [first, after.number - 1] } };
    const found = await read(() =>
      commits
        .find({ ...carrying, ...behind })
        .sort({ _id: -1 })
        .limit(limit + 1)
        .project(LINES_OF_COMMIT)
        .toArray(),
    );
    return pageOfRequest(filter, after, limit, found.map(parseLinesOfCommit));
  }

  async function byRows(filter: LineFilter, after: LineAnchor | null, limit: number): Promise<FoundLines> {
    const rows = await read(() =>
      projected
        .find(lineConditions(filter, after))
        .sort({ _id: -1 })
        .limit(limit)
        .project({ seq: 1 })
        .toArray(),
    );
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      lines: await linesOf(filter.actor, rows),
      next: last === undefined ? null : anchorOf(placeOf(last)),
    };
  }

  async function linesOf(actor: string, rows: readonly Document[]): Promise<FoundLine[]> {
    const places = rows.map(placeOf);
    const keys = [...new Set(places.map(({ seq }) => commitKey(actor, seq)))];
    const found = await read(() =>
      commits
        .find({ _id: { $in: keys } })
        .project(LINES_OF_COMMIT)
        .toArray(),
    );
    const bySeq = new Map(found.map(parseLinesOfCommit).map((commit) => [commit.seq, commit]));
    return withEvents(places, bySeq);
  }

  return {
    async page(filter, after, limit) {
      checkLineQuery(filter, after, limit);
      const { request } = filter;
      return request === undefined ? byRows(filter, after, limit) : byRequest(filter, request, after, limit);
    },
    linesOf,
  };
}

/** The projected lines of an actor after an anchor, in the order of its ledger. */
export function linesAfter(
  { collection, read }: MongoConnection,
  actor: string,
  after: LineAnchor | null,
  limit: number,
): Promise<LineRow[]> {
  const behind = after === null ? `${actor}/` : lineKey(actor, after.at, after.number);
  const range = { _id: { $gt: behind, $lt: endOfLines(actor) } };
  return read(() =>
    collection<LineDocument>("lines").find(range).sort({ _id: 1 }).limit(limit).map(lineRowOf).toArray(),
  );
}

/** Yields the actors that have projected lines, in the order of their names. */
export async function* actorsOfLines({ collection, read }: MongoConnection): AsyncGenerator<string> {
  const lines = collection<LineDocument>("lines");
  for (let after = ""; ; ) {
    const first = await read(() => lines.findOne({ _id: { $gt: after } }, { sort: { _id: 1 } }));
    if (first === null) return;
    const { actor } = lineRowOf(first);
    yield actor;
    after = endOfLines(actor);
  }
}

/** Counts the projected lines of an actor. */
export const countLines = ({ collection, read }: MongoConnection, actor: string): Promise<number> =>
  read(() =>
    collection<LineDocument>("lines").countDocuments({ _id: { $gt: `${actor}/`, $lt: endOfLines(actor) } }),
  );

/** A text behind the keys of all lines of an actor: a colon sorts behind every digit. */
const endOfLines = (actor: string): string => `${actor}/:`;

/** The projected lines that meet the conditions on columns, behind the anchor. */
export function lineConditions(filter: LineFilter, after: LineAnchor | null): Document {
  const { actor, from = 0, until, types, model, apiKey, tags } = filter;
  const pairs = tagPairs(tags ?? {}).map((pair) => pair.toWellFormed());
  const ends = [
    endOfLines(actor),
    ...(until === undefined ? [] : [`${actor}/${paddedWhole(until)}`]),
    ...(after === null ? [] : [lineKey(actor, after.at, after.number)]),
  ];
  return {
    $and: [{ _id: { $gte: `${actor}/${paddedWhole(from)}` } }, ...ends.map((end) => ({ _id: { $lt: end } }))],
    ...(types === undefined ? {} : { type: { $in: [...types] } }),
    ...(model === undefined ? {} : { model: { $eq: model.toWellFormed() } }),
    ...(apiKey === undefined ? {} : { apiKey: { $eq: apiKey } }),
    ...(pairs.length === 0 ? {} : { tags: { $all: pairs } }),
  };
}

/** The place that a projected line's key says, and the seq of its commit. */
function placeOf(stored: unknown): LinePlace {
  const row = new StoredRow("lines", stored);
  return { ...parseLineKey(row), seq: row.integer("seq") };
}

/** A projected line, as its document has it. */
function lineRowOf(stored: Document): LineRow {
  const place = parseLineKey(new StoredRow("lines", stored));
  return parseLineRow({ model: null, apiKey: null, tags: [], ...stored, ...place });
}

const LINE_KEY = /^(.*)\/(\d{16})\/(\d{16})$/s;

/** The actor and the place that the key of a projected line says. */
function parseLineKey(row: StoredRow): LineAnchor & { readonly actor: string } {
  const [, actor, at, number] = LINE_KEY.exec(row.key()) ?? [];
  if (actor === undefined) return row.fail("_id", "an actor, a time and a number");
  return { actor, at: Number(at), number: Number(number) };
}
