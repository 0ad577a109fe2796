// Creates an account: claims its name and key, lets the parent give the credit, waits until the new account
// exists, and confirms the claims.
//
// crash                          state found                     recovery
// after a claim                  an unconfirmed claim            the sweep makes the account decline its
//                                                                creation (actors/account/creation.ts), and
//                                                                releases the claim
// after the parent's commit      a pending effect of the parent  the runtime delivers it; the sweep confirms
//                                                                the claims
// answer lost                    a complete account              a repeat of the command finds it by the
//                                                                claim of its name, and rotates its key,
//                                                                because the first was never shown
// answer lost, account deleted   nothing                         a repeat finds it by its transfer, and is
//                                                                refused, because the account is gone
//
// A creation that takes longer than the sweep's grace period (a slow store, a frozen process) finds its
// account either created, with its claims, or declined, without them. In the second case the parent gets its
// credit back, and the creation starts again with another account id.

import { editOwnMap } from "../../actors/account/map-overrides.ts";
import type { NewAccount } from "../../actors/account/profile.ts";
import type { AccountEvent } from "../../actors/account/state.ts";
import type { AccountRecord } from "../../actors/account/views.ts";
import { nameClaim, spellingsOf } from "../../actors/account-name.ts";
import { type AccountId, dnaBelow } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { type Clock, type Random, sleep } from "../base/clock.ts";
import { RefusedError, UnavailableError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { hashKey } from "../gateway/account/identify.ts";
import { actorName } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { configurationsAbove } from "./ancestor-configurations.ts";
import { newApiKey } from "./api-key.ts";
import { leftToSweep, rotateKey } from "./rotate-key.ts";
import type { Minted } from "./transfer-credit.ts";

/**
 * An account to create. `amount` is its initial credit in nano-dollars, `days` how long the credit is valid.
 */
export interface Creation {
  readonly parent: AccountId;
  /** The profile of the new account; `name` is in NFC. */
  readonly account: Omit<NewAccount, "id" | "keyHash" | "stamps">;
  readonly amount: Nano;
  readonly days: number;
  /** The Owner's UserMinBalance, which the parent must keep. */
  readonly keep: Nano;
  /** Identifies the command on every repeat; undefined when it will not be repeated. */
  readonly command?: Minted;
}

/** A new account, and its API key. */
export interface Created {
  readonly record: AccountRecord;
  /** The API key in plain text, which is stored nowhere. */
  readonly key: string;
}

/** What the creation of accounts needs of a node. */
interface CreationParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly nextId: () => Promise<number>;
}

/** Milliseconds to wait for the new account, or for the parent's refund. */
const BIRTH_MS = 5_000;
const PAUSE_MS = 20;
/** Parent and child: a transfer's dedup id is in two commits at most. */
const BOTH = 2;
/** Attempts per creation; another one follows only when the sweep overtook the last. */
const ATTEMPTS_MAX = 3;

/**
 * Returns a function that creates an account and resolves when the account can be used. It throws
 * `RefusedError` (`duplicate_name`, and what the parent refuses) or `UnavailableError`; after the latter the
 * creation may still complete, and repeating the command with the same id is safe.
 */
export function createAccounts(parts: CreationParts): (creation: Creation) => Promise<Created> {
  const { clock, random } = parts;
  return async (creation) => {
    const { id, bornAt } = creation.command ?? { id: random.id(), bornAt: clock.wall() };
    for (let count = 1; count <= ATTEMPTS_MAX; count++) {
      // Deterministic, so that a repeat finds each attempt by its dedup id.
      const mark = count === 1 ? id : `${id}:${count}`;
      const created = await attempt(parts, creation, { id: mark, bornAt });
      if (created !== null) return created;
    }
    throw new UnavailableError(
      actorName(actorRef.account(creation.parent)),
      "its newborn took too long, each time",
    );
  };
}

/**
 * Makes one attempt. Returns null when the sweep declined the creation first; then nothing is left of the
 * attempt, and the parent has its credit back.
 */
