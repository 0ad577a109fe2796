// `/dashboard/bill` and `/x-bill`: what the caller, or the accounts below it, used between two days. The fee of a long bill of
// the caller's own is a line of the ledger. It is taken last, so that a failed bill costs nothing.

import type { Static } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { actorRef } from "../../../actors/index.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import {
  accountsBillOf,
  billOf,
  type GroupedBill,
  type GroupedBillQuery,
  groupedBillOf,
  rowsOfDay,
  usedDays,
  type Whose,
} from "../../report/usage-bill.ts";
import type { Store } from "../../store/store.ts";
import { StoreBusyError } from "../../store/store-errors.ts";
import { manages } from "../accounts/permissions.ts";
import type { CommandId } from "../idempotency.ts";
import { rawAnswer, streamOf } from "../json-stream.ts";
import {
  type ManagementCall,
  type ManagementCaller,
  type ManagementParts,
  management,
} from "../management.ts";
import { operation } from "../operation.ts";
import { type AccountRow, csvByAccount, csvOf, downloadHeaders } from "./bill-csv.ts";
import { BILL_SHAPES, billText } from "./bill-formats.ts";
import { billedAccounts } from "./billed-accounts.ts";
import { type DateRange, dateRangeOf, hourRangeOf } from "./date-range.ts";
import { csvByGroup, groupingOf, groupsText, type ShownGroups } from "./grouped-bill.ts";
import {
  BillQuerySchema,
  BillSchema,
  CsvSchema,
  DescendantBillQuerySchema,
  DescendantBillSchema,
} from "./schemas.ts";

/** What bills need. */
export interface BillsParts extends ManagementParts {
  readonly store: Store;
}

/** `/dashboard/bill` and `/x-bill`. Source: specification, "Billing". */
export const bills = (parts: BillsParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/dashboard/bill", ({ call, query, request }) => ownBill(parts, call, query, request), {
      access: { role: "any", scope: "read", audit: null, isCharged: true, hasEtag: true },
      query: BillQuerySchema,
      response: BillSchema,
      detail: operation({
        tag: "Dashboard",
        operationId: "getBill",
        summary: "Get the caller's bill",
        description:
          "Today where no date is given. With `group` it also has the same usage by model, API key, tag or account; with `hours` it is of the last hours, by hour. At most 1,000 tags and 400 keys an account and day are kept apart, and 10,000 groups in an answer (50,000 of all its hours together); the rest is one group, `(other)`. A bill over more than 30 days costs 0.01, one over more than 365 days tells the last 365 and costs 0.05; the fee is taken when the answer is given.",
        answerContent: { "text/csv": CsvSchema },
        errors: ["missing_parameter", "insufficient_balance", "hard_limit_reached", "daily_limit_reached"],
      }),
    })
    .get(
      "/x-bill",
      ({ call, query, request }) => descendantsBill(parts, call.caller, query, request.signal),
      {
        access: { role: "any", scope: "read", audit: null, hasEtag: true },
        query: DescendantBillQuerySchema,
        response: DescendantBillSchema,
        detail: operation({
          tag: "Accounts",
          operationId: "getDescendantsBill",
          summary: "Get the bill of the caller's descendants",
          description:
            "Today where no date is given. Free. `group` and `hours` as in `/dashboard/bill`; an API key's group also names its account, and its `id` in a table is `ACCOUNT/KEY`.",
          answerContent: { "text/csv": CsvSchema },
          errors: ["missing_parameter", "ambiguous_identifier", "not_manager", "user_not_found"],
        }),
      },
    );

/** Returns the caller's own bill, and takes its fee last. A HEAD request, and a client that left, pay nothing. */
async function ownBill(
  parts: BillsParts,
  { caller, command }: ManagementCall,
  query: Static<typeof BillQuerySchema>,
  request: Request,
): Promise<Static<typeof BillSchema>> {
  const { id } = caller.profile;
  const { range, grouped } = askedOf(query, parts.clock.wall());
  if (grouped !== null) {
    const asked = { ...range, ...grouped, whose: [{ ids: [id] }] };
    const shown = await groupedBill(parts, asked, false, request.signal);
    request.signal.throwIfAborted();
    const taken = request.method === "GET" ? await pay(parts, caller, range.fee, command) : ZERO;
    if (query.format === "csv") return rawAnswer(streamOf(csvByGroup(shown)), downloadHeaders(range));
    const answer = { bill: shown.bill, fee: taken };
    return rawAnswer(streamOf(billText(query.object ?? "bill_info", answer, null, groupsText(shown))));
  }
  const bill = await billOf(parts.store, { ...range, whose: [{ ids: [id] }] }, request.signal);
  request.signal.throwIfAborted();
  const fee = request.method === "GET" ? await pay(parts, caller, range.fee, command) : ZERO;
  if (query.format === "csv") return rawAnswer(csvOf(bill), downloadHeaders(range));
  return BILL_SHAPES[query.object ?? "bill_info"]({ bill, fee });
}

/** What a bill is asked for: its days, and its groups and hours, null without either. */
interface AskedBill {
  readonly range: DateRange;
  readonly grouped: Pick<GroupedBillQuery, "grouping" | "hours"> | null;
}

