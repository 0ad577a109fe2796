// What holds for an account: own values, those from above, and what they come to.

import { Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { type Account, idsBetween, useAccounts } from "../../api/accounts.ts";
import { useGet } from "../../api/queries.ts";
import { isRoot } from "../../api/role.ts";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { type Above, aboveOf, aboveOfMe, highestRates, listsThatHold, SHARED_LISTS } from "./effective.ts";
import { itemsOf } from "./list-change.ts";

/** The table; `account` is below the signed-in one. */
export function WhatHolds({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS);
  const above = useAbove(account);
  const highest = highestRates(above);
  const isHigherAbove = highest !== null && highest.rates > account.Rates;
  return (
    <Section title={words.holds}>
      <Text size="xs" c="dimmed">
        {words.holdsAbout}
      </Text>
      <ScrollRegion label={words.holds}>
        <Table fz="sm" verticalSpacing={3} horizontalSpacing="xs" className="holds">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.field}</Table.Th>
              <Table.Th>{words.own}</Table.Th>
              <Table.Th>{words.above}</Table.Th>
              <Table.Th>{words.effective}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            <Row
              field="Rates"
              own={account.Rates}
              above={highest === null ? "–" : words.from(highest.name, String(highest.rates))}
              holds={isHigherAbove ? highest.rates : account.Rates}
            />
            {SHARED_LISTS.map((field) => {
              const items = itemsOf(account[field]);
              const all = listsThatHold(field, { name: account.Name, items }, above);
              const fromAbove = listsThatHold(field, { name: "", items: [] }, above);
              return (
                <Row
                  key={field}
                  field={field}
                  own={items.length === 0 ? words.lists.all : items.join(" ")}
                  above={
                    fromAbove.length === 0
                      ? words.lists.all
                      : fromAbove.map(({ name, items: list }) => words.from(name, list.join(" "))).join(" · ")
                  }
                  holds={
                    all.length === 0
                      ? words.lists.all
                      : all.length === 1
                        ? all[0]!.items.join(" ")
                        : words.allOf(all.map(({ name }) => name).join(", "))
                  }
                />
              );
            })}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
    </Section>
  );
}

function Row(props: {
  readonly field: string;
  readonly own: ReactNode;
  readonly above: ReactNode;
  readonly holds: ReactNode;
}) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {props.field}
      </Table.Th>
      <Table.Td className="wraps">{props.own}</Table.Td>
      <Table.Td className="wraps" c="dimmed">
        {props.above}
      </Table.Td>
      <Table.Td className="wraps">{props.holds}</Table.Td>
    </Table.Tr>
  );
}

/** What the accounts above have, from the signed-in one down; Root has no lists, and no Rates that reach below. */
function useAbove(account: Account): readonly Above[] {
  const me = useStatus();
  const info = useGet("/dashboard/info", {}, { everyMs: 0, enabled: !isRoot(me) });
  const between = useAccounts(idsBetween(me, account.DNA)).filter((one) => one !== null);
  return [...(info.data === undefined ? [] : [aboveOfMe(info.data)]), ...between.map(aboveOf)];
}
