// The table of the console's pages: address, heading, and whose they are. walk.test.ts visits each as each role that has it; what
// is true of every page is tested there, so a new page needs a row here and tests of its own actions only.

import type { Role, World } from "./world.ts";

/** A page of the console. */
export interface PageRow {
  /** What pictures of it are called. */
  readonly name: string;
  readonly path: string | ((world: World, role: Role) => string);
  /** Its heading of the first level, in English. */
  readonly heading: string | RegExp;
  readonly roles: readonly Role[];
  /** Whether it is served only at the address of administration, where that has its own. */
  readonly admin: boolean;
}

const EVERYBODY: readonly Role[] = ["leaf", "reseller", "owner", "root"];
const MANAGERS: readonly Role[] = ["reseller", "owner", "root"];
const OWNERS: readonly Role[] = ["owner", "root"];
const ROOT: readonly Role[] = ["root"];

type Row = readonly [name: string, path: PageRow["path"], heading: PageRow["heading"]];

const rows = (roles: readonly Role[], admin: boolean, ...given: readonly Row[]): PageRow[] =>
  given.map(([name, path, heading]) => ({ name, path, heading, roles, admin }));

const TABS = ["overview", "usage", "requests", "ledger", "limits", "keys", "activity", "settings"] as const;

/** The page of the leaf, as those above it see it. */
const accountTab = (tab: (typeof TABS)[number]): Row => [
  `account-${tab}`,
  ({ tree }) => `/console/accounts/${tree.leaf.id}/${tab}`,
  /Mira/,
];

export const PAGES: readonly PageRow[] = [
  ...rows(
    EVERYBODY,
    false,
    ["home", "/console", "Home"],
    ["usage", "/console/usage", "Usage"],
    ["requests", "/console/requests", "Requests"],
    ["models", "/console/models", "Models"],
    ["playground", "/console/playground", "Playground"],
    ["ledger", "/console/ledger", /ledger/i],
    ["limits", "/console/limits", /limits/i],
    ["keys", "/console/keys", /keys/i],
    ["mapping", "/console/mapping", /mapping/i],
    ["activity", "/console/activity", "Activity"],
    ["news", "/console/news", "News"],
    ["start", "/console/start", /start/i],
  ),
  ...rows(
    MANAGERS,
    false,
    ["accounts", "/console/accounts", "Accounts"],
    ["account-new", "/console/accounts/new", /new account/i],
    ["account", ({ tree }) => `/console/accounts/${tree.leaf.id}`, /Mira/],
    ...TABS.map(accountTab),
    ["bill", "/console/bill", /bill/i],
    ["attention", "/console/attention", "Attention"],
    ["compose", "/console/compose", /news/i],
  ),
  ...rows(
    OWNERS,
    true,
    ["pool", "/console/admin/pool", "Pool"],
    ["pool-new", "/console/admin/pool/new", /key/i],
    [
      "pool-key",
      ({ tree }, role) =>
        `/console/admin/pool/${(role === "root" ? tree.rootProviderKey : tree.providerKeys.primary).id}`,
      /primary/,
    ],
    ["routing", "/console/admin/routing", "Routing"],
    ["prices", "/console/admin/prices", "Prices"],
    ["model-limits", "/console/admin/model-limits", "Model limits"],
    ["settings", "/console/admin/settings", "Settings"],
    ["history", "/console/admin/history", "History"],
    ["traffic", "/console/admin/traffic", "Traffic"],
    ["integrity", "/console/admin/integrity", "Integrity"],
  ),
  ...rows(
    ROOT,
    true,
    ["owners", "/console/admin/owners", "Owners"],
    ["cluster", "/console/admin/cluster", "Cluster"],
    ["rotation", "/console/admin/rotation", "Rotation"],
    ["cascades", "/console/admin/cascades", "Cascades"],
  ),
];

/** Pages that the console does not have yet: the table has their rows, the walk leaves them out. */
const NOT_BUILT: ReadonlySet<string> = new Set([
  ...["usage", "models", "playground", "ledger", "limits", "keys", "mapping", "activity", "news", "start"],
  ...["account-new", "account", ...TABS.map((tab) => `account-${tab}`), "bill", "attention", "compose"],
  ...["pool", "pool-new", "pool-key", "routing", "prices", "model-limits", "settings", "history", "traffic"],
]);

/** The pages of a role that the console has. */
export const pagesOf = (role: Role): readonly PageRow[] =>
  PAGES.filter(({ name, roles }) => roles.includes(role) && !NOT_BUILT.has(name));

/** The address of a page for a role, without its origin. */
export const pathOf = ({ path }: PageRow, world: World, role: Role): string =>
  typeof path === "string" ? path : path(world, role);
