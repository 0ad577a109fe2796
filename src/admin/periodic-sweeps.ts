// Periodic work: expiry of credit and of secrets on idle accounts, unconfirmed claims, interrupted deletions, and the
// removal of expired answers, expired news items, old lines of the operation log and ids of expired provider
// objects. Each sweep is bounded and repeats, and only asks actors; it must decide nothing itself. Every node
// of a cluster sweeps the accounts that it owns; the owner of Root's account also sweeps what belongs to no
// account.

import { nameClaim } from "../../actors/account-name.ts";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { DAY_MS } from "../../actors/time.ts";
import { sleep } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Claim, Find } from "../store/store.ts";
import type { RecordTable } from "../store/tables.ts";
import { parseAccountRow } from "./account-rows.ts";
import { forgetDeadSecrets } from "./api-keys.ts";
import { foundedBy } from "./create-account.ts";
import { type DeletionParts, sweepDeletions } from "./delete-account.ts";
import { type KeyRotation, settleKeys } from "./rotate-key.ts";

/** Credit expires at most this long (ms) after its due time (contract section 3). */
const EXPIRY_MS = 30_000;
const EXPIRY_AT_ONCE = 32;
const CLAIMS_MS = 60_000;
/** A younger claim (ms) may belong to a creation that is still in progress. */
const CLAIM_GRACE_MS = 60_000;
const CLAIMS_BATCH = 500;
/** Prefix of claims that are locks, not names or keys: see src/http/write-lock.ts. */
export const TURN = "turn:";
/** A lock expires after this long (ms): twice the time within which an answer comes. */
const TURN_MS = 120_000;
const DELETIONS_MS = 15_000;
const ANSWERS_MS = 60_000;
/**
 * These rows are large and are deleted on the server's thread: few per step, so that requests run in between.
 */
const ANSWERS_BATCH = 50;
const PAUSE_MS = 5;
const RECORDS_MS = 600_000;
const RECORDS_BATCH = 200;

interface Parts extends DeletionParts {
  readonly log: Log;
  /** Days that lines of the operation log are kept. */
  readonly logDays: number;
  /** Receives the number of unconfirmed claims that were released; it is 0 in normal operation. */
  readonly claimsSwept: (count: number) => void;
}