async function attempt(
  parts: CreationParts,
  { parent, account, amount, days, keep, command }: Creation,
  { id: by, bornAt }: Minted,
): Promise<Created | null> {
  const { system, store, nextId } = parts;
  const before = command && (await store.findClaim(nameClaim(account.name)));
  const known = before?.by === by ? (before.account as AccountId) : command && (await foundedBy(store, by));
  const id = known ?? ((await nextId()) as AccountId);
  const key = newApiKey();
  const keyHash = hashKey(key);
  const limits = await limitsOf(system, parent, id, account.modelLimits);
  const claims = [nameClaim(account.name), `key:${keyHash}`];
  await refuseOtherSpellings(store, account.name, id);
  await claimAll(parts, claims, { id, by, name: account.name });

  try {
    const input = { id: by, bornAt, child: { ...account, ...limits, id, keyHash }, amount, days, keep };
    await system.ask(actorRef.account(parent), "createChild", input, { id: by, bornAt });
  } catch (error) {
    // A refusal is final, so the claims will never be used. After any other error the account may still be
    // created.
    if (error instanceof RefusedError) for (const claim of claims) await store.release(claim, by);
    throw error;
  }
  if (!(await isBorn(parts, id))) {
    for (const claim of claims) await store.release(claim, by);
    await refunded(parts, parent, by);
    return null;
  }
  // The account may have been deleted with its parent already. Then the claims are released; a released
  // claim cannot be confirmed.
  const record = await system.ask(actorRef.account(id), "read", {}).catch(async (error) => {
    if (error instanceof RefusedError) for (const claim of claims) await store.release(claim, by);
    throw error;
  });
  await leftToSweep(parts, confirmAll(store, claims, by));
  // An earlier attempt created the account with a key that is lost, so it is rotated to the key that was
  // claimed here.
  if (record.profile.keyHash !== keyHash) {
    await store.release(`key:${keyHash}`, by);
    return { record, key: await rotateKey(parts, id, key) };
  }
  return { record, key };
}

/**
 * Merges the given limits with those that the parent's tree imposes, with stamps newer than all of them.
 */
async function limitsOf(
  system: ActorSystem<Protocol>,
  parent: AccountId,
  id: AccountId,
  given: NewAccount["modelLimits"] = {},
): Promise<Pick<NewAccount, "modelLimits" | "stamps">> {
  const changes = Object.entries(given).map(([pattern, value]) => ({ pattern, value }));
  if (changes.length === 0) return {};
  const { profile } = await system.ask(actorRef.account(parent), "profile", {});
  const child = { id, parent, dna: dnaBelow(profile.dna, parent), modelLimits: {}, modelMapper: {} };
  const above = await configurationsAbove(system, child);
  const { entries, stamps } = editOwnMap(child, above, "modelLimits", { clear: false, changes });
  return { modelLimits: entries, stamps };
}

/**
 * Accounts older than the uniqueness rule may hold the name in another Unicode composition; such a name is
 * refused for new accounts.
 */
async function refuseOtherSpellings(store: Store, name: string, id: AccountId): Promise<void> {
  const others = spellingsOf(name).filter((spelling) => spelling !== name.toLowerCase());
  const claims = await Promise.all(others.map((spelling) => store.findClaim(nameClaim(spelling))));
  if (claims.some((claim) => claim !== null && claim.account !== id)) throw taken(name);
}

async function claimAll(
  { store, clock }: CreationParts,
  claims: readonly string[],
  { id, by, name }: { readonly id: AccountId; readonly by: string; readonly name: string },
): Promise<void> {
  for (const [i, claim] of claims.entries()) {
    if (await store.claim(claim, id, by, clock.wall())) continue;
    for (const made of claims.slice(0, i)) await store.release(made, by);
    throw taken(name);
  }
}

async function confirmAll(store: Store, claims: readonly string[], by: string): Promise<void> {
  for (const claim of claims) await store.confirm(claim, by);
}

/**
 * Waits until the account is created or has declined its creation; returns false in the second case. The
 * parent's commit has normally arrived already; only a crash makes this wait. The account may have been
 * deleted again by then.
 */
async function isBorn({ system, clock }: CreationParts, id: AccountId): Promise<boolean> {
  const until = clock.mono() + BIRTH_MS;
  for (;;) {
    const { state } = await system.ask(actorRef.account(id), "creation", {});
    if (state !== "open") return state === "created";
    if (clock.mono() > until)
      throw new UnavailableError(actorName(actorRef.account(id)), "it is not born yet");
    await sleep(clock, PAUSE_MS);
  }
}

/** Resolves when the parent has back the credit of a declined creation. */
async function refunded({ system, clock }: CreationParts, parent: AccountId, by: string): Promise<void> {
  const until = clock.mono() + BIRTH_MS;
  for (;;) {
    const { owes } = await system.ask(actorRef.account(parent), "unfinishedWork", {});
    if (!owes.includes(by)) return;
    if (clock.mono() > until)
      throw new UnavailableError(actorName(actorRef.account(parent)), "its credit is under way");
    await sleep(clock, PAUSE_MS);
  }
}

const taken = (name: string): RefusedError =>
  new RefusedError({
    code: "duplicate_name",
    message: `The name "${name}" is taken. Names differ by more than case or the encoding of accents.`,
  });

/**
 * Returns the account that a command has created, even if it was deleted since; null when the command created
 * none.
 */
export async function foundedBy(store: Store, by: string): Promise<AccountId | null> {
  const events = (await store.commitsByDedupId(by, BOTH)).flatMap((commit) => commit.events);
  for (const { e } of events as readonly { readonly e: AccountEvent }[]) {
    if (e.type === "owing" && e.transfer.id === by && e.transfer.child !== null) return e.transfer.to;
  }
  return null;
}
