// The Idempotency-Key of management writes: the same request sent again is answered as the first was, a new API key included,
// and changes nothing more. Its sibling for gateway requests is src/gateway/idempotency/idempotency-records.ts.
//
// The answer is kept sealed for 24 hours. An error is not kept and frees the key; two at once, on whichever nodes: the second
// waits (write-lock.ts).
//
// crash or failure                       what a repeat finds
// before the change is durable           nothing: it runs, as the first changed nothing
// between the change and the keeping     nothing: it runs again. A command that moves money carries an id, which is kept from
//                                        when the request begins, so the ledger knows it: what was done is answered as done,
//                                        and money moves once. An account that was created so gets a fresh API key, since
//                                        no client has seen the first. Settings are set to what they are; another
//                                        provider key or news item may exist beside the first
// 503, outcome unknown                   the same
// the node died during the work          as above, once the others know that it did
// answer kept, response lost             the kept answer
// machine lost, newest answers with it   as between the change and the keeping
// sealed with a key that is gone         400 idempotency_expired: what was done is not done again

import { IDEMPOTENCY_MISMATCH } from "../../actors/account/idempotency.ts";
import { type AccountId, type ApiKeyId, ownedKey } from "../../actors/ids.ts";
import type { SealedSecret } from "../../actors/key-pool/provider-key.ts";
import type { Clock, Random } from "../base/clock.ts";
import { type Refusal, RefusedError, UnavailableError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Store } from "../store/store.ts";
import { createWriteLocks, type Nodes, type WriteLock } from "./write-lock.ts";

/** The id of the command of a request, and when it was first sent: for commands that move money. */
export interface CommandId {
  readonly id: string;
  /** Wall-clock milliseconds. */
  readonly bornAt: number;
}

/** A management request, and the text of its body. */
export interface IdempotentCall {
  readonly account: AccountId;
  /** The API key that sent it, to which its Idempotency-Key belongs. */
  readonly apiKey: ApiKeyId;
  readonly request: Request;
  readonly body: string;
}

/** One write while it runs. It holds its Idempotency-Key until exactly one of `complete` and `abandon` was called. */
export interface IdempotentWrite {
  readonly command: CommandId;
  /** The kept answer of the first request, which ends this one; null when this is the first. */
  readonly kept: { readonly answer: unknown } | null;
  /** Keeps the answer (plain data, as JSON keeps it) and frees the key. Never rejects. */
  complete(answer: unknown): Promise<void>;
  /** Frees the key and keeps nothing. Never rejects. */
  abandon(): Promise<void>;
}

/** Idempotency of management writes. */
export interface AdminIdempotency {
  /**
   * Begins a request: waits until no other request with its key runs, and looks for a kept answer. Throws
   * `RefusedError`: `invalid_parameter` for a key that is none, `idempotency_mismatch`, `idempotency_expired`,
   * `service_unavailable`; throws `UnavailableError` when the store does not answer.
   */
  begin(call: IdempotentCall): Promise<IdempotentWrite>;
}

/** Paths, with all below them, whose writes use an Idempotency-Key (contract section 2). */
const IDEMPOTENT_PATHS = ["/x-users", "/x-keys", "/x-news", "/x-conf", "/x-config", "/dashboard/keys"];
const KEPT_MS = 86_400_000;
const DAY_MS = 86_400_000;
/** Rows that are kept for one account at most: an answer and a command id for each request. */
const KEPT_MAX = 20_000;

const NOT_A_KEY: Refusal = {
  code: "invalid_parameter",
  message: "Idempotency-Key must be 1 to 255 printable ASCII characters.",
};

const EXPIRED: Refusal = {
  code: "idempotency_expired",
  message:
    "The request with this Idempotency-Key was done, but its answer cannot be read any more. Look before you repeat it with a new key.",
};

const STILL_RUNNING =
  "The request with this Idempotency-Key is still being done. Repeat it with the same key.";

/** A kept answer, as it is sealed in the store. */
interface StoredAnswer {
  /** Hash of the request. */
  readonly asked: string;
  readonly value: unknown;
}

/** A request that has begun, as it is stored: the hash of the request, and its command id. */
interface BegunRequest {
  readonly asked: string;
  readonly command: CommandId;
}

