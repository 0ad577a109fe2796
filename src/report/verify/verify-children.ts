// Numbers of children: how many each account counts, against those who call it their parent. A child on its way in or out
// is counted by one side before the other; which of them knows already is found by the mark of what they owe each other.

import { type Account, stageOf } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { actorName } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Findings } from "./findings.ts";

export interface Families {
  /** One account as its ledger ends; null: it cannot be replayed, so that nothing can be said of numbers at all. */
  enter(account: Account | null): Promise<void>;
  /** After the last one. */
  tell(findings: Findings): void;
}

/** More commits do not carry one mark. */
const HOLDERS_MOST = 10;

export function createFamilies(audit: AuditView): Families {
  /** Children counted and not explained, by parent; those with none are not kept. */
  const rest = new Map<AccountId, number>();
  let isWhole = true;

  function count(parent: AccountId, children: number): void {
    const sum = (rest.get(parent) ?? 0) + children;
    if (sum === 0) rest.delete(parent);
    else rest.set(parent, sum);
  }

  async function knows(id: AccountId, mark: string): Promise<boolean> {
    const name = actorName(actorRef.account(id));
    return (await audit.holders(mark, HOLDERS_MOST)).some(({ actor }) => actor === name);
  }

  return {
    async enter(account) {
      if (account === null) {
        isWhole = false;
        return;
      }
      const { id, profile, children, owing, leaving, move } = account;
      count(id, children);
      if (profile !== null && profile.parent !== null && stageOf(account) !== "closed")
        count(profile.parent, -1);
      for (const notice of leaving.values()) {
        if (!(await knows(notice.parent, notice.id))) count(notice.parent, -1);
      }
      for (const transfer of owing.values()) {
        if (transfer.child !== null && !(await knows(transfer.to, transfer.id))) count(id, -1);
      }
      if (move?.stage === "asked" && (await knows(move.to, `${move.id}:join`))) count(move.to, -1);
    },
    tell(findings) {
      if (!isWhole) return;
      for (const [id, more] of rest) {
        findings.add(
          "children",
          actorName(actorRef.account(id)),
          `it counts ${more > 0 ? `${more} too many` : `${-more} too few`}`,
        );
      }
    },
  };
}
