// Both sides of a transfer before it is made, side by side, and how long the account's new balance lasts.

import { Table, Text } from "@mantine/core";
import { useAccountGet } from "../../api/account-view.ts";
import type { Account } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { Amount } from "../../components/amount.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { ACCOUNT } from "../../i18n/account.ts";
import { useWords } from "../../i18n/language.ts";
import { forecastOf } from "../home/forecast.ts";
import type { TransferPlan, TransferSide } from "./transfer-plan.ts";

/** Days whose pace the forecast takes. */
const PACE_DAYS = 7;

/** The plan of a transfer; `above` is the name of the account above. */
export function TransferTable(props: {
  readonly plan: TransferPlan;
  readonly kind: "give" | "take";
  readonly account: Account;
  readonly above: string;
}) {
  const { plan, kind, account, above } = props;
  const words = useWords(ACCOUNT).transfer;
  const outside = kind === "give" ? words.minted : words.unmade;
  const rows: readonly (readonly [string, TransferSide | null])[] =
    kind === "give"
      ? [
          [above, plan.above],
          [account.Name, plan.account],
        ]
      : [
          [account.Name, plan.account],
          [above, plan.above],
        ];
  return (
    <>
      <ScrollRegion label={words.account}>
        <Table fz="sm" verticalSpacing={4} horizontalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.account}</Table.Th>
              <Table.Th className="figure-cell">{words.before}</Table.Th>
              <Table.Th className="figure-cell">{words.change}</Table.Th>
              <Table.Th className="figure-cell">{words.after}</Table.Th>
              <Table.Th>{words.line}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([name, side]) => (
              <Table.Tr key={name}>
                <Table.Td>
                  <span className="cut short" title={name}>
                    {name}
                  </span>
                </Table.Td>
                {side === null ? (
                  <Table.Td colSpan={4} c="dimmed">
                    {outside}
                  </Table.Td>
                ) : (
                  <SideCells side={side} />
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      <Lasts plan={plan} />
    </>
  );
}

function SideCells({ side }: { readonly side: TransferSide }) {
  const words = useWords(ACCOUNT).transfer;
  return (
    <>
      <Table.Td className="figure-cell">
        <Amount value={side.before} />
      </Table.Td>
      <Table.Td className="figure-cell">
        <Amount value={side.change} isSigned />
      </Table.Td>
      <Table.Td className="figure-cell">
        <Amount value={side.after} />
      </Table.Td>
      <Table.Td>
        {side.line}
        {side.expires !== null && (
          <Text span size="xs" c="dimmed">
            {" "}
            {words.expires(side.expires)}
          </Text>
        )}
      </Table.Td>
    </>
  );
}

/** For how many days the account's balance lasts then, at the pace of the last days. */
function Lasts({ plan }: { readonly plan: TransferPlan }) {
  const words = useWords(ACCOUNT).transfer;
  const bill = useAccountGet("bill", { days: PACE_DAYS });
  if (bill.data === undefined) return null;
  const forecast = forecastOf(plan.account.after, bill.data.total_credit_used, PACE_DAYS, Date.now());
  return <Text size="sm">{forecast === null ? words.noPace : words.lasts(countText(forecast.days))}</Text>;
}