/** Starts all sweeps. Returns a function that stops them. */
export function startSweeps(parts: Parts): () => void {
  const oncePerCluster = (task: () => Promise<number>) => async () =>
    parts.system.owns(actorRef.account(ROOT)) ? task() : 0;
  const stops = [
    every(parts, EXPIRY_MS, "expiry_sweep", () => sweepExpiry(parts)),
    every(parts, CLAIMS_MS, "claims_sweep", async () => {
      const released = await sweepClaims(parts);
      parts.claimsSwept(released);
      return released;
    }),
    every(parts, DELETIONS_MS, "deletions_sweep", () => sweepDeletions(parts)),
    every(
      parts,
      ANSWERS_MS,
      "answers_sweep",
      oncePerCluster(() => sweepAnswers(parts)),
    ),
    every(
      parts,
      RECORDS_MS,
      "news_sweep",
      oncePerCluster(() => sweepNews(parts)),
    ),
    every(
      parts,
      RECORDS_MS,
      "logs_sweep",
      oncePerCluster(() => sweepLogs(parts)),
    ),
    every(
      parts,
      RECORDS_MS,
      "objects_sweep",
      oncePerCluster(() => sweepObjects(parts)),
    ),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Makes all accounts with due credit expire it and forget their dead secrets, `EXPIRY_AT_ONCE` at a time. An account that cannot expire its
 * credit yet, because a hold uses it, does not delay the others. Returns how many accounts were asked; logs
 * failures.
 */
export async function sweepExpiry({
  system,
  store,
  clock,
  log,
}: Omit<Parts, "random" | "logDays" | "claimsSwept">): Promise<number> {
  const where = [{ field: "dueAt", is: "<=", value: clock.wall() }] as const;
  let asked = 0;
  let group: Promise<unknown>[] = [];
  for await (const row of store.scan({ table: "accounts", where, order: "dueAt" })) {
    const { id } = parseAccountRow(row);
    if (!system.owns(actorRef.account(id))) continue;
    // An account that cannot be reached must not keep what others have from expiring.
    const report = (error: unknown) => log("warn", "expiry_failed", { account: id, error: String(error) });
    group.push(expired({ system, store }, id).catch(report));
    asked++;
    if (group.length < EXPIRY_AT_ONCE) continue;
    await Promise.all(group);
    group = [];
  }
  await Promise.all(group);
  return asked;
}

async function expired(parts: Pick<Parts, "system" | "store">, id: AccountId): Promise<void> {
  const { deadSecrets } = await parts.system.ask(actorRef.account(id), "expireCredit", {});
  await forgetDeadSecrets(parts, id, deadSecrets);
}

type ClaimParts = Omit<Parts, "random" | "log" | "logDays" | "claimsSwept">;

/**
 * Confirms or releases old unconfirmed claims, as the accounts that they name decide. Returns how many were
 * released. Throws the first failure after all claims were tried.
 */
export async function sweepClaims(parts: ClaimParts): Promise<number> {
  const { store, clock } = parts;
  let released = 0;
  const failures: unknown[] = [];
  for (const claim of await store.unconfirmed(clock.wall() - CLAIM_GRACE_MS, CLAIMS_BATCH)) {
    if (!parts.system.owns(actorRef.account(claim.account as AccountId))) continue;
    // An account that cannot be reached must not block the claims of others.
    try {
      if (await isReleased(parts, claim)) released++;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return released;
}

async function isReleased({ system, store, clock }: ClaimParts, claim: Claim): Promise<boolean> {
  if (claim.key.startsWith(TURN)) {
    if (claim.at > clock.wall() - TURN_MS) return false;
    await store.release(claim.key, claim.by);
    return true;
  }
  if (await isOnItsWay({ system, store }, claim)) return false;
  const keys = await claimedKeys(system, claim);
  if (keys === null) {
    await store.release(claim.key, claim.by);
    return true;
  }
  // An unconfirmed key may exist beside the one that it replaced.
  if (claim.key === `key:${keys.keyHash}`) await settleKeys(store, keys);
  await store.confirm(claim.key, claim.by);
  return false;
}

/**
 * Returns true when the claim's account may still be created. If its parent has not given yet, the account
 * declines its creation here: see actors/account/creation.ts.
 */
async function isOnItsWay(
  { system, store }: Pick<ClaimParts, "system" | "store">,
  claim: Claim,
): Promise<boolean> {
  const account = claim.account as AccountId;
  const { state } = await system.ask(actorRef.account(account), "creation", {});
  if (state !== "open") return false;
  // The parent's transfer is in the ledger, so the creation continues, however old the claim is.
  if ((await foundedBy(store, claim.by)) === account) return true;
  await system.ask(actorRef.account(account), "forbidCreation", {});
  return false;
}

/**
 * Returns the keys of the account that a claim correctly names; null when the account does not exist, is
 * closing, or has another name and other keys.
 */
async function claimedKeys(system: ActorSystem<Protocol>, claim: Claim): Promise<KeyRotation | null> {
  try {
    const { profile, closing, formerKeyHash, secretHashes } = await system.ask(
      actorRef.account(claim.account as AccountId),
      "profile",
      {},
    );
    if (closing) return null;
    const keys = [profile.keyHash, ...secretHashes].map((hash) => `key:${hash}`);
    return [nameClaim(profile.name), ...keys].includes(claim.key)
      ? { keyHash: profile.keyHash, formerKeyHash }
      : null;
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === "user_not_found") return null;
    throw error;
  }
}

/** Deletes expired idempotency answers. Returns how many. */
export async function sweepAnswers({ store, clock }: Pick<Parts, "store" | "clock">): Promise<number> {
  let dropped = 0;
  for (;;) {
    const count = await store.dropAnswers(clock.wall(), ANSWERS_BATCH);
    dropped += count;
    if (count < ANSWERS_BATCH) return dropped;
    await sleep(clock, PAUSE_MS);
  }
}

/** Deletes expired news items. Returns how many. */
export const sweepNews = ({ store, clock }: Pick<Parts, "store" | "clock">): Promise<number> =>
  dropRecords({ store, clock }, { table: "news", where: [upTo("until", clock.wall())], order: "until" });

/** Deletes lines of the operation log that are older than `logDays`. Returns how many. */
export const sweepLogs = ({
  store,
  clock,
  logDays,
}: Pick<Parts, "store" | "clock" | "logDays">): Promise<number> => {
  const where = [upTo("at", clock.wall() - logDays * DAY_MS)];
  return dropRecords({ store, clock }, { table: "logs", where, order: "at" });
};

/** Deletes expired records of the stored-object index. Returns how many. */
export const sweepObjects = ({ store, clock }: Pick<Parts, "store" | "clock">): Promise<number> =>
  dropRecords({ store, clock }, { table: "objects", where: [upTo("until", clock.wall())], order: "until" });

const upTo = <F extends string>(field: F, value: number) => ({ field, is: "<=", value }) as const;

async function dropRecords<T extends RecordTable>(
  { store, clock }: Pick<Parts, "store" | "clock">,
  find: Find<T>,
): Promise<number> {
  let dropped = 0;
  for (;;) {
    const old = await store.find({ ...find, limit: RECORDS_BATCH });
    const ids = old.map(({ id }) => String(id));
    await store.removeRecords(find.table, ids);
    dropped += ids.length;
    if (ids.length < RECORDS_BATCH) return dropped;
    await sleep(clock, PAUSE_MS);
  }
}

/**
 * Runs a task repeatedly, `ms` milliseconds after the last run ended; logs counts and failures. Returns a
 * function that stops it.
 */
export function every(
  { clock, log }: Pick<Parts, "clock" | "log">,
  ms: number,
  name: string,
  task: () => Promise<number>,
): () => void {
  let stopped = false;
  let cancel = clock.after(ms, run);
  function run(): void {
    task()
      .then((count) => {
        if (count > 0) log("info", name, { count });
      })
      .catch((error) => log("warn", `${name}_failed`, { error: String(error) }))
      .finally(() => {
        if (!stopped) cancel = clock.after(ms, run);
      });
  }
  return () => {
    stopped = true;
    cancel();
  };
}
