// The tabs of an account: the pages of the own account, shown for one below it. Each is loaded when it is first opened.

import type { ComponentType } from "react";
import { loadLater } from "../../components/load-later.tsx";
import type { ACCOUNT } from "../../i18n/account.ts";

/** The name of a tab, as it stands in the address. */
export type TabName = keyof (typeof ACCOUNT)["en"]["tab"];

type TabModule = Promise<{ readonly default: ComponentType }>;

const tab = (name: TabName, load: () => TabModule) => ({ name, component: loadLater(load) });

/** A tab, and whether a deleted account still has it. */
export interface TabEntry {
  readonly name: TabName;
  readonly component: ComponentType;
}

/** The tabs in their order. */
export const TABS: readonly TabEntry[] = [
  tab("overview", () => import("./overview.tsx")),
  tab("usage", () => import("../usage/usage.tsx")),
  tab("requests", () => import("../requests/requests.tsx")),
  tab("ledger", () => import("../ledger/ledger.tsx")),
  tab("limits", () => import("../limits/limits.tsx")),
  tab("keys", () => import("../keys/keys.tsx")),
  tab("activity", () => import("../activity/activity.tsx")),
  tab("settings", () => import("./settings.tsx")),
];

/** Tabs that tell of a deleted account too. */
export const KEPT_TABS: ReadonlySet<TabName> = new Set(["usage", "ledger", "activity"]);
