// The last requests of the accounts whose actors this node owns. They live in the memory of this node alone, beside the
// actors: they outlive an activation, no request waits for them, nothing is decided by them, and an owner that ends takes
// them with it. Two bounds hold: the oldest request of an account goes when it has too many, and the oldest of
// the node when all accounts together have too many, so that a busy account never displaces those of others.

import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { actorName } from "../../runtime/actor.ts";
import { SHARDS, shardOf } from "../../runtime/shards.ts";

/** One request that has ended, as its account may see it. */
export interface EndedRequest {
  /** The service's id of the request. */
  readonly id: string;
  /** Wall-clock ms at which it ended. */
  readonly at: number;
  /** The response's x-request-id; null when the node that knew it reported nothing. */
  readonly request: string | null;
  /** The path it was sent to; null as for `request`. */
  readonly path: string | null;
  /** The model that answered or refused, else the one asked for; null when the request names none that can be read. */
  readonly model: string | null;
  /** The HTTP status of the answer or of its error; null when the client got none, or as for `request`. */
  readonly status: number | null;
  /** The code of the error, or what broke a charged answer off; null when there is nothing to say. */
  readonly code: string | null;
  /** Milliseconds from its arrival, for a charged one from its admission, to its end. */
  readonly ms: number;
  readonly cost: Nano;
  /** Attempts at providers. */
  readonly attempts: number;
  /** The API key that asked; null when only its hash is known, because the account did not admit the request. */
  readonly apiKey: ApiKeyId | null;
  /** The beginning of that hash, 16 hex digits; null beside a known key, and when nothing is known. */
  readonly keyHash: string | null;
}

/** What is known of an account's last requests. */
export interface RequestList {
  /** Wall-clock ms: of requests that ended before, some or all are missing. */
  readonly sinceMs: number;
  /** Requests that were not reported because too many were in a second. */
  readonly skipped: number;
  /** The newest first. */
  readonly requests: readonly EndedRequest[];
}

/**
 * Who tells of a request, from the one who knows least: its release says only that it ended without a charge, its front
 * end reports how, and its charge says all.
 */
const SOURCES = { release: 0, report: 1, charge: 2 } as const;

/** Who tells of a request. */
export type RequestSource = keyof typeof SOURCES;

/** Requests of one account, and of all accounts of a node: at least one each. */
export interface RequestBounds {
  readonly ofAccount: number;
  readonly ofNode: number;
}

export const REQUEST_BOUNDS: RequestBounds = { ofAccount: 200, ofNode: 20_000 };

/** Names of models and paths that are shared; further ones are kept once per request. */
const TEXTS_MAX = 1_000;

/** The requests of one account, from the oldest to the newest. */
class AccountRequests {
  first: Row | null = null;
  last: Row | null = null;
  count = 0;
  skipped = 0;

  constructor(
    readonly account: AccountId,
    readonly shard: number,
  ) {}

  append(row: Row): void {
    if (this.last === null) this.first = row;
    else this.last.nextOfAccount = row;
    this.last = row;
    this.count++;
  }

