// Decides whether an account is created. A creation claims name and key before the parent transfers the first
// credit; the sweep releases claims that stay unconfirmed. The actor of the new account decides the race: its
// first event is either `created` or `forgone`, never both.
//
//   sweep first        `forgone`: the claims are released; the parent's transfer is refused here and returns
//                      to the parent
//   creation first     `created`: the sweep confirms the claims
//
// situation                             state found                  recovery
// crash between `forgone` and release   claims of a forgone account  the sweep releases them
// parent transfers after `forgone`      transfer pending at parent   refused here; the parent writes
//                                                                    `returned` and counts no child

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision } from "../../src/runtime/actor.ts";
import type { Account, AccountEvent } from "./state.ts";

/** `open`: not created yet; `created`; `forgone`: can never be created. */
export type CreationState = "open" | "created" | "forgone";

const creationStateOf = ({ profile, forgone }: Account): CreationState => {
  if (profile !== null) return "created";
  return forgone ? "forgone" : "open";
};

/** Returns whether the account is created, can be created, or can never be; changes nothing. */
export const creation = (state: Account): Decision<AccountEvent> => ({
  reply: { state: creationStateOf(state) },
});

/**
 * Gives up the creation of an account that does not exist yet; an existing one stays. Returns the resulting
 * state.
 */
export function forbidCreation(state: Account): Decision<AccountEvent> {
  if (creationStateOf(state) !== "open") return creation(state);
  return { reply: { state: "forgone" }, events: [{ type: "forgone" }] };
}

/** Returns why the account cannot be created (duplicate_name, user_not_found), or null if it can. */
export function creationRefusal(state: Account): Refusal | null {
  switch (creationStateOf(state)) {
    case "open":
      return null;
    case "created":
      return { code: "duplicate_name", message: `Account ${state.id} exists already.` };
    case "forgone":
      return { code: "user_not_found", message: `The creation of account ${state.id} took too long.` };
  }
}
