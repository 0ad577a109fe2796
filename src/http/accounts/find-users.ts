// Lists of accounts: the caller's children, or all accounts below it; all of them, or those that an identifier names, restricted by
// the filters of the query. Lists come from the accounts table and load no actor; one account by id or name is read from its actor.

import type { Profile } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { spellingsOf } from "../../../actors/account-name.ts";
import { type AccountId, dnaBelow } from "../../../actors/ids.ts";
import { monthOf } from "../../../actors/time.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import type { Conditions, DocumentBody, ScanQuery, Where } from "../../store/store.ts";
import { jsonArray, streamed } from "../json-stream.ts";
import type { ManagementCaller } from "../management.ts";
import { pageHeaders, pageOf } from "../schemas.ts";
import { belowDna, conditionOf, findAccount, namesOf, userNotFound } from "./account-lookup.ts";
import { type AccountShape, accountShape, type Shown, shownOf } from "./account-shape.ts";
import { besideRecord, type RankedRow, type Ranking, rankedRows, rankingOf } from "./ranked-users.ts";
import type { UserFilter, UsersQuery } from "./schemas.ts";
import type { UsersParts } from "./users.ts";

/** Direct children only, or all descendants. */
export type SearchScope = "children" | "descendants";

type Condition = Where<"accounts">;
type Accounts = Conditions<"accounts">;

const WITHIN: Readonly<Record<SearchScope, (top: Pick<Profile, "id" | "dna">) => Condition>> = {
  children: ({ id }) => ({ field: "parent", is: "=", value: id }),
  descendants: ({ id, dna }) => ({ field: "dna", is: "starts", value: dnaBelow(dna, id) }),
};

const OPEN: Condition = { field: "closed", is: "=", value: 0 };

/** The condition of each filter. Several conditions are alternatives; null means that no account can match. */
const FILTERS: Readonly<Record<UserFilter, (value: string) => Condition | readonly Condition[] | null>> = {
  id: conditionOf,
  name: (value) => spellingsOf(value).map((part) => ({ field: "nameLower", is: "has", value: part })),
  email: (value) => ({ field: "email", is: "=", value }),
  level: (value) =>
    /^-?\d/.test(value) ? { field: "level", is: "=", value: Number(value) + 0 } : conditionOf(value),
  dna: belowDna,
};

const PAGE = { size: 100, most: 1_000 };

/** A list of accounts as it is answered: rows, or the JSON text of an array. */
export interface UserList {
  readonly list: AccountShape[] | string | ReadableStream;
  readonly headers: HeaderRecord;
}

/**
 * Lists the accounts below the caller, or below the parent that the query names. An `identifier` restricts them to those that
 * it names; null means all. Throws `RefusedError` `user_not_found` where an id, a name or an e-mail address names none, and
 * `ambiguous_identifier` for a parent of whose e-mail address there are several.
 */
export async function findUsers(
  parts: UsersParts,
  caller: ManagementCaller,
  { scope, identifier, query }: { scope: SearchScope; identifier: string | null; query: UsersQuery },
): Promise<UserList> {
  const top = query.parent ? (await findAccount(parts, caller, query.parent, "list")).record : caller;
  const within = [WITHIN[scope](top.profile), OPEN];
  const filters = filtersOf(query);
  // An account that may have no subaccounts is shown none.
  const shown = caller.profile.userLimit === 0 ? [null] : [];
  if (identifier === null) return list(parts, meeting(within, [...shown, ...filters]), query);
  const names = namesOf(identifier);
  const condition = conditionOf(identifier);
  if (names === "id" || names === "name") {
    const record = await oneOf(parts, caller, identifier, scope === "children" ? top.profile.id : null);
    // The filters are applied by the table, because the account does not state their fields alike.
    const itself: Condition = { field: "id", is: "=", value: record.profile.id };
    const left = filters.length === 0 || (await parts.store.count(meeting(within, [itself, ...filters]))) > 0;
    return paged(parts, left ? [record] : [], query);
  }
  if (names === "email" && (await parts.store.count(meeting(within, [condition, ...shown]))) === 0) {
    throw userNotFound(identifier);
  }
  return list(parts, meeting(within, [condition, ...shown, ...filters]), query);
}

type Filtered = ReturnType<(typeof FILTERS)[UserFilter]>;

