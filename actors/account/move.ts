// An account gets another parent. It must be without children; the new parent must take it; both parents' numbers of
// children are right in the end, whatever crashes between.
//
//   M  1  move    C writes `moving` M (no child may be born to it now) and asks the new parent
//      2  adopt   N checks UserLimit, the Rates and Resources that C is to have, and that it stands where C believes:
//                 `child_joined` M, or no
//      3  answer  taken: C writes `moved` M, its DNA and what it brings follow, and the former parent is owed a notice;
//                 refused: `move_refused` M, and C stays
//      4  disown  the former parent writes `child_left`; C writes `left`
//
// crash                     state found                recovery
// after 1                   C asked                    asked again; N finds M by its mark, or decides now
// after 2, answer lost      N counts C, C asked        as above: N answers as before
// after 3                   C owes the notice          delivered; the former parent finds it by its mark

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Turn } from "../../src/runtime/actor.ts";
import { type AccountId, dnaBelow, ROOT } from "../ids.ts";
import { accountNotFound } from "./charge.ts";
import type { MovedTerms } from "./lifecycle.ts";
import { childRefusal } from "./profile.ts";
import { type Account, type AccountEvent, isRoot, type Profile } from "./state.ts";
import { creditInTransit } from "./transfer.ts";
import { accountChanged } from "./views.ts";

export interface MoveAccount {
  /** Mark. */
  readonly id: string;
  readonly bornAt: number;
  /** The new parent, never Root. */
  readonly to: AccountId;
  /** DNA below the new parent, as the caller found it. */
  readonly dna: string;
  readonly by: AccountId;
  /** Changes with the place; absent: nothing does. */
  readonly brings?: MovedTerms;
}

/** Step 1. How it ended stands in the account's affairs. Refuses has_subaccounts, invalid_parameter. */
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

/** What the new parent is still to be asked. */
export function moveEffects({ id, profile, move }: Account): Effect[] {
  if (move?.stage !== "asked" || profile === null) return [];
  const { rates, resources } = { ...profile, ...move.brings };
  const mark = `${move.id}:join`;
  const command = { type: "adopt", id: mark, child: id, dna: move.dna, rates, resources };
  return [{ id: mark, to: { kind: "account", id: String(move.to) }, command, bornAt: move.bornAt }];
}

export interface AddChild extends Pick<Profile, "rates" | "resources" | "dna"> {
  readonly id: string;
  readonly child: AccountId;
}

/** Step 2, at the new parent. */
export function addChild(state: Account, input: AddChild, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const moving = state.move?.stage === "asked" || dnaBelow(profile.dna, state.id) !== input.dna;
  const refused = moving ? creditInTransit("moved") : childRefusal(state, input);
  if (refused !== null) return { refused };
  return { reply: {}, events: [{ type: "child_joined", id: input.id, child: input.child }], save: true };
}

/** Step 3, back at the account. */
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
