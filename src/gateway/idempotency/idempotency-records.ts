// A client's Idempotency-Key: a request that is sent again gets the first answer again and is never charged
// again.
//
// The truth is the dedup id `repeat:<account>:<key>` in the commit of the charge and, before that, the
// account's record of the running request (actors/account/idempotency.ts). The kept answer is a convenience
// beside them.
//
//   1  find     If the ledger has the dedup id, this is a repeat: it gets the answer or a refusal.
//   2  admit    The account refuses a key that is running, or that was charged and may not be durable yet:
//               wait (100 ms, growing to 1 s, within the request's deadline) and start over at 1.
//   3  find     Look once more: between 1 and 2 an account that has moved since may have charged the first.
//   4  run      `keep` the answer, charge with the key (durable), then send the response.
//
//   situation                            what a repeat finds
//   crash before the charge is durable   Nothing, or a hold until it expires: it runs, the first cost
//                                        nothing.
//   charge spooled, not in the ledger    The entry of in-progress-keys.ts, also after a restart; on another
//                                        node the hold, which stays. It waits.
//   answer kept, no charge               An answer that is never given: it runs and replaces that answer.
//   answer kept, response lost           Dedup id and answer: it gets the answer.
//   newest answers lost with a machine   The dedup id alone: `idempotency_expired`.
//   answer too old, one too many, or     The dedup id alone: `idempotency_expired`.
//   sealed with a lost key
//   account moved, or its activation     On the first's node the entry of in-progress-keys.ts: it waits.
//   failed, while the first ran          Elsewhere the hold, once it is re-asserted; until then it runs too.
//   first's node declared dead           Its hold ended with the node: it runs, though the first may go on.
//
// If two run, the first to be charged is the answer. The charge of the other is refused, its answer must not
// be completed, and its client has to retry. Each keeps its answer under the id of its own charge, so that none is taken for
// that of the other. Only an answer that was already delivered and spooled is charged
// as well.
//
// Step 4 has this order because a repeat may reach another node: if it finds the dedup id, it also finds the
// answer, if that is kept at all. A dedup id older than a day is ignored, and its key may be used again.

import { IDEMPOTENCY_MISMATCH, idempotencyDedupId } from "../../../actors/account/idempotency.ts";
import type { AccountEvent, Idempotency } from "../../../actors/account/state.ts";
import { type AccountId, type ApiKeyId, ownedKey } from "../../../actors/ids.ts";
import type { Clock } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import type { Log } from "../../base/log.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import type { Store } from "../../store/store.ts";
import type { SecretVault } from "../../upstream/secret-vault.ts";
import { hashPrefixOf } from "../endpoints.ts";

/** A whole answer as the client received it. */
export interface KeptResponse {
  readonly body: string;
  readonly headers: HeaderRecord;
}

/** What is known of a key; `none` means that nothing was charged with it, so the request may run. */
export type IdempotencyMatch =
  | { readonly kind: "none" }
  | ({ readonly kind: "answer" } & KeptResponse)
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** Reads and writes the records of Idempotency-Keys. */
export interface IdempotencyRecords {
  /**
   * Returns the hashes of a key and its request, which are all that is stored. An Idempotency-Key belongs to the API key
   * that sent it: sent by another one it is another key. Throws `RefusedError` (`invalid_parameter`) for an invalid key.
   */
  hashes(path: string, clientKey: string, body: Pick<Payload, "hash">, apiKey: ApiKeyId): Idempotency;
  /**
   * Returns whether a request with this key was charged, and its answer. Rejects when the ledger cannot be
   * read.
   */
  find(account: AccountId, idempotency: Idempotency): Promise<IdempotencyMatch>;
  /**
   * Stores the answer that is about to be charged as `charge`, unless it is too large. Never rejects: errors are logged.
   */
  keep(account: AccountId, idempotency: Idempotency, charge: string, answer: KeptResponse): Promise<void>;
}

const MARK_MS = 86_400_000;
const ANSWER_MS = 3_600_000;
const ANSWER_BYTES = 256 * 1024;
/** The number of answers kept for one account. */
const ANSWERS_MAX = 100;

const EXPIRED: Refusal = {
  code: "idempotency_expired",
  message:
    "The request with this Idempotency-Key was answered and charged, but its answer is not kept (any more): streams, " +
    "answers over 256 KB and answers older than an hour are not. Send a new key to ask again.",
};

const NOT_A_KEY: Refusal = {
  code: "invalid_parameter",
  message: "Idempotency-Key must be 1 to 255 printable ASCII characters.",
};

/** Creates the records over the store. Answers are sealed by the vault. */
export function createIdempotencyRecords(parts: {
  store: Store;
  vault: SecretVault;
  clock: Clock;
  log: Log;
}): IdempotencyRecords {
  const { store, vault, clock, log } = parts;

  /** Returns null when the answer is not kept, too old, or sealed with a key that is not configured. */
  async function kept(account: AccountId, key: string, charge: string): Promise<KeptResponse | null> {
    const now = clock.wall();
    const row =
      (await store.answer(answerId(account, key, charge), now)) ??
      (await store.answer(olderAnswerId(account, key), now));
    if (row === null) return null;
    try {
      return JSON.parse(vault.open(JSON.parse(row.body)));
    } catch (error) {
      log("warn", "answer_unreadable", { account, error: String(error) });
      return null;
    }
  }

  return {
    hashes(path, clientKey, body, apiKey) {
      if (!/^[\x20-\x7e]{1,255}$/.test(clientKey)) throw new RefusedError(NOT_A_KEY);
      return { key: sha256(ownedKey(clientKey, apiKey)), body: body.hash(hashPrefixOf(path)) };
    },
    async find(account, { key, body }) {
      const [commit] = await store.commitsByDedupId(idempotencyDedupId(account, key), 1);
      if (commit === undefined) return { kind: "none" };
      const charge = commit.events
        .map(({ at, e }) => ({ at, e: e as AccountEvent }))
        .findLast(({ e }) => e.type === "charge" && e.idempotency?.key === key);
      if (charge?.e.type !== "charge" || charge.at <= clock.wall() - MARK_MS) return { kind: "none" };
      if (charge.e.idempotency?.body !== body) return { kind: "refused", refusal: IDEMPOTENCY_MISMATCH };
      const answer = await kept(account, key, charge.e.id);
      return answer === null ? { kind: "refused", refusal: EXPIRED } : { kind: "answer", ...answer };
    },
    async keep(account, { key }, charge, { body, headers }) {
      if (Buffer.byteLength(body) > ANSWER_BYTES) return;
      const at = clock.wall();
      const row = {
        id: answerId(account, key, charge),
        account,
        kind: "gateway",
        at,
        until: at + ANSWER_MS,
      } as const;
      try {
        const sealed = JSON.stringify(vault.seal(JSON.stringify({ body, headers })));
        await store.keepAnswer({ ...row, body: sealed }, ANSWERS_MAX);
      } catch (error) {
        log("warn", "answer_not_kept", { account, error: String(error) });
      }
    },
  };
}

const answerId = (account: AccountId, key: string, charge: string): string =>
  `${olderAnswerId(account, key)}:${charge}`;
/** Where earlier versions kept the answer, whichever request it was of. */
const olderAnswerId = (account: AccountId, key: string): string => `${account}:gateway:${key}`;
const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
