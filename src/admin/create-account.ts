// Creating an account: its name and key are claimed, the parent gives, the newborn answers, the claims are confirmed.
//
// crash                             left behind                     recovery
// after a claim                     a claim nobody confirmed        the sweep asks the account; nobody: released
// after the parent's commit         the parent owes the newborn     the runtime delivers; the sweep confirms the claims
// answer lost                       a whole account                 the caller sees 503 and repeats with the same key

import type { NewAccount } from "../../actors/account/profile.ts";
import type { AccountRecord } from "../../actors/account/views.ts";
import type { AccountId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { hashKey } from "../gateway/identify.ts";
import { type Clock, type Random, sleep } from "../runtime/clock.ts";
import { type ActorSystem, Refused, Unavailable } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { newApiKey } from "./api-key.ts";

export interface Creation {
  readonly parent: AccountId;
  readonly account: Omit<NewAccount, "id" | "keyHash">;
  readonly amount: Nano;
  readonly days: number;
  /** The Owner's UserMinBalance. */
  readonly keep: Nano;
}

export interface Created {
  readonly record: AccountRecord;
  /** The only time the key is seen. */
  readonly key: string;
}

/** How long the newborn may take to appear after its parent gave. */
const BIRTH_MS = 5_000;

export function createAccounts(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  clock: Clock;
  random: Random;
  nextId: () => Promise<number>;
}): (creation: Creation) => Promise<Created> {
  const { system, store, clock, random, nextId } = parts;

  return async ({ parent, account, amount, days, keep }) => {
    const id = (await nextId()) as AccountId;
    const key = newApiKey();
    const keyHash = hashKey(key);
    const by = random.id();
    const claims = [`name:${account.name.toLowerCase()}`, `key:${keyHash}`];
    await claimAll(claims, id, by, account.name);

    try {
      const input = { id: by, bornAt: clock.wall(), child: { ...account, id, keyHash }, amount, days, keep };
      await system.ask(to.account(parent), "createChild", input, { id: by, bornAt: input.bornAt });
    } catch (error) {
      // A refusal is final, so nothing will ever stand behind the claims; anything else may still happen.
      if (error instanceof Refused) for (const claim of claims) await store.release(claim, by);
      throw error;
    }
    const record = await newborn(id);
    // Claimed again first: a sweep may have released what took its account very long to come.
    for (const claim of claims) {
      await store.claim(claim, id, by, clock.wall());
      await store.confirm(claim, by);
    }
    return { record, key };
  };

  async function claimAll(claims: string[], id: AccountId, by: string, name: string): Promise<void> {
    for (const [i, claim] of claims.entries()) {
      if (await store.claim(claim, id, by, clock.wall())) continue;
      for (const made of claims.slice(0, i)) await store.release(made, by);
      throw new Refused({
        code: "duplicate_name",
        message: `The name "${name}" is taken. Names differ by more than case.`,
      });
    }
  }

  /** The parent's commit has told the newborn already; only a crash makes this wait. */
  async function newborn(id: AccountId): Promise<AccountRecord> {
    const until = clock.mono() + BIRTH_MS;
    for (;;) {
      try {
        return await system.ask(to.account(id), "read", {});
      } catch (error) {
        if (!(error instanceof Refused) || error.refusal.code !== "user_not_found") throw error;
        if (clock.mono() > until) throw new Unavailable(`account/${id}`, "the newborn does not answer yet");
        await sleep(clock, 20);
      }
    }
  }
}
