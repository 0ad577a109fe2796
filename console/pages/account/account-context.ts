// The record of the account whose page is open, for its tabs.

import { createContext, useContext } from "react";
import type { Account } from "../../api/accounts.ts";

/** Provides the record to the tabs. */
export const AccountRecordContext = createContext<Account | null>(null);

/** Returns the record. Only the tabs that a known account has call it. */
export function useAccountRecord(): Account {
  const account = useContext(AccountRecordContext);
  if (account === null) throw new Error("a tab is shown of no account");
  return account;
}
