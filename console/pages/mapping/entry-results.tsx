// What each entry of the map does at this moment: a name that it applies to is asked about, as a request would be.

import { Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { countText } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { callApi } from "../../api/call.ts";
import type { CallFailed } from "../../api/failure.ts";
import type { MapEntry } from "../../api/map-text.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { useWords } from "../../i18n/language.ts";
import { MAPPING } from "../../i18n/mapping.ts";
import { sampleOf } from "./known-map.ts";

type Explained = Answers["/dashboard/explain"];

/** Entries that are asked about; a map may have thousands. */
const RESULTS_MAX = 20;
const PATH = "/dashboard/explain";

interface Row {
  readonly entry: MapEntry;
  readonly sample: string | null;
  readonly found: Explained | null;
  readonly failed: string | null;
}

/** The entries with their results; null: the map is not known. `models`: names that the account may call. */
export function EntryResults(props: {
  readonly entries: readonly MapEntry[] | null;
  readonly models: readonly string[];
}) {
  const { models } = props;
  const entries = props.entries ?? [];
  const words = useWords(MAPPING);
  const shown = entries.slice(0, RESULTS_MAX);
  const rows = useRows(
    shown,
    entries.map(({ left }) => left),
    models,
  );
  if (entries.length === 0) {
    return <Empty text={props.entries === null ? words.unknownResults : words.noResults} />;
  }
  return (
    <div className="mapping-results">
      <DataTable
        caption={words.results}
        columns={columnsOf(words)}
        rows={rows}
        keyOf={({ entry }) => entry.left}
      />
      {entries.length > RESULTS_MAX && (
        <Text size="xs" c="dimmed" mt={4}>
          {words.moreResults(countText(entries.length - RESULTS_MAX))}
        </Text>
      )}
    </div>
  );
}

/** Asks about every entry once; a write asks again. */
function useRows(
  shown: readonly MapEntry[],
  lefts: readonly string[],
  models: readonly string[],
): readonly Row[] {
  const samples = shown.map(({ left }) => sampleOf(left, lefts, models));
  const answers = useQueries({
    queries: samples.map((model) => ({
      queryKey: [PATH, { model }],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
        (await callApi({ method: "GET", path: PATH, query: { model: model ?? "" }, signal })) as Explained,
      enabled: model !== null,
    })),
  });
  return shown.map((entry, nth) => {
    const error = answers[nth]?.error as CallFailed | null | undefined;
    return {
      entry,
      sample: samples[nth] ?? null,
      found: answers[nth]?.data ?? null,
      failed: error == null ? null : error.message,
    };
  });
}

const columnsOf = (words: (typeof MAPPING)["en"]): readonly Column<Row>[] => [
  { key: "entry", title: words.entry, cell: ({ entry }) => <Cut text={ruleOf(entry)} /> },
  {
    key: "becomes",
    title: words.becomes,
    cell: ({ found, sample }) => (
      <Cut text={found?.decision.model ?? ""} title={`${words.askedFor}: ${sample ?? ""}`} />
    ),
  },
  { key: "level", title: words.level, isFigure: true, cell: ({ found }) => found?.decision.level ?? "" },
  { key: "result", title: words.result, cell: (row) => <Result row={row} words={words} /> },
];

const ruleOf = ({ left, right }: MapEntry): string => `${left}=${right}`;

const Cut = ({ text, title = text }: { readonly text: string; readonly title?: string }) => (
  <span className="cut" title={title}>
    {text}
  </span>
);

function Result({ row, words }: { readonly row: Row; readonly words: (typeof MAPPING)["en"] }) {
  const { entry, sample, found, failed } = row;
  if (sample === null)
    return (
      <Text size="sm" c="dimmed">
        {words.noSample}
      </Text>
    );
  if (failed !== null) return <span role="alert">{failed}</span>;
  if (found === null) return <span aria-busy="true" />;
  const first = found.steps.find(({ step }) => step === "user_mapper");
  const isOverruled = first?.rule !== undefined && first.rule !== ruleOf(entry);
  const { admitted, refusal } = found.decision;
  return (
    <span data-admitted={admitted}>
      {admitted ? words.admitted : <span title={refusal?.message}>{refusal?.code}</span>}
      {first?.note !== undefined && ` · ${first.note}`}
      {isOverruled && ` · ${words.overruled(first.rule ?? "")}`}
    </span>
  );
}
