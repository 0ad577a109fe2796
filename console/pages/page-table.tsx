// Every page of the console: its address, what the key must be allowed, its place in the menu, and its code, which is loaded when
// it is first opened. A page that is not listed does not exist; no entry stands here without its page.

import type { ComponentType } from "react";
import type { Need } from "../api/role.ts";
import { loadLater } from "../components/load-later.tsx";
import type { SHELL } from "../i18n/shell.ts";

/** A name in the menu. */
export type PageName = keyof (typeof SHELL)["en"]["page"];
/** A part of the menu. */
export type MenuGroup = keyof (typeof SHELL)["en"]["groups"];

/** A page, or several that share an address pattern. */
export interface PageEntry {
  readonly name: PageName;
  /** Below /console, as wouter writes patterns. */
  readonly path: string;
  readonly need: Need;
  /** Its place in the menu; null for a page that others lead to. */
  readonly menu: MenuGroup | null;
  readonly component: ComponentType;
}

type PageModule = Promise<{ readonly default: ComponentType }>;

const page = (
  name: PageName,
  path: string,
  need: Need,
  menu: MenuGroup | null,
  load: () => PageModule,
): PageEntry => ({ name, path, need, menu, component: loadLater(load) });

/** The pages in the order of the menu. Addresses of administration begin with /admin. */
export const PAGES: readonly PageEntry[] = [
  page("home", "/", "read", "account", () => import("./home/home.tsx")),
  page("usage", "/usage", "read", "account", () => import("./usage/usage.tsx")),
  page("requests", "/requests", "read", "account", () => import("./requests/requests.tsx")),
  page("models", "/models", "read", "account", () => import("./models/models.tsx")),
  page("playground", "/playground", "invoke", "account", () => import("./playground/playground.tsx")),
  page("ledger", "/ledger", "read", "account", () => import("./ledger/ledger.tsx")),
  page("limits", "/limits", "read", "account", () => import("./limits/limits.tsx")),
  page("keys", "/keys", "manage_keys", "account", () => import("./keys/keys.tsx")),
  page("mapping", "/mapping", "read_and_manage", "account", () => import("./mapping/mapping.tsx")),
  page("activity", "/activity", "read", "account", () => import("./activity/activity.tsx")),
  page("news", "/news", "read", "account", () => import("./news/news.tsx")),
  page("start", "/start", "invoke", "account", () => import("./start/start.tsx")),
  page("accounts", "/accounts", "manage", "accounts", () => import("./accounts/accounts.tsx")),
  page("newAccount", "/accounts/new", "manage", null, () => import("./new-account/new-account.tsx")),
  page("account", "/accounts/:id/:tab?", "manage", null, () => import("./account/account.tsx")),
  page("bill", "/bill", "manage", "accounts", () => import("./bill/bill.tsx")),
  page("bill", "/bill/:id", "manage", null, () => import("./bill/statement.tsx")),
  page("attention", "/attention", "manage", "accounts", () => import("./attention/attention.tsx")),
  page("compose", "/compose", "manage", "accounts", () => import("./compose/compose.tsx")),
  page("pool", "/admin/pool", "admin", "administration", () => import("./admin/pool/pool.tsx")),
  page("pool", "/admin/pool/new", "admin", null, () => import("./admin/pool/new-key.tsx")),
  page("pool", "/admin/pool/:id", "admin", null, () => import("./admin/pool/one-key.tsx")),
  page("routing", "/admin/routing", "admin", "administration", () => import("./admin/routing/routing.tsx")),
  page("prices", "/admin/prices", "admin", "administration", () => import("./admin/prices/prices.tsx")),
  page(
    "modelLimits",
    "/admin/model-limits",
    "admin",
    "administration",
    () => import("./admin/model-limits/model-limits.tsx"),
  ),
  page(
    "settings",
    "/admin/settings",
    "admin",
    "administration",
    () => import("./admin/settings/settings.tsx"),
  ),
  page("history", "/admin/history", "admin", "administration", () => import("./admin/history/history.tsx")),
  page("traffic", "/admin/traffic", "admin", "administration", () => import("./admin/traffic/traffic.tsx")),
  page(
    "integrity",
    "/admin/integrity",
    "admin",
    "administration",
    () => import("./admin/integrity/integrity.tsx"),
  ),
  page("owners", "/admin/owners", "root", "root", () => import("./admin/owners/owners.tsx")),
  page("cluster", "/admin/cluster", "root", "root", () => import("./admin/cluster/cluster.tsx")),
  page("rotation", "/admin/rotation", "root", "root", () => import("./admin/rotation/rotation.tsx")),
  page("cascades", "/admin/cascades", "root", "root", () => import("./admin/cascades/cascades.tsx")),
];
