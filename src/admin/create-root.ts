// Creates Root at the first start, with an API key that exactly one process shows once. Every later start
// finds Root and changes nothing. In a cluster the node that owns Root's account creates it, and the others
// wait.
//
//   1  look    read the registry row `root`, then Root's current key
//   2  take    write the row by compare-and-set: a process that had it before cannot complete any more
//   3  create  claims, then the account; if Root exists already it gets this key, unless its key is no
//              longer the one seen in 1
//   4  shown   mark the row by compare-and-set: this is final, and only now the key is shown
//
// crash, or the account moves     recovery
// before 4                        another process takes the row, and Root gets its key: nobody has seen the
//                                 first
// a superseded process acts late  3 changes nothing, since the key differs; 4 fails, so it shows nothing
// between 4 and the showing       the key is lost; `rotate-root` makes another one

import assert from "node:assert/strict";
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

/** What the creation of Root needs of a node. */
export interface RootParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** Root's key at the first start; null means a random one. */
  readonly chosen: string | null;
}

/** The error of a start before whose end no node has created Root. */
export class RootMissing extends Error {}

const ROW = "root";

interface Row {
  /** Id of the attempt that holds the row; every attempt has its own. */
  readonly by: string;
  readonly shown: boolean;
}

/**
 * Milliseconds to wait for Root. A shard is without an owner for less, and its next owner creates Root at
 * once.
 */
const WAIT_MS = 60_000;
const PAUSE_MS = 100;

/**
 * Resolves when Root exists. Returns Root's key in plain text to the one process that must show it, and null
 * otherwise. Throws `RootMissing` when Root does not exist in time. Writes claims, the registry row and Root's account.
 */
export async function createRootAccount(parts: RootParts): Promise<string | null> {
  const { system, store, clock } = parts;
  const until = clock.mono() + WAIT_MS;
  for (;;) {
    const found = await store.read(ROW);
    if (found !== null && isKeyShown(found.value)) return null;
    // Root was created by an older release, which wrote no row.
    if (found === null && (await store.findClaim("name:root"))?.confirmed) return null;
    if (system.owns(actorRef.account(ROOT))) {
      const key = await tryToFound(parts, found?.rev ?? 0);
      if (key !== null) return key;
    }
    if (clock.mono() > until) throw new RootMissing("Root does not exist, and no node creates it");
    await sleep(clock, PAUSE_MS);
  }
}

/** Whether a row says that Root's key was shown. Throws for a value that this program does not write. */
function isKeyShown(value: string): boolean {
  const row: unknown = JSON.parse(value);
  assert(
    typeof row === "object" && row !== null && "shown" in row && typeof row.shown === "boolean",
    `the registry row ${ROW} cannot be read`,
  );
  return row.shown;
}

/** Makes one attempt and returns Root's new key; null when another process holds or has held the row. */
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
  // A random key is known only here, so its claim belongs to this attempt. A chosen key may be Root's by now.
  const claim = parts.chosen === null ? await store.findClaim(`key:${hashKey(key)}`) : null;
  if (claim !== null) await store.release(claim.key, claim.by);
  return null;
}

/** Returns the hash of Root's key; null when Root does not exist. */
async function keyOfRoot({ system }: RootParts): Promise<string | null> {
  try {
    return (await system.ask(actorRef.account(ROOT), "profile", {})).profile.keyHash;
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

/** Makes `key` Root's key, with claims. Returns false when Root's key is not `seen` any more. */
async function isRoots(
  { system, store, clock }: RootParts,
  key: string,
  { seen, by: founder }: { readonly seen: string | null; readonly by: string },
): Promise<boolean> {
  const claim = await store.findClaim("name:root");
  if (claim === null) {
    // The first account id is always Root's; a start that crashed here has reserved it already.
    const first = (await store.reserveIds("account", 1)) as AccountId;
    if (first !== ROOT && (await store.listActors("account/", "", 1)).length > 0) {
      // Another process may have created Root in the meantime.
      if ((await store.findClaim("name:root")) !== null) return false;
      throw new Error("the store has accounts but no Root");
    }
  }
  const by = claim?.by ?? founder;
  const keyHash = hashKey(key);
  await store.claim("name:root", ROOT, by, clock.wall());
  await store.claim(`key:${keyHash}`, ROOT, by, clock.wall());
  if (seen === null) {
    if (!(await system.ask(actorRef.account(ROOT), "createRoot", { keyHash })).founded) return false;
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

/**
 * Returns the row's next revision; null when another process has written it. After an error the outcome of
 * the write is unknown, so the row is read again.
 */
async function write(store: Store, rev: number, row: Row): Promise<number | null> {
  const value = JSON.stringify(row);
  try {
    return await store.cas(ROW, rev, value);
  } catch {
    const found = await store.read(ROW);
    return found?.value === value ? found.rev : null;
  }
}
