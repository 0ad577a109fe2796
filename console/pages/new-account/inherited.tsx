// What a new account takes over, and from whom: values that the form does not ask for, greyed, and the lists above it.

import { Stack, Table, Text } from "@mantine/core";
import type { Answers } from "../../api/answers.ts";
import { isRoot } from "../../api/role.ts";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEW_ACCOUNT } from "../../i18n/new-account.ts";

/** How every Owner begins (contract section 3). */
const OWNER_START = { Level: 0, Role: 0, Gear: 1, Tier: 0, Factor: 1, Rates: 1 };

/** The values that a new account begins with because its parent has them. `rates`: what is typed, which goes first. */
export function Inherited(props: { readonly info: Answers["/dashboard/info"]; readonly rates: string }) {
  const { info, rates } = props;
  const words = useWords(NEW_ACCOUNT);
  const me = useStatus();
  const { level, role, gear, tier, factor, rates: ownRates } = info.user;
  const values = isRoot(me)
    ? OWNER_START
    : { Level: level, Role: role, Gear: gear, Tier: tier, Factor: factor, Rates: ownRates };
  const origin = isRoot(me) ? words.ownerStart : words.inheritedFrom(me.name);
  const { allow_models, allow_levels, resources } = info.restrictions;
  const lists = { AllowModels: allow_models, AllowLevels: allow_levels, Resources: resources };
  return (
    <Section title={words.inherited}>
      <Stack gap="xs">
        <Table verticalSpacing={2} horizontalSpacing={4} fz="sm" withRowBorders={false}>
          <Table.Tbody>
            {Object.entries(values).map(([field, value]) => {
              const isTyped = field === "Rates" && rates.trim() !== "";
              return (
                <Table.Tr key={field}>
                  <Table.Th scope="row" fw={400}>
                    {field}
                  </Table.Th>
                  <Table.Td className="figure-cell" c={isTyped ? "inherit" : "dimmed"}>
                    {isTyped ? rates : value}
                  </Table.Td>
                  <Table.Td c="dimmed">
                    <span className="cut">{isTyped ? "" : origin}</span>
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
        {!isRoot(me) && (
          <Text size="xs" c="dimmed">
            {words.passes}:
          </Text>
        )}
        {!isRoot(me) &&
          Object.entries(lists).map(([field, list]) => (
            <Text key={field} size="xs" c="dimmed" className="text-block">
              {field}: {list.length === 0 ? words.everything : list.join(", ")}
            </Text>
          ))}
      </Stack>
    </Section>
  );
}
