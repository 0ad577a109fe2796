// Exports the ledger as a table for other programs: lines of all accounts between two days, account by
// account, in order. It streams, holds one page of commits, and must not write.

import { type AccountId, MAIN_API_KEY, MAIN_API_KEY_NAME } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { formatUsd, toUsd } from "../../actors/money.ts";
import { actorName, refOf } from "../runtime/actor.ts";
import { tagPairs } from "../store/line-rows.ts";
import type { Store } from "../store/store.ts";
import type { ChargeEvent, LineEvent } from "./ledger-lines.ts";

/** A ledger line with its account. `at` is wall-clock milliseconds. */
export interface ExportedLine {
  readonly account: number;
  readonly name: string;
  /** Number of the line in its account, from 1. */
  readonly number: number;
  readonly at: number;
  readonly event: LineEvent;
}

type Cell = string | number | boolean | null;

interface Column {
  readonly name: string;
  readonly about: string;
  /** Value for JSON; null when the line has none, which is an empty cell in CSV. */
  readonly value: (line: ExportedLine) => Cell;
  /** Text for CSV where it differs from `value`. */
  readonly text?: (line: ExportedLine) => string;
}

/** The value for the line of a charged request. */
const ofCharge =
  (value: (charge: ChargeEvent) => Cell) =>
  ({ event }: ExportedLine): Cell =>
    event.type === "charge" || event.type === "late_charge" ? value(event) : null;

/** The value for a line that an API key caused; the main key stands in no line. */
const ofApiKey =
  (value: (line: { readonly apiKey?: number; readonly apiKeyName?: string }) => Cell) =>
  ({ event }: ExportedLine): Cell =>
    event.type === "charge" || event.type === "late_charge" || event.type === "query_fee"
      ? value(event)
      : null;

/** The columns of the export, in order. */
export const COLUMNS: readonly Column[] = [
  { name: "account", about: "id of the account", value: ({ account }) => account },
  { name: "name", about: "its name now", value: ({ name }) => name },
  { name: "line", about: "number of the line in its account, from 1", value: ({ number }) => number },
  { name: "at", about: "ISO 8601, UTC", value: ({ at }) => new Date(at).toISOString() },
  { name: "id", about: "id of the charge or transfer", value: ({ event }) => event.id },
  {
    name: "type",
    about: "charge, grant, transfer_in, transfer_out, expire, …",
    value: ({ event }) => event.type,
  },
  {
    name: "amount",
    about: "USD, negative when it leaves the account; at most 9 decimals",
    value: ({ event }) => toUsd(event.amount),
    text: ({ event }) => formatUsd(event.amount),
  },
  {
    name: "balance_after",
    about: "USD, the account's balance after the line",
    value: ({ event }) => toUsd(event.balanceAfter),
    text: ({ event }) => formatUsd(event.balanceAfter),
  },
  {
    name: "other",
    about: "id of the account that the credit came from or went to",
    value: ({ event }) => ("from" in event ? event.from : "to" in event ? event.to : null),
  },
  {
    name: "request_id",
    about: "x-request-id of the response (charges, like all below)",
    value: ofCharge((c) => c.request),
  },
  { name: "path", about: "path of the request", value: ofCharge((c) => c.path) },
  { name: "model", about: "model that answered", value: ofCharge((c) => c.model) },
  {
    name: "answered_model",
    about: "model that the provider named, where it is another",
    value: ofCharge((c) => c.answeredModel ?? null),
  },
  { name: "level", about: "Level of the key that answered", value: ofCharge((c) => c.level) },
  {
    name: "basis",
    about: "provider, partial or estimate: whose usage figures",
    value: ofCharge((c) => c.basis),
  },
  { name: "prompt_tokens", about: "input tokens", value: ofCharge((c) => c.prompt) },
  { name: "completion_tokens", about: "output tokens", value: ofCharge((c) => c.completion) },
  { name: "stream", about: "true or false", value: ofCharge((c) => c.stream) },
  {
    name: "api_key",
    about: "id of the API key that caused it, 0 is the main key (charges and fees of queries, like the next)",
    value: ofApiKey(({ apiKey }) => apiKey ?? MAIN_API_KEY),
  },
  {
    name: "api_key_name",
    about: "name of that key at that time",
    value: ofApiKey(({ apiKeyName }) => apiKeyName ?? MAIN_API_KEY_NAME),
  },
  {
    name: "tags",
    about: "NAME=VALUE, separated by commas, by name",
    value: ofCharge((c) => (c.tags === undefined ? null : tagPairs(c.tags).join(","))),
  },
];

