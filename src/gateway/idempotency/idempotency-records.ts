// A client's Idempotency-Key: the same request sent again is answered once more, and never charged once more.
//
// The truth is the mark `repeat:<account>:<key>` in the commit of the charge, and for the time before it the account's
// memory of the request that runs (actors/account/idempotency.ts). The kept answer beside them is a convenience.
//
//   1  find     is the mark in the ledger? then this is a repeat: its answer, or a refusal
//   2  admit    the account refuses a key that is running, or that was charged and may not be durable yet: wait (100 ms,
//               growing to 1 s, within the request's own time) and start over at 1
//   3  find     once more: between 1 and 2 the first may have been charged by an account that has moved since
//   4  run, `keep` the answer, charge with the key (durable), then the response leaves
//
// crash or failure                          what a repeat finds
// before the charge is durable              nothing, or a hold until it expires: it runs, as the first charged nothing
// charge spooled, not in the ledger         in-progress-keys.ts, also after a restart; elsewhere the hold, which stays: it waits
// answer kept, no charge                    the answer alone, which is never given: it runs, and another takes its place
// answer kept, response lost                the mark and the answer: it is given again
// machine lost, newest answers with it      the mark alone: `idempotency_expired`
// answer too old, too many, sealed with a   the mark alone: `idempotency_expired`
//   key that is gone
// account moved, or its activation broke    in-progress-keys.ts, on the node of the first: it waits. Elsewhere the hold, which is
//   while the first ran                     told again; while it is not yet, it runs beside the first
// node taken for dead while the first ran   its hold ends with it: it runs, though the first may go on
//
// Of two that run, the first that is charged is the answer, and the other's charge is refused: it must not become whole, and
// its client asks again. Only what was delivered and spooled before is charged all the same.
//
// 4 has this order since a repeat may be on another node: who finds the mark finds the answer too, if it is kept at all.
// A mark older than a day counts as none, and its key may be used anew.

import { IDEMPOTENCY_MISMATCH, idempotencyDedupId } from "../../../actors/account/idempotency.ts";
import type { AccountEvent, Idempotency } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Clock } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import type { Store } from "../../store/store.ts";
import type { SecretVault } from "../../upstream/secret-vault.ts";

/** A whole answer as the client got it. */
export interface KeptResponse {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** none: not charged under this key, so it may run. */
export type IdempotencyMatch =
  | { readonly kind: "none" }
  | ({ readonly kind: "answer" } & KeptResponse)
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface IdempotencyRecords {
  /** What is known of a key and its request outside. Throws Refused (`invalid_parameter`) for a key that is none. */
  hashes(path: string, clientKey: string, body: Pick<Payload, "hash">): Idempotency;
  /** Was a request with this key charged? Rejects when the ledger cannot be read: then nobody knows. */
  find(account: AccountId, asked: Idempotency): Promise<IdempotencyMatch>;
  /** Keeps the answer that is about to be charged, unless it is too large. Never rejects: a repeat can do without. */
  keep(account: AccountId, asked: Idempotency, answer: KeptResponse): Promise<void>;
}

const MARK_MS = 86_400_000;
const ANSWER_MS = 3_600_000;
const ANSWER_BYTES = 256 * 1024;
/** Of one account. */
const ANSWERS_MOST = 100;

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

export function createIdempotencyRecords(parts: {
  store: Store;
  vault: SecretVault;
  clock: Clock;
  log: Log;
}): IdempotencyRecords {
  const { store, vault, clock, log } = parts;

  /** Null: not kept, too old, or in a box that no key at hand opens. */
  async function kept(account: AccountId, key: string): Promise<KeptResponse | null> {
    const row = await store.answer(answerId(account, key), clock.wall());
    if (row === null) return null;
    try {
      return JSON.parse(vault.open(JSON.parse(row.body)));
    } catch (error) {
      log("warn", "answer_unreadable", { account, error: String(error) });
      return null;
    }
  }

  return {
    hashes(path, clientKey, body) {
      if (!/^[\x20-\x7e]{1,255}$/.test(clientKey)) throw new RefusedError(NOT_A_KEY);
      // No path has a line break, so no two requests run together to the same text.
      return { key: sha256(clientKey), body: body.hash(`${path}\n`) };
    },
    async find(account, { key, body }) {
      const [commit] = await store.commitsByDedupId(idempotencyDedupId(account, key), 1);
      if (commit === undefined) return { kind: "none" };
      const charge = commit.events
        .map(({ at, e }) => ({ at, e: e as AccountEvent }))
        .findLast(({ e }) => e.type === "charge" && e.idempotency?.key === key);
      if (charge?.e.type !== "charge" || charge.at <= clock.wall() - MARK_MS) return { kind: "none" };
      if (charge.e.idempotency?.body !== body) return { kind: "refused", refusal: IDEMPOTENCY_MISMATCH };
      const answer = await kept(account, key);
      return answer === null ? { kind: "refused", refusal: EXPIRED } : { kind: "answer", ...answer };
    },
    async keep(account, { key }, { body, headers }) {
      if (Buffer.byteLength(body) > ANSWER_BYTES) return;
      const at = clock.wall();
      const row = {
        id: answerId(account, key),
        account,
        kind: "gateway",
        at,
        until: at + ANSWER_MS,
      } as const;
      try {
        const sealed = JSON.stringify(vault.seal(JSON.stringify({ body, headers })));
        await store.keepAnswer({ ...row, body: sealed }, ANSWERS_MOST);
      } catch (error) {
        log("warn", "answer_not_kept", { account, error: String(error) });
      }
    },
  };
}

const answerId = (account: AccountId, key: string): string => `${account}:gateway:${key}`;
const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
