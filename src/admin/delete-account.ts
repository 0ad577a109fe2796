// Deletes an account, alone or with its whole subtree. It decides nothing: it asks each account for the next
// step of its closing (actors/account/closing.ts), the deepest first, and releases the claims of names and
// keys.
//
//   0  check that each refund fits into the parent's balance, in the subtree too: refund-capacity.ts
//   1  the top account closes: requests of its whole subtree are refused from now on
//   2  all accounts below close too, found in the accounts table by DNA
//   3  bottom-up: settleClosing (waits for requests in flight, at most 35 s), the refund arrives, claims are
//      released, endClosing, the parent's child count decreases
//   4  the same for the top account
//
// crash or deadline            state found                  recovery
// after 1                      closing, open accounts       the sweep: accounts with closed = 1 are deleted
//                              below                        completely
// in 3 or 4                    some closed, some closing    the sweep, from the next step of each
// after the claims             closing without claims       the sweep ends it; the name may belong to another
//                                                           account already
// the parent fills up after 0  closing, with its credit     the sweep, once the parent has room; no credit
//                                                           moves until then
//
// A delayed write of the account's creation may add or confirm a claim after all that, so the claims are
// released once more a minute later.

import { CLOSING_NOT_DUE, type UnfinishedWork } from "../../actors/account/closing.ts";
import type { AccountEvent } from "../../actors/account/state.ts";
import { nameClaim } from "../../actors/account-name.ts";
import { type AccountId, dnaBelow, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { type Clock, type Random, sleep } from "../base/clock.ts";
import { RefusedError, UnavailableError } from "../base/errors.ts";
import { actorName, refOf } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { parseAccountRow, type StoredAccount } from "./account-rows.ts";
import { releaseOwnClaims } from "./api-keys.ts";
import { refundsOverfull } from "./refund-capacity.ts";
import type { Minted } from "./transfer-credit.ts";

/** What deletions need of a node. */
export interface DeletionParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/** A deletion to carry out. */
export interface Deletion {
  readonly account: AccountId;
  /** The account that requests the deletion. */
  readonly by: AccountId;
  /** Deletes the subtree too. */
  readonly recursive: boolean;
  /** Identifies the command on every repeat, so that a deletion whose answer was lost is found. */
  readonly command?: Minted;
}

/** A completed deletion. `refunded` and `fee` are nano-dollars. */
export interface Deleted {
  readonly name: string;
  readonly refunded: Nano;
  readonly fee: Nano;
}

/** Milliseconds within which the answer comes (contract section 3); the sweep completes what is left. */
const DELETION_MS = 55_000;
/** First pause between two rounds, ms; it doubles up to `PAUSE_MS_MAX`. */
const PAUSE_MS = 10;
const PAUSE_MS_MAX = 250;
const AT_ONCE = 32;
/** Longer than a write to the store can be delayed, ms. */
const LATE_MS = 60_000;

/**
 * Deletes an account and resolves when it is gone. Throws `RefusedError`: has_subaccounts unless recursive,
 * user_not_found for a deleted account, invalid_parameter when its credit does not fit into the parent's
 * balance. Throws `UnavailableError` after `DELETION_MS`; the sweep then completes the deletion.
 */
export async function deleteAccount(parts: DeletionParts, deletion: Deletion): Promise<Deleted> {
  const { account, by, recursive, command } = deletion;
  const full = await refundsOverfull(parts, account, recursive);
  if (full !== null) throw new RefusedError(full);
  await close(parts, account, by, recursive, command);
  return finish(parts, account);
}

/**
 * Completes a deletion whose account is closing already, from any step. Throws `UnavailableError` after
 * `DELETION_MS`.
 */
export async function finish(parts: DeletionParts, account: AccountId): Promise<Deleted> {
  const { system, clock } = parts;
  const until = clock.mono() + DELETION_MS;
  const { profile } = await system.ask(actorRef.account(account), "profile", {});
  const below = dnaBelow(profile.dna, account);
  const { closing } = await system.ask(actorRef.account(account), "unfinishedWork", {});
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    const left = await emptyBelow(parts, below, { by: closing?.by ?? account, until });
    const { children } = await system.ask(actorRef.account(account), "unfinishedWork", {});
    if (left === 0 && children === 0 && (await emptied(parts, account))) break;
    if (clock.mono() > until)
      throw new UnavailableError(actorName(actorRef.account(account)), "its deletion goes on");
    await sleep(clock, pauseMs);
  }
  const after = await system.ask(actorRef.account(account), "unfinishedWork", {});
  return { name: after.name, refunded: after.closing!.refunded, fee: after.closing!.fee };
}

/**
 * Returns the account whose deletion a command began, even if it is incomplete; null when the command began
 * none.
 */
export async function deletionBegunBy(store: Store, command: string): Promise<AccountId | null> {
  for (const { actor, events } of await store.commitsByDedupId(command, 1)) {
    const { kind, id } = refOf(actor);
    const begun = events.some(({ e }) => {
      const event = e as AccountEvent;
      return event.type === "closing" && event.id === command;
    });
    if (kind === "account" && begun) return Number(id) as AccountId;
  }
  return null;
}

