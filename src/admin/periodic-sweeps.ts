// Work that comes due by itself: credit that expires on idle accounts, claims that nobody confirmed, deletions that were
// cut off; answers that nobody may be given any more, news that have expired, old lines of the operation log, ids of what
// providers keep.
// Each sweep is bounded, repeats itself, and only asks actors; nothing is decided here. Every node of a cluster sweeps, and
// looks after what concerns the accounts that it serves: what concerns none, with Root's.

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
import { foundedBy } from "./create-account.ts";
import { type DeletionParts, sweepDeletions } from "./delete-account.ts";
import { type KeyRotation, settleKeys } from "./rotate-key.ts";

/** Credit leaves within this after its expiry (contract section 3). */
const EXPIRY_MS = 30_000;
const EXPIRY_AT_ONCE = 32;
const CLAIMS_MS = 60_000;
/** A claim younger than this may still be on its way to its account. */
const CLAIM_GRACE_MS = 60_000;
const CLAIMS_BATCH = 500;
/** Claims that are no account's: turns at work, see src/http/write-lock.ts. */
export const TURN = "turn:";
/** Whoever has a turn for longer has it no more: twice what an answer may take. */
const TURN_MS = 120_000;
const DELETIONS_MS = 15_000;
const ANSWERS_MS = 60_000;
/** Large rows that go on the server's thread: few at a time, and requests in between. */
const ANSWERS_BATCH = 50;
const PAUSE_MS = 5;
const RECORDS_MS = 600_000;
const RECORDS_BATCH = 200;

interface Parts extends DeletionParts {
  readonly log: Log;
  /** How long lines of the operation log are kept. */
  readonly logDays: number;
  /** Hears how many claims were released that nobody had confirmed: none in health. */
  readonly claimsSwept: (count: number) => void;
}

/** Starts all sweeps; the answer stops them. */
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
 * Asks all accounts whose credit is due, some at a time: however many fell due together, and whoever cannot let go of his
 * yet (a request holds it), all others come to their turn in the same sweep. Answers how many were asked.
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
  for await (const { id } of store.scan({ table: "accounts", where, order: "dueAt" })) {
    if (!system.owns(actorRef.account(id as AccountId))) continue;
    // One account that cannot be reached keeps nobody else's credit from expiring.
    const told = (error: unknown) =>
      log("warn", "expiry_failed", { account: id as number, error: String(error) });
    group.push(system.ask(actorRef.account(id as AccountId), "expireCredit", {}).catch(told));
    asked++;
    if (group.length < EXPIRY_AT_ONCE) continue;
    await Promise.all(group);
    group = [];
  }
  await Promise.all(group);
  return asked;
}

type ClaimParts = Omit<Parts, "random" | "log" | "logDays" | "claimsSwept">;

/**
 * Asks the account that a forgotten claim names: it confirms, or the claim is released. Answers how many were released;
 * throws when all but some were looked after.
 */
export async function sweepClaims(parts: ClaimParts): Promise<number> {
  const { store, clock } = parts;
  let released = 0;
  const failures: unknown[] = [];
  for (const claim of await store.unconfirmed(clock.wall() - CLAIM_GRACE_MS, CLAIMS_BATCH)) {
    if (!parts.system.owns(actorRef.account(claim.account as AccountId))) continue;
    // One account that cannot be reached keeps nobody else's claims from their end.
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
  const keys = await standing(system, claim);
  if (keys === null) {
    await store.release(claim.key, claim.by);
    return true;
  }
  // A key that was never confirmed may stand beside the one that it replaced.
  if (claim.key === `key:${keys.keyHash}`) await settleKeys(store, keys);
  await store.confirm(claim.key, claim.by);
  return false;
}

/** The claim's account may still be born. Where its parent has not given yet, that ends here: actors/account/creation.ts. */
async function isOnItsWay(
  { system, store }: Pick<ClaimParts, "system" | "store">,
  claim: Claim,
): Promise<boolean> {
  const account = claim.account as AccountId;
  const { birth } = await system.ask(actorRef.account(account), "birth", {});
  if (birth !== "unborn") return false;
  // The parent's gift is in the ledger, however old the claim looks.
  if ((await foundedBy(store, claim.by)) === account) return true;
  await system.ask(actorRef.account(account), "forgo", {});
  return false;
}

/** The keys of the account that a claim rightly names; null: it names nobody, or an account without this name or key. */
async function standing(system: ActorSystem<Protocol>, claim: Claim): Promise<KeyRotation | null> {
  try {
    const { profile, closing, formerKeyHash } = await system.ask(
      actorRef.account(claim.account as AccountId),
      "profile",
      {},
    );
    if (closing) return null;
    const own = [nameClaim(profile.name), `key:${profile.keyHash}`];
    return own.includes(claim.key) ? { keyHash: profile.keyHash, formerKeyHash } : null;
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === "user_not_found") return null;
    throw error;
  }
}

/** Drops kept answers that are no longer good. Answers how many. */
export async function sweepAnswers({ store, clock }: Pick<Parts, "store" | "clock">): Promise<number> {
  let dropped = 0;
  for (;;) {
    const count = await store.dropAnswers(clock.wall(), ANSWERS_BATCH);
    dropped += count;
    if (count < ANSWERS_BATCH) return dropped;
    await sleep(clock, PAUSE_MS);
  }
}

/** Drops news that have expired. Answers how many. */
export const sweepNews = ({ store, clock }: Pick<Parts, "store" | "clock">): Promise<number> =>
  dropRecords({ store, clock }, { table: "news", where: [upTo("until", clock.wall())], order: "until" });

/** Drops lines of the operation log that are older than they are kept. Answers how many. */
export const sweepLogs = ({
  store,
  clock,
  logDays,
}: Pick<Parts, "store" | "clock" | "logDays">): Promise<number> => {
  const where = [upTo("at", clock.wall() - logDays * DAY_MS)];
  return dropRecords({ store, clock }, { table: "logs", where, order: "at" });
};

/** Forgets where things lie that nobody may ask for any more. Answers how many. */
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

/** Does the task again and again, `ms` after it ended; the answer stops it. */
export function every(
  { clock, log }: Pick<Parts, "clock" | "log">,
  ms: number,
  name: string,
  task: () => Promise<number>,
): () => void {
  let stopped = false;
  let cancel = clock.after(ms, again);
  function again(): void {
    task()
      .then((count) => {
        if (count > 0) log("info", name, { count });
      })
      .catch((error) => log("warn", `${name}_failed`, { error: String(error) }))
      .finally(() => {
        if (!stopped) cancel = clock.after(ms, again);
      });
  }
  return () => {
    stopped = true;
    cancel();
  };
}
