// The end of a request of which nothing is charged: its hold goes back. An error of a request with an Idempotency-Key waits
// until the account has it, since the hold occupies the key and the client may use it anew as soon as it reads the error.

import type { GatewayParts, RunningRequest } from "../context.ts";

export async function giveBack(
  { settle }: Pick<GatewayParts, "settle">,
  { id, idempotency, admission }: Pick<RunningRequest, "id" | "idempotency" | "admission">,
  aborted: boolean,
): Promise<void> {
  const given = settle.cancel(admission.caller.account, id, aborted);
  if (idempotency !== null) await given;
}
