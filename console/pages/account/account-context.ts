// The account whose page is open, for its tabs: its record, and what follows when one of them deletes it.

import { createContext, useContext } from "react";
import type { Account } from "../../api/accounts.ts";
import type { AccountWrites } from "../../api/answers.ts";

/** An account whose page is open. */
export interface OpenAccount {
  readonly account: Account;
  /** Tells the page that its account is deleted. */
  readonly onDeleted: (answer: AccountWrites["deleted"]) => void;
}

/** Provides the account to the tabs. */
export const OpenAccountContext = createContext<OpenAccount | null>(null);

function useOpenAccount(): OpenAccount {
  const open = useContext(OpenAccountContext);
  if (open === null) throw new Error("a tab is shown of no account");
  return open;
}

/** Returns the record. Only the tabs that a known account has call it. */
export const useAccountRecord = (): Account => useOpenAccount().account;

/** Returns what a tab calls when it has deleted the account. */
export const useDeleted = (): OpenAccount["onDeleted"] => useOpenAccount().onDeleted;
