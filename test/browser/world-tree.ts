// The accounts of the browser tests' world as they begin: Root, two Owners, a reseller with subaccounts, one of which has
// subaccounts of its own; their API keys, provider keys, configuration and prices. What happens to them later is world-life.ts.

import type { Account, Bench } from "../e2e/harness.ts";
import type { Must } from "./world.ts";

/** A provider key of an Owner at the stand-in provider. */
export interface ProviderKey {
  readonly id: number;
  readonly secret: string;
}

export interface Tree {
  readonly root: Account;
  readonly owner: Account;
  readonly otherOwner: Account;
  /** May manage: it has the subaccounts below. */
  readonly reseller: Account;
  /** Has two subaccounts of its own. */
  readonly team: Account;
  readonly teamMembers: readonly Account[];
  /** May not have subaccounts. */
  readonly leaf: Account;
  /** Its name is Chinese. */
  readonly design: Account;
  /** Its name and alias are emoji as long as names may be. */
  readonly emoji: Account;
  readonly suspended: Account;
  readonly disabled: Account;
  /** Has less than the Owner's USER_MIN_BALANCE. */
  readonly low: Account;
  /** Has used more than nine tenths of its HardLimit. */
  readonly nearLimit: Account;
  /** Has never asked for anything. */
  readonly idle: Account;
  /** Secrets of named API keys, by their names. */
  readonly apiKeys: Readonly<Record<ApiKeyName, string>>;
  /** Those of the Owner, by what they are there for. */
  readonly providerKeys: Readonly<Record<ProviderKeyName, ProviderKey>>;
  /** A provider key of Root's own. */
  readonly rootProviderKey: ProviderKey;
}

type ApiKeyName = "ci-build" | "notebook" | "accountant" | "设计稿件" | "billing-bot" | "night-shift";
type ProviderKeyName = "primary" | "second" | "spare" | "sleepy" | "claude" | "open" | "flaky";

const EMOJI = ["🌸", "🚀", "🦊", "🍵", "🎨", "🐳", "🌙", "🔥"];
/** So many pictographs, one after the other. */
const emoji = (count: number): string => Array.from({ length: count }, (_, i) => EMOJI[i % 8]).join("");

/** What the Owner sets at first, before its history. */
const FIRST_CONFIGURATION = {
  LEVEL_MAPPER: "gpt-*=1,o4-*=1,text-embedding-*=1,claude-*=2,*=3",
  PRICING: {
    ChatPricing: {
      "gpt-4o": { OutputText: 12 },
      "house-model": { InputText: 0.5, OutputText: 1.5, CachedText: 0.1 },
    },
  },
  USER_MIN_BALANCE: 5,
};