  removeFirst(first: Row): void {
    this.first = first.nextOfAccount;
    if (this.first === null) this.last = null;
    first.nextOfAccount = null;
    this.count--;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A request in two lists, that of its account and that of all requests of the node, which also goes from the oldest to the
 * newest. At the bounds the row that goes is filled anew, because objects that live for seconds and then die are what the
 * collector finds hardest.
 */
class Row implements Mutable<EndedRequest> {
  nextOfAccount: Row | null = null;
  older: Row | null = null;
  newer: Row | null = null;
  id = "";
  at = 0;
  request: string | null = null;
  path: string | null = null;
  model: string | null = null;
  status: number | null = null;
  code: string | null = null;
  ms = 0;
  cost: Nano = ZERO;
  attempts = 0;
  apiKey: ApiKeyId | null = null;
  keyHash: string | null = null;

  constructor(
    public of: AccountRequests,
    public source: RequestSource,
  ) {}

  /** Takes the fields one by one, since `Object.assign` takes three times as long. */
  fill(ended: EndedRequest, source: RequestSource): void {
    this.source = source;
    this.id = ended.id;
    this.at = ended.at;
    this.request = ended.request;
    this.path = ended.path;
    this.model = ended.model;
    this.status = ended.status;
    this.code = ended.code;
    this.ms = ended.ms;
    this.cost = ended.cost;
    this.attempts = ended.attempts;
    this.apiKey = ended.apiKey;
    this.keyHash = ended.keyHash;
  }

  /** Returns a copy, which later requests do not change. */
  ended(): EndedRequest {
    const { id, at, request, path, model, status, code, ms, cost, attempts, apiKey, keyHash } = this;
    return { id, at, request, path, model, status, code, ms, cost, attempts, apiKey, keyHash };
  }
}

/** The last requests of all accounts of a node. */
export class RecentRequests {
  private readonly accounts = new Map<AccountId, AccountRequests>();
  /** Wall-clock ms at which this node began to serve each shard. */
  private readonly servedSince = new Float64Array(SHARDS);
  /** Wall-clock ms of the newest request that the node's bound dropped. */
  private droppedTo = 0;
  /** The requests by id of which another source may tell more, or has. */
  private readonly byId = new Map<string, Row>();
  /** Texts that many requests have, once each: one that was read from a frame takes 300 bytes. */
  private readonly texts = new Map<string, string>();
  private oldest: Row | null = null;
  private newest: Row | null = null;
  private count = 0;

  constructor(private readonly bounds: RequestBounds = REQUEST_BOUNDS) {}

  /** Returns how many requests are kept. */
  get size(): number {
    return this.count;
  }

  /** Adds a charged request, of which nobody else tells. */
  add(account: AccountId, ended: EndedRequest): void {
    this.append(account, ended, "charge");
  }

  /** Adds a request; if its id is known, it replaces a report that has less. */
  put(account: AccountId, ended: EndedRequest, source: RequestSource): void {
    const known = this.byId.get(ended.id);
    if (known === undefined) this.byId.set(ended.id, this.append(account, ended, source));
    else if (SOURCES[source] > SOURCES[known.source]) known.fill(ended, source);
  }

  /** Returns the one copy that is kept of a text, as long as there are not too many. */
  shared(text: string): string {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    const own = Buffer.from(text).toString();
    if (this.texts.size < TEXTS_MAX) this.texts.set(own, own);
    return own;
  }

  /** Counts requests of an account that were not reported, if others of it are kept. */
  skip(account: AccountId, count: number): void {
    const of = this.accounts.get(account);
    if (of !== undefined) of.skipped += count;
  }

  /** Returns what is known of an account that this node owns. */
  list(account: AccountId): RequestList {
    const of = this.accounts.get(account);
    const shard = of?.shard ?? shardOfAccount(account);
    const requests: EndedRequest[] = [];
    for (let row = of?.first ?? null; row !== null; row = row.nextOfAccount) requests.push(row.ended());
    requests.reverse();
    // Reports come up to a second after the end of a request.
    requests.sort((a, b) => b.at - a.at);
    const sinceMs = Math.max(this.servedSince[shard]!, this.droppedTo);
    return { sinceMs, skipped: of?.skipped ?? 0, requests };
  }

  /** Begins anew with these shards at `now`, wall-clock ms: nothing of their accounts is kept. */
  restart(shards: readonly number[], now: number): void {
    for (const shard of shards) this.servedSince[shard] = now;
    if (this.accounts.size === 0) return;
    const gone = new Set(shards);
    for (const of of this.accounts.values()) {
      if (!gone.has(of.shard)) continue;
      for (let row = of.first; row !== null; row = row.nextOfAccount) this.unlink(row);
      this.accounts.delete(of.account);
    }
  }

  private accountOf(account: AccountId): AccountRequests {
    const known = this.accounts.get(account);
    if (known !== undefined) return known;
    const of = new AccountRequests(account, shardOfAccount(account));
    this.accounts.set(account, of);
    return of;
  }

  private append(account: AccountId, ended: EndedRequest, source: RequestSource): Row {
    const free = this.freeRow(account);
    const of = this.accountOf(account);
    const row = free ?? new Row(of, source);
    row.of = of;
    row.fill(ended, source);
    of.append(row);
    row.older = this.newest;
    if (this.newest === null) this.oldest = row;
    else this.newest.newer = row;
    this.newest = row;
    this.count++;
    return row;
  }

  /** Takes out the row that goes when this account gets another one; null while there is room. */
  private freeRow(account: AccountId): Row | null {
    const of = this.accounts.get(account);
    if (of !== undefined && of.count >= this.bounds.ofAccount) return this.takeFirst(of);
    return this.count >= this.bounds.ofNode ? this.takeOldest() : null;
  }

  private takeFirst(of: AccountRequests): Row {
    const row = of.first!;
    this.unlink(row);
    of.removeFirst(row);
    return row;
  }

  /** An account's requests have the order of the node's, so the oldest of all is the first of its account. */
  private takeOldest(): Row {
    const { of, at } = this.oldest!;
    const row = this.takeFirst(of);
    if (of.count === 0) this.accounts.delete(of.account);
    if (at > this.droppedTo) this.droppedTo = at;
    return row;
  }

  /** Takes a row out of the list of all requests. */
  private unlink(row: Row): void {
    const { older, newer } = row;
    // A charge, which most are, has its id there only in place of an earlier report.
    if (this.byId.size > 0) this.byId.delete(row.id);
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    row.older = null;
    row.newer = null;
    this.count--;
  }
}

const shardOfAccount = (account: AccountId): number => shardOf(actorName(actorRef.account(account)));
