// The first start: Root comes into being, with a key of its own, which is shown once by exactly one process. Every later
// start finds it and changes nothing. In a cluster whoever serves Root's account founds it, and the others wait.
//
//   1  look    at the registry's row `root`, then at Root's key as it is
//   2  take    the row, by compare-and-set: whoever had it before founds no more
//   3  found   claims, the account; Root that is there already gets this key, if it still has the one seen in 1
//   4  shown   the row says so, by compare-and-set: final, and only now the key is shown
//
// crash, or the account moves          what follows
// before 4                             another founder takes the row, and Root gets his key: nobody has seen the first
// a former founder's step comes late   3 changes nothing, since the key is another; 4 fails, and he shows nothing
// between 4 and the showing            the key is lost; it can be exchanged where the store lies

import { KEY_CHANGED } from "../../actors/account/profile.ts";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { type Clock, type Random, sleep } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import { hashKey } from "../gateway/account/identify.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { newApiKey } from "./api-key.ts";
import { settleKeys } from "./rotate-key.ts";

export interface RootParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Its key at the first start; null: a random one. */
  readonly chosen: string | null;
}

const ROW = "root";

interface Row {
  /** Who founds, or has founded: another one for each try. */
  readonly by: string;
  readonly shown: boolean;
}

/** Longer than a shard is without an owner, and its next one founds in no time. */
const WAIT_MS = 60_000;
const PAUSE_MS = 100;

/** Resolves when Root is there. Answers its key to the one who is to show it; null to everybody else, and ever after. */
export async function createRootAccount(parts: RootParts): Promise<string | null> {
  const { system, store, clock } = parts;
  const until = clock.mono() + WAIT_MS;
  for (;;) {
    const found = await store.read(ROW);
    if (found !== null && (JSON.parse(found.value) as Row).shown) return null;
    // Founded by a release that kept no row.
    if (found === null && (await store.findClaim("name:root"))?.confirmed) return null;
    if (system.owns(actorRef.account(ROOT))) {
      const key = await tryToFound(parts, found?.rev ?? 0);
      if (key !== null) return key;
    }
    if (clock.mono() > until) throw new Error("Root is not there, and nobody founds it");
    await sleep(clock, PAUSE_MS);
  }
}

/** Null: somebody else is at it, or was. */
async function tryToFound(parts: RootParts, rev: number): Promise<string | null> {
  const { store, random } = parts;
  const by = random.id();
  const seen = await keyOfRoot(parts);
  const taken = await write(store, rev, { by, shown: false });
  if (taken === null) return null;
  const key = parts.chosen ?? newApiKey();
  const isMine =
    (await isRoots(parts, key, { seen, by })) && (await write(store, taken, { by, shown: true })) !== null;
  if (isMine) return key;
  // Nobody else has drawn it, so its claim is this try's own; one that was chosen may be Root's by now.
  const claim = parts.chosen === null ? await store.findClaim(`key:${hashKey(key)}`) : null;
  if (claim !== null) await store.release(claim.key, claim.by);
  return null;
}

/** The hash of the key that Root has; null: there is no Root. */
async function keyOfRoot({ system }: RootParts): Promise<string | null> {
  try {
    return (await system.ask(actorRef.account(ROOT), "profile", {})).profile.keyHash;
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

/** Makes it Root's key, claims and all; false: Root's key is not the one that was seen. */
async function isRoots(
  { system, store, clock }: RootParts,
  key: string,
  { seen, by: founder }: { readonly seen: string | null; readonly by: string },
): Promise<boolean> {
  const claim = await store.findClaim("name:root");
  if (claim === null) {
    // The counter's first number is Root's, whoever starts first; a start that died here has taken it already.
    const first = (await store.reserveIds("account", 1)) as AccountId;
    if (first !== ROOT && (await store.listActors("account/", "", 1)).length > 0) {
      // Unless another founder was faster.
      if ((await store.findClaim("name:root")) !== null) return false;
      throw new Error("the store has accounts but no Root");
    }
  }
  const by = claim?.by ?? founder;
  const keyHash = hashKey(key);
  await store.claim("name:root", ROOT, by, clock.wall());
  await store.claim(`key:${keyHash}`, ROOT, by, clock.wall());
  if (seen === null) {
    if (!(await system.ask(actorRef.account(ROOT), "found", { keyHash })).founded) return false;
  } else {
    try {
      const { formerKeyHash } = await system.ask(actorRef.account(ROOT), "rotate", { keyHash, from: seen });
      await settleKeys(store, { keyHash, formerKeyHash });
    } catch (error) {
      if (error instanceof RefusedError && error.refusal.code === KEY_CHANGED) return false;
      throw error;
    }
  }
  await store.confirm(`key:${keyHash}`, by);
  await store.confirm("name:root", by);
  return true;
}

/** The row's next revision; null: somebody else has written it. Where nobody knows, the row itself tells. */
async function write(store: Store, rev: number, row: Row): Promise<number | null> {
  const value = JSON.stringify(row);
  try {
    return await store.cas(ROW, rev, value);
  } catch {
    const found = await store.read(ROW);
    return found?.value === value ? found.rev : null;
  }
}
