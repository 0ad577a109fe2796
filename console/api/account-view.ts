// Whose figures a page shows: the account of the key, or one of its descendants. The same pages serve both, because every
// endpoint of an account has a twin for ancestors.

import { createContext, useContext } from "react";
import type { AnswerPath } from "./answers.ts";
import type { Query } from "./call.ts";
import { type Asked, type Asking, useGet } from "./queries.ts";

/** The endpoint for the account itself, and the one by which an ancestor asks about it. */
const TWINS = {
  live: ["/dashboard/live", "/x-info"],
  bill: ["/dashboard/bill", "/x-bill"],
  ledger: ["/dashboard/ledger", "/x-ledger"],
  requests: ["/dashboard/requests", "/x-requests"],
  explain: ["/dashboard/explain", "/x-explain"],
  keys: ["/dashboard/keys", "/dashboard/keys"],
  logs: ["/dashboard/logs", "/dashboard/logs"],
} as const satisfies Record<string, readonly [AnswerPath, AnswerPath]>;

/** What can be asked about an account. */
export type AccountQuestion = keyof typeof TWINS;

/** The account whose figures a page shows; `user` is null for the account of the key. */
export interface AccountView {
  readonly user: string | null;
  /** Where its pages begin: `/usage` of them is `${base}/usage`. */
  readonly base: string;
}

const OWN: AccountView = { user: null, base: "" };

/** Provides the account to the pages below it. */
export const AccountViewContext = createContext<AccountView>(OWN);

/** Returns whose figures this page shows. */
export const useAccountView = (): AccountView => useContext(AccountViewContext);

/** Returns the path and the query of a question about the account of a page, for links, downloads and curl lines. */
export function questionAbout(
  view: AccountView,
  question: AccountQuestion,
  query: Query = {},
): { readonly path: AnswerPath; readonly query: Query } {
  const [own, descendants] = TWINS[question];
  if (view.user === null) return { path: own, query };
  const whose = question === "logs" ? { target_id: view.user } : { user: view.user };
  return { path: descendants, query: { ...query, ...whose } };
}

/** Asks about the account of a page. */
export function useAccountGet<Q extends AccountQuestion>(
  question: Q,
  query: Query = {},
  asking: Asking = {},
): Asked<(typeof TWINS)[Q][0]> {
  const about = questionAbout(useAccountView(), question, query);
  return useGet(about.path, about.query, asking) as unknown as Asked<(typeof TWINS)[Q][0]>;
}
