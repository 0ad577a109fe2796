// The named keys of an account folded a second time: which secret is good when, and what each key has used. It shares no code
// with the actors, so an error there cannot hide here.

import type { AccountEvent } from "../../actors/account/state.ts";

interface Secret {
  readonly hash: string;
  readonly by: number;
  until: number;
}

/** A key, which stays here when it is deleted. */
export interface KeyModel {
  readonly id: number;
  readonly createdBy: number;
  hardLimit: number;
  dailyLimit: number;
  rpm: number;
  tpm: number;
  status: boolean;
  /** Models; every one where there is none. */
  allowModels: readonly string[];
  expiresAt: number;
  secrets: Secret[];
  /** Wall ms of its deletion. */
  deletedAt: number;
  readonly spent: { readonly at: number; readonly amount: number; readonly isFee: boolean }[];
  readonly requests: { readonly at: number; readonly tokens: number; readonly isAgain: boolean }[];
}

const FOR_EVER = Number.POSITIVE_INFINITY;
const REMEMBERED_MS = 30 * 86_400_000;

export class KeyOracle {
  readonly keys = new Map<number, KeyModel>();
  /** Hashes that are dead for good and not forgotten yet. */
  private readonly dead = new Set<string>();
  private account = 0;
  private dna = "";
  private movingTo = "";
  private main = "";
  private isOver = false;

  add(event: AccountEvent, at: number): void {
    switch (event.type) {
      case "created":
        this.account = event.profile.id;
        this.dna = event.profile.dna;
        this.main = event.profile.keyHash;
        return;
      case "moving":
        this.movingTo = event.dna;
        return;
      case "moved":
        this.dna = this.movingTo;
        this.disableForeign();
        return;
      case "emptied":
      case "closed":
        this.isOver = true;
        return;
      case "returned":
        // A deletion whose refund came back is under way again.
        this.isOver = false;
        return;
      case "api_key_added": {
        const { id, createdBy, hardLimit, dailyLimit, rpm, tpm, status, expiresAt, secrets } = event.key;
        const { allowModels } = event.key;
        this.keys.set(id, {
          ...{ id, createdBy, hardLimit, dailyLimit, rpm, tpm, status, allowModels },
          expiresAt: expiresAt ?? FOR_EVER,
          secrets: [{ hash: secrets[0].hash, by: secrets[0].by, until: FOR_EVER }],
          deletedAt: FOR_EVER,
          spent: [],
          requests: [],
        });
        return;
      }
      case "api_key_updated": {
        const key = this.keys.get(event.apiKey)!;
        const { expiresAt, ...change } = event.change;
        Object.assign(key, change);
        if (expiresAt !== undefined) key.expiresAt = expiresAt ?? FOR_EVER;
        if (event.change.status === false) this.end(key, key.secrets.slice(1));
        return;
      }
      case "api_key_rotated": {
        const key = this.keys.get(event.apiKey)!;
        const [newest, former] = key.secrets;
        const kept = event.replaces ? former : newest;
        const ended = event.replaces ? newest : former;
        if (ended !== undefined) this.end(key, [ended]);
        if (!event.replaces) newest!.until = event.formerUntil;
        key.secrets = [{ hash: event.hash, by: event.by, until: FOR_EVER }];
        if (kept !== undefined) key.secrets.push(kept);
        return;
      }
      case "api_key_deleted":
        this.keys.get(event.apiKey)!.deletedAt = at;
        return;
      case "api_key_secrets_forgotten":
        for (const hash of event.hashes) {
          this.dead.delete(hash);
          for (const key of this.keys.values()) {
            key.secrets = key.secrets.filter((secret) => secret.hash !== hash);
          }
        }
        return;
      case "charge":
        this.use(event.apiKey, at, event.cost, false);
        this.count(event, event.prompt + event.completion, event.counted === true);
        return;
      case "released":
        this.count(event, 0, false);
        return;
      case "query_fee":
        this.use(event.apiKey, at, -event.amount, true);
        return;
    }
  }

  /** The key that a secret opens at `now`: 0 for the main key, undefined for a secret that is dead. */
  keyOf(hash: string, now: number): number | undefined {
    if (hash === this.main) return 0;
    for (const { id, status, expiresAt, secrets, deletedAt } of this.keys.values()) {
      if (!status || expiresAt <= now || deletedAt !== FOR_EVER) continue;
      if (secrets.some((secret) => secret.hash === hash && secret.until > now)) return id;
    }
    return undefined;
  }

  /** When a sweep has to look at a secret; null if never. */
  nextDeathAt(): number | null {
    if (this.isOver) return null;
    if (this.dead.size > 0) return 0;
    let next = FOR_EVER;
    for (const { secrets, deletedAt } of this.keys.values()) {
      if (deletedAt !== FOR_EVER && secrets.length > 0) next = Math.min(next, deletedAt + REMEMBERED_MS);
      if (deletedAt === FOR_EVER) for (const { until } of secrets) next = Math.min(next, until);
    }
    return next === FOR_EVER ? null : next;
  }

  /** Hashes whose claims must be there, and those whose claims may. */
  claims(): { readonly must: string[]; readonly may: string[] } {
    const must: string[] = [];
    const may = [...this.dead];
    for (const { secrets, deletedAt } of this.keys.values()) {
      for (const { hash, until } of secrets) {
        (deletedAt === FOR_EVER && until === FOR_EVER ? must : may).push(hash);
      }
    }
    return { must, may };
  }

  private disableForeign(): void {
    const above = new Set([this.account, ...this.dna.split(".").filter(Boolean).map(Number)]);
    for (const key of this.keys.values()) {
      // A key that is disabled already keeps what it has: a former secret of it is dead, since its rotation gave no overlap.
      if (key.deletedAt !== FOR_EVER || !key.status) continue;
      if (above.has(key.createdBy) && key.secrets.every(({ by }) => above.has(by))) continue;
      key.status = false;
      this.end(key, key.secrets.slice(1));
    }
  }

  private end(key: KeyModel, secrets: readonly Secret[]): void {
    for (const secret of secrets) {
      this.dead.add(secret.hash);
      key.secrets = key.secrets.filter((one) => one !== secret);
    }
  }

  private use(id: number | undefined, at: number, amount: number, isFee: boolean): void {
    if (id !== undefined) this.keys.get(id)?.spent.push({ at, amount, isFee });
  }

  private count(
    event: { readonly apiKey?: number; readonly admittedAt: number },
    tokens: number,
    isAgain: boolean,
  ): void {
    if (event.apiKey === undefined) return;
    this.keys.get(event.apiKey)?.requests.push({ at: event.admittedAt, tokens, isAgain });
  }
}

/** What a key spent in the month or on the day (a prefix of an ISO date); its fees too where they count. */
export function spentBy(key: KeyModel, prefix: string, withFees: boolean): number {
  let sum = 0;
  for (const { at, amount, isFee } of key.spent) {
    if ((withFees || !isFee) && new Date(at).toISOString().startsWith(prefix)) sum += amount;
  }
  return sum;
}