const filtersOf = (query: UsersQuery): Filtered[] =>
  (Object.keys(FILTERS) as UserFilter[]).flatMap((name) => {
    const value = query[name];
    return value === undefined || value === "" ? [] : [FILTERS[name](value)];
  });

/** Combines all filters. One that no account can match matches none. At most one filter has alternatives. */
function meeting(within: readonly Condition[], filters: readonly Filtered[]): Accounts {
  const where = [...within];
  let anyOf: readonly (readonly Condition[])[] = [[]];
  for (const filter of filters) {
    if (filter === null) return { table: "accounts", where, anyOf: [] };
    if ("field" in filter) where.push(filter);
    else anyOf = filter.map((choice) => [choice]);
  }
  return { table: "accounts", where, anyOf };
}

async function oneOf(
  parts: UsersParts,
  caller: ManagementCaller,
  identifier: string,
  parent: AccountId | null,
): Promise<AccountRecord> {
  const { record } = await findAccount(parts, caller, identifier, "read");
  if (parent !== null && record.profile.parent !== parent) throw userNotFound(identifier);
  return record;
}

/** Returns a page from the table, or all of it, read a few accounts at a time. */
async function list(parts: UsersParts, accounts: Accounts, query: UsersQuery): Promise<UserList> {
  const { store, clock } = parts;
  const { page, size } = pageOf(query, PAGE);
  const total = await store.count(accounts);
  const paged = page !== 0 && size !== 0;
  const headers = pageHeaders(total, paged ? { page, size } : null);
  const place = paged ? { offset: (page - 1) * size, limit: size } : null;
  const ranking = rankingOf(query);
  // Maps as they stand may be large, and a page has a thousand accounts.
  const shape = (document: DocumentBody) => shapeOf(parts, shownOf(document, clock.wall()));
  if (ranking.isNeeded && (place?.offset ?? 0) < total) {
    const of = { month: monthOf(clock.wall()), page: place && { ...place, total } };
    const rows = await rankedRows(store, accounts, ranking, of);
    const beside = async ({ document, monthCost }: RankedRow) => ({
      ...(await shape(document)),
      ...besideRecord(ranking, { children: Number(document.children), monthCost }),
    });
    return { list: await streamed(jsonArray(rows, beside)), headers };
  }
  const { descending } = ranking;
  const rows: Iterable<DocumentBody> | AsyncIterable<DocumentBody> =
    place === null
      ? store.scan({ ...accounts, order: "id", descending })
      : await rowsOf(store, { ...accounts, order: "id", descending }, { ...place, total });
  return { list: await streamed(jsonArray(rows, shape)), headers };
}

/** Synchronous where the configurations above the account are cached: in a list they are, after the first of a tree. */
function shapeOf({ configs }: UsersParts, one: Shown): AccountShape | Promise<AccountShape> {
  const maps = configs.maps(one.profile);
  return maps instanceof Promise ? maps.then((found) => accountShape(one, found)) : accountShape(one, maps);
}

/** Reads one page, from the nearer end of the list. */
async function rowsOf(
  store: UsersParts["store"],
  walk: ScanQuery<"accounts">,
  place: { readonly offset: number; readonly limit: number; readonly total: number },
) {
  const { offset, total } = place;
  const limit = Math.min(place.limit, total - offset);
  if (limit <= 0) return [];
  if (offset <= total / 2) return store.find({ ...walk, offset, limit });
  const behind = { offset: total - offset - limit, limit };
  return (await store.find({ ...walk, descending: !walk.descending, ...behind })).toReversed();
}

/** Returns a page of accounts that are in memory. */
async function paged(
  parts: UsersParts,
  records: readonly AccountRecord[],
  query: UsersQuery,
): Promise<UserList> {
  const { page, size } = pageOf(query, PAGE);
  const ranking: Ranking = rankingOf(query);
  const shapes = await Promise.all(
    records.map(async (record) => ({
      ...(await shapeOf(parts, record)),
      ...besideRecord(ranking, { children: record.children, monthCost: record.spentThisMonth }),
    })),
  );
  const total = shapes.length;
  if (page === 0 || size === 0) return { list: shapes, headers: pageHeaders(total, null) };
  const headers = pageHeaders(total, { page, size });
  return { list: shapes.slice((page - 1) * size, page * size), headers };
}
