// Nothing unaccounted: where all credit came from and where it is, from one consistent cut of the tree, ending in a difference of
// exactly 0; and when the whole ledger was last computed again. The sums are the server's; the page adds them up once more.

import { Alert, Code, SimpleGrid, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import {
  addNanos,
  compareExact,
  countText,
  fullUsd,
  type Nanos,
  NO_NANOS,
  subtractNanos,
  usdText,
} from "../../../api/amount.ts";
import type { Answers } from "../../../api/answers.ts";
import { useGet } from "../../../api/queries.ts";
import { isAllowed } from "../../../api/role.ts";
import { TreeFlow } from "../../../charts/tree-flow.tsx";
import { AskedState } from "../../../components/asked-state.tsx";
import { DataTable } from "../../../components/data-table.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { Time, utcText } from "../../../components/time.tsx";
import { useStatus } from "../../../frame/status.ts";
import { useWords } from "../../../i18n/language.ts";
import { ROOT_PAGES } from "../../../i18n/root.ts";
import { SHELL } from "../../../i18n/shell.ts";

/** The service makes at most one cut a minute. */
const CUT_MS = 60_000;

type Money = Answers["/x-money"];

const SOURCES = ["minted", "moved_in", "adjusted", "written_off"] as const;
const USES = ["balances", "under_way", "charges", "fees", "expired", "returned", "moved_out"] as const;
type Part = (typeof SOURCES)[number] | (typeof USES)[number];

/** The page of the money map. */
export default function Integrity() {
  const { page } = useWords(SHELL);
  const status = useStatus();
  const asked = useGet("/x-money", {}, { everyMs: CUT_MS });
  return (
    <Page title={page.integrity}>
      <Stack gap="sm">
        <AskedState asked={asked} rows={8}>
          {(money) => <MoneyMap money={money} />}
        </AskedState>
        {isAllowed(status, "root") && <LastVerify />}
      </Stack>
    </Page>
  );
}

const sumOf = (money: Money, parts: readonly Part[]): Nanos =>
  parts.map((part) => money[part]).reduce(addNanos, NO_NANOS);

function MoneyMap({ money }: { readonly money: Money }) {
  const words = useWords(ROOT_PAGES).integrity;
  const { noData } = useWords(SHELL);
  const came = sumOf(money, SOURCES);
  const item = (part: Part) => ({
    key: part,
    label: words.parts[part],
    value: money[part],
  });
  const largest = [came, sumOf(money, USES)].sort(compareExact)[1]!;
  return (
    <Section
      title={words.map}
      aside={
        <Text size="xs" c="dimmed">
          {words.mapAbout(utcText(money.at))}
        </Text>
      }
    >
      <TreeFlow
        label={words.map}
        whole={largest}
        sources={SOURCES.map(item)}
        uses={USES.map(item)}
        text={usdText}
        noData={noData}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }} mt="sm">
        <Parts title={words.came} money={money} parts={SOURCES} />
        <Parts title={words.where} money={money} parts={USES} />
      </SimpleGrid>
      <Text size="xs" c="dimmed" mt="xs">
        {words.held(usdText(money.held))}
      </Text>
      <Proof money={money} />
    </Section>
  );
}

/** What came in less where it is, added up here, beside the difference of the service. */
function Proof({ money }: { readonly money: Money }) {
  const words = useWords(ROOT_PAGES).integrity;
  const [came, where] = [sumOf(money, SOURCES), sumOf(money, USES)];
  const isExact = money.difference === 0n && subtractNanos(came, where) === money.difference;
  return (
    <Alert
      color={isExact ? "arbor" : "red"}
      title={isExact ? words.nothing : words.bug}
      role="status"
      mt="sm"
      data-difference={String(money.difference)}
    >
      <div className="money-proof figure">
        <Figure name={words.came}>{fullUsd(came)}</Figure>
        <Figure name={words.where}>− {fullUsd(where)}</Figure>
        <Figure name={words.difference}>
          = {fullUsd(money.difference)} {isExact && "✓"}
        </Figure>
      </div>
    </Alert>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="xs">{name}</Text>
      <Text size="lg" fw={600}>
        {children}
      </Text>
    </div>
  );
}

function Parts(props: { readonly title: string; readonly money: Money; readonly parts: readonly Part[] }) {
  const { title, money, parts } = props;
  const words = useWords(ROOT_PAGES).integrity;
  return (
    <DataTable
      caption={title}
      columns={[
        { key: "part", title, cell: (part) => words.parts[part] },
        { key: "amount", title: "USD", isFigure: true, cell: (part) => fullUsd(money[part]) },
      ]}
      rows={parts}
      keyOf={(part) => part}
      footer={[words.sum, fullUsd(sumOf(money, parts))]}
    />
  );
}

/** The last run of `verify`, which computes the whole ledger again. */
function LastVerify() {
  const words = useWords(ROOT_PAGES).integrity;
  const asked = useGet("/x-cluster");
  return (
    <Section title={words.verify}>
      <AskedState asked={asked} rows={2}>
        {({ last_verify: last }) =>
          last === null ? (
            <Empty text={words.verifyNone}>
              <Code>{words.verifyCommand}</Code>
            </Empty>
          ) : (
            <Stats>
              <Stat label={words.verify}>
                <Time at={last.at} isShort />
              </Stat>
              <Stat label={words.differences}>{countText(last.differences)}</Stat>
              <Stat label={words.lines}>{countText(last.lines)}</Stat>
              <Stat label={words.accounts}>{countText(last.accounts)}</Stat>
              <Stat label={words.took}>{words.seconds((last.ms / 1_000).toFixed(1))}</Stat>
            </Stats>
          )
        }
      </AskedState>
    </Section>
  );
}
