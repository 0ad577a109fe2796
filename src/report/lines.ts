// Ledger lines as the dashboard shows them: newest first, straight from the commits that hold them.
// It reads and never sums: every line carries its own balance.

import type { AccountEvent } from "../../actors/account/state.ts";
import type { AccountId } from "../../actors/ids.ts";
import { to } from "../../actors/index.ts";
import { toUsd } from "../../actors/money.ts";
import { actorName } from "../runtime/actor.ts";
import type { Store } from "../store/store.ts";

export type LineEvent = Extract<AccountEvent, { readonly balanceAfter: unknown }>;

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
  const commits = await store.lines(actorName(to.account(id)), from, upTo);
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
  return (await store.last(actorName(to.account(id))))?.linesTo ?? 0;
}

/** One line in the contract's shape (section 5). */
export function lineShape({ at, event }: NumberedLine) {
  const shape = {
    id: event.id,
    // Credit that came back from a transfer nobody took.
    type: event.type === "returned" ? "refund" : event.type,
    amount: toUsd(event.amount),
    balance_after: toUsd(event.balanceAfter),
    created_at: new Date(at).toISOString(),
  };
  if (event.type !== "charge") return shape;
  return {
    ...shape,
    request_id: event.request,
    model: event.model,
    level: event.level,
    basis: event.basis,
    prompt_tokens: event.prompt,
    completion_tokens: event.completion,
    path: event.path,
    stream: event.stream,
  };
}
