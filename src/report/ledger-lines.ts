// Ledger lines as the dashboard shows them: newest first, straight from the commits that hold them.
// It reads and never sums: every line carries its own balance.

import type { Adjusted } from "../../actors/account/events.ts";
import type { AccountEvent } from "../../actors/account/state.ts";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { toUsd } from "../../actors/money.ts";
import { unreachable } from "../base/errors.ts";
import { actorName } from "../runtime/actor.ts";
import type { Store } from "../store/store.ts";

export type LineEvent = Extract<AccountEvent, { readonly balanceAfter: unknown }>;

/** Kinds that the ledger tells apart and the dashboard does not: credit that came back, or goes back. */
const SHOWN: Partial<Record<LineEvent["type"], string>> = { returned: "refund", refund_out: "refund" };

/** A request's line; late when its account was deleted before it came. */
export type ChargeEvent = Extract<LineEvent, { readonly type: "charge" | "late_charge" }>;

export interface NumberedLine {
  /** 1 is the account's first line. */
  readonly number: number;
  readonly at: number;
  readonly event: LineEvent;
}

/** Lines `from`..`to` of an account by number, newest first. */
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

/** How many lines the account has. */
export async function lineCount(store: Store, id: AccountId): Promise<number> {
  return (await store.lastCommit(actorName(actorRef.account(id))))?.linesTo ?? 0;
}

/** One line in the contract's shape (section 5). */
export function lineShape({ at, event }: NumberedLine) {
  return {
    id: event.id,
    type: SHOWN[event.type] ?? event.type,
    amount: toUsd(event.amount),
    balance_after: toUsd(event.balanceAfter),
    created_at: new Date(at).toISOString(),
    ...detail(event),
  };
}

/** What a kind of line has besides: the request, or the operation with its other side. */
function detail(event: LineEvent) {
  switch (event.type) {
    case "charge":
    case "late_charge":
      return requestOf(event);
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
    case "delete_fee":
    case "write_off":
      return { operation_id: event.id };
    case "expire":
      return {};
    default:
      return unreachable(event);
  }
}

/** Figures set by hand, in US dollars, named as the account record has them. */
const usd = ({ creditUsed, chargeAmount, xCredit }: Partial<Adjusted>) => ({
  ...(creditUsed === undefined ? {} : { CreditUsed: toUsd(creditUsed) }),
  ...(chargeAmount === undefined ? {} : { ChargeAmount: toUsd(chargeAmount) }),
  ...(xCredit === undefined ? {} : { XCredit: toUsd(xCredit) }),
});

function requestOf(event: ChargeEvent) {
  return {
    request_id: event.request,
    model: event.model,
    ...(event.answeredModel === undefined ? {} : { answered_model: event.answeredModel }),
    level: event.level,
    basis: event.basis,
    prompt_tokens: event.prompt,
    completion_tokens: event.completion,
    path: event.path,
    stream: event.stream,
  };
}
