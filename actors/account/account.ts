// The behavior of an account: dispatches each command to the file that holds its rule. It has no rules of its
// own, except in which stage of an account's life a command is decided.

import { unreachable } from "../../src/base/errors.ts";
import type { Behavior, Decision, Turn } from "../../src/runtime/actor.ts";
import type { AccountId } from "../ids.ts";
import { admit } from "./admit.ts";
import { admitDryRun } from "./admit-dry-run.ts";
import { decideApiKeys } from "./api-keys.ts";
import { topUp } from "./auto-quota.ts";
import { margins } from "./capacity.ts";
import { accountNotFound, cancel, charge, expireDue, renew } from "./charge.ts";
import { closeAccount, endClosing, removeChild, settleClosing, unfinishedWork } from "./closing.ts";
import type { AccountCommand } from "./commands.ts";
import { NO_LIST } from "./compact-profile.ts";
import { creation, forbidCreation } from "./creation.ts";
import { dedupId, dedupIdsOf } from "./dedup-ids.ts";
import { evolve } from "./evolve.ts";
import { adjustTotals, takeFee } from "./fees.ts";
import { forgetOld } from "./forget-old.ts";
import { expireHolds } from "./holds.ts";
import { identify } from "./identify.ts";
import { LIFECYCLE_STAGES, type LifecycleStage } from "./lifecycle.ts";
import { addChild, startMove } from "./move.ts";
import { holdOwnership, releaseOrphanedHolds } from "./orphaned-holds.ts";
import { type AccountEffect, effectDone, pendingEffects } from "./pending-effects.ts";
import { createRoot, replaceKey, updateProfile } from "./profile.ts";
import { reassertHolds } from "./reassert-holds.ts";
import { mailSent } from "./soft-limit-alert.ts";
import { standing } from "./standing.ts";
import { type Account, type AccountEvent, emptyAccount, stageOf } from "./state.ts";
import { createChild, receiveCredit, startRefund, startTransfer } from "./transfer.ts";
import { freeze, materialize, mayTrail, record, thaw } from "./views.ts";

export type { AccountCommand, AccountCommands } from "./commands.ts";

/** The actor kind `account`: balance, holds, limits and profile of one account. */
export const account: Behavior<Account, AccountCommand, AccountEvent, AccountEffect> = {
  kind: "account",
  version: 2,
  empty: (id) => emptyAccount(Number(id) as AccountId),
  decide,
  evolve,
  pendingEffects,
  materialize,
  mayTrail,
  freeze,
  thaw,
  isLine: (event) => "balanceAfter" in event,
  dedupIds: dedupIdsOf,
  dedupIdOf: dedupId,
  reliesOnHolds: ({ type }) => RELIES_ON_HOLDS.has(type),
  holdOwnership,
  forgetOld,
  idle: (state) => state.volatile.holds.size === 0,
};

/**
 * The last lifecycle stage in which a command is decided; in later stages it is refused with
 * `accountNotFound`. `identify` and `admit` are decided in every stage, because they answer `INVALID_KEY`; a
 * charge is never refused.
 */
const UNTIL: Readonly<Record<AccountCommand["type"], LifecycleStage>> = {
  identify: "closed",
  profile: "closed",
  read: "open",
  admit: "closed",
  admitDryRun: "closed",
  standing: "open",
  renew: "closed",
  reassertHolds: "closing",
  releaseOrphanedHolds: "closed",
  charge: "closed",
  cancel: "closed",
  update: "open",
  adjust: "open",
  createChild: "open",
  startTransfer: "open",
  startRefund: "open",
  fee: "open",
  margins: "closing",
  topUp: "open",
  mailSent: "closed",
  receiveCredit: "closing",
  move: "open",
  addChild: "open",
  removeChild: "closed",
  close: "closed",
  settleClosing: "closed",
  endClosing: "closed",
  unfinishedWork: "closed",
  expireCredit: "closing",
  apiKeys: "open",
  addApiKey: "open",
  changeApiKey: "open",
  rotateApiKey: "open",
  deleteApiKey: "open",
  forgetSecrets: "closed",
  creation: "closed",
  forbidCreation: "closed",
  createRoot: "open",
  rotate: "open",
  effectDone: "closed",
};

/**
 * Commands whose result depends on open holds: admission, commands that take free credit, the emptying of an
 * account, and cancellation, which counts a request only if its hold is known. A charge does not need its
 * hold, and a view may lag.
 */