/** What keeping answers needs; `vault` seals them. */
interface KeepingParts {
  readonly store: Store;
  readonly vault: { seal(text: string): SealedSecret; open(sealed: SealedSecret): string };
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads and writes kept answers. Throws `UnavailableError` when the store does not answer a read. */
function keptAnswers({ store, vault, clock, log }: KeepingParts) {
  return {
    /** Returns null when no answer is kept. */
    async find(place: string, asked: string): Promise<StoredAnswer | null> {
      const row = await reading(place, store.answer(place, clock.wall()));
      if (row === null) return null;
      let kept: StoredAnswer;
      try {
        kept = JSON.parse(vault.open(JSON.parse(row.body)));
      } catch (error) {
        log("warn", "answer_unreadable", { account: row.account, error: String(error) });
        throw new RefusedError(EXPIRED);
      }
      if (kept.asked !== asked) throw new RefusedError(IDEMPOTENCY_MISMATCH);
      return kept;
    },

    async keep(place: string, account: AccountId, kept: StoredAnswer): Promise<void> {
      const at = clock.wall();
      try {
        const body = JSON.stringify(vault.seal(JSON.stringify(kept)));
        await store.keepAnswer(
          { id: place, account, kind: "admin", at, until: at + KEPT_MS, body },
          KEPT_MAX,
        );
      } catch (error) {
        log("warn", "answer_not_kept", { account, error: String(error) });
      }
    },
  };
}

/** Returns what gives a request its command id: the same for 24 hours from when it was first sent. */
function commandIds({ store, clock, log }: Omit<KeepingParts, "vault">) {
  /** Returns the command id of the day on which a request was first sent. An id that moved money a day ago is not used again. */
  async function derivedCommand(place: string, asked: string): Promise<CommandId> {
    const now = clock.wall();
    const day = Math.floor(now / DAY_MS);
    for (const id of [day - 1, day].map((one) => sha256(`${place}\n${asked}\n${one}`))) {
      const [commit] = await reading(place, store.commitsByDedupId(id, 1));
      if (commit !== undefined && commit.at > now - KEPT_MS) return { id, bornAt: commit.at };
    }
    return { id: sha256(`${place}\n${asked}\n${day}`), bornAt: now };
  }

  return async (place: string, account: AccountId, asked: string): Promise<CommandId> => {
    const id = `${place}:command`;
    const row = await reading(place, store.answer(id, clock.wall()));
    const begun = row === null ? null : (JSON.parse(row.body) as BegunRequest);
    if (begun?.asked === asked) return begun.command;
    const command = await derivedCommand(place, asked);
    const { bornAt: at } = command;
    const body = JSON.stringify({ asked, command } satisfies BegunRequest);
    try {
      await store.keepAnswer({ id, account, kind: "admin", at, until: at + KEPT_MS, body }, KEPT_MAX);
    } catch (error) {
      // The id can be derived again, but for commands that leave no dedup id only until midnight.
      log("warn", "command_not_kept", { account, error: String(error) });
    }
    return command;
  };
}

/** Creates the idempotency of management writes over a store. */
export function createAdminIdempotency(
  parts: KeepingParts & { readonly random: Random; readonly nodes: Nodes },
): AdminIdempotency {
  const { store, clock, random } = parts;
  const answers = keptAnswers(parts);
  const commandOf = commandIds(parts);
  const locks = createWriteLocks({ store, clock, random, ...parts.nodes });
  /** What runs on this node now, by place. */
  const running = new Map<string, { readonly asked: string; readonly ended: Promise<void> }>();

  /** Waits for the lock of the key; another request of the same key may hold it, on any node. */
  const lockOf = (place: string, account: AccountId, asked: string): Promise<WriteLock> =>
    reading(
      place,
      locks.wait(place, account, asked, {
        onHeld(heldFor) {
          if (heldFor !== asked) throw new RefusedError(IDEMPOTENCY_MISMATCH);
        },
        busy: STILL_RUNNING,
      }),
    );

  /** An earlier holder of the lock keeps its answer before it releases, so one look-up under the lock is enough. */
  async function locked(
    { place, account, asked }: { place: string; account: AccountId; asked: string },
    free: () => void,
  ): Promise<IdempotentWrite> {
    const lock = await lockOf(place, account, asked);
    const release = async () => {
      await lock.release();
      free();
    };
    try {
      const found = await answers.find(place, asked);
      const kept = found && { answer: found.value };
      const command = kept === null ? await commandOf(place, account, asked) : fresh();
      const complete = async (answer: unknown) => {
        await answers.keep(place, account, { asked, value: answer });
        await release();
      };
      return { command, kept, complete, abandon: release };
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  const fresh = (): CommandId => ({ id: random.id(), bornAt: clock.wall() });

  return {
    async begin({ account, apiKey, request, body }) {
      const key = keyOf(request);
      if (key === null) return { command: fresh(), kept: null, complete: nothing, abandon: nothing };
      const place = `${account}:admin:${sha256(ownedKey(key, apiKey))}`;
      const { pathname, search } = new URL(request.url);
      const asked = sha256(`${request.method} ${pathname}${search}\n${body}`);
      for (let first = running.get(place); first !== undefined; first = running.get(place)) {
        if (first.asked !== asked) throw new RefusedError(IDEMPOTENCY_MISMATCH);
        await first.ended;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      running.set(place, { asked, ended: promise });
      const free = () => {
        running.delete(place);
        resolve();
      };
      try {
        return await locked({ place, account, asked }, free);
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

const nothing = async (): Promise<void> => {};

/** Whether writes at this path use an Idempotency-Key. */
export const isIdempotentPath = (path: string): boolean =>
  IDEMPOTENT_PATHS.some((one) => path === one || path.startsWith(`${one}/`));

/** Returns the Idempotency-Key of a write that uses one, or null. */
function keyOf(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key === null || request.method === "GET" || request.method === "HEAD") return null;
  if (!isIdempotentPath(new URL(request.url).pathname)) return null;
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) throw new RefusedError(NOT_A_KEY);
  return key;
}

const reading = <T>(place: string, read: Promise<T>): Promise<T> =>
  read.catch((error) => {
    if (error instanceof RefusedError) throw error;
    throw new UnavailableError(place, String(error));
  });

const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
