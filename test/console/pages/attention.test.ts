// Attention: the figure of each reason in its unit, and where its next step is taken.

import { expect, test } from "bun:test";
import { type Billionths, billionthsOf } from "../../../console/api/amount.ts";
import { figureText, stepAddress } from "../../../console/pages/attention/next-step.ts";

const WORDS = {
  balance: (amount: string) => `balance ${amount}`,
  percent: (figure: string) => `${figure} %`,
  expires: (amount: string) => `${amount} soon`,
  days: (count: string) => `${count} days`,
};
const figure = (text: string): Billionths => billionthsOf(text)!;

test.each([
  ["low_balance", "-0.250000001", "balance -0.250000001", "/accounts/7"],
  ["near_limit", "93.75", "93.75 %", "/accounts/7/settings"],
  ["expiring", "12.4", "12.40 soon", "/accounts/7/ledger"],
  ["idle", "1284", "1,284 days", "/accounts/7"],
  ["suspended", null, "", "/accounts/7/settings"],
  ["disabled", null, "", "/accounts/7/settings"],
] as const)("%s %p is %p, and leads to %s", (reason, given, text, address) => {
  expect(figureText({ reason, figure: given === null ? null : figure(given) }, WORDS)).toBe(text);
  expect(stepAddress({ id: 7, reason })).toBe(address);
});
