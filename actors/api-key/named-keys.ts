// The named keys of one account: the fold of their events, found by id and by the hash of a secret. It decides nothing and
// reads no clock. Times are wall-clock milliseconds.
//
// A secret's life: it is live while its key has it; after a rotation, until its overlap ends; when its key is deleted it is
// remembered for DELETED_KEY_MS. Then its claim in the store is released, and `forget` drops the last trace of it. What is
// invalid is judged by these times, so a secret is dead to the second, whenever it is forgotten.

import type { AccountId, ApiKeyId } from "../ids.ts";
import type { Nano } from "../money.ts";
import { dayOf } from "../time.ts";
import {
  type ApiKey,
  type ApiKeyChange,
  type ApiKeySecret,
  DELETED_KEY_MS,
  DELETED_KEYS_MAX,
  type DeletedApiKey,
} from "./api-key.ts";
import { asText, fromText, type Keys } from "./keys-text.ts";
import { NamedKey } from "./named-key.ts";
import { addSpending, NO_SPENDING, type PeriodSums } from "./period-sums.ts";

/** The plain form of all keys for snapshots. The keys are a text, which is read when a key is first asked for. */
export interface FrozenNamedKeys {
  readonly nextId: number;
  readonly made: { readonly day: string; readonly count: number };
  readonly cost: PeriodSums;
  readonly nextDeathAt: number | null;
  /** What `asText` returned. */
  readonly text: string;
}

/** A secret that was found by its hash: that of a live key, or of a deleted one. */
export type FoundSecret =
  | { readonly named: NamedKey; readonly secret: ApiKeySecret }
  | { readonly deleted: DeletedApiKey };

/** The named keys of an account, live and deleted. */
export class NamedKeys {
  /** Charges of all named keys, deleted ones included; the rest of the account's are the main key's. */
  cost: PeriodSums = NO_SPENDING;
  private nextId = 1;
  private made = { day: "", count: 0 };
  /** The keys, or what a snapshot says of them until one is asked for: most activations only serve the main key. */
  private keys: Keys | FrozenNamedKeys = { live: new Map(), deleted: [], retired: [] };
  /** Live secrets and those of deleted keys; made anew when it is next asked for after a change. */
  private byHash: Map<string, FoundSecret> | null = null;

  get size(): number {
    return this.live.size;
  }

  /** The id of the next key; an id is never given twice. */
  get freeId(): ApiKeyId {
    return this.nextId as ApiKeyId;
  }

  get(id: ApiKeyId): NamedKey | undefined {
    return this.live.get(id);
  }

  /** All live keys, oldest first. */
  all(): IterableIterator<NamedKey> {
    return this.live.values();
  }

  /** Returns how many secrets were made on the UTC day of `now`. */
  madeOn(now: number): number {
    return this.made.day === dayOf(now) ? this.made.count : 0;
  }

  /** Returns the key that has this secret or had it; its times are not judged. */
  findSecret(hash: string): FoundSecret | undefined {
    this.byHash ??= this.indexed();
    return this.byHash.get(hash);
  }

  /**
   * All hashes whose claims may exist in the store, and whether each of them must: that of a former secret is released as
   * soon as its overlap has ended, before it is forgotten here.
   */
  hashes(): { readonly hash: string; readonly mustBeClaimed: boolean }[] {
    const lasting = [...this.live.values()].flatMap(({ key }) => key.secrets);
    const gone = [...this.deleted.flatMap(({ hashes }) => hashes), ...this.retired];
    return [
      ...lasting.map(({ hash, until }) => ({ hash, mustBeClaimed: until === null })),
      ...gone.map((hash) => ({ hash, mustBeClaimed: false })),
    ];
  }

  /** Returns the hashes that are dead for good at `now`: their claims are to be released, and then they are forgotten. */
  deadHashes(now: number): string[] {
    const ended = [...this.live.values()].flatMap(({ key }) =>
      key.secrets.filter(({ until }) => until !== null && until <= now).map(({ hash }) => hash),
    );
    const old = this.deleted.filter(({ at }) => at + DELETED_KEY_MS <= now).flatMap(({ hashes }) => hashes);
    return [...this.retired, ...ended, ...old];
  }

  /** Returns when `deadHashes` next has one, or null. */
  get nextDeathAt(): number | null {
    if ("text" in this.keys) return this.keys.nextDeathAt;
    if (this.retired.length > 0) return 0;
    let next = Number.POSITIVE_INFINITY;
    for (const { key } of this.live.values()) {
      for (const { until } of key.secrets) if (until !== null) next = Math.min(next, until);
    }
    for (const { at } of this.deleted) next = Math.min(next, at + DELETED_KEY_MS);
    return next === Number.POSITIVE_INFINITY ? null : next;
  }

  /** Adds a key. */
  add(key: ApiKey, at: number): void {
    this.live.set(key.id, new NamedKey(key));
    this.nextId = Math.max(this.nextId, key.id + 1);
    this.countMade(at);
    this.byHash = null;
  }

  /** Changes a key. Disabling ends the overlap of a former secret for good. */
  update(id: ApiKeyId, change: ApiKeyChange): void {
    const named = this.live.get(id);
    if (named === undefined) return;
    named.key = { ...named.key, ...change };
    if (change.status === false) this.endOverlap(named);
  }

