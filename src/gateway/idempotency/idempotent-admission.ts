// Admits a request with an Idempotency-Key once, however often it is sent. idempotency-records.ts says what
// is remembered of a key; this file owns the order of the lookups, which leaves no gap for a second charge:
//
//   take the key in this process  If another request holds it, wait until that ends and start over; refuse
//                                 if its body differs and it is not ending.
//   look it up in the ledger      If found, return its answer.
//   admit                         If the account knows of one that runs elsewhere, wait and start over.
//   look it up once more          If it was charged in between, cancel the hold and return its answer.
//   run                           The key is free when the answer is kept and the charge stored; without a
//                                 charge, when the account has cancelled the hold, before the error is sent.

import { IDEMPOTENCY_MISMATCH, REPEAT_RUNNING } from "../../../actors/account/idempotency.ts";
import type { Idempotency } from "../../../actors/account/state.ts";
import { actorRef } from "../../../actors/index.ts";
import { type Refusal, RefusedError, UnavailableError } from "../../base/errors.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import type { Caller } from "../account/identify.ts";
import { type AdmissionParts, admission } from "../admission/admission.ts";
import type { AdmissionInput } from "../admission/admission-request.ts";
import type { Settlement } from "../admission/settlement.ts";
import type { Admission } from "../context.ts";
import type { RequestLifetime } from "../request-lifetime.ts";
import type { IdempotencyRecords, KeptResponse } from "./idempotency-records.ts";
import { createInProgressKeys } from "./in-progress-keys.ts";

/** The services of admission with idempotency. */
export interface IdempotentAdmissionParts extends AdmissionParts {
  readonly idempotencyRecords: Pick<IdempotencyRecords, "find" | "hashes">;
  readonly settlement: Pick<
    Settlement,
    "admit" | "admittedAnew" | "cancel" | "isCancelling" | "onSettled" | "pendingLateCharges"
  >;
}

/** A request with an Idempotency-Key. */
export type IdempotentInput = AdmissionInput & { readonly idempotency: Idempotency };

/** Returns whether the request has an Idempotency-Key. */
export const isIdempotent = (input: AdmissionInput): input is IdempotentInput => input.idempotency !== null;

/** Admission that runs one request per key. */
export interface IdempotentAdmission {
  /**
   * Returns the hashes of a request with an Idempotency-Key. Its account identifies the caller first, because a kept answer
   * is given only to who may use the account, and only to the API key that sent the first request. Throws `RefusedError`
   * as the account does, and for an invalid key.
   */
  hashes(caller: Caller, request: RequestWithKey): Promise<Idempotency>;
  /**
   * Returns the admission, or the answer that the first request got. Throws `RefusedError`, or
   * `UnavailableError` when the ledger cannot be read.
   */
  admit(
    input: IdempotentInput,
    lifetime: Pick<RequestLifetime, "ended" | "sleep">,
  ): Promise<Admission | KeptResponse>;
  /**
   * Records that nothing more of the answer of request `id` will be stored; does nothing for a request
   * without a key.
   */
  answered(id: string): void;
}

/** A request with an Idempotency-Key, before it is admitted. */
export interface RequestWithKey {
  readonly path: string;
  /** The client's Idempotency-Key. */
  readonly name: string;
  readonly payload: Pick<Payload, "hash">;
  ip(): string;
}

const POLL_MS = 100;
const POLL_MS_MAX = 1_000;

const STILL_RUNNING: Refusal = {
  code: "service_unavailable",
  message: "A request with this Idempotency-Key is still running. Ask again later.",
  retryAfterS: 1,
};

/** Creates the admission and takes the keys of the charges that wait in the spool. */
export function createIdempotentAdmission(parts: IdempotentAdmissionParts): IdempotentAdmission {
  const { system, configs, idempotencyRecords, settlement } = parts;
  const inProgress = createInProgressKeys();
  settlement.onSettled(inProgress.settled);
  // An earlier process may have kept the answers of these; no more will be kept. The ledger does not contain
  // them yet.
  for (const { account, facts } of settlement.pendingLateCharges()) {
    if (facts.idempotency === undefined) continue;
    inProgress.take(facts.id, account, facts.idempotency, () => false);
    inProgress.answered(facts.id);
  }

  /**
   * Returns the answer of a charge with this key, or null when there is no such charge. Throws `RefusedError`
   * when the answer is not kept or the body differs.
   */
  async function look({ caller, idempotency }: IdempotentInput): Promise<KeptResponse | null> {
    const found = await idempotencyRecords.find(caller.account, idempotency).catch((error) => {
      throw new UnavailableError(`account/${caller.account}`, String(error));
    });
    if (found.kind === "refused") throw new RefusedError(found.refusal);
    return found.kind === "none" ? null : { body: found.body, headers: found.headers };
  }

  /** Returns null when another request with this key is running elsewhere. */
  async function admitFirst(input: IdempotentInput): Promise<Admission | KeptResponse | null> {
    let granted: Admission;
    try {
      granted = await admission(parts, input);
    } catch (error) {
      if (error instanceof RefusedError && error.refusal.code === REPEAT_RUNNING) return null;
      throw error;
    }
    let runs = false;
    try {
      const kept = await look(input);
      runs = kept === null;
      return kept ?? granted;
    } finally {
      if (!runs) await settlement.cancel(input.caller.account, input.id, false);
    }
  }

  async function admitOrWait(
    input: IdempotentInput,
    lifetime: Pick<RequestLifetime, "ended" | "sleep">,
  ): Promise<Admission | KeptResponse> {
    const { id, caller, idempotency } = input;
    for (let waitMs = POLL_MS; lifetime.ended === null; waitMs = Math.min(POLL_MS_MAX, waitMs * 2)) {
      const isEnding = () => lifetime.ended !== null || settlement.isCancelling(id);
      const first = inProgress.take(id, caller.account, idempotency, isEnding);
      const kept = await look(input);
      if (kept !== null) return kept;
      if (first === null) {
        const granted = await admitFirst(input);
        if (granted !== null) return granted;
        await lifetime.sleep(waitMs);
      } else if (first.body === idempotency.body || first.isEnding()) {
        // A request that is ending may free its key for any request; that is known when it has ended.
        await Promise.race([first.freed, lifetime.sleep(POLL_MS_MAX)]);
      } else throw new RefusedError(IDEMPOTENCY_MISMATCH);
    }
    throw new RefusedError(STILL_RUNNING);
  }

  return {
    async hashes({ account, keyHash }, { path, name, payload, ip }) {
      // What the request would cost now does not matter.
      const asked = { keyHash, ip: ip(), scope: "invoke", suspendedToo: false } as const;
      const { key } = await system.ask(actorRef.account(account), "identify", asked);
      return idempotencyRecords.hashes(path, name, payload, key.apiKey);
    },
    async admit(input, lifetime) {
      const { id, caller } = input;
      let runs = false;
      try {
        const granted = await admitOrWait(input, lifetime);
        // A request that runs was checked while it was routed. A kept answer is not given when the account is
        // being deleted.
        if ("body" in granted) await configs.accountContext(caller.account);
        runs = "admitted" in granted;
        return granted;
      } finally {
        if (!runs) inProgress.drop(id);
      }
    },
    answered: inProgress.answered,
  };
}
