// The behaviour of an account: which command leads where. The rules live in the files beside it.

import { unreachable } from "../../src/base/errors.ts";
import type { Behavior, Decision, Turn } from "../../src/runtime/actor.ts";
import type { AccountId } from "../ids.ts";
import { admit, forbidden } from "./admit.ts";
import { preview } from "./admit-dry-run.ts";
import { topUp } from "./auto-quota.ts";
import { margins } from "./capacity.ts";
import { cancel, charge, expireDue, nobody, renew } from "./charge.ts";
import { affairs, close, disown, endClosing, settleClosing } from "./closing.ts";
import type { AccountCommand } from "./commands.ts";
import { birth, forgo } from "./creation.ts";
import { mark, marks } from "./dedup-ids.ts";
import { evolve } from "./evolve.ts";
import { adjust, fee } from "./fees.ts";
import { expireHolds } from "./holds.ts";
import { STAGES, type Stage } from "./lifecycle.ts";
import { adopt, move } from "./move.ts";
import { abandon, holding } from "./orphaned-holds.ts";
import { debts, effectDone } from "./pending-effects.ts";
import { found, rotate, update } from "./profile.ts";
import { holdAgain } from "./reassert-holds.ts";
import { mailSent } from "./soft-limit-alert.ts";
import { type Account, type AccountEvent, emptyAccount, openProfile, stageOf } from "./state.ts";
import { createChild, give, giveBack, receive } from "./transfer.ts";
import { freeze, materialise, record, thaw } from "./views.ts";

export type { AccountCommand, AccountCommands } from "./commands.ts";

export const account: Behavior<Account, AccountCommand, AccountEvent> = {
  kind: "account",
  version: 2,
  empty: (id) => emptyAccount(Number(id) as AccountId),
  decide,
  evolve,
  pending: debts,
  materialise,
  freeze,
  thaw,
  isLine: (event) => "balanceAfter" in event,
  marks,
  mark,
  reliesOnHolds: ({ type }) => RELIES_ON_HOLDS.has(type),
  holding,
  idle: (state) => state.volatile.holds.size === 0,
};

/**
 * The last stage of an account's life in which a command is decided; later it meets nobody. Whoever asks for a key
 * hears that it is nobody's; a charge is never refused.
 */
const UNTIL: Readonly<Record<AccountCommand["type"], Stage>> = {
  identify: "closed",
  profile: "closed",
  read: "open",
  admit: "closed",
  preview: "closed",
  renew: "closed",
  holdAgain: "closing",
  abandon: "closed",
  charge: "closed",
  cancel: "closed",
  update: "open",
  adjust: "open",
  createChild: "open",
  give: "open",
  giveBack: "open",
  fee: "open",
  margins: "closing",
  topUp: "open",
  mailSent: "closed",
  receive: "closing",
  move: "open",
  adopt: "open",
  disown: "closed",
  close: "closed",
  settleClosing: "closed",
  endClosing: "closed",
  affairs: "closed",
  expireCredit: "closing",
  birth: "closed",
  forgo: "closed",
  found: "open",
  rotate: "open",
  effectDone: "closed",
};

/**
 * What looks at open holds: admission, whatever takes free credit away, the end of an account; and a cancellation, whose
 * request counts only where its hold is known. A charge is taken as it comes, and a view may be a moment behind.
 */
const RELIES_ON_HOLDS: ReadonlySet<AccountCommand["type"]> = new Set([
  ...(["admit", "preview", "margins", "cancel"] as const),
  ...(["createChild", "give", "giveBack", "fee", "expireCredit"] as const),
  "settleClosing",
]);

const isPast = (state: Account, until: Stage): boolean =>
  STAGES.indexOf(stageOf(state)) > STAGES.indexOf(until);

/** As decided; holds that ended unrenewed are told beside it. */
function decide(state: Account, command: AccountCommand, turn: Turn): Decision<AccountEvent> {
  const before = state.volatile.holdsExpired;
  // What renews a hold still finds it when it comes late; to everything else a hold that is over counts no more.
  if (command.type !== "renew" && command.type !== "holdAgain") expireHolds(state, turn.now);
  const decision = decided(state, command, turn);
  const holdsExpired = state.volatile.holdsExpired - before;
  return holdsExpired === 0 ? decision : { ...decision, holdsExpired };
}

function decided(state: Account, command: AccountCommand, turn: Turn): Decision<AccountEvent> {
  // What was done before is answered as done, also by an account that is gone since.
  if (!turn.done && state.closing !== null && isPast(state, UNTIL[command.type])) {
    return { refused: nobody(state) };
  }
  switch (command.type) {
    case "identify": {
      const profile = openProfile(state);
      const reader = profile !== null && command.suspendedToo ? { ...profile, suspended: false } : profile;
      const refused = forbidden(reader, command.keyHash, command.ip);
      return refused !== null ? { refused } : { reply: record(state, turn.now) };
    }
    case "profile":
      if (state.profile === null) return { refused: nobody(state) };
      return {
        reply: {
          profile: state.profile,
          version: state.version,
          closing: state.closing !== null,
          formerKeyHash: state.formerKeyHash,
        },
      };
    case "read": {
      const found = record(state, turn.now);
      return found === null ? { refused: nobody(state) } : { reply: found };
    }
    case "admit":
      return admit(state, command, turn);
    case "preview":
      return preview(state, command, turn);
    case "renew":
      return renew(state, command, turn);
    case "holdAgain":
      return holdAgain(state, command, turn);
    case "abandon":
      return abandon(state, command, turn);
    case "charge":
      return charge(state, command, turn);
    case "cancel":
      return cancel(state, command, turn);
    case "createChild":
      return createChild(state, command, turn);
    case "update":
      return update(state, command, turn);
    case "adjust":
      return adjust(state, command, turn);
    case "give":
      return give(state, command, turn);
    case "giveBack":
      return giveBack(state, command, turn);
    case "fee":
      return fee(state, command, turn);
    case "margins": {
      const found = margins(state, turn.now);
      return found === null ? { refused: nobody(state) } : { reply: found };
    }
    case "topUp":
      return topUp(state, command, turn);
    case "mailSent":
      return mailSent(state, command);
    case "receive":
      return receive(state, command, turn);
    case "move":
      return move(state, command, turn);
    case "adopt":
      return adopt(state, command, turn);
    case "disown":
      return disown(state, command, turn);
    case "close":
      return close(state, command);
    case "settleClosing":
      return settleClosing(state, command, turn);
    case "endClosing":
      return endClosing(state);
    case "affairs":
      return affairs(state);
    case "expireCredit":
      return { reply: {}, events: expireDue(state, turn), save: true };
    case "birth":
      return birth(state);
    case "forgo":
      return forgo(state);
    case "found":
      return found(state, command, turn);
    case "rotate":
      return rotate(state, command, turn);
    case "effectDone":
      return effectDone(state, command, turn);
    default:
      return unreachable(command);
  }
}
