// Ends a request for which nothing is charged: its hold is cancelled. The error of a request with an
// Idempotency-Key is sent only after the account has cancelled, because the hold occupies the key and the
// client may reuse the key at once.

import type { RunningRequest } from "../context.ts";
import type { Settlement } from "./settlement.ts";

/** Cancels the hold of a request. Waits for the account only if the request has an Idempotency-Key. */
export async function giveBack(
  { settlement }: { readonly settlement: Pick<Settlement, "cancel"> },
  { id, idempotency, admission }: Pick<RunningRequest, "id" | "idempotency" | "admission">,
  aborted: boolean,
): Promise<void> {
  const given = settlement.cancel(admission.caller.account, id, aborted);
  if (idempotency !== null) await given;
}
