// Creating an account: its name and key are claimed, the parent gives, the newborn answers, the claims are confirmed.
//
// crash                             left behind                     recovery
// after a claim                     a claim nobody confirmed        the sweep has the account forgo its birth, and
//                                                                   releases the claim (actors/account/creation.ts)
// after the parent's commit         the parent owes the newborn     the runtime delivers; the sweep confirms the claims
// answer lost                       a whole account                 a repeat of the command finds it by the claim of its
//                                                                   name, and gives it another key: nobody saw the first
// answer lost, account deleted      nothing                         a repeat finds it by its transfer, and hears that it
//                                                                   is gone
//
// A creation that takes longer than the sweep waits (a slow store, a frozen process) finds its account born, with its claims,
// or forgone, without them: then the parent gets its credit back, and the creation begins anew under another number.

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
import { hashKey } from "../gateway/account/identify.ts";
import { actorName } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { configurationsAbove } from "./ancestor-configurations.ts";
import { newApiKey } from "./api-key.ts";
import { rotateKey } from "./rotate-key.ts";
import type { Minted } from "./transfer-credit.ts";

export interface Creation {
  readonly parent: AccountId;
  /** Its name is in NFC. */
  readonly account: Omit<NewAccount, "id" | "keyHash" | "stamps">;
  readonly amount: Nano;
  readonly days: number;
  /** The Owner's UserMinBalance. */
  readonly keep: Nano;
  /** The same on every repeat; absent: it will not be repeated. */
  readonly command?: Minted;
}

export interface Created {
  readonly record: AccountRecord;
  /** The only time the key is seen. */
  readonly key: string;
}

/** How long the newborn may take to appear after its parent gave. */
const BIRTH_MS = 5_000;
const PAUSE_MS = 20;
/** Parent and newborn: more commits do not carry one transfer's mark. */
const BOTH = 2;
/** How often a creation begins, each time because it took too long. */
const ATTEMPTS_MAX = 3;

export function createAccounts(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  clock: Clock;
  random: Random;
  nextId: () => Promise<number>;
}): (creation: Creation) => Promise<Created> {
  const { system, store, clock, random, nextId } = parts;

  return async (creation) => {
    const { id, bornAt } = creation.command ?? { id: random.id(), bornAt: clock.wall() };
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      // The same on every repeat: by its mark each attempt is found again.
      const mark = attempt === 1 ? id : `${id}:${attempt}`;
      const created = await attempted(creation, { id: mark, bornAt });
      if (created !== null) return created;
    }
    throw new UnavailableError(
      actorName(actorRef.account(creation.parent)),
      "its newborn took too long, each time",
    );
  };

  /** null: the sweep was faster. Nothing is left of the attempt then, and the parent has its credit back. */
  async function attempted(
    { parent, account, amount, days, keep, command }: Creation,
    { id: by, bornAt }: Minted,
  ): Promise<Created | null> {
    const before = command && (await store.findClaim(nameClaim(account.name)));
    const known = before?.by === by ? (before.account as AccountId) : command && (await foundedBy(store, by));
    const id = known ?? ((await nextId()) as AccountId);
    const key = newApiKey();
    const keyHash = hashKey(key);
    const limits = await limitsOf(parent, id, account.modelLimits);
    const claims = [nameClaim(account.name), `key:${keyHash}`];
    await refuseOtherSpellings(account.name, id);
    await claimAll(claims, id, by, account.name);

    try {
      const input = { id: by, bornAt, child: { ...account, ...limits, id, keyHash }, amount, days, keep };
      await system.ask(actorRef.account(parent), "createChild", input, { id: by, bornAt });
    } catch (error) {
      // A refusal is final, so nothing will ever stand behind the claims; anything else may still happen.
      if (error instanceof RefusedError) for (const claim of claims) await store.release(claim, by);
      throw error;
    }
    if (!(await isBorn(id))) {
      for (const claim of claims) await store.release(claim, by);
      await givenBack(parent, by);
      return null;
    }
    // Deleted with its parent already? Then the claims must go with it, and a claim that is gone is not confirmed.
    const record = await system.ask(actorRef.account(id), "read", {}).catch(async (error) => {
      if (error instanceof RefusedError) for (const claim of claims) await store.release(claim, by);
      throw error;
    });
    for (const claim of claims) await store.confirm(claim, by);
    // Made by an earlier attempt, with a key that is lost: rotating ends in the one that was claimed here.
    if (record.profile.keyHash !== keyHash) {
      await store.release(`key:${keyHash}`, by);
      return { record, key: await rotateKey(parts, id, key) };
    }
    return { record, key };
  }

  /** The newborn's own limits are set on top of what lies on everybody there, and newer than it. */
  async function limitsOf(
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

  /** An account older than the rule may have the name in another composition, and nobody takes one anew. */
  async function refuseOtherSpellings(name: string, id: AccountId): Promise<void> {
    const others = spellingsOf(name).filter((spelling) => spelling !== name.toLowerCase());
    const claims = await Promise.all(others.map((spelling) => store.findClaim(nameClaim(spelling))));
    if (claims.some((claim) => claim !== null && claim.account !== id)) throw taken(name);
  }

  async function claimAll(claims: string[], id: AccountId, by: string, name: string): Promise<void> {
    for (const [i, claim] of claims.entries()) {
      if (await store.claim(claim, id, by, clock.wall())) continue;
      for (const made of claims.slice(0, i)) await store.release(made, by);
      throw taken(name);
    }
  }

  /**
   * The parent's commit has reached the newborn already; only a crash makes this wait. It may be deleted by then. False: the
   * sweep had it forgo its birth.
   */
  async function isBorn(id: AccountId): Promise<boolean> {
    const until = clock.mono() + BIRTH_MS;
    for (;;) {
      const { birth } = await system.ask(actorRef.account(id), "birth", {});
      if (birth !== "unborn") return birth === "born";
      if (clock.mono() > until)
        throw new UnavailableError(actorName(actorRef.account(id)), "it is not born yet");
      await sleep(clock, PAUSE_MS);
    }
  }

  /** Until the parent has back what it gave for a birth that was forgone. */
  async function givenBack(parent: AccountId, by: string): Promise<void> {
    const until = clock.mono() + BIRTH_MS;
    for (;;) {
      const { owes } = await system.ask(actorRef.account(parent), "affairs", {});
      if (!owes.includes(by)) return;
      if (clock.mono() > until)
        throw new UnavailableError(actorName(actorRef.account(parent)), "its credit is under way");
      await sleep(clock, PAUSE_MS);
    }
  }
}

const taken = (name: string): RefusedError =>
  new RefusedError({
    code: "duplicate_name",
    message: `The name "${name}" is taken. Names differ by more than case or the encoding of accents.`,
  });

/** The account that a command has founded already, whatever became of it; null: none. */
export async function foundedBy(store: Store, by: string): Promise<AccountId | null> {
  const events = (await store.commitsByDedupId(by, BOTH)).flatMap((commit) => commit.events);
  for (const { e } of events as readonly { readonly e: AccountEvent }[]) {
    if (e.type === "owing" && e.transfer.id === by && e.transfer.child !== null) return e.transfer.to;
  }
  return null;
}
