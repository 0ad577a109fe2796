// Ends the hold of a request, by exactly one charge or one cancel: the context records it and throws when a hold
// would end twice. When a hold must end is decided by `runRequest` and by the streamed body.

import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AdmittedContext } from "../context.ts";
import type { Settlement } from "./settlement.ts";

/** The part of a request's context that the end of its hold needs. */
type HeldContext = Pick<AdmittedContext, "id" | "idempotency" | "admission" | "endHold">;

/**
 * Charges a request. Resolves when the charge is durable, in the ledger or in the spool; `before` must be stored
 * first. Throws `RefusedError` when the account refuses the charge.
 */
export function chargeHold(
  { settlement }: { readonly settlement: Pick<Settlement, "charge"> },
  context: HeldContext,
  facts: ChargeFacts,
  before?: Promise<void>,
): Promise<void> {
  context.endHold(facts);
  return settlement.charge(context.admission.caller.account, facts, before);
}

/**
 * Cancels the hold of a request for which nothing is charged. Waits for the account only if the request has an
 * Idempotency-Key, because the hold occupies the key and the client may reuse it as soon as it has the error.
 */
export async function cancelHold(
  { settlement }: { readonly settlement: Pick<Settlement, "cancel"> },
  context: HeldContext,
  aborted: boolean,
): Promise<void> {
  context.endHold(null);
  const cancelled = settlement.cancel(context.admission.caller.account, context.id, aborted);
  if (context.idempotency !== null) await cancelled;
}
