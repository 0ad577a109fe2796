// Moves an account to another parent. The account must have no children, and the new parent must accept it.
// The child counts of both parents are correct in the end, whichever process crashes in between.
//
//   M  1  move    account C writes `moving` M (no child can be created below it now) and asks the new parent
//                 N
//      2  adopt   N checks UserLimit, the Rates and Resources that C will have, and that its own DNA is the
//                 one C knows; it writes `child_joined` M or refuses
//      3  answer  accepted: C writes `moved` M with its new DNA and settings, and a notice to the former
//                 parent becomes pending; refused: C writes `move_refused` M and stays
//      4  disown  the former parent writes `child_left`; C writes `left`
//
// situation                   state found           recovery
// crash after 1               C asked               delivered again; N finds the dedup id M, or decides
// crash after 2, answer lost  N counts C, C asked   as above: N answers as before
// crash after 3               notice of C pending   delivered; the former parent finds its dedup id

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Turn } from "../../src/runtime/actor.ts";
import { type AccountId, dnaBelow, ROOT } from "../ids.ts";
import { accountNotFound } from "./charge.ts";
import type { MovedTerms } from "./lifecycle.ts";
import { childRefusal } from "./profile.ts";
import { type Account, type AccountEvent, isRoot, type Profile } from "./state.ts";
import { creditInTransit } from "./transfer.ts";
import { accountChanged } from "./views.ts";

/** Input of the command `move`. */
export interface MoveAccount {
  /** Dedup id. */
  readonly id: string;
  readonly bornAt: number;
  /** The new parent, never Root. */
  readonly to: AccountId;
  /** DNA below the new parent, as the caller read it. */
  readonly dna: string;
  readonly by: AccountId;
  /** Settings that change with the move; if absent, none change. */
  readonly brings?: MovedTerms;
}

/**
 * Step 1: starts a move; `unfinishedWork` shows its outcome. Refuses user_not_found, has_subaccounts,
 * invalid_parameter for an impossible parent, and service_unavailable while another move is open.
 */
export function startMove(state: Account, input: MoveAccount, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  if (state.move?.stage === "asked") {
    return state.move.id === input.id ? { reply: {} } : { refused: creditInTransit("moved") };
  }
  const refused = unmovable(state, profile, input.to);
  if (refused !== null) return { refused };
  const { id, bornAt, to, dna, by, brings } = input;
  const moving = { type: "moving", id, bornAt, to, dna, by, ...(brings && { brings }) } as const;
  return { reply: {}, events: [moving] };
}

function unmovable(state: Account, profile: Profile, to: AccountId): Refusal | null {
  const wrong = (message: string): Refusal => ({ code: "invalid_parameter", message });
  if (isRoot(profile)) return wrong("Root has no parent.");
  if (to === ROOT) return wrong('"ParentID": Root takes no account that exists already.');
  if (to === state.id) return wrong('"ParentID": an account cannot be below itself.');
  if (to === profile.parent) return wrong(`"ParentID": ${to} is the parent already.`);
  if (state.children === 0) return null;
  const message = `An account with subaccounts cannot be moved, and this one has ${state.children}.`;
  return { code: "has_subaccounts", message };
}

/** Returns the pending effect that asks the new parent; empty if no move is open. */
export function moveEffects({
  id,
  profile,
  move,
}: Account): Effect<"account", { readonly type: "addChild" } & AddChild>[] {
  if (move?.stage !== "asked" || profile === null) return [];
  const { rates, resources } = { ...profile, ...move.brings };
  const dedupId = `${move.id}:join`;
  const command = { type: "addChild", id: dedupId, child: id, dna: move.dna, rates, resources } as const;
  return [{ id: dedupId, to: { kind: "account", id: String(move.to) }, command, bornAt: move.bornAt }];
}

/** Input of the command `addChild`: the settings that the child will have. */
export interface AddChild extends Pick<Profile, "rates" | "resources" | "dna"> {
  readonly id: string;
  readonly child: AccountId;
}

/**
 * Step 2, at the new parent: counts the child. Refuses what `childRefusal` refuses, and service_unavailable
 * if this account is being moved itself or has another DNA than the child knows.
 */
export function addChild(state: Account, input: AddChild, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const moving = state.move?.stage === "asked" || dnaBelow(profile.dna, state.id) !== input.dna;
  const refused = moving ? creditInTransit("moved") : childRefusal(state, input);
  if (refused !== null) return { refused };
  return { reply: {}, events: [{ type: "child_joined", id: input.id, child: input.child }], save: true };
}

/** Step 3, at the account: records the new parent's answer and publishes the new profile if it accepted. */
export function childAdded(
  state: Account,
  mark: string,
  refused: Refusal | null,
  { now }: Turn,
): Decision<AccountEvent> {
  const { profile, move } = state;
  if (profile === null || move?.stage !== "asked" || `${move.id}:join` !== mark) return { reply: {} };
  const { id, to, dna, brings } = move;
  if (refused !== null) {
    const { code, message } = refused;
    return { reply: {}, events: [{ type: "move_refused", id, code, message }] };
  }
  const publish = [accountChanged(state, { ...profile, ...brings, parent: to, dna, updatedAt: now })];
  return { reply: {}, events: [{ type: "moved", id }], publish, save: true };
}
