// How a request ends of which nothing was delivered: the hold is cancelled, so it costs nothing, what was tried is
// remembered for whoever asks why, and the client gets an ordinary error answer.

import { WRONG_KEY } from "../../actors/account/admit.ts";
import type { Outcome } from "./call.ts";
import { failure, outlook } from "./failure.ts";
import type { Unsent } from "./forward.ts";
import { headersOf } from "./headers.ts";
import { ACCOUNT_CLOSED } from "./leash.ts";
import type { GatewayParts, Running } from "./running.ts";

export function undelivered(parts: GatewayParts, running: Running, unsent: Unsent): Outcome {
  const { admission, signals, rows, visited } = unsent;
  const { caller, lineage, route } = admission;
  const style = running.surface.dialect.name;
  parts.settle.cancel(caller.account, running.id, running.call.signal.aborted);
  const places = visited.map(({ model, level, view }) => ({
    model,
    view: parts.replicas.level(lineage.owner, level) ?? view,
  }));
  const told =
    running.leash.ended === ACCOUNT_CLOSED
      ? { refusal: WRONG_KEY }
      : failure(signals, route.model, outlook(places, style, parts.clock.wall(), rows), style);
  const headers = headersOf(running, admission, rows.length);
  const said = "rejection" in told ? told.rejection : told.refusal;
  parts.recent.keep({
    id: running.id,
    request: running.requestId,
    account: caller.account,
    path: running.call.path,
    asked: running.request.model,
    model: route.model,
    level: route.level,
    at: parts.clock.wall(),
    code: said.code,
    message: said.message,
    attempts: rows,
  });
  return "rejection" in told
    ? { kind: "rejected", rejection: told.rejection, headers }
    : { kind: "refused", refusal: told.refusal, headers };
}
