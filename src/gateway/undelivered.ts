// How a request ends of which nothing was delivered: the hold is cancelled, so it costs nothing, the log says what the
// provider did, and the client gets an ordinary error answer.

import type { AttemptRow } from "../../actors/account/state.ts";
import type { Signal } from "../upstream/signal.ts";
import type { Outcome } from "./call.ts";
import { failure } from "./forward.ts";
import type { GatewayParts, Running } from "./running.ts";

/** `signal` null: no key was usable, so nothing was tried. */
export function undelivered(
  parts: GatewayParts,
  running: Running,
  signal: Signal | null,
  rows: readonly AttemptRow[] = [],
): Outcome {
  const { requestId, headers } = running;
  const { caller, route } = running.admission;
  parts.settle.cancel(caller.account, running.id, running.call.signal.aborted);
  if (signal !== null) {
    parts.log("warn", "attempt_failed", { requestId, model: route.model, note: signal.note, rows });
  }
  const failed = failure(signal, route.model);
  return "rejection" in failed
    ? { kind: "rejected", rejection: failed.rejection, headers }
    : { kind: "refused", refusal: failed.refusal, headers };
}
