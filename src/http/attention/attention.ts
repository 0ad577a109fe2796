// `/x-attention`: the accounts below the caller that need somebody, one row per account and reason. Rows come
// from the accounts table, one list per reason after the other, each from an index in its own order; no
// actor is loaded. The figures are of the documents, which trail the accounts by two seconds at most.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type AccountId, dnaBelow, ownerOf, ROOT } from "../../../actors/ids.ts";
import { type Nano, toUsd, ZERO } from "../../../actors/money.ts";
import { DAY_MS, dayOf, monthOf } from "../../../actors/time.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import type { Conditions, Find, Store, Where } from "../../store/store.ts";
import { manages } from "../accounts/permissions.ts";
import { type ManagementCaller, type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { positivePageOf } from "../schemas.ts";
import { AttentionQuerySchema, AttentionSchema } from "./schemas.ts";

/** What the endpoint needs. */
export interface AttentionParts extends ManagementParts {
  readonly store: Store;
  readonly configs: ConfigCache;
}

const PAGE = { size: 100, most: 1_000 };

/** Credit that expires within these days is shown; so is an account without a request for so many days. */
const [EXPIRING_DAYS, IDLE_DAYS] = [7, 30];

/** `GET /x-attention`. Source: contract section 8, "Figures that pages need". */
export const attention = (parts: AttentionParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/x-attention", ({ call, query }) => pageFor(parts, call.caller, query), {
      access: { role: "any", scope: "read", audit: null, hasEtag: true },
      query: AttentionQuerySchema,
      response: AttentionSchema,
      detail: operation({
        tag: "Accounts",
        operationId: "getAttention",
        summary: "List the caller's descendants that need somebody",
        description:
          "One row per account and reason, in the order of the reasons: `suspended`, `disabled` and `near_limit` by id, `low_balance` " +
          "with the lowest first, `expiring` with the soonest first, `idle` with the longest first. `total` is exact. A balance is " +
          "low at or below the Owner's UserMinBalance.",
        answerExample: {
          accounts: [
            { id: 7, name: "night shift", dna: ".1.2.", reason: "low_balance", figure: -0.25 },
            { id: 9, name: "search", dna: ".1.2.", reason: "near_limit", figure: 93.75 },
          ],
          ...{ total: 2, page: 1, size: 100, has_more: false },
        },
        errors: ["not_manager"],
      }),
    });

type Row = Static<typeof AttentionSchema>["accounts"][number];
type Account = Readonly<Record<string, unknown>>;

/** The list of one reason: which accounts, in which order, and the figure of a row. */
interface Reason {
  readonly reason: Row["reason"];
  readonly accounts: Conditions<"accounts">;
  readonly order: Find<"accounts">["order"];
  readonly figure: (account: Account) => number | null;
}

async function pageFor(
  parts: AttentionParts,
  caller: ManagementCaller,
  query: Static<typeof AttentionQuerySchema>,
): Promise<Static<typeof AttentionSchema>> {
  if (!manages(caller.profile)) {
    throw new RefusedError({ code: "not_manager", message: "This account may not have subaccounts." });
  }
  const { page, size } = positivePageOf(query, PAGE);
  const reasons = await reasonsFor(parts, caller);
  const counts: number[] = [];
  // One after the other, so that other requests come between.
  for (const { accounts } of reasons) counts.push(await parts.store.count(accounts));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const rows: Row[] = [];
  let offset = (page - 1) * size;
  for (const [i, { reason, accounts, order, figure }] of reasons.entries()) {
    const room = size - rows.length;
    if (offset < counts[i]! && room > 0) {
      for (const account of await parts.store.find({ ...accounts, order, offset, limit: room })) {
        rows.push({ ...shown(account), reason, figure: figure(account) });
      }
    }
    offset = Math.max(0, offset - counts[i]!);
  }
  return { accounts: rows, total, page, size, has_more: page * size < total };
}

const shown = ({ id, name, dna }: Account): Pick<Row, "id" | "name" | "dna"> => ({
  id: Number(id),
  name: String(name),
  dna: String(dna),
});

