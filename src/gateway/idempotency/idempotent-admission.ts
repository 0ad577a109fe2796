// A request that its client named with an Idempotency-Key: admitted once, however often it is sent. idempotency-records.ts says how
// the name is remembered; this is the order in which it is asked, which leaves no gap for a second charge:
//
//   take the key in this process  another request has it: wait until it is over, and begin anew; refused where it is another
//                                 body's and its request goes on
//   look it up in the ledger      found: its answer
//   admit                         the account knows of one that runs elsewhere: wait, and begin anew
//   look it up once more          charged in between: give the hold back; its answer
//   run                           the key is free again when the answer is kept and the charge stored; where nothing is
//                                 charged, when the account has given the hold back: before the error leaves

import { IDEMPOTENCY_MISMATCH, REPEAT_RUNNING } from "../../../actors/account/idempotency.ts";
import type { Idempotency } from "../../../actors/account/state.ts";
import { actorRef } from "../../../actors/index.ts";
import { type Refusal, RefusedError, UnavailableError } from "../../base/errors.ts";
import {
  type Admission,
  type AdmissionInput,
  type AdmissionParts,
  admission,
} from "../admission/admission.ts";
import type { Settlement } from "../admission/settlement.ts";
import type { RequestLifetime } from "../request-lifetime.ts";
import type { IdempotencyRecords, KeptResponse } from "./idempotency-records.ts";
import { createInProgressKeys } from "./in-progress-keys.ts";

export interface IdempotentAdmissionParts extends AdmissionParts {
  readonly repeats: Pick<IdempotencyRecords, "find">;
  readonly settle: Pick<Settlement, "admit" | "cancel" | "isCancelling" | "onSettled" | "pendingLateCharges">;
}

type Named = AdmissionInput & { readonly idempotency: Idempotency };

export interface IdempotentAdmission {
  /** The admission, or the answer that the first request got. Throws Refused, or Unavailable when nobody knows. */
  admit(input: Named, leash: RequestLifetime): Promise<Admission | KeptResponse>;
  /** Request `id`, if it has a key at all, keeps nothing more of its answer. */
  answered(id: string): void;
}

const POLL_MS = 100;
const POLL_MOST_MS = 1_000;

const STILL_RUNNING: Refusal = {
  code: "service_unavailable",
  message: "A request with this Idempotency-Key is still running. Ask again later.",
  retryAfterS: 1,
};

export function createIdempotentAdmission(parts: IdempotentAdmissionParts): IdempotentAdmission {
  const { system, replicas, repeats, settle } = parts;
  const underWay = createInProgressKeys();
  settle.onSettled(underWay.settled);
  // Of these an earlier process kept an answer, or nobody will; the ledger does not have them yet.
  for (const { account, facts } of settle.pendingLateCharges()) {
    if (facts.idempotency === undefined) continue;
    underWay.take(facts.id, account, facts.idempotency, () => false);
    underWay.answered(facts.id);
  }

  /** The answer of a charge with this key; null: there is no such charge. Throws Refused for one that has no answer. */
  async function look({ caller, idempotency }: Named): Promise<KeptResponse | null> {
    const found = await repeats.find(caller.account, idempotency).catch((error) => {
      throw new UnavailableError(`account/${caller.account}`, String(error));
    });
    if (found.kind === "refused") throw new RefusedError(found.refusal);
    return found.kind === "none" ? null : { body: found.body, headers: found.headers };
  }

  /** Null: another request with this key is under way. */
  async function admitFirst(input: Named): Promise<Admission | KeptResponse | null> {
    const granted = await admission(parts, input).catch((error) => {
      if (error instanceof RefusedError && error.refusal.code === REPEAT_RUNNING) return null;
      throw error;
    });
    if (granted === null) return null;
    let runs = false;
    try {
      const kept = await look(input);
      runs = kept === null;
      return kept ?? granted;
    } finally {
      if (!runs) await settle.cancel(input.caller.account, input.id, false);
    }
  }

  async function admitOrWait(input: Named, leash: RequestLifetime): Promise<Admission | KeptResponse> {
    const { id, caller, idempotency } = input;
    for (let waitMs = POLL_MS; leash.ended === null; waitMs = Math.min(POLL_MOST_MS, waitMs * 2)) {
      const isEnding = () => leash.ended !== null || settle.isCancelling(id);
      const first = underWay.take(id, caller.account, idempotency, isEnding);
      const kept = await look(input);
      if (kept !== null) return kept;
      if (first === null) {
        const granted = await admitFirst(input);
        if (granted !== null) return granted;
        await leash.sleep(waitMs);
      } else if (first.body === idempotency.body || first.isEnding()) {
        // One that ends may leave its key to any request: how it ended is known when it is over.
        await Promise.race([first.over, leash.sleep(POLL_MOST_MS)]);
      } else throw new RefusedError(IDEMPOTENCY_MISMATCH);
    }
    throw new RefusedError(STILL_RUNNING);
  }

  return {
    async admit(input, leash) {
      const { id, caller } = input;
      // The answer of an earlier request is for whoever may call at all; what it would cost now does not matter.
      await system.ask(actorRef.account(caller.account), "identify", {
        keyHash: caller.keyHash,
        ip: input.ip(),
        suspendedToo: false,
      });
      let runs = false;
      try {
        const granted = await admitOrWait(input, leash);
        // What runs was routed by its lineage; a kept answer is as little for whoever is being deleted.
        if ("body" in granted) await replicas.lineage(caller.account);
        runs = "admitted" in granted;
        return granted;
      } finally {
        if (!runs) underWay.drop(id);
      }
    },
    answered: underWay.answered,
  };
}
