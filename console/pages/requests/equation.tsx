// The equation behind a charge: every count times its price, times the multipliers, added up and rounded once in this page, and
// compared with what was charged.

import { Badge, Group, Stack, Table, Text } from "@mantine/core";
import { fullUsd } from "../../api/amount.ts";
import { type ExplainedRequest, equationOf, type PricedUsage } from "../../api/equation.ts";
import { decimalText, type Rational } from "../../api/rational.ts";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";

const grouped = (text: string): string => {
  const [whole = "", ...decimals] = text.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...decimals].join(".");
};
const figure = (value: Rational): string => grouped(decimalText(value));

/** The equation of a request, or why there is none. */
export function EquationOf({ request }: { readonly request: ExplainedRequest }) {
  const words = useWords(REQUESTS);
  const equation = equationOf(request);
  if (equation.kind === "none") {
    if (equation.reason === "not_charged") return null;
    return (
      <Section title={words.equation}>
        <Text size="sm" c="dimmed">
          {words.noEquation[equation.reason]}
        </Text>
      </Section>
    );
  }
  const { main, parts, exact, total, matches } = equation;
  return (
    <Section title={words.equation}>
      <Stack gap="xs">
        {[main, ...parts].map((priced, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity, and may have one name
          <Products key={nth} priced={priced} />
        ))}
        {parts.length > 0 && (
          <Text size="sm" className="figure">
            {words.together} = {figure(exact)} USD
          </Text>
        )}
        <Group gap="xs" data-equation={matches}>
          <Text size="sm" fw={600} className="figure">
            {words.rounded} {fullUsd(total)} USD
          </Text>
          <Badge color={matches ? "arbor" : "red"}>
            {matches ? words.equalsCharge : words.differsFromCharge(fullUsd(request.cost))}
          </Badge>
        </Group>
      </Stack>
    </Section>
  );
}

/** The products of one price, and the multipliers of their sum. */
function Products({ priced }: { readonly priced: PricedUsage }) {
  const words = useWords(REQUESTS);
  const { name, group, tier, image, rows, multipliers, usd } = priced;
  const about = [name, group, tier, image?.quality, image?.size].filter(Boolean).join(" · ");
  return (
    <ScrollRegion label={about}>
      <Table fz="sm" verticalSpacing={2} horizontalSpacing={6}>
        <Table.Caption style={{ captionSide: "top" }} ta="left" fz="xs">
          {about}
        </Table.Caption>
        <Table.Tbody>
          {rows.map(({ count, field, quantity, price, per, usd: product }) => (
            <Table.Tr key={`${count} ${field}`}>
              <Table.Td>{words.counts[count]}</Table.Td>
              <Table.Td className="figure-cell">{figure(quantity)}</Table.Td>
              <Table.Td className="figure-cell" title={field}>
                × {figure(price)}
                {per === 1n ? "" : ` / ${grouped(String(per))}`}
              </Table.Td>
              <Table.Td className="figure-cell">= {figure(product)}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Td colSpan={3} className="wraps">
              {words.multipliers(
                figure(multipliers.model),
                figure(multipliers.rates),
                figure(multipliers.factor),
              )}
            </Table.Td>
            <Table.Td className="figure-cell">= {figure(usd)}</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  );
}