  /**
   * Gives a key a new secret. The newest one until now stays valid until `formerUntil`; one before that ends at once. With
   * `replaces` the newest secret was never shown, so it ends instead, and the one before stays as it was.
   */
  rotate(
    id: ApiKeyId,
    rotation: {
      readonly hash: string;
      readonly by: AccountId;
      readonly issuedBy: string;
      readonly formerUntil: number;
      readonly replaces: boolean;
    },
    at: number,
  ): void {
    const named = this.live.get(id);
    if (named === undefined) return;
    const { hash, by, issuedBy, formerUntil, replaces } = rotation;
    const [newest, former] = named.key.secrets;
    const secret: ApiKeySecret = { hash, by, until: null };
    const kept: ApiKeySecret | undefined = replaces ? former : { ...newest, until: formerUntil };
    const ended: ApiKeySecret | undefined = replaces ? newest : former;
    if (ended !== undefined) this.retired = [...this.retired, ended.hash];
    named.key = { ...named.key, secrets: kept === undefined ? [secret] : [secret, kept], issuedBy };
    this.countMade(at);
    this.byHash = null;
  }

  /** Deletes a key; it is remembered, the newest DELETED_KEYS_MAX of them. */
  delete(id: ApiKeyId, at: number): void {
    const named = this.live.get(id);
    if (named === undefined) return;
    const { name, secrets } = named.key;
    this.live.delete(id);
    const all = [...this.deleted, { id, name, hashes: secrets.map(({ hash }) => hash), at }];
    const dropped = all.slice(0, -DELETED_KEYS_MAX).flatMap(({ hashes }) => hashes);
    if (dropped.length > 0) this.retired = [...this.retired, ...dropped];
    this.deleted = all.slice(-DELETED_KEYS_MAX);
    this.byHash = null;
  }

  /** Returns the keys that have to be disabled when only these accounts may have a secret of the account's. */
  madeByOthers(allowed: ReadonlySet<AccountId>): ApiKey[] {
    return [...this.live.values()]
      .map(({ key }) => key)
      .filter(
        ({ createdBy, secrets, status }) =>
          status && (!allowed.has(createdBy) || secrets.some(({ by }) => !allowed.has(by))),
      );
  }

  /** Drops dead secrets whose claims are released. */
  forget(hashes: readonly string[]): void {
    const gone = new Set(hashes);
    this.retired = this.retired.filter((hash) => !gone.has(hash));
    this.deleted = this.deleted.filter(({ hashes }) => !hashes.every((hash) => gone.has(hash)));
    for (const named of this.live.values()) {
      const [newest, former] = named.key.secrets;
      if (former !== undefined && gone.has(former.hash)) named.key = { ...named.key, secrets: [newest] };
    }
    this.byHash = null;
  }

  /** Counts a charge of a named key, which may be deleted by now. */
  charge(id: ApiKeyId, cost: Nano, at: number): void {
    this.cost = addSpending(this.cost, cost, at);
    this.live.get(id)?.addCharge(cost, at);
  }

  freeze(): FrozenNamedKeys {
    const { nextId, made, cost, nextDeathAt } = this;
    return {
      nextId,
      made,
      cost,
      nextDeathAt,
      text: "text" in this.keys ? this.keys.text : asText(this.keys),
    };
  }

  /** Returns the keys of an account that has this one only. */
  static of(named: NamedKey): NamedKeys {
    const keys = new NamedKeys();
    keys.live.set(named.key.id, named);
    return keys;
  }

  static thaw(frozen: FrozenNamedKeys): NamedKeys {
    const keys = new NamedKeys();
    keys.nextId = frozen.nextId;
    keys.made = frozen.made;
    keys.cost = frozen.cost;
    keys.keys = frozen;
    return keys;
  }

  private opened(): Keys {
    if ("text" in this.keys) this.keys = fromText(this.keys.text);
    return this.keys;
  }

  private get live(): Map<ApiKeyId, NamedKey> {
    return this.opened().live;
  }

  private get deleted(): readonly DeletedApiKey[] {
    return this.opened().deleted;
  }

  private set deleted(deleted: readonly DeletedApiKey[]) {
    this.opened().deleted = deleted;
  }

  private get retired(): readonly string[] {
    return this.opened().retired;
  }

  private set retired(retired: readonly string[]) {
    this.opened().retired = retired;
  }

  private countMade(at: number): void {
    this.made = { day: dayOf(at), count: this.madeOn(at) + 1 };
  }

  private endOverlap(named: NamedKey): void {
    const [newest, former] = named.key.secrets;
    if (former === undefined) return;
    this.retired = [...this.retired, former.hash];
    named.key = { ...named.key, secrets: [newest] };
    this.byHash = null;
  }

  private indexed(): Map<string, FoundSecret> {
    const byHash = new Map<string, FoundSecret>();
    for (const deleted of this.deleted) for (const hash of deleted.hashes) byHash.set(hash, { deleted });
    for (const named of this.live.values()) {
      for (const secret of named.key.secrets) byHash.set(secret.hash, { named, secret });
    }
    return byHash;
  }
}
