// Deleting an account, alone or with everything below it. It decides nothing: it asks each account for the next step of
// its closing (actors/account/closing.ts), the deepest first, and lets go of names and keys.
//
//   0  what goes to the parent must fit there, and what goes to each account below on the way: refund-capacity.ts
//   1  the top closes: whoever is below it is refused through it, at once
//   2  everybody below closes too, by the accounts table and the DNA
//   3  bottom-up: settleClosing (waits for requests in flight, at most 35 s), the refund arrives, claims are released,
//      endClosing, the parent counts a child less
//   4  the top, the same
//
// crash or deadline          state found                       recovery
// after 1                    closing, open accounts below      the sweep: accounts with closed = 1 are deleted to the end
// in 3 or 4                  some closed, some closing         the sweep, from the next step of each
// after the claims           closing without claims            the sweep ends it; the name may be another's already
// the parent fills up after 0  closing, with its credit        the sweep, as soon as the parent can hold it; nothing moves
//                                                              until then
//
// A claim of its creation that the store had in hand for long may land after all that, and its confirmation after it: they
// are let go of once more a minute later.

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
import type { DocumentBody } from "../store/tables.ts";
import { refundsOverfull } from "./refund-capacity.ts";
import type { Minted } from "./transfer-credit.ts";

export interface DeletionParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Deletion {
  readonly account: AccountId;
  /** Who does it. */
  readonly by: AccountId;
  /** Everything below it goes too. */
  readonly recursive: boolean;
  /** The same on every repeat: by it a deletion is found again that its caller did not hear the end of. */
  readonly command?: Minted;
}

export interface Deleted {
  readonly name: string;
  readonly refunded: Nano;
  readonly fee: Nano;
}

/** The answer comes within this (contract section 3); what is left then goes on by the sweep. */
const DELETION_MS = 55_000;
/** Between two rounds, growing. */
const PAUSE_MS = 10;
const PAUSE_MOST_MS = 250;
const AT_ONCE = 32;
/** Longer than a write is under way. */
const LATE_MS = 60_000;

/**
 * Deletes an account. Refuses has_subaccounts unless recursive, user_not_found when it is gone, invalid_parameter when its
 * credit does not fit into its parent's balance. Throws `Unavailable`
 * when it takes longer than an answer may: it goes on all the same.
 */
export async function deleteAccount(parts: DeletionParts, deletion: Deletion): Promise<Deleted> {
  const { account, by, recursive, command } = deletion;
  const full = await refundsOverfull(parts, account, recursive);
  if (full !== null) throw new RefusedError(full);
  await close(parts, account, by, recursive, command);
  return finish(parts, account);
}

/** Ends a deletion whose account is closing already, whatever has been done of it. */
export async function finish(parts: DeletionParts, account: AccountId): Promise<Deleted> {
  const { system, clock } = parts;
  const until = clock.mono() + DELETION_MS;
  const { profile } = await system.ask(actorRef.account(account), "profile", {});
  const below = dnaBelow(profile.dna, account);
  const { closing } = await system.ask(actorRef.account(account), "affairs", {});
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MOST_MS)) {
    const left = await emptyBelow(parts, below, { by: closing?.by ?? account, until });
    const { children } = await system.ask(actorRef.account(account), "affairs", {});
    if (left === 0 && children === 0 && (await emptied(parts, account))) break;
    if (clock.mono() > until)
      throw new UnavailableError(actorName(actorRef.account(account)), "its deletion goes on");
    await sleep(clock, pauseMs);
  }
  const after = await system.ask(actorRef.account(account), "affairs", {});
  return { name: after.name, refunded: after.closing!.refunded, fee: after.closing!.fee };
}

/** The account whose deletion a command began, however much of it is done; null: it began none. */
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
 * One round over everybody below: closes who is open, and takes the next step of who closes. Answers how many are left,
 * of those whose turn came before `until` (mono ms). Descending, a DNA comes before those that it begins with: the deepest
 * go first.
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
    const account = row.id as AccountId;
    group.push(() => (row.closed === 1 ? emptied(parts, account) : closed(parts, account, by)));
    if (group.length < AT_ONCE) continue;
    await round();
    if (parts.clock.mono() > until) return Math.max(1, left);
  }
  await round();
  return left;
}

/** False, always: it is still to be emptied. One that cannot close now (it is being moved) is asked again. */
async function closed(parts: DeletionParts, account: AccountId, by: AccountId): Promise<boolean> {
  try {
    await close(parts, account, by, true);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
  return false;
}

/** Takes every step of an account's closing that can be taken; true: nothing is left to do. */
async function emptied(parts: DeletionParts, account: AccountId): Promise<boolean> {
  const { system, clock, random } = parts;
  const there = actorRef.account(account);
  try {
    const id = random.id();
    const { parent, stage } = await system.ask(there, "affairs", {});
    // Looked up each time: nothing is sent to a parent that would send it back.
    const margins =
      stage === "closing" && (await system.ask(actorRef.account(parent ?? ROOT), "margins", {}));
    const settling = { id, bornAt: clock.wall(), ...(margins && { room: margins.room }) };
    await system.ask(there, "settleClosing", settling, { id });
    const affairs = await system.ask(there, "affairs", {});
    if (affairs.owes.length > 0) return false;
    if (affairs.stage !== "closed") {
      await releaseClaims(parts.store, account, affairs);
      // What is left if that fails as well, `verify` tells.
      clock.after(LATE_MS, () => releaseClaims(parts.store, account, affairs).catch(() => {}));
      await system.ask(there, "endClosing", {});
    }
    return (await system.ask(there, "affairs", {})).leaving.length === 0;
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === CLOSING_NOT_DUE) return false;
    throw error;
  }
}

/** Name and key are anybody's again. A claim that another account has made since stays. */
async function releaseClaims(
  store: Store,
  account: AccountId,
  { name, keyHash, formerKeyHash }: UnfinishedWork,
) {
  const former = formerKeyHash === null ? [] : [`key:${formerKeyHash}`];
  for (const key of [nameClaim(name), `key:${keyHash}`, ...former]) {
    const claim = await store.findClaim(key);
    if (claim?.account === account) await store.release(claim.key, claim.by);
  }
}

/** How many deletions that were cut off are ended in one sweep. */
const SWEEP_BATCH = 100;

/**
 * Ends deletions that a crash or a deadline cut off, of accounts that this node serves. Answers how many ended; throws when
 * all but some were looked after.
 */
export async function sweepDeletions(parts: DeletionParts): Promise<number> {
  const closing: DocumentBody[] = [];
  const where = [{ field: "closed", is: "=", value: 1 }] as const;
  for await (const row of parts.store.scan({ table: "accounts", where, order: "dna", descending: true })) {
    if (!parts.system.owns(actorRef.account(row.id as AccountId))) continue;
    if (closing.push(row) >= SWEEP_BATCH) break;
  }
  let ended = 0;
  const failures: unknown[] = [];
  for (const { id, dna } of closing) {
    // One account that cannot be reached keeps nobody else's deletion from its end.
    try {
      if (await resumed(parts, id as AccountId, String(dna))) ended++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return ended;
}

/** One round of a deletion; true: it has ended. */
async function resumed(parts: DeletionParts, account: AccountId, dna: string): Promise<boolean> {
  const { closing } = await parts.system.ask(actorRef.account(account), "affairs", {});
  await emptyBelow(parts, dnaBelow(dna, account), { by: closing?.by ?? account });
  return emptied(parts, account);
}
