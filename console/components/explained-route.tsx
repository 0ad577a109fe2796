// Where a request would go now, from an explanation: what would be decided, the steps of its route, the limits with what is left
// of them, and the provider keys that could take it.

import { Alert, Stack, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { type Billionths, countText, nanosOf, usdText } from "../api/amount.ts";
import type { Answers } from "../api/answers.ts";
import { isDollarFigure } from "../api/exact-json.ts";
import { useWords } from "../i18n/language.ts";
import { ROUTE } from "../i18n/route.ts";
import { Countdown } from "./countdown.tsx";
import { Advice } from "./failure-notice.tsx";
import { ScrollRegion } from "./scroll-region.tsx";
import { utcText } from "./time.tsx";

/** An explanation of where a request would go. */
export type ExplainedRoute = Answers["/dashboard/explain"];

/** Writes a figure of a limit: dollars, or a count. */
export const limitText = (name: string, figure: Billionths): string =>
  isDollarFigure(name) ? `${usdText(nanosOf(figure))} USD` : countText(figure);

/** The same without the unit, where the row says it. */
const bareText = (name: string, figure: Billionths): string =>
  isDollarFigure(name) ? usdText(nanosOf(figure)) : countText(figure);

/** What would be decided about a request at this moment, and what to do about a refusal. */
export function RouteDecision({ route }: { readonly route: ExplainedRoute }) {
  const words = useWords(ROUTE);
  const { admitted, refusal, model, level } = route.decision;
  if (admitted || refusal === null) {
    return (
      <Alert color="arbor" title={words.admitted} role="status" data-admitted="true">
        {words.goesTo(model ?? route.model, level)}
      </Alert>
    );
  }
  return (
    <Alert color="red" title={words.refused(refusal.code)} role="status" data-admitted="false">
      <Text size="sm">{refusal.message}</Text>
      <Advice code={refusal.code} />
    </Alert>
  );
}

/** The steps, limits and provider keys of an explanation, each as a table. */
export function RouteTables({ route }: { readonly route: ExplainedRoute }) {
  const words = useWords(ROUTE);
  const { steps, limits, candidates } = route;
  return (
    <Stack gap="sm">
      <Part
        title={words.steps}
        heads={[words.step, words.in, words.out, words.rule]}
        isEmpty={steps.length === 0}
      >
        {steps.map((step, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are numbered
          <Table.Tr key={nth}>
            <Table.Td>{step.step}</Table.Td>
            <Table.Td>{step.in}</Table.Td>
            <Table.Td>{step.out}</Table.Td>
            <Table.Td className="wraps">{[step.rule, step.note].filter(Boolean).join(" · ")}</Table.Td>
          </Table.Tr>
        ))}
      </Part>
      {limits.length > 0 && (
        <div>
          <Title order={3}>{words.limits}</Title>
          <RouteLimits limits={limits} />
        </div>
      )}
      <Part
        title={words.keys}
        heads={[words.model, words.level, words.key, words.state]}
        isEmpty={candidates.length === 0}
      >
        {candidates.map((row, nth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: candidates are in their order
          <Table.Tr key={nth}>
            <Table.Td>{row.model}</Table.Td>
            <Table.Td>{row.level}</Table.Td>
            <Table.Td>{row.key_id === undefined ? words.countOfKeys(row.count ?? 0) : row.key_id}</Table.Td>
            <Table.Td className="wraps">
              {[row.state, row.reason, row.until && words.until(utcText(row.until))]
                .filter(Boolean)
                .join(" · ")}
            </Table.Td>
          </Table.Tr>
        ))}
      </Part>
    </Stack>
  );
}

/** The limits that were looked at, with what is left of them. */
export function RouteLimits({ limits }: { readonly limits: ExplainedRoute["limits"] }) {
  const words = useWords(ROUTE);
  return (
    <PlainTable
      label={words.limits}
      heads={[words.limit, words.left, words.of, words.resets]}
      figures={[1, 2]}
    >
      {limits.map((row) => (
        <Table.Tr key={`${row.scope} ${row.name}`}>
          <Table.Td>
            {words.scopes[row.scope]} {row.name}
            {isDollarFigure(row.name) && ", USD"}
          </Table.Td>
          <Table.Td className="figure-cell">{bareText(row.name, row.remaining)}</Table.Td>
          <Table.Td className="figure-cell">{bareText(row.name, row.limit)}</Table.Td>
          <Table.Td>{row.resets_at !== null && <Countdown until={row.resets_at} />}</Table.Td>
        </Table.Tr>
      ))}
    </PlainTable>
  );
}

/** A titled table; nothing where it has no rows. */
function Part(props: {
  readonly title: string;
  readonly heads: readonly string[];
  readonly isEmpty: boolean;
  readonly children: ReactNode;
}) {
  const { title, heads, isEmpty, children } = props;
  if (isEmpty) return null;
  return (
    <div>
      <Title order={3}>{title}</Title>
      <PlainTable label={title} heads={heads}>
        {children}
      </PlainTable>
    </div>
  );
}

/** A table with these headings; those of `figures` stand at the right. */
function PlainTable(props: {
  readonly label: string;
  readonly heads: readonly string[];
  readonly figures?: readonly number[];
  readonly children: ReactNode;
}) {
  const { label, heads, figures = [], children } = props;
  return (
    <ScrollRegion label={label}>
      <Table fz="sm" verticalSpacing={2} horizontalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head, nth) => (
              <Table.Th
                key={head}
                fz="xs"
                fw={600}
                {...(figures.includes(nth) ? { className: "figure-cell" } : {})}
              >
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </ScrollRegion>
  );
}
