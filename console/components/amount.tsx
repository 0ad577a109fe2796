// An amount of money on a page: exact to the billionth when pointed at, and a link to what it is made of.

import { Anchor, Text } from "@mantine/core";
import { Link } from "wouter";
import { fullUsd, type Nanos, usdText } from "../api/amount.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** An amount in US dollars; null is shown as "no data", never as 0. `to` leads to its ledger lines. */
export function Amount(props: {
  readonly value: Nanos | null | undefined;
  readonly to?: string;
  /** Larger, for the headline figures of a page. */
  readonly size?: "sm" | "lg";
  /** Marks what is below 0, and what came in. */
  readonly isSigned?: boolean;
}) {
  const { value, to, size = "sm", isSigned = false } = props;
  const { noData } = useWords(SHELL);
  if (value === null || value === undefined) {
    return (
      <Text span size="sm" c="dimmed">
        {noData}
      </Text>
    );
  }
  const sign = isSigned && value > 0n ? "+" : "";
  // A table has hundreds of amounts: the browser's own title costs nothing.
  const shown = (
    <Text
      span
      size={size}
      fw={size === "lg" ? 600 : "inherit"}
      className="figure"
      title={`${fullUsd(value)} USD`}
      data-pad={missingZeros(value)}
      {...colorOf(value, isSigned)}
    >
      {sign}
      {usdText(value)}
    </Text>
  );
  if (to === undefined) return shown;
  return (
    <Anchor component={Link} href={to} underline="hover" inherit>
      {shown}
    </Anchor>
  );
}

/** What the amount lacks to nine decimals. In columns it takes up its place unseen, so that decimal points stand in line. */
const missingZeros = (value: Nanos): string => "0".repeat(fullUsd(value).length - usdText(value).length);

const colorOf = (value: Nanos, isSigned: boolean): { readonly c?: string } =>
  isSigned && value > 0n
    ? { c: "var(--console-positive)" }
    : value < 0n && !isSigned
      ? { c: "var(--console-negative)" }
      : {};