/** Makes the accounts and what they have from the beginning. */
export async function plant(bench: Bench, must: Must): Promise<Tree> {
  const add = async (parent: Account, Name: string, CreditGranted: number, more: object = {}) => {
    const Email = `user-${++mailboxes}@arborgate.example`;
    const { User } = await must(parent.key, "POST", "/x-users", { Name, Email, CreditGranted, ...more });
    return { id: User.ID, key: User.SecretKey, name: User.Updates.Name } as Account;
  };
  let mailboxes = 0;
  const root: Account = { id: 1, key: bench.rootKey, name: "root" };
  // Ids follow the order of creation, which is why these are not made at the same time.
  const owner = await add(root, "Northwind Labs", 5_000, { Alias: "Northwind 🌲" });
  const otherOwner = await add(root, "青云科技", 800);
  const reseller = await add(owner, "Lumen Reseller", 1_500, { Rates: 1.2, Alias: "Lumen 💡" });
  const team = await add(reseller, "Search Team", 300, { Rates: 1.25 });
  const leaf = await add(reseller, "Mira Ivanova", 60, { Days: 45, Rates: 1.5, Alias: "Mira 🌸" });
  const design = await add(reseller, "设计部 🎨", 40, { Alias: "设计与品牌" });
  const emojiNamed = await add(reseller, `a${emoji(62)}`, 15, { Alias: emoji(64) });
  const suspended = await add(reseller, "Old Crawler", 20);
  const disabled = await add(reseller, "Trial Account", 20);
  const low = await add(reseller, "Weekend Project", 4);
  const nearLimit = await add(reseller, "Batch Jobs", 25);
  const idle = await add(reseller, "Quiet Corner", 10);
  const teamMembers = [await add(team, "Search Indexing", 80), await add(team, "Search Ranking", 50)];
  await add(otherOwner, "杭州实验室", 120);

  const [providerKeys, apiKeys, ofRoot] = await Promise.all([
    providerKeysOf(bench, must, owner),
    apiKeysOf(must, { leaf, reseller, design }),
    providerKeysOf(bench, must, root, ["primary"]),
    providerKeysOf(bench, must, otherOwner, ["primary"]),
    must(otherOwner.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=1" }),
    must(owner.key, "PUT", "/x-config", FIRST_CONFIGURATION),
    must(owner.key, "PUT", `/x-users/${leaf.id}`, { Factor: 0.9, Tier: 2, Gear: 3 }),
    limit(must, reseller, leaf),
  ]);
  return {
    ...{ root, owner, otherOwner, reseller, team, teamMembers, leaf, design, emoji: emojiNamed },
    ...{ suspended, disabled, low, nearLimit, idle, apiKeys, providerKeys, rootProviderKey: ofRoot.primary },
  };
}

/** Limits and lists of the leaf, so that its pages have bars and refusals. */
const limit = (must: Must, reseller: Account, leaf: Account) =>
  must(reseller.key, "PUT", `/x-users/${leaf.id}`, {
    ...{ UserLimit: 0, HardLimit: 60, SoftLimit: 40, DailyLimit: 6, RPM: 600, RPD: 400, TPD: 8_000_000 },
    AllowModels: "gpt-*,o4-*,claude-sonnet-*,claude-haiku-*,deepseek-*,text-embedding-*,house-model",
    ModelLimits: { "gpt-4o": { rpm: 120, tpd: 3_000_000 } },
    QRCode: "https://pay.arborgate.example/mira.png",
  });

/** Level, style and name of each provider key. */
const PROVIDER_KEYS: Readonly<
  Record<ProviderKeyName, readonly [level: number, style: string, name: string]>
> = {
  primary: [1, "chat", "primary · 北京"],
  second: [1, "chat", "second"],
  spare: [1, "chat", "spare 🧊"],
  sleepy: [2, "messages", "anthropic main"],
  claude: [2, "messages", "anthropic backup"],
  open: [3, "chat", "open models"],
  flaky: [3, "chat", "open models, cheap"],
};

async function providerKeysOf(
  bench: Bench,
  must: Must,
  owner: Account,
  names = Object.keys(PROVIDER_KEYS) as ProviderKeyName[],
): Promise<Record<ProviderKeyName, ProviderKey>> {
  const made: [ProviderKeyName, ProviderKey][] = [];
  for (const [nth, name] of names.entries()) {
    const [Level, api_style, Name] = PROVIDER_KEYS[name];
    // The stand-in remembers a key by its last four characters.
    const secret = `sk-standin-of-owner-${owner.id}-${owner.id}00${nth}`;
    const body = { Name, Level, Provider: bench.provider.url, SecretKey: secret, Config: { api_style } };
    const { key } = await must(owner.key, "POST", "/x-keys", body);
    made.push([name, { id: key.ID, secret }]);
  }
  return Object.fromEntries(made) as Record<ProviderKeyName, ProviderKey>;
}

async function apiKeysOf(
  must: Must,
  { leaf, reseller, design }: Pick<Tree, "leaf" | "reseller" | "design">,
): Promise<Record<ApiKeyName, string>> {
  const day = (days: number) => new Date(Date.UTC(2027, 2, 18 + days)).toISOString();
  const rows: readonly [Account, ApiKeyName, object][] = [
    [leaf, "ci-build", { AllowModels: "gpt-4o-mini", DailyLimit: 5, RPM: 60, Tags: "team=build,env=ci" }],
    [leaf, "notebook", { Scopes: ["invoke", "read"], HardLimit: 30, ExpiresAt: day(9) }],
    [leaf, "accountant", { Scopes: ["read"], AllowIPs: "127.0.0.0/8", ExpiresAt: day(200) }],
    [design, "设计稿件", { Tags: "team=design" }],
    [reseller, "billing-bot", { Scopes: ["read", "manage"] }],
    [reseller, "night-shift", { DailyLimit: 2, TPM: 500_000 }],
  ];
  const made: [ApiKeyName, string][] = [];
  for (const [{ key }, Name, fields] of rows) {
    made.push([Name, (await must(key, "POST", "/dashboard/keys", { Name, ...fields })).secret]);
  }
  return Object.fromEntries(made) as Record<ApiKeyName, string>;
}