/** The formats of the export: the text before all lines, and the text of one line. */
export const FORMATS = {
  csv: {
    head: `${COLUMNS.map(({ name }) => name).join(",")}\n`,
    line: (line: ExportedLine) => `${COLUMNS.map((column) => csvCell(column, line)).join(",")}\n`,
  },
  jsonl: {
    head: "",
    line: (line: ExportedLine) =>
      `${JSON.stringify(Object.fromEntries(COLUMNS.map(({ name, value }) => [name, value(line)])))}\n`,
  },
} as const;

/** Name of an export format. */
export type Format = keyof typeof FORMATS;

function csvCell({ value, text }: Column, line: ExportedLine): string {
  if (text) return text(line);
  return csvText(value(line));
}

/** Encodes a value as a CSV cell; null becomes an empty cell. */
export function csvText(cell: Cell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  // Clients choose request ids and names, and a spreadsheet must not run one as a formula.
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const PAGE = 500;

/**
 * Yields pages of lines with `from` <= at < `until` (wall-clock milliseconds), ordered by account and line
 * number.
 */
export async function* exportLines(
  store: Store,
  { from, until }: { readonly from: number; readonly until: number },
): AsyncGenerator<readonly ExportedLine[]> {
  for (let after = ""; ; ) {
    const names = await store.listActors("account/", after, PAGE);
    for (const name of names) yield* linesOf(store, Number(refOf(name).id), { from, until });
    if (names.length < PAGE) return;
    after = names.at(-1)!;
  }
}

async function* linesOf(
  store: Store,
  account: number,
  { from, until }: { from: number; until: number },
): AsyncGenerator<readonly ExportedLine[]> {
  const actor = actorName(actorRef.account(account as AccountId));
  let seq = await lastSeqBefore(store, actor, from);
  let name: string | null = null;
  for (;;) {
    const page = await store.readCommits(actor, seq, PAGE);
    const lines: ExportedLine[] = [];
    for (const commit of page) {
      let number = commit.linesTo - commit.lines;
      for (const { at, line, e } of commit.events) {
        if (!line) continue;
        number++;
        if (at < from || at >= until) continue;
        name ??= await nameOf(store, account);
        lines.push({ account, name, number, at, event: e as LineEvent });
      }
    }
    if (lines.length > 0) yield lines;
    const last = page.at(-1);
    // Time never decreases within one account, so no later commit has lines of the requested days.
    if (last === undefined || page.length < PAGE || last.at >= until) return;
    seq = last.seq;
  }
}

/**
 * Returns the seq of the last commit whose events are all before `at`, by bisection, because time never
 * decreases with seq.
 */
async function lastSeqBefore(store: Store, actor: string, at: number): Promise<number> {
  let before = 0;
  let beyond = ((await store.lastCommit(actor))?.seq ?? 0) + 1;
  while (beyond - before > 1) {
    const middle = Math.floor((before + beyond) / 2);
    const [commit] = await store.readCommits(actor, middle - 1, 1);
    if (commit !== undefined && commit.at < at) before = middle;
    else beyond = middle;
  }
  return before;
}

async function nameOf(store: Store, account: number): Promise<string> {
  const [document] = await store.find({
    table: "accounts",
    where: [{ field: "id", is: "=", value: account }],
    order: "id",
  });
  return typeof document?.name === "string" ? document.name : "";
}
