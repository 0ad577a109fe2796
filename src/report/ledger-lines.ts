// Reads ledger lines as the dashboard shows them: newest first, directly from the commits. It must not
// compute sums: every line has its own balance.

import type { Adjusted } from "../../actors/account/events.ts";
import type { AccountEvent } from "../../actors/account/state.ts";
import type { LineApiKey } from "../../actors/account/types.ts";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { toUsd } from "../../actors/money.ts";
import { NO_TAGS } from "../../actors/tags.ts";
import { unreachable } from "../base/errors.ts";
import { actorName } from "../runtime/actor.ts";
import type { Store } from "../store/store.ts";

/** An event that is a line of the ledger: it has a balance. */
export type LineEvent = Extract<AccountEvent, { readonly balanceAfter: unknown }>;

/** Line types that the dashboard shows under another name: returned credit and credit given back. */
const SHOWN = { returned: "refund", refund_out: "refund" } as const;

/** The type of a line as the dashboard shows it. */
export type ShownType = Exclude<LineEvent["type"], keyof typeof SHOWN> | "refund";

/** The types as the ledger names them that are shown as this one. */
export const typesShownAs = (type: ShownType): readonly string[] =>
  type === "refund" ? [type, ...Object.keys(SHOWN)] : [type];

const shownType = (type: LineEvent["type"]): ShownType =>
  type === "returned" || type === "refund_out" ? SHOWN[type] : type;

/** The line of a charged request; it is late when the account was deleted before the charge arrived. */
export type ChargeEvent = Extract<LineEvent, { readonly type: "charge" | "late_charge" }>;

/** A line with its number. `at` is wall-clock milliseconds. */
export interface NumberedLine {
  /** Number of the line in its account, from 1. */
  readonly number: number;
  readonly at: number;
  readonly event: LineEvent;
}

/** Returns the lines `from` to `upTo`, both included, newest first. */
export async function numberedLines(
  store: Store,
  id: AccountId,
  from: number,
  upTo: number,
): Promise<NumberedLine[]> {
  if (upTo < from) return [];
  const commits = await store.readLines(actorName(actorRef.account(id)), from, upTo);
  const lines: NumberedLine[] = [];
  for (const commit of commits) {
    let number = commit.linesTo - commit.lines;
    for (const { at, line, e } of commit.events) {
      if (!line) continue;
      number++;
      if (number >= from && number <= upTo) lines.push({ number, at, event: e as LineEvent });
    }
  }
  return lines.reverse();
}

/** Returns the number of lines of the account. */
export async function lineCount(store: Store, id: AccountId): Promise<number> {
  return (await store.lastCommit(actorName(actorRef.account(id))))?.linesTo ?? 0;
}

/** Formats a line as in contract sections 5 and 8. */
export function lineShape({ at, event }: NumberedLine) {
  return {
    id: event.id,
    type: shownType(event.type),
    amount: toUsd(event.amount),
    balance_after: toUsd(event.balanceAfter),
    created_at: new Date(at).toISOString(),
    ...detail(event, at),
  };
}

/** The fields that depend on the type of line: the request, or the operation and its other account. */
function detail(event: LineEvent, at: number) {
  switch (event.type) {
    case "charge":
    case "late_charge":
      return { ...requestOf(event, at), ...apiKeyOf(event) };
    case "transfer_out":
    case "refund_out":
      return { operation_id: event.id, to: event.to };
    case "grant":
    case "transfer_in":
    case "auto_quota":
    case "refund":
      return { operation_id: event.id, from: event.from };
    case "returned":
      return { operation_id: event.id, why: event.why };
    case "adjust":
      return { operation_id: event.id, by: event.by, before: usd(event.before), after: usd(event.after) };
    case "query_fee":
      return { operation_id: event.id, ...apiKeyOf(event) };
    case "delete_fee":
    case "write_off":
      return { operation_id: event.id };
    case "expire":
      return {};
    default:
      return unreachable(event);
  }
}

/** Manually adjusted figures, in US dollars, named as in the account record. */
const usd = ({ creditUsed, chargeAmount, xCredit }: Partial<Adjusted>) => ({
  ...(creditUsed === undefined ? {} : { CreditUsed: toUsd(creditUsed) }),
  ...(chargeAmount === undefined ? {} : { ChargeAmount: toUsd(chargeAmount) }),
  ...(xCredit === undefined ? {} : { XCredit: toUsd(xCredit) }),
});

/** The API key that caused a line; the main key stands in no line. */
const apiKeyOf = ({ apiKey, apiKeyName }: LineApiKey) => ({
  api_key: apiKey ?? 0,
  api_key_name: apiKeyName ?? "main",
});

/** The request of a charge. `ms` is the time from its admission to its charge. */
function requestOf(event: ChargeEvent, at: number) {
  return {
    request_id: event.request,
    model: event.model,
    ...(event.answeredModel === undefined ? {} : { answered_model: event.answeredModel }),
    level: event.level,
    basis: event.basis,
    prompt_tokens: event.prompt,
    completion_tokens: event.completion,
    cached: event.usage.inCached,
    reasoning: event.usage.outReason,
    path: event.path,
    stream: event.stream,
    ms: Math.max(0, at - event.admittedAt),
    attempts: event.attempts.length,
    tags: event.tags ?? NO_TAGS,
  };
}
