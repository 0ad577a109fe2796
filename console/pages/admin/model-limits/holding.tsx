// What limits one model: the system's default, the Owner's entry, the account's own, and what holds in the end.

import { Stack, Table, Text } from "@mantine/core";
import { countText } from "../../../api/amount.ts";
import { useGet } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { TextFilter } from "../../../components/filter-bar.tsx";
import { ScrollRegion } from "../../../components/scroll-region.tsx";
import { Section } from "../../../components/section.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useWords } from "../../../i18n/language.ts";
import { LIMIT_WORDS } from "../../../i18n/model-limits.ts";
import { holdingLimits, LIMIT_FIELDS, type LimitField, type LimitMap } from "./limit-draft.ts";

const DEFAULTS = { model: "" };

/** Shows which limits hold for a model that is named in the address. `ofOwner`: the grid as it is typed. */
export function Holding({ ofOwner }: { readonly ofOwner: LimitMap }) {
  const words = useWords(LIMIT_WORDS);
  const [state, change] = useUrlState(DEFAULTS);
  const asked = useGet("/dashboard/info");
  const model = state.model || (Object.keys(ofOwner).find((name) => !name.includes("*")) ?? "");
  return (
    <Section title={words.holding}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {words.holdingAbout}
        </Text>
        <TextFilter
          label={words.model}
          value={model}
          width={260}
          placeholder={words.modelExample}
          onChange={(name) => change({ model: name })}
        />
        {model !== "" && (
          <AskedState asked={asked} rows={4}>
            {({ model_limits: ofAccount }) => (
              <Layers model={model} ofAccount={ofAccount} ofOwner={ofOwner} />
            )}
          </AskedState>
        )}
      </Stack>
    </Section>
  );
}

function Layers(props: { readonly model: string; readonly ofAccount: LimitMap; readonly ofOwner: LimitMap }) {
  const { model, ofAccount, ofOwner } = props;
  const words = useWords(LIMIT_WORDS);
  const { own, owner, limits } = holdingLimits(model, ofAccount, ofOwner);
  const limitText = (limit: number | undefined) => (limit ? countText(limit) : words.noLimit);
  const layers = [
    { name: words.system, entry: null, cell: () => words.noLimit },
    {
      name: words.owner,
      entry: owner,
      cell: (field: LimitField) => (owner === null ? "–" : figureOf(ofOwner[owner]![field])),
    },
    {
      name: words.own,
      entry: own,
      cell: (field: LimitField) => (own === null ? "–" : figureOf(ofAccount[own]![field])),
    },
  ];
  return (
    <ScrollRegion label={words.holding}>
      <Table verticalSpacing={3} horizontalSpacing="xs" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.layer}</Table.Th>
            <Table.Th>{words.entry}</Table.Th>
            {LIMIT_FIELDS.map((field) => (
              <Table.Th key={field} className="figure-cell">
                {words.field[field]}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {layers.map(({ name, entry, cell }) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ff="monospace">{entry ?? "–"}</Table.Td>
              {LIMIT_FIELDS.map((field) => (
                <Table.Td key={field} className="figure-cell">
                  {cell(field)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Table.Tr>
            <Table.Td fw={600}>{words.effective}</Table.Td>
            <Table.Td />
            {LIMIT_FIELDS.map((field) => (
              <Table.Td key={field} className="figure-cell" fw={600}>
                {limitText(limits[field]?.limit)}
              </Table.Td>
            ))}
          </Table.Tr>
        </Table.Tfoot>
      </Table>
    </ScrollRegion>
  );
}

/** A figure of an entry: 0 takes away the limit of the layer before it. */
const figureOf = (limit: number | undefined): string => (limit === undefined ? "–" : countText(limit));
