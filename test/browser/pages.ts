// The table of the console's pages: address, heading, and whose they are. walk.test.ts visits each as each role that has it; what
// is true of every page is tested there, so a new page needs a row here, and tests of what can be done on it. A row counts as
// soon as the console's own table has its page.

import { PAGES as CONSOLE_PAGES } from "../../console/pages/page-table.tsx";
import type { Role, World } from "./world.ts";

/** A page of the console. */
export interface PageRow {
  /** What pictures of it are called. */
  readonly name: string;
  /** `{leaf}` is the id of the leaf's account, `{key}` that of a provider key of the role's own. */
  readonly path: string;
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

type Row = readonly [name: string, path: string, heading: PageRow["heading"]];

const rows = (roles: readonly Role[], admin: boolean, ...given: readonly Row[]): PageRow[] =>
  given.map(([name, path, heading]) => ({ name, path, heading, roles, admin }));

const TABS = ["overview", "usage", "requests", "ledger", "limits", "keys", "activity", "settings"] as const;

/** The page of the leaf, as those above it see it. */
const accountTab = (tab: (typeof TABS)[number]): Row => [
  `account-${tab}`,
  `/console/accounts/{leaf}/${tab}`,
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
    ["account", "/console/accounts/{leaf}", /Mira/],
    ...TABS.map(accountTab),
    ["bill", "/console/bill", /bill/i],
    ["statement", "/console/bill/{leaf}", /Mira/],
    ["attention", "/console/attention", "Attention"],
    ["compose", "/console/compose", /news/i],
  ),
  ...rows(
    OWNERS,
    true,
    ["pool", "/console/admin/pool", "Pool"],
    ["pool-new", "/console/admin/pool/new", /key/i],
    ["pool-key", "/console/admin/pool/{key}", /primary/],
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

/** What stands in a path for something of the world. */
const PLACES: Readonly<Record<string, (world: World, role: Role) => number>> = {
  "{leaf}": ({ tree }) => tree.leaf.id,
  "{key}": ({ tree }, role) => (role === "root" ? tree.rootProviderKey : tree.providerKeys.primary).id,
};
const PLACE = /\{\w+\}/g;

/** The address of a page for a role, without its origin. */
export const pathOf = ({ path }: PageRow, world: World, role: Role): string =>
  path.replace(PLACE, (place) => String(PLACES[place]!(world, role)));

/** Whether an address is one of a pattern of the console's own table. */
const isAt = (pattern: string, path: string): boolean => {
  const parts = pattern.replaceAll(/\/:\w+\?/g, "(/[^/]+)?").replaceAll(/:\w+/g, "[^/]+");
  return new RegExp(`^/console${parts}$`).test(path === "/console" ? "/console/" : path);
};

/** Whether the console has a page at the address of a row. */
const isBuilt = ({ path }: PageRow): boolean =>
  CONSOLE_PAGES.some((entry) => isAt(entry.path, path.replaceAll(PLACE, "1")));

/** The pages of a role that the console has. */
export const pagesOf = (role: Role): readonly PageRow[] =>
  PAGES.filter((row) => row.roles.includes(role) && isBuilt(row));

/** The pages that no lesser role has, and Home. What others have too looks the same there. */
export const pagesNewTo = (role: Role): readonly PageRow[] =>
  pagesOf(role).filter(({ name, roles }) => roles[0] === role || name === "home");

/** Patterns of the console's own table at which no row is. */
export const pagesWithoutRow = (): readonly string[] =>
  CONSOLE_PAGES.map(({ path }) => path).filter(
    (pattern) => !PAGES.some(({ path }) => isAt(pattern, path.replaceAll(PLACE, "1"))),
  );