async function reasonsFor(parts: AttentionParts, { profile }: ManagementCaller): Promise<readonly Reason[]> {
  const now = parts.clock.wall();
  const [day, month, week] = [dayOf(now), monthOf(now), now + EXPIRING_DAYS * DAY_MS];
  const below: Condition[] = [
    { field: "dna", is: "starts", value: dnaBelow(profile.dna, profile.id) },
    { field: "closed", is: "=", value: 0 },
  ];
  const meeting = (...where: readonly Condition[]): Conditions<"accounts"> => ({
    table: "accounts",
    where: [...below, ...where],
  });
  const near = [
    [{ field: "nearMonth", is: "=", value: month }],
    [{ field: "nearDay", is: "=", value: day }],
  ] as const;
  const groups = await lowGroups(parts, profile);
  return [
    {
      reason: "suspended",
      accounts: meeting({ field: "suspended", is: "=", value: 1 }),
      order: "id",
      figure: () => null,
    },
    {
      reason: "disabled",
      accounts: meeting({ field: "status", is: "=", value: 0 }),
      order: "id",
      figure: () => null,
    },
    {
      reason: "low_balance",
      accounts: {
        ...meeting(...(groups.length === 1 ? groups[0]! : [])),
        ...(groups.length > 1 && { anyOf: groups }),
      },
      order: "balance",
      figure: ({ balance }) => toUsd(Number(balance) as Nano),
    },
    {
      reason: "near_limit",
      accounts: { ...meeting(), anyOf: near },
      order: "id",
      figure: (account) => percentOf(account, month, day),
    },
    {
      reason: "expiring",
      accounts: meeting(
        { field: "creditExpiresAt", is: ">=", value: now + 1 },
        { field: "creditExpiresAt", is: "<=", value: week },
      ),
      order: "creditExpiresAt",
      figure: ({ entries }) => expiringOf(entries, now, week),
    },
    {
      reason: "idle",
      accounts: meeting({ field: "activeDay", is: "<=", value: dayOf(now - IDLE_DAYS * DAY_MS) }),
      order: "activeDay",
      figure: ({ activeDay }) => Math.round((Date.parse(day) - Date.parse(String(activeDay))) / DAY_MS),
    },
  ];
}

type Condition = Where<"accounts">;

/** Owners whose UserMinBalance Root's list looks up, and how many of them may have one of their own above 0. */
const [OWNERS_MAX, OWN_MINIMUMS_MAX] = [1_000, 50];

/**
 * When a balance is low: at or below the Owner's UserMinBalance. Root's list has a group for each Owner whose minimum is
 * above 0; where there are more than so many, it has the first ones, and the others' accounts count from 0 down.
 */
async function lowGroups(
  { store, configs }: AttentionParts,
  profile: ManagementCaller["profile"],
): Promise<readonly (readonly Condition[])[]> {
  const minimum = async (owner: AccountId) => (await configs.config(owner)).config.userMinBalance;
  const low = (value: number): Condition => ({ field: "balance", is: "<=", value });
  if (profile.id !== ROOT) return [[low(await minimum(ownerOf(profile)))]];
  const where = [
    { field: "parent", is: "=", value: ROOT },
    { field: "closed", is: "=", value: 0 },
  ] as const;
  const owners = await store.find({ table: "accounts", where, order: "id", limit: OWNERS_MAX });
  const groups: Condition[][] = [[low(ZERO)]];
  for (const { id, dna } of owners) {
    const owner = Number(id) as AccountId;
    const value = await minimum(owner);
    if (value <= 0 || groups.length > 2 * OWN_MINIMUMS_MAX) continue;
    groups.push([low(value), { field: "dna", is: "starts", value: dnaBelow(String(dna), owner) }]);
    groups.push([low(value), { field: "id", is: "=", value: owner }]);
  }
  return groups;
}

/** Percent of the limit that is nearer, with two decimals. */
function percentOf(account: Account, month: string, day: string): number {
  const part = (key: unknown, now: string, cost: unknown, limit: unknown) =>
    key === now && Number(limit) > 0 ? (Number(cost) / Number(limit)) * 100 : 0;
  const { nearMonth, monthCost, hardLimit, nearDay, dayCost, dailyLimit } = account;
  const percent = Math.max(
    part(nearMonth, month, monthCost, hardLimit),
    part(nearDay, day, dayCost, dailyLimit),
  );
  return Math.round(percent * 100) / 100;
}

/** US dollars of credit that expires within the week. */
function expiringOf(entries: unknown, now: number, week: number): number {
  const all = Array.isArray(entries) ? (entries as { amount: number; expiresAt: number }[]) : [];
  const due = all.filter(({ expiresAt }) => expiresAt > now && expiresAt <= week);
  return toUsd(due.reduce((sum, { amount }) => sum + amount, 0) as Nano);
}