function close(
  { system, clock, random }: DeletionParts,
  account: AccountId,
  by: AccountId,
  recursive: boolean,
  command: Minted = { id: random.id(), bornAt: clock.wall() },
) {
  const { id } = command;
  return system.ask(actorRef.account(account), "close", { ...command, by, recursive }, { id });
}

/**
 * One round over all accounts below: closes the open ones and takes the next step of the closing ones.
 * Returns how many are left among those that were reached before `until` (monotonic ms). In descending order
 * a DNA comes before its prefixes, so the deepest accounts come first.
 */
async function emptyBelow(
  parts: DeletionParts,
  below: string,
  { by, until = Number.POSITIVE_INFINITY }: { readonly by: AccountId; readonly until?: number },
): Promise<number> {
  let left = 0;
  const group: (() => Promise<boolean>)[] = [];
  const round = async () => {
    for (const done of await Promise.all(group.splice(0).map((step) => step()))) if (!done) left++;
  };
  const where = [
    { field: "dna", is: "starts", value: below },
    { field: "closed", is: "in", value: [0, 1] },
  ] as const;
  for await (const row of parts.store.scan({ table: "accounts", where, order: "dna", descending: true })) {
    const { id: account } = parseAccountRow(row);
    group.push(() => (row.closed === 1 ? emptied(parts, account) : closed(parts, account, by)));
    if (group.length < AT_ONCE) continue;
    await round();
    if (parts.clock.mono() > until) return Math.max(1, left);
  }
  await round();
  return left;
}

/**
 * Closes an open account. Returns false, because the account is still to be emptied. One that cannot close
 * now (it is being moved) is retried in the next round.
 */
async function closed(parts: DeletionParts, account: AccountId, by: AccountId): Promise<boolean> {
  try {
    await close(parts, account, by, true);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
  return false;
}

/** Takes every possible step of an account's closing. Returns true when the deletion is complete. */
async function emptied(parts: DeletionParts, account: AccountId): Promise<boolean> {
  const { system, clock, random } = parts;
  const there = actorRef.account(account);
  try {
    const id = random.id();
    const { parent, stage } = await system.ask(there, "unfinishedWork", {});
    // Read each time, because credit must not be sent to a parent that has no room and would return it.
    const margins =
      stage === "closing" && (await system.ask(actorRef.account(parent ?? ROOT), "margins", {}));
    const settling = { id, bornAt: clock.wall(), ...(margins && { room: margins.room }) };
    await system.ask(there, "settleClosing", settling, { id });
    const affairs = await system.ask(there, "unfinishedWork", {});
    if (affairs.owes.length > 0) return false;
    if (affairs.stage !== "closed") {
      await releaseClaims(parts.store, account, affairs);
      // If this fails too, `verify` reports the claims that are left.
      clock.after(LATE_MS, () => releaseClaims(parts.store, account, affairs).catch(() => {}));
      await system.ask(there, "endClosing", {});
    }
    return (await system.ask(there, "unfinishedWork", {})).leaving.length === 0;
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === CLOSING_NOT_DUE) return false;
    throw error;
  }
}

/** Frees name and keys for other accounts. A claim that another account has made in the meantime stays. */
function releaseClaims(
  store: Store,
  account: AccountId,
  { name, keyHash, formerKeyHash, secretHashes }: UnfinishedWork,
): Promise<void> {
  const former = formerKeyHash === null ? [] : [formerKeyHash];
  const keys = [keyHash, ...former, ...secretHashes].map((hash) => `key:${hash}`);
  return releaseOwnClaims(store, account, [nameClaim(name), ...keys]);
}

/** Interrupted deletions that one sweep continues. */
const SWEEP_BATCH = 100;

/**
 * Completes interrupted deletions of accounts that this node owns. Returns how many ended. Throws the first
 * failure after all of them were tried.
 */
export async function sweepDeletions(parts: DeletionParts): Promise<number> {
  const closing: StoredAccount[] = [];
  const where = [{ field: "closed", is: "=", value: 1 }] as const;
  for await (const row of parts.store.scan({ table: "accounts", where, order: "dna", descending: true })) {
    const account = parseAccountRow(row);
    if (!parts.system.owns(actorRef.account(account.id))) continue;
    if (closing.push(account) >= SWEEP_BATCH) break;
  }
  let ended = 0;
  const failures: unknown[] = [];
  for (const { id, dna } of closing) {
    // An account that cannot be reached must not block the deletion of others.
    try {
      if (await resumed(parts, id, dna)) ended++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return ended;
}

/** Makes one round of a deletion. Returns true when the deletion is complete. */
async function resumed(parts: DeletionParts, account: AccountId, dna: string): Promise<boolean> {
  const { closing } = await parts.system.ask(actorRef.account(account), "unfinishedWork", {});
  await emptyBelow(parts, dnaBelow(dna, account), { by: closing?.by ?? account });
  return emptied(parts, account);
}
