// The nodes of the service: which are there, what they own, and the figures that must be zero.

import { Alert, Badge, Stack, Text } from "@mantine/core";
import { countText } from "../../../api/amount.ts";
import type { Answers } from "../../../api/answers.ts";
import { useGet } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { useWords } from "../../../i18n/language.ts";
import { ROOT_PAGES } from "../../../i18n/root.ts";
import { SHELL } from "../../../i18n/shell.ts";

/** Milliseconds between two looks at the cluster. */
const LOOK_MS = 5_000;

type Overview = Answers["/x-cluster"];
type Node = Overview["nodes"][number];
type Figures = Readonly<Record<string, number>>;

const STATE_COLORS = { up: "arbor", leaving: "yellow", dead: "red" } as const;

/** The page of the cluster. */
export default function Cluster() {
  const { page } = useWords(SHELL);
  const words = useWords(ROOT_PAGES).cluster;
  const asked = useGet("/x-cluster", {}, { everyMs: LOOK_MS });
  return (
    <Page title={page.cluster} about={asked.data && words.answeredBy(asked.data.node)}>
      <AskedState asked={asked} rows={10}>
        {(overview) => (
          <Stack gap="sm">
            <Nodes overview={overview} />
            <Zero overview={overview} />
            <Section title={words.now}>
              <FigureTable caption={words.now} overview={overview} part="gauges" />
            </Section>
          </Stack>
        )}
      </AskedState>
    </Page>
  );
}

function Nodes({ overview }: { readonly overview: Overview }) {
  const words = useWords(ROOT_PAGES).cluster;
  const unowned = overview.shards.filter(({ owner }) => owner === null).length;
  const columns: readonly Column<Node>[] = [
    { key: "name", title: words.node, cell: ({ name }) => name },
    {
      key: "state",
      title: words.state,
      cell: ({ state }) => (
        <Badge tt="none" miw="max-content" color={STATE_COLORS[state]}>
          {words.states[state]}
        </Badge>
      ),
    },
    { key: "shards", title: words.shards, isFigure: true, cell: ({ shards }) => countText(shards) },
    { key: "version", title: words.version, cell: ({ version }) => version ?? words.noReport },
    { key: "incarnation", title: words.incarnation, isMinor: true, cell: ({ incarnation }) => incarnation },
  ];
  return (
    <Section
      title={words.nodes}
      aside={
        <Text size="xs" c={unowned > 0 ? "var(--console-negative)" : "dimmed"}>
          {unowned > 0 ? words.unowned(unowned) : words.owned(overview.shards.length)}
        </Text>
      }
    >
      <DataTable
        caption={words.nodes}
        columns={columns}
        rows={overview.nodes}
        keyOf={({ name, incarnation }) => `${name} ${incarnation}`}
      />
    </Section>
  );
}

function Zero({ overview }: { readonly overview: Overview }) {
  const words = useWords(ROOT_PAGES).cluster;
  const isZero = Object.values(overview.health as Figures).every((figure) => figure === 0);
  return (
    <Section title={words.zero}>
      <Alert color={isZero ? "arbor" : "red"} mb="xs" role="status">
        {isZero ? words.zeroAll : words.zeroNot}
      </Alert>
      <FigureTable caption={words.zero} overview={overview} part="health" />
    </Section>
  );
}

/** A row for each figure: its name, what it means, its value on all nodes and on each. */
function FigureTable(props: {
  readonly caption: string;
  readonly overview: Overview;
  readonly part: "health" | "gauges";
}) {
  const { caption, overview, part } = props;
  const { cluster: words, figures } = useWords(ROOT_PAGES);
  const { noData } = useWords(SHELL);
  const total = overview[part] as Figures;
  const shown = (figure: number | undefined) => (figure === undefined ? noData : countText(figure));
  const columns: readonly Column<string>[] = [
    {
      key: "figure",
      title: words.figure,
      cell: (name) => (
        <Text size="sm" title={name}>
          {figures[name] ?? name}
        </Text>
      ),
    },
    { key: "total", title: words.total, isFigure: true, cell: (name) => shown(total[name]) },
    // Where there is one node, its figures are those of all nodes.
    ...(overview.nodes.length === 1 ? [] : overview.nodes).map((node) => ({
      key: `${node.name} ${node.incarnation}`,
      title: node.name,
      isFigure: true,
      isMinor: true,
      cell: (name: string) => shown((node[part] as Figures | null)?.[name]),
    })),
  ];
  return <DataTable caption={caption} columns={columns} rows={Object.keys(total)} keyOf={(name) => name} />;
}
