// Verifies claims against accounts, one to one: every account has the claims of its name and keys, and every
// confirmed claim belongs to an account. A secret of a named key that has ended may still be claimed. An unconfirmed claim is an operation in progress, which the sweep
// completes.

import { account } from "../../../actors/account/account.ts";
import { type Account, type Profile, stageOf } from "../../../actors/account/state.ts";
import { nameClaim } from "../../../actors/account-name.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { actorName } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Claim } from "../../store/store.ts";
import type { Findings } from "./findings.ts";

/** A claim that an account may have, and whether it must have it while it is open. */
interface OwnClaim {
  readonly key: string;
  readonly mustExist: boolean;
}

const claimsOf = ({ apiKeys }: Account, { name, keyHash }: Profile): OwnClaim[] => [
  { key: nameClaim(name), mustExist: true },
  { key: `key:${keyHash}`, mustExist: true },
  ...(apiKeys?.hashes() ?? []).map(({ hash, mustBeClaimed }) => ({
    key: `key:${hash}`,
    mustExist: mustBeClaimed,
  })),
];

/**
 * Checks the claims of an account: it must have them while open, may have them while it is being deleted, and
 * must not have them afterwards. Returns how many of its claims are confirmed.
 */
export async function verifyClaimsOf(
  state: Account,
  { audit, findings }: { audit: AuditView; findings: Findings },
): Promise<number> {
  const stage = stageOf(state);
  const { profile } = state;
  if (profile === null || stage === "closed") return 0;
  let confirmed = 0;
  for (const { key, mustExist } of claimsOf(state, profile)) {
    const claim = await audit.findClaim(key);
    const where = actorName(actorRef.account(profile.id));
    // An account that is being deleted releases its claims before it is gone; its name may belong to another
    // account then.
    if ((stage !== "open" || !mustExist) && claim?.account !== profile.id) continue;
    // The account has newer commits than this view of the store, so its claims may be newer too.
    if (claim?.account !== profile.id && (await audit.moved(where))) continue;
    if (claim === null) findings.add("claim", where, `there is no claim of ${named(key)}`);
    else if (claim.account !== profile.id) {
      findings.add("claim", where, `${named(key)} is claimed for account/${claim.account}`);
    } else if (claim.confirmed) confirmed++;
  }
  return confirmed;
}

const PAGE = 1_000;

/**
 * Reports confirmed claims that belong to no account. It is slow, and needed only when the counts disagree.
 */
export async function verifyClaimants({
  audit,
  findings,
}: {
  audit: AuditView;
  findings: Findings;
}): Promise<void> {
  for (let after = ""; ; ) {
    const page = await audit.claims(after, PAGE);
    for (const claim of page) {
      if (!claim.confirmed || (await stands(audit, claim))) continue;
      const where = actorName(actorRef.account(claim.account as AccountId));
      if (await audit.moved(where)) continue;
      findings.add("claim", where, `${named(claim.key)} is claimed for it, but not its own`);
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.key;
  }
}

async function stands(audit: AuditView, claim: Claim): Promise<boolean> {
  const state = await replayed(audit, claim.account as AccountId);
  // An account that cannot be replayed is reported already, and its claims cannot be checked.
  if (state === "unknown") return true;
  const { profile } = state;
  if (profile === null || stageOf(state) === "closed") return false;
  if (claimsOf(state, profile).some(({ key }) => key === claim.key)) return true;
  // The claim of a replaced key stays until its successor is confirmed.
  const successor = claim.key.startsWith("key:") ? await audit.findClaim(`key:${profile.keyHash}`) : null;
  return successor !== null && !successor.confirmed;
}

async function replayed(audit: AuditView, id: AccountId): Promise<Account | "unknown"> {
  const name = actorName(actorRef.account(id));
  try {
    const snapshot = await audit.loadSnapshot(name);
    const fits = snapshot !== null && snapshot.v === account.version;
    const state: Account = fits ? account.thaw(String(id), snapshot.state) : account.empty(String(id));
    for (let seq = fits ? snapshot.seq : 0; ; ) {
      const page = await audit.readCommits(name, seq, PAGE);
      for (const { events } of page) for (const { at, e } of events) account.evolve(state, e as never, at);
      if (page.length < PAGE) return state;
      seq = page.at(-1)!.seq;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return "unknown";
  }
}

/** Names and key hashes are not secret, but the first digits of a hash are enough to find it. */
const named = (key: string): string =>
  key.startsWith("key:") ? `${key.slice(0, 16)}…` : JSON.stringify(key);
