// Claims against accounts, one to one: every account has its name and its key, and no confirmed claim stands for
// nobody. An unconfirmed claim is work under way, for the sweep to end.

import { account } from "../../../actors/account/account.ts";
import type { LifecycleStage } from "../../../actors/account/lifecycle.ts";
import { type Account, type Profile, stageOf } from "../../../actors/account/state.ts";
import { nameClaim } from "../../../actors/account-name.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { actorName } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Claim } from "../../store/store.ts";
import type { Findings } from "./findings.ts";

const claimsOf = (profile: Profile): string[] => [nameClaim(profile.name), `key:${profile.keyHash}`];

/**
 * The claims that an account must have, may still have while it is being deleted, and must not have afterwards.
 * Answers how many of those that it may have are confirmed.
 */
export async function verifyClaimsOf(
  profile: Profile,
  stage: LifecycleStage,
  { audit, findings }: { audit: AuditView; findings: Findings },
): Promise<number> {
  if (stage === "closed") return 0;
  let confirmed = 0;
  for (const key of claimsOf(profile)) {
    const claim = await audit.findClaim(key);
    const where = actorName(actorRef.account(profile.id));
    // A deleted account lets go of its claims before it is gone, and its name may be another's then.
    if (stage !== "open" && claim?.account !== profile.id) continue;
    // What became of the account since may have become of its claims.
    if (claim?.account !== profile.id && (await audit.moved(where))) continue;
    if (claim === null) findings.add("claim", where, `nobody has claimed ${named(key)}`);
    else if (claim.account !== profile.id) {
      findings.add("claim", where, `${named(key)} is claimed for account/${claim.account}`);
    } else if (claim.confirmed) confirmed++;
  }
  return confirmed;
}

const PAGE = 1_000;

/** Names the confirmed claims that stand for nobody. Slow, and asked only when the numbers disagree. */
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
  const profile = await profileOf(audit, claim.account as AccountId);
  // An account that cannot be replayed is told already; nothing can be said of its claims.
  if (profile === "unknown") return true;
  if (profile === null) return false;
  if (claimsOf(profile).includes(claim.key)) return true;
  // A key that is being replaced stands until its successor is confirmed.
  const successor = claim.key.startsWith("key:") ? await audit.findClaim(`key:${profile.keyHash}`) : null;
  return successor !== null && !successor.confirmed;
}

async function profileOf(audit: AuditView, id: AccountId): Promise<Profile | null | "unknown"> {
  const name = actorName(actorRef.account(id));
  try {
    const snapshot = await audit.loadSnapshot(name);
    const fits = snapshot !== null && snapshot.v === account.version;
    const state: Account = fits ? account.thaw(String(id), snapshot.state) : account.empty(String(id));
    for (let seq = fits ? snapshot.seq : 0; ; ) {
      const page = await audit.readCommits(name, seq, PAGE);
      for (const { events } of page) for (const { at, e } of events) account.evolve(state, e as never, at);
      if (page.length < PAGE) return stageOf(state) === "closed" ? null : state.profile;
      seq = page.at(-1)!.seq;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return "unknown";
  }
}

/** Names are no secret and neither is the hash of a key, but its first digits are enough to find it. */
const named = (key: string): string =>
  key.startsWith("key:") ? `${key.slice(0, 16)}…` : JSON.stringify(key);