const RELIES_ON_HOLDS: ReadonlySet<AccountCommand["type"]> = new Set([
  ...(["admit", "admitDryRun", "standing", "margins", "cancel"] as const),
  ...(["createChild", "startTransfer", "startRefund", "fee", "expireCredit"] as const),
  "settleClosing",
]);

const isPast = (state: Account, until: LifecycleStage): boolean =>
  LIFECYCLE_STAGES.indexOf(stageOf(state)) > LIFECYCLE_STAGES.indexOf(until);

/** Ends expired holds, decides the command, and reports how many holds expired. */
function decide(state: Account, command: AccountCommand, turn: Turn): Decision<AccountEvent> {
  const before = state.volatile.holdsExpired;
  // A late renewal still finds its hold; every other command treats an expired hold as ended.
  if (command.type !== "renew" && command.type !== "reassertHolds") expireHolds(state, turn.now);
  const decision = decided(state, command, turn);
  const holdsExpired = state.volatile.holdsExpired - before;
  return holdsExpired === 0 ? decision : { ...decision, holdsExpired };
}

function decided(state: Account, command: AccountCommand, turn: Turn): Decision<AccountEvent> {
  // A repeat of an executed command is answered as done, even by an account that has closed since.
  if (!turn.done && state.closing !== null && isPast(state, UNTIL[command.type])) {
    return { refused: accountNotFound(state) };
  }
  switch (command.type) {
    case "identify":
      return identify(state, command, turn);
    case "profile":
      if (state.profile === null) return { refused: accountNotFound(state) };
      return {
        reply: {
          profile: state.profile,
          version: state.version,
          closing: state.closing !== null,
          formerKeyHash: state.formerKeyHash,
          secretHashes: state.apiKeys?.hashes().map(({ hash }) => hash) ?? NO_LIST,
        },
      };
    case "read": {
      const found = record(state, turn.now);
      return found === null ? { refused: accountNotFound(state) } : { reply: found };
    }
    case "admit":
      return admit(state, command, turn);
    case "admitDryRun":
      return admitDryRun(state, command, turn);
    case "standing":
      return standing(state, command, turn);
    case "renew":
      return renew(state, command, turn);
    case "reassertHolds":
      return reassertHolds(state, command, turn);
    case "releaseOrphanedHolds":
      return releaseOrphanedHolds(state, command, turn);
    case "charge":
      return charge(state, command, turn);
    case "cancel":
      return cancel(state, command, turn);
    case "createChild":
      return createChild(state, command, turn);
    case "update":
      return updateProfile(state, command, turn);
    case "adjust":
      return adjustTotals(state, command, turn);
    case "startTransfer":
      return startTransfer(state, command, turn);
    case "startRefund":
      return startRefund(state, command, turn);
    case "fee":
      return takeFee(state, command, turn);
    case "margins": {
      const found = margins(state, turn.now);
      return found === null ? { refused: accountNotFound(state) } : { reply: found };
    }
    case "topUp":
      return topUp(state, command, turn);
    case "mailSent":
      return mailSent(state, command);
    case "receiveCredit":
      return receiveCredit(state, command, turn);
    case "move":
      return startMove(state, command, turn);
    case "addChild":
      return addChild(state, command, turn);
    case "removeChild":
      return removeChild(state, command, turn);
    case "close":
      return closeAccount(state, command);
    case "settleClosing":
      return settleClosing(state, command, turn);
    case "endClosing":
      return endClosing(state);
    case "unfinishedWork":
      return unfinishedWork(state);
    case "expireCredit": {
      const deadSecrets = state.apiKeys?.deadHashes(turn.now) ?? [];
      return { reply: { deadSecrets }, events: expireDue(state, turn), save: true };
    }
    case "apiKeys":
    case "addApiKey":
    case "changeApiKey":
    case "rotateApiKey":
    case "deleteApiKey":
    case "forgetSecrets":
      return decideApiKeys(state, command, turn);
    case "creation":
      return creation(state);
    case "forbidCreation":
      return forbidCreation(state);
    case "createRoot":
      return createRoot(state, command, turn);
    case "rotate":
      return replaceKey(state, command, turn);
    case "effectDone":
      return effectDone(state, command, turn);
    default:
      return unreachable(command);
  }
}
