// GET /x-users and /x-dna: the caller's children, or everybody below it; all of them, or whom an identifier names, and of
// these whom the query leaves. Lists come from the accounts table; one account by id or name tells itself what it is now.
// Nothing is decided by an account in a list, and none is woken for it.

import { type Static, Type } from "@sinclair/typebox";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { spellingsOf } from "../../../actors/account-name.ts";
import { dnaBelow } from "../../../actors/ids.ts";
import type { Conditions, Where } from "../../store/store.ts";
import { answer, endpoint, type ManagementAnswer } from "../endpoint.ts";
import { jsonArray, streamed } from "../json-stream.ts";
import type { ManagementCaller } from "../management.ts";
import { accountShape, digits, pageHeaders, pageOf, type Shown, shownOf, textSchema } from "../shapes.ts";
import { belowDna, conditionOf, findAccount, namesOf, userNotFound } from "./account-lookup.ts";
import type { UsersParts } from "./users.ts";

/** children: direct ones; descendants: theirs too. */
export type Scope = "children" | "descendants";

type Condition = Where<"accounts">;
type Accounts = Conditions<"accounts">;

const WITHIN: Readonly<Record<Scope, (caller: ManagementCaller["profile"]) => Condition>> = {
  children: ({ id }) => ({ field: "parent", is: "=", value: id }),
  descendants: ({ id, dna }) => ({ field: "dna", is: "starts", value: dnaBelow(dna, id) }),
};

const OPEN: Condition = { field: "closed", is: "=", value: 0 };

/** An empty filter leaves everybody. */
const Filters = {
  id: Type.Optional(textSchema(254)),
  name: Type.Optional(textSchema(254)),
  email: Type.Optional(textSchema(254)),
  level: Type.Optional(
    Type.String({
      pattern: "^(-?\\d{1,9}|[LGRTF][0-9.]{1,20})?$",
      description: "must be an integer, or a filter such as L2, G1, R0, T3 or F1.5",
    }),
  ),
  dna: Type.Optional(
    Type.String({
      pattern: "^(\\.[0-9.]*)?$",
      maxLength: 4_096,
      description: "must be a DNA such as .1.2.",
    }),
  ),
};

const Query = Type.Object(
  { ...Filters, page: Type.Optional(digits), size: Type.Optional(digits) },
  { additionalProperties: false },
);

type Filter = keyof typeof Filters;

/** What each filter asks of an account, several conditions being choices; null: nobody can meet it. */
const FILTERS: Readonly<Record<Filter, (value: string) => Condition | readonly Condition[] | null>> = {
  id: conditionOf,
  name: (value) => spellingsOf(value).map((part) => ({ field: "nameLower", is: "has", value: part })),
  email: (value) => ({ field: "email", is: "=", value }),
  level: (value) =>
    /^-?\d/.test(value) ? { field: "level", is: "=", value: Number(value) + 0 } : conditionOf(value),
  dna: belowDna,
};

const PAGE = { size: 100, most: 1_000 };

/** spec: GET /x-users, /x-dna, and both with an identifier. */
export const getUsers = (parts: UsersParts, scope: Scope) =>
  endpoint(parts, { who: "any", query: Query }, async ({ caller, query, params }) => {
    const within = [WITHIN[scope](caller.profile), OPEN];
    // A part of the path that cannot be decoded is there, and null: it names nobody.
    const identifier = "identifier" in params ? (params.identifier ?? "") : undefined;
    const filters = filtersOf(query);
    // Who may have no subaccounts is shown none.
    const shown = caller.profile.userLimit === 0 ? [null] : [];
    if (identifier === undefined) return list(parts, meeting(within, [...shown, ...filters]), query);
    const names = namesOf(identifier);
    const condition = conditionOf(identifier);
    if (names === "id" || names === "name") {
      const record = await oneOf(parts, caller, identifier, scope);
      // What the account itself does not say of its filters, the table does.
      const itself: Condition = { field: "id", is: "=", value: record.profile.id };
      const left =
        filters.length === 0 || (await parts.store.count(meeting(within, [itself, ...filters]))) > 0;
      return paged(parts, left ? [record] : [], query);
    }
    if (names === "email" && (await parts.store.count(meeting(within, [condition, ...shown]))) === 0) {
      throw userNotFound(identifier);
    }
    return list(parts, meeting(within, [condition, ...shown, ...filters]), query);
  });

type Filtered = ReturnType<(typeof FILTERS)[Filter]>;

const filtersOf = (query: Static<typeof Query>): Filtered[] =>
  (Object.keys(FILTERS) as Filter[]).flatMap((name) => {
    const value = query[name];
    return value === undefined || value === "" ? [] : [FILTERS[name](value)];
  });

/** All of it at once; a filter that nobody can meet leaves nobody. At most one filter has choices. */
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
  scope: Scope,
): Promise<AccountRecord> {
  const { record } = await findAccount(parts, caller, identifier, "read");
  if (scope === "children" && record.profile.parent !== caller.profile.id) throw userNotFound(identifier);
  return record;
}

type Paging = Pick<Static<typeof Query>, "page" | "size">;

/** A page from the table, or all of it, a few accounts at a time. */
async function list(parts: UsersParts, accounts: Accounts, query: Paging): Promise<ManagementAnswer> {
  const { store, clock } = parts;
  const { page, size } = pageOf(query, PAGE);
  const total = await store.count(accounts);
  const paged = page !== 0 && size !== 0;
  const rows: Iterable<object> | AsyncIterable<object> = paged
    ? await rowsOf(store, accounts, { offset: (page - 1) * size, size, total })
    : store.scan({ ...accounts, order: "id" });
  // Maps as they stand may be large, and a page has a thousand accounts.
  const shape = (row: object) => shapeOf(parts, shownOf(row as Record<string, unknown>, clock.wall()));
  return answer(await streamed(jsonArray(rows, shape)), {
    "content-type": "application/json",
    ...pageHeaders(total, paged ? { page, size } : null),
  });
}

/** At once where the configurations above the account are at hand: in a list they are, after the first of a tree. */
function shapeOf({ replicas }: UsersParts, one: Shown): object | Promise<object> {
  const maps = replicas.maps(one.profile);
  return maps instanceof Promise ? maps.then((found) => accountShape(one, found)) : accountShape(one, maps);
}

/** One page, sought from the nearer end of the list. */
async function rowsOf(
  store: UsersParts["store"],
  accounts: Accounts,
  { offset, size, total }: { readonly offset: number; readonly size: number; readonly total: number },
) {
  const limit = Math.min(size, total - offset);
  if (limit <= 0) return [];
  if (offset <= total / 2) return store.find({ ...accounts, order: "id", offset, limit });
  const behind = { offset: total - offset - limit, limit };
  return (await store.find({ ...accounts, order: "id", descending: true, ...behind })).toReversed();
}

/** The same of accounts that are at hand. */
async function paged(
  parts: UsersParts,
  records: readonly AccountRecord[],
  query: Paging,
): Promise<ManagementAnswer> {
  const { page, size } = pageOf(query, PAGE);
  const shapes = await Promise.all(records.map((record) => shapeOf(parts, record)));
  if (page === 0 || size === 0) return answer(shapes, pageHeaders(shapes.length, null));
  return answer(shapes.slice((page - 1) * size, page * size), pageHeaders(shapes.length, { page, size }));
}
