// The accounts of a run, made as an administrator makes them: Owners, their provider keys, subaccounts with credit.
// And what is read of them afterwards: ledger, balance, the runtime's counters.

import { LEVEL_MAPPER, type StyleName } from "./styles.ts";

export interface BenchAccount {
  readonly id: number;
  readonly key: string;
}

export interface Ledger {
  readonly charges: number;
  /** Gone from the balance. */
  readonly spentNano: number;
  /** The amount of the newest charge; all are equal here. */
  readonly priceNano: number;
}

export interface NewOwner {
  readonly name: string;
  /** The secrets of its provider keys, all in Level 1. */
  readonly secrets: readonly string[];
  readonly accounts: number;
  /** Where its provider keys lead; the upstream, if nothing is said. */
  readonly provider?: string;
  /** What its provider keys speak, if not what those of the others do. */
  readonly style?: StyleName;
  /** Its configuration besides LEVEL_MAPPER. */
  readonly configuration?: Readonly<Record<string, unknown>>;
}

export interface MadeOwner {
  readonly key: string;
  readonly accounts: readonly BenchAccount[];
}

export interface Administration {
  /** Makes an Owner and answers the accounts below it. */
  createOwner(owner: NewOwner): Promise<BenchAccount[]>;
  /** Does the same, and answers the Owner's own key as well. */
  createOwnerWithKey(owner: NewOwner): Promise<MadeOwner>;
  /** Makes an Owner with credit for `accounts` accounts, but none of them, and answers its API key. */
  createEmptyOwner(owner: NewOwner): Promise<string>;
  /** Makes the account of this number below an Owner, which pays for it. */
  createAccount(ownerKey: string, name: string): Promise<BenchAccount>;
  /** Makes a named API key and answers its secret. */
  createApiKey(mainKey: string, fields: object): Promise<string>;
  ledger(account: BenchAccount): Promise<Ledger>;
  /** The number of charges that no ledger has yet, of all nodes: a store was too slow for them, and they are sent to it again. */
  chargesWaiting(): Promise<number>;
  /** The runtime's counters without labels, from /metrics: `commits` is `arborgate_commits_total`. */
  counters(): Promise<ReadonlyMap<string, number>>;
}

const CREDIT = 1_000;

const nano = (dollars: number): number => Math.round(dollars * 1e9);

export function administration(parts: {
  readonly serviceUrl: string;
  readonly upstreamUrl: string;
  readonly rootKey: string;
  /** What the provider keys speak. */
  readonly style: StyleName;
}): Administration {
  const call = caller(parts.serviceUrl);

  async function createEmptyOwner(owner: NewOwner): Promise<string> {
    const { name, secrets, accounts, configuration = {} } = owner;
    const { provider = parts.upstreamUrl, style = parts.style } = owner;
    const { User } = await call<Made>(parts.rootKey, "POST", "/x-users", {
      Name: name,
      Email: `${name}@bench.example`,
      CreditGranted: CREDIT * (accounts + 1),
    });
    const ownerKey = User.SecretKey;
    for (const secret of secrets) {
      await call(ownerKey, "POST", "/x-keys", {
        Level: 1,
        Provider: provider,
        SecretKey: secret,
        Config: { api_style: style },
      });
    }
    await call(ownerKey, "PUT", "/x-config", { LEVEL_MAPPER, ...configuration });
    return ownerKey;
  }

  async function createAccount(ownerKey: string, name: string): Promise<BenchAccount> {
    const { User } = await call<Made>(ownerKey, "POST", "/x-users", {
      Name: name,
      Email: `${name}@bench.example`,
      CreditGranted: CREDIT,
    });
    return { id: User.ID, key: User.SecretKey };
  }

  async function createOwnerWithKey(owner: NewOwner): Promise<MadeOwner> {
    const key = await createEmptyOwner(owner);
    const accounts: BenchAccount[] = [];
    for (let nth = 1; nth <= owner.accounts; nth++) {
      accounts.push(await createAccount(key, `${owner.name}-${nth}`));
    }
    return { key, accounts };
  }

  return {
    createEmptyOwner,
    createAccount,
    createOwnerWithKey,
    createOwner: async (owner) => [...(await createOwnerWithKey(owner)).accounts],
    async createApiKey(mainKey, fields) {
      const { secret } = await call<{ readonly secret: string }>(mainKey, "POST", "/dashboard/keys", fields);
      return secret;
    },
    async ledger({ key }) {
      const { lines, total } = await call<LedgerPage>(key, "GET", "/dashboard/ledger?size=1");
      const { balance } = await call<{ balance: number }>(key, "GET", "/dashboard/status");
      // The first line is the credit that came from the Owner.
      return { charges: total - 1, spentNano: nano(CREDIT - balance), priceNano: nano(-lines[0]!.amount) };
    },
    async chargesWaiting() {
      const { gauges } = await call<ClusterPage>(parts.rootKey, "GET", "/x-cluster");
      return gauges.late_charges_waiting;
    },
    async counters() {
      const response = await fetch(`${parts.serviceUrl}/metrics`, {
        headers: { authorization: `Bearer ${parts.rootKey}` },
      });
      const text = await response.text();
      const found = text.matchAll(/^arborgate_(\w+)_total (\S+)$/gm);
      return new Map([...found].map(([, name, value]) => [name!, Number(value)]));
    },
  };
}

interface Made {
  readonly User: { readonly ID: number; readonly SecretKey: string };
}

interface LedgerPage {
  readonly lines: readonly { readonly amount: number }[];
  readonly total: number;
}

interface ClusterPage {
  readonly gauges: { readonly late_charges_waiting: number };
}

/** How often, and after how many ms, a read is repeated where the store was too slow for it, as on a machine that has been loaded. */
const READS_MAX = 40;
const READ_AGAIN_MS = 500;

const caller =
  (url: string) =>
  async <T>(key: string, method: string, path: string, body?: object): Promise<T> => {
    for (let reads = 1; ; reads++) {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (response.ok) return (await response.json()) as T;
      const text = await response.text();
      const mayRepeat = method === "GET" && response.status === 503 && reads < READS_MAX;
      if (!mayRepeat) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      await Bun.sleep(READ_AGAIN_MS);
    }
  };
