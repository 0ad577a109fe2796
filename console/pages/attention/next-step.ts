// What to do for an account that needs somebody: where the next step is taken, and how bad it is. A new reason of the service does
// not compile until it stands here.

import { type Billionths, countText, nanosOf, usdText } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";

/** A row of the list. */
export type AttentionRow = Answers["/x-attention"]["accounts"][number];
/** Why an account needs somebody. */
export type AttentionReason = AttentionRow["reason"];

/** The tab of an account on which the next step is taken; an empty text is the account itself. */
const TABS: Readonly<Record<AttentionReason, string>> = {
  suspended: "settings",
  disabled: "settings",
  low_balance: "",
  near_limit: "settings",
  expiring: "ledger",
  idle: "",
};

/** The colour of each reason: requests are refused now, will be soon, or nobody is hurt. */
export const REASON_COLORS: Readonly<Record<AttentionReason, "red" | "yellow" | "gray">> = {
  suspended: "red",
  disabled: "red",
  low_balance: "red",
  near_limit: "yellow",
  expiring: "yellow",
  idle: "gray",
};

/** Returns the address of the page on which the next step is taken. */
export const stepAddress = ({ id, reason }: Pick<AttentionRow, "id" | "reason">): string => {
  const tab = TABS[reason];
  return tab === "" ? `/accounts/${id}` : `/accounts/${id}/${tab}`;
};

/** How the figure of each reason is written. */
interface FigureWords {
  readonly balance: (amount: string) => string;
  readonly percent: (figure: string) => string;
  readonly expires: (amount: string) => string;
  readonly days: (count: string) => string;
}

/** Returns the figure of a row in its unit, which its reason decides; an empty text where it has none. */
export function figureText(
  { reason, figure }: { readonly reason: AttentionReason; readonly figure: Billionths | null },
  words: FigureWords,
): string {
  if (figure === null) return "";
  switch (reason) {
    case "suspended":
    case "disabled":
      return "";
    case "low_balance":
      return words.balance(usdText(nanosOf(figure)));
    case "near_limit":
      return words.percent(countText(figure));
    case "expiring":
      return words.expires(usdText(nanosOf(figure)));
    case "idle":
      return words.days(countText(figure));
  }
}
