// The accounts of a run, made as an administrator makes them: one Owner, provider keys, subaccounts with credit.
// And what is read of them afterwards: ledger, balance, the runtime's counters.

export interface BenchAccount {
  readonly key: string;
}

export interface Ledger {
  readonly charges: number;
  /** US dollars gone from the balance. */
  readonly spent: number;
  /** Of the newest charge; all are equal here. */
  readonly priceEach: number;
}

export interface Administration {
  readonly accounts: readonly BenchAccount[];
  ledger(account: BenchAccount): Promise<Ledger>;
  /** The runtime's counters by name, from /metrics. */
  counters(): Promise<ReadonlyMap<string, number>>;
}

const CREDIT = 1_000;

export async function createAccounts(parts: {
  readonly serviceUrl: string;
  readonly upstreamUrl: string;
  readonly rootKey: string;
  readonly count: number;
}): Promise<Administration> {
  const call = caller(parts.serviceUrl);
  const owner = await call<Made>(parts.rootKey, "POST", "/x-users", {
    Name: "bench",
    Email: "owner@bench.example",
    CreditGranted: CREDIT * (parts.count + 1),
  });
  const ownerKey = owner.User.SecretKey;
  for (const name of ["first", "second"]) {
    await call(ownerKey, "POST", "/x-keys", {
      Name: name,
      Level: 1,
      Provider: parts.upstreamUrl,
      SecretKey: `sk-provider-${name}-0123456789`,
    });
  }
  await call(ownerKey, "PUT", "/x-config", { LEVEL_MAPPER: "gpt-*=1" });
  const accounts: BenchAccount[] = [];
  for (let nth = 1; nth <= parts.count; nth++) {
    const made = await call<Made>(ownerKey, "POST", "/x-users", {
      Name: `team-${nth}`,
      Email: `team-${nth}@bench.example`,
      CreditGranted: CREDIT,
    });
    accounts.push({ key: made.User.SecretKey });
  }
  return {
    accounts,
    async ledger({ key }) {
      const { lines, total } = await call<LedgerPage>(key, "GET", "/dashboard/ledger?size=1");
      const { balance } = await call<{ balance: number }>(key, "GET", "/dashboard/status");
      // The first line is the credit that came from the Owner.
      return { charges: total - 1, spent: CREDIT - balance, priceEach: -lines[0]!.amount };
    },
    async counters() {
      const response = await fetch(`${parts.serviceUrl}/metrics`, {
        headers: { authorization: `Bearer ${parts.rootKey}` },
      });
      const text = await response.text();
      const found = text.matchAll(/^arborgate_runtime\{what="(\w+)"\} (\S+)$/gm);
      return new Map([...found].map(([, name, value]) => [name!, Number(value)]));
    },
  };
}

interface Made {
  readonly User: { readonly SecretKey: string };
}

interface LedgerPage {
  readonly lines: readonly { readonly amount: number }[];
  readonly total: number;
}

const caller =
  (url: string) =>
  async <T>(key: string, method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
