// Checker 19: a named key opens an account exactly while its secret is good at the account's own time, an overlap is as long as
// was asked for, a request ends for the key that it was admitted for, and what the keys cost adds up to what the account costs.

import type { AccountCommand } from "../../actors/account/account.ts";
import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { ApiKeyList } from "../../actors/account/api-key-list.ts";
import type { Account, AccountEvent } from "../../actors/account/state.ts";
import type { Decision } from "../../src/runtime/actor.ts";
import type { Held } from "./check-admission.ts";
import { spentBy } from "./key-oracle.ts";
import { type Oracle, spentIn } from "./oracle.ts";
import type { Trace } from "./trace.ts";

const CHECKER = "19 api keys";

/** An admission of a request that holds nothing yet: its secret is good if and only if it was not refused for it. */
export function checkSecret(
  trace: Trace,
  state: Account,
  oracle: Oracle,
  input: AdmitInput,
  now: number,
  { refused, reply }: Decision<AccountEvent>,
): void {
  if (state.profile === null || state.closing !== null) return;
  const key = oracle.keys.keyOf(input.keyHash, now);
  const fail = (what: string) =>
    trace.violate(CHECKER, `account ${state.id}, request ${input.id} at ${now}: ${what}`);
  if (refused?.code === "invalid_api_key") {
    if (key !== undefined) fail(`the secret of key ${key} is good, and refused`);
    else trace.count("dead secrets refused");
    return;
  }
  if (refused || "stale" in (reply as object)) return;
  const answered = (reply as Admitted).apiKey?.id ?? 0;
  if (key === undefined) fail(`admitted with a dead secret of key ${answered}`);
  else if (key !== answered) fail(`admitted for key ${answered}, with the secret of key ${key}`);
  else if (key !== 0) trace.count("admitted for named keys");
}

/**
 * The ends of requests: each counts for the key whose secret was admitted. The ledger alone cannot tell, for what it says is all
 * that the second fold of the keys knows.
 */
export function checkEndedFor(
  trace: Trace,
  state: Account,
  holds: ReadonlyMap<string, Held>,
  { events }: Decision<AccountEvent>,
): void {
  for (const event of events ?? []) {
    if (event.type !== "charge" && event.type !== "released") continue;
    const admittedFor = holds.get(event.id)?.apiKey;
    const endedFor = event.apiKey ?? 0;
    if (admittedFor === undefined || admittedFor === endedFor) continue;
    trace.violate(
      CHECKER,
      `account ${state.id}, request ${event.id}: admitted for key ${admittedFor}, ended for key ${endedFor}`,
    );
  }
}

/** A rotation, or a list of what the keys cost. */
export function checkKeyCommand(
  trace: Trace,
  state: Account,
  oracle: Oracle,
  command: AccountCommand,
  now: number,
  { events, refused, reply }: Decision<AccountEvent>,
): void {
  if (command.type === "rotateApiKey") {
    for (const event of events ?? []) {
      if (event.type !== "api_key_rotated" || event.formerUntil <= now + command.overlapMs) continue;
      trace.violate(CHECKER, `account ${state.id}: a former secret is good until ${event.formerUntil}`);
    }
  }
  if (command.type !== "apiKeys" || refused) return;
  const { main, keys } = reply as ApiKeyList;
  const date = new Date(now).toISOString();
  const periods = [
    ["costToday", date.slice(0, 10)],
    ["costMonth", date.slice(0, 7)],
    ["costTotal", ""],
  ] as const;
  for (const [field, prefix] of periods) {
    let gone = 0;
    let sum: number = main[field];
    for (const model of oracle.keys.keys.values()) {
      const expected = spentBy(model, prefix, false);
      const row = keys.find(({ id }) => id === model.id);
      if (row === undefined) gone += expected;
      else if (row[field] !== expected) {
        trace.violate(
          CHECKER,
          `account ${state.id}, key ${model.id}: ${field} ${row[field]}, not ${expected}`,
        );
      }
      sum += row?.[field] ?? 0;
    }
    const all = spentIn(oracle, prefix);
    if (sum + gone !== all) {
      trace.violate(CHECKER, `account ${state.id}: ${field} of its keys is ${sum + gone}, its own ${all}`);
    }
  }
  trace.count("lists of api keys");
}
