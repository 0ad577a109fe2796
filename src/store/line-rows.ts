// The projection of ledger lines: for each line a narrow row of what filters select by, so that a filter
// reads neither events nor lines of other actors. Defines its rows (`lineRows`), what a filter means
// (`passes`), and how a page leads back to the events, which stay in the commits alone. What is only shown of
// a line (its tokens, attempts and durations) is read there, and its request is found by its dedup ids.
// Nothing here reads or writes a database.

import type { FoundLine, FoundLines, LineAnchor, LineFilter, LineWalk } from "./line-filter.ts";
import type { Commit } from "./store.ts";

/** A ledger line as filters see it. It is derived from its commit and never differs from it. */
export interface LineRow extends LineAnchor {
  readonly actor: string;
  /** The seq of its commit. */
  readonly seq: number;
  readonly type: string;
  readonly model: string | null;
  /** Null for a line that no API key causes. */
  readonly apiKey: number | null;
  /** `name=value`, in the order of the names; neither has an equals sign or a comma. */
  readonly tags: readonly string[];
  /** Nano-dollars, negative when they leave the account. */
  readonly amount: number;
}

/** The parts of a commit that its lines are made of. */
export type LinesOfCommit = Pick<Commit, "actor" | "seq" | "linesTo" | "lines" | "events">;

/** The types of lines that an API key causes; where such a line names none, it is the main key, 0. */
const CAUSED_BY_KEY: ReadonlySet<unknown> = new Set(["charge", "late_charge", "query_fee"]);

const MAIN_KEY = 0;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (e: unknown): Fields => (typeof e === "object" && e !== null ? (e as Fields) : {});

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** A zero has no sign here, as it has none in JSON. */
const wholeOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) ? (value as number) + 0 : null;

/** The rows of a commit's lines, in their order. A field that a line does not have is null, "" or 0. */
export function lineRows({ actor, seq, linesTo, lines, events }: LinesOfCommit): LineRow[] {
  const rows: LineRow[] = [];
  let number = linesTo - lines;
  for (const { at, line, e } of events) {
    if (!line) continue;
    const { type, model, apiKey, tags, amount } = fieldsOf(e);
    rows.push({
      actor,
      seq,
      at,
      number: ++number,
      type: textOf(type) ?? "",
      model: textOf(model),
      apiKey: wholeOf(apiKey) ?? (CAUSED_BY_KEY.has(type) ? MAIN_KEY : null),
      tags: tags === undefined ? NO_TAGS : tagPairs(fieldsOf(tags)),
      amount: wholeOf(amount) ?? 0,
    });
  }
  return rows;
}

const NO_TAGS: readonly string[] = [];

/** Tags as `name=value`, in the order of their names. */
export const tagPairs = (tags: Fields): string[] =>
  Object.keys(tags)
    .sort()
    .map((name) => `${name}=${String(tags[name])}`);

/** Whether a line passes a filter; `e` is its event. The definition that every store keeps. */
export const passes = (filter: LineFilter, row: LineRow, e: unknown): boolean =>
  row.actor === filter.actor &&
  (filter.from === undefined || row.at >= filter.from) &&
  (filter.until === undefined || row.at < filter.until) &&
  (filter.types === undefined || filter.types.includes(row.type)) &&
  (filter.model === undefined || row.model === filter.model) &&
  (filter.apiKey === undefined || row.apiKey === filter.apiKey) &&
  (filter.tags === undefined || tagPairs(filter.tags).every((pair) => row.tags.includes(pair))) &&
  (filter.request === undefined || isOfRequest(e, filter.request));

/** The dedup ids by which the commits of a request are found. */
export const dedupIdsOfRequest = (request: string): readonly string[] => [request, `request:${request}`];

function isOfRequest(e: unknown, request: string): boolean {
  const { id, request: own } = fieldsOf(e);
  return own === request || id === request;
}

/** Whether a line stands before the anchor, which means later in a list that has the newest first. */
const isBehind = (row: LineAnchor, anchor: LineAnchor | null): boolean =>
  anchor === null || row.at < anchor.at || (row.at === anchor.at && row.number < anchor.number);

/** The lines of these commits that pass, newest first. The commits are of one actor, newest first. */
export function passingLines(
  filter: LineFilter,
  after: LineAnchor | null,
  commits: readonly LinesOfCommit[],
): FoundLine[] {
  return commits.flatMap((commit) => {
    const events = commit.events.filter(({ line }) => line);
    return lineRows(commit)
      .flatMap((row, i) =>
        isBehind(row, after) && passes(filter, row, events[i]!.e)
          ? [{ at: row.at, number: row.number, e: events[i]!.e }]
          : [],
      )
      .reverse();
  });
}

/** The lines at these places of the projection, in their order, with the events of their commits. */
export function withEvents(
  places: readonly (LineAnchor & { readonly seq: number })[],
  commits: ReadonlyMap<number, LinesOfCommit>,
): FoundLine[] {
  return places.flatMap(({ at, number, seq }) => {
    const commit = commits.get(seq);
    if (commit === undefined) return [];
    const { e } =
      commit.events.filter(({ line }) => line)[number - 1 - (commit.linesTo - commit.lines)] ?? {};
    return e === undefined ? [] : [{ at, number, e }];
  });
}

/**
 * A page of the lines of a request, of its commits that have lines behind the anchor: of up to `limit` + 1 of
 * them, newest first, the last of which only shows that there are more.
 */
export function pageOfRequest(
  filter: LineFilter,
  after: LineAnchor | null,
  limit: number,
  commits: readonly LinesOfCommit[],
): FoundLines {
  const read = commits.slice(0, limit);
  const lines = passingLines(filter, after, read);
  if (lines.length > limit) return { lines: lines.slice(0, limit), next: anchorOf(lines[limit - 1]!) };
  return { lines, next: commits.length > limit ? firstLine(read.at(-1)!) : null };
}

/** The page of a walk that found these lines: with an anchor when it found as many as it asked for. */
export function pageOfWalk(lines: readonly FoundLine[], { limit }: LineWalk): FoundLines {
  return { lines, next: lines.length < limit ? null : anchorOf(lines.at(-1)!) };
}

/** The place of a line alone. */
export const anchorOf = ({ at, number }: LineAnchor): LineAnchor => ({ at, number });

/** The place of the first line of a commit. */
function firstLine({ events, linesTo, lines }: LinesOfCommit): LineAnchor {
  return { at: events.find(({ line }) => line)?.at ?? 0, number: linesTo - lines + 1 };
}
