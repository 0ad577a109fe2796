// /dashboard/bill and /x-bill: what the caller, or who is below it, used between two days. The fee of a long bill of
// one's own is a line of the ledger, taken last: whoever gets no bill pays nothing.

import { Type } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { type BillQuery, billOf, rowsOfDay, usedDays, type Whose } from "../../report/usage-bill.ts";
import { type Store, StoreBusyError } from "../../store/store.ts";
import { manages } from "../dashboard/dashboard.ts";
import { answer, endpoint, type ManagementAnswer } from "../endpoint.ts";
import type { CommandId } from "../idempotency.ts";
import { streamOf } from "../json-stream.ts";
import type { ManagementParts } from "../management.ts";
import { textSchema } from "../schemas.ts";
import { type AccountRow, csvByAccount, csvOf, download } from "./bill-csv.ts";
import { BILL_SHAPES } from "./bill-formats.ts";
import { billText } from "./bill-stream.ts";
import { billedAccounts } from "./billed-accounts.ts";
import { DATES, type DateRange, dateRangeOf } from "./date-range.ts";

export interface BillParts extends ManagementParts {
  readonly store: Store;
}

const form = {
  ...DATES,
  object: Type.Optional(
    Type.Union([Type.Literal("bill_info"), Type.Literal("list")], {
      description: 'must be "bill_info" or "list"',
    }),
  ),
  format: Type.Optional(
    Type.Union([Type.Literal("json"), Type.Literal("csv")], { description: 'must be "json" or "csv"' }),
  ),
};
const OwnQuery = Type.Object(form, { additionalProperties: false });
const who = Type.Optional(textSchema(254, 1));
const DescendantsQuery = Type.Object({ ...form, user: who, u: who }, { additionalProperties: false });

/** spec: GET /dashboard/bill. */
export const getBill = (parts: BillParts) =>
  endpoint(
    parts,
    { who: "any", query: OwnQuery, pays: true },
    async ({ caller, query, request, command }) => {
      const { id } = caller.profile;
      const now = parts.clock.wall();
      const span = dateRangeOf(query, now);
      const asked = { ...span, whose: [{ ids: [id] }], perAccount: false };
      const bill = await billOf(parts.store, asked, request.signal);
      // Who went away, and HEAD, get no bill.
      request.signal.throwIfAborted();
      const fee = request.method === "GET" ? await pay(parts, id, span.fee, command) : ZERO;
      if (query.format === "csv") return download(csvOf(bill), span);
      return answer(BILL_SHAPES[query.object ?? "bill_info"]({ bill, fee }));
    },
  );

/** Takes the fee, and answers what was paid: Root pays none. Refuses insufficient_balance. */
async function pay(
  { system }: BillParts,
  account: AccountId,
  amount: Nano,
  command: CommandId,
): Promise<Nano> {
  if (amount === ZERO) return ZERO;
  const { paid } = await system.ask(actorRef.account(account), "fee", { id: command.id, amount }, command);
  return paid;
}

/** spec: GET /x-bill. */
export const getDescendantsBill = (parts: BillParts) =>
  endpoint(parts, { who: "any", query: DescendantsQuery }, async ({ caller, query, request }) => {
    if (!manages(caller)) {
      const message = "This account may not have subaccounts: its UserLimit is 0.";
      throw new RefusedError({ code: "not_manager", message });
    }
    if (query.user !== undefined && query.u !== undefined) {
      const message = '"user" and "u" are the same parameter. Give one of them.';
      throw new RefusedError({ code: "invalid_parameter", message });
    }
    const now = parts.clock.wall();
    const span = dateRangeOf(query, now);
    const whose = await billedAccounts(parts, caller, query.user ?? query.u);
    if (query.format === "csv") return csvOfDescendants(parts, whose, span, request.signal);
    const asked: BillQuery = { ...span, whose, perAccount: true };
    const bill = await billOf(parts.store, asked, request.signal);
    const body = streamOf(billText(query.object ?? "bill_info", { bill, fee: ZERO }));
    return answer(body, { "content-type": "application/json" });
  });

/** The days that there are come first, so that what fails at once is still an error answer. */
async function csvOfDescendants(
  { store, clock }: BillParts,
  whose: Whose,
  span: DateRange,
  signal: AbortSignal,
): Promise<ManagementAnswer> {
  const days = await usedDays(store, whose, span, signal);
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
  return download(streamOf(csvByAccount(read())), span);
}

const BUSY_PAUSE_MS = 200;

/** A download that has begun waits for a busy store rather than break off; it ends with its reader. */
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

/** No more names are read at once. */
const NAMES = 500;

/** Who these accounts are, deleted ones too, as far as `names` does not know them yet. */
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