/** Reads a query; `now` is wall-clock milliseconds. Throws as `dateRangeOf` and `hourRangeOf` do. */
function askedOf(query: Static<typeof BillQuerySchema>, now: number): AskedBill {
  const byHours = hourRangeOf(query, now);
  const grouping = groupingOf(query.group, byHours !== null);
  const range = byHours?.days ?? dateRangeOf(query, now);
  return { range, grouped: grouping === null ? null : { grouping, hours: byHours?.hours ?? null } };
}

/** Computes a bill by groups. `isOfAccounts` says that it may be of several accounts. */
async function groupedBill(
  { store }: BillsParts,
  query: GroupedBillQuery,
  isOfAccounts: boolean,
  signal: AbortSignal,
): Promise<ShownGroups & { readonly bill: GroupedBill }> {
  const bill = await groupedBillOf(store, query, signal);
  const { groups, hourly } = bill;
  const names = new Map<number, string>();
  if (query.grouping.by === "account") {
    const ids = groups.map(({ id }) => id).filter((id) => typeof id === "number");
    await learnNames(store, names, ids);
  }
  return { bill, groups, hourly, names, isOfAccounts, isByHours: query.hours !== null };
}

/** Takes the fee and returns what was paid; Root pays none. Throws `insufficient_balance`. */
async function pay(
  { system }: BillsParts,
  { key: { account, apiKey } }: ManagementCaller,
  amount: Nano,
  command: CommandId,
): Promise<Nano> {
  if (amount === ZERO) return ZERO;
  const fee = { id: command.id, amount, apiKey };
  const { paid } = await system.ask(actorRef.account(account), "fee", fee, command);
  return paid;
}

/** Returns the bill of the caller's descendants, sent while it is read. */
async function descendantsBill(
  parts: BillsParts,
  caller: ManagementCaller,
  query: Static<typeof DescendantBillQuerySchema>,
  signal: AbortSignal,
): Promise<Static<typeof DescendantBillSchema>> {
  if (!manages(caller.profile)) {
    const message = "This account may not have subaccounts: its UserLimit is 0.";
    throw new RefusedError({ code: "not_manager", message });
  }
  if (query.user !== undefined && query.u !== undefined) {
    const message = '"user" and "u" are the same parameter. Give one of them.';
    throw new RefusedError({ code: "invalid_parameter", message });
  }
  const { range, grouped } = askedOf(query, parts.clock.wall());
  const whose = await billedAccounts(parts, caller, query.user ?? query.u);
  if (grouped !== null) {
    const shown = await groupedBill(parts, { ...range, ...grouped, whose }, true, signal);
    if (query.format === "csv") return rawAnswer(streamOf(csvByGroup(shown)), downloadHeaders(range));
    const answer = { bill: shown.bill, fee: ZERO };
    const text = billText(query.object ?? "bill_info", answer, shown.bill.accounts, groupsText(shown));
    return rawAnswer(streamOf(text));
  }
  if (query.format === "csv") {
    return rawAnswer(await csvOfDescendants(parts, whose, range, signal), downloadHeaders(range));
  }
  const bill = await accountsBillOf(parts.store, { ...range, whose }, signal);
  return rawAnswer(streamOf(billText(query.object ?? "bill_info", { bill, fee: ZERO }, bill.accounts)));
}

/** Streams the bill of accounts as CSV. It reads the list of days first, so that an early failure is still an error response. */
async function csvOfDescendants(
  { store, clock }: BillsParts,
  whose: Whose,
  range: DateRange,
  signal: AbortSignal,
): Promise<ReadableStream> {
  const days = await usedDays(store, whose, range, signal);
  const names = new Map<number, string>();
  async function* read(): AsyncGenerator<{ date: string; rows: AccountRow[] }> {
    for (const date of days) {
      const rows = await inTurn(clock, () => rowsOfDay(store, whose, date, signal));
      const ids = rows.map((row) => row.account!);
      await learnNames(store, names, ids);
      yield {
        date,
        rows: rows.map((row, i) => {
          return { ...row, id: ids[i]!, name: names.get(ids[i]!) ?? "", model: row.model! };
        }),
      };
    }
  }
  return streamOf(csvByAccount(read()));
}

const BUSY_PAUSE_MS = 200;

/** Repeats `ask` while the store is busy, so that a download that has begun does not break off. It ends with its reader. */
async function inTurn<T>(clock: Clock, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreBusyError)) throw error;
      await sleep(clock, BUSY_PAUSE_MS);
    }
  }
}

/** Names that are read at once at most. */
const NAMES = 500;

/** Adds the names of accounts, deleted ones too, that `names` does not have yet. */
async function learnNames(store: Store, names: Map<number, string>, ids: readonly number[]): Promise<void> {
  const unknown = [...new Set(ids)].filter((id) => !names.has(id));
  for (let i = 0; i < unknown.length; i += NAMES) {
    const documents = await store.find({
      table: "accounts",
      where: [{ field: "id", is: "in", value: unknown.slice(i, i + NAMES) }],
      order: "id",
    });
    for (const { id, name } of documents) names.set(id as number, String(name));
    await new Promise(setImmediate);
  }
}
