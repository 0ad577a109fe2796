// Whether an account comes into being. A creation claims name and key before the parent gives; the sweep releases claims
// that stay unconfirmed. The unborn account decides between the two: its first event is `created` or `forgone`, never both.
//
//   sweep first        `forgone`: the claims are released; the parent's gift is refused here and goes back to the parent
//   creation first     `created`: the sweep confirms the claims
//
// crash                                    state found                  recovery
// after `forgone`, before the release      claims of a forgone account  the sweep releases them
// the parent gives after `forgone`         P owes the newborn           refused here; P writes `returned`, counts no child

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision } from "../../src/runtime/actor.ts";
import type { Account, AccountEvent } from "./state.ts";

export type Birth = "unborn" | "born" | "forgone";

const birthOf = ({ profile, forgone }: Account): Birth => {
  if (profile !== null) return "born";
  return forgone ? "forgone" : "unborn";
};

/** Reads only. */
export const birth = (state: Account): Decision<AccountEvent> => ({ reply: { birth: birthOf(state) } });

/** An unborn account is never born from here on; a born one stays. Answers what it is then. */
export function forgo(state: Account): Decision<AccountEvent> {
  if (birthOf(state) !== "unborn") return birth(state);
  return { reply: { birth: "forgone" }, events: [{ type: "forgone" }] };
}

/** Why a newborn is not founded here; null: it is. */
export function unbearable(state: Account): Refusal | null {
  switch (birthOf(state)) {
    case "unborn":
      return null;
    case "born":
      return { code: "duplicate_name", message: `Account ${state.id} exists already.` };
    case "forgone":
      return { code: "user_not_found", message: `The creation of account ${state.id} took too long.` };
  }
}
