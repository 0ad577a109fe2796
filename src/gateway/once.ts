// A request that its client named with an Idempotency-Key: admitted once, however often it is sent. repeats.ts says how
// the name is remembered; this is the order in which it is asked, which leaves no gap for a second charge:
//
//   look it up in the ledger      found: its answer
//   admit                         the same name is running: wait, and begin anew
//   look it up once more          charged in between: give the hold back, begin anew
//   run

import { REPEAT_RUNNING } from "../../actors/account/repeats.ts";
import type { Idempotency } from "../../actors/account/state.ts";
import { to } from "../../actors/index.ts";
import type { Refusal } from "../runtime/actor.ts";
import { Refused } from "../runtime/system.ts";
import { type Admission, type AdmissionInput, admission } from "./admission.ts";
import type { Leash } from "./leash.ts";
import type { GatewayParts } from "./running.ts";

const POLL_MS = 100;
const POLL_MOST_MS = 1_000;

export interface Kept {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const STILL_RUNNING: Refusal = {
  code: "service_unavailable",
  message: "A request with this Idempotency-Key is still running. Ask again later.",
  retryAfterS: 1,
};

/** The admission, or the answer that the first request got. Throws Refused. */
export async function admitOnce(
  parts: GatewayParts,
  input: AdmissionInput & { readonly idempotency: Idempotency },
  leash: Leash,
): Promise<Admission | Kept> {
  const { system, repeats } = parts;
  const { caller, idempotency } = input;
  // The answer of an earlier request is for whoever may call at all; what it would cost now does not matter.
  await system.ask(to.account(caller.account), "identify", {
    keyHash: caller.keyHash,
    ip: input.ip(),
    suspendedToo: false,
  });
  for (let waitMs = POLL_MS; leash.ended === null; waitMs = Math.min(POLL_MOST_MS, waitMs * 2)) {
    const before = await repeats.find(caller.account, idempotency);
    if (before.kind === "answer") return before;
    if (before.kind === "refused") throw new Refused(before.refusal);
    const granted = await admission(parts, input).catch((error) => {
      if (error instanceof Refused && error.refusal.code === REPEAT_RUNNING) return null;
      throw error;
    });
    if (granted === null) {
      await leash.pause(waitMs);
      continue;
    }
    if ((await repeats.find(caller.account, idempotency)).kind === "none") return granted;
    parts.settle.cancel(caller.account, input.id, false);
  }
  throw new Refused(STILL_RUNNING);
}
