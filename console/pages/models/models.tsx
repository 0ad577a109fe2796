// The models that an account may call, at its own prices: searched and chosen here, because the whole list is one answer.

import { SegmentedControl, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { useMemo } from "react";
import { countText } from "../../api/amount.ts";
import { kindOf, MODEL_KINDS, type Model, type ModelKind } from "../../api/model-kind.ts";
import { useGet } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { FilterBar } from "../../components/filter-bar.tsx";
import { NoModels } from "../../components/my-models.tsx";
import { Page } from "../../components/page.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { MODELS } from "../../i18n/models.ts";
import { SHELL } from "../../i18n/shell.ts";
import { type LimitsByModel, limitTexts } from "./model-limits.ts";
import { COLUMNS_OF, decimalsIn, isPriced, Price, type PriceField } from "./model-prices.tsx";
import { ModelSheet } from "./model-sheet.tsx";

const DEFAULTS = { q: "", kind: "", model: "" };
/** More rows than anybody reads; the search finds the others. */
const ROWS_MAX = 200;

/** The page of models. */
export default function Models() {
  const { page } = useWords(SHELL);
  const words = useWords(MODELS);
  const models = useGet("/dashboard/models");
  const info = useGet("/dashboard/info");
  return (
    <Page title={page.models} about={words.about}>
      <AskedState asked={models} rows={12}>
        {(answer) => <Found models={answer.models} limits={info.data?.model_limits ?? {}} />}
      </AskedState>
    </Page>
  );
}

const groupByKind = (models: readonly Model[]): ReadonlyMap<ModelKind, Model[]> =>
  Map.groupBy(models, ({ id, price }) => kindOf(id, price));

function Found({ models, limits }: { readonly models: readonly Model[]; readonly limits: LimitsByModel }) {
  const words = useWords(MODELS);
  const status = useStatus();
  const [state, change] = useUrlState(DEFAULTS);
  const byKind = useMemo(() => groupByKind(models), [models]);
  const kinds = MODEL_KINDS.filter((kind) => byKind.has(kind));
  const kind = kinds.find((one) => one === state.kind) ?? kinds[0];
  if (kind === undefined) return <NoModels status={status} />;
  const wanted = state.q.toLowerCase();
  const found = byKind
    .get(kind)!
    .filter(({ id, provider }) => `${id} ${provider}`.toLowerCase().includes(wanted));
  const opened = models.find(({ id }) => id === state.model);
  return (
    <Stack gap="sm">
      <FilterBar onClear={null}>
        <TextInput
          label={words.search}
          type="search"
          value={state.q}
          onChange={(event) => change({ q: event.currentTarget.value }, true)}
          w={220}
        />
        <SegmentedControl
          className="model-kinds"
          aria-label={words.kind}
          data={kinds.map((value) => ({
            value,
            label: `${words.kinds[value]} ${byKind.get(value)!.length}`,
          }))}
          value={kind}
          onChange={(value) => change({ kind: value })}
        />
      </FilterBar>
      {found.length === 0 ? (
        <Empty text={words.empty} />
      ) : (
        <ModelTable
          models={found.slice(0, ROWS_MAX)}
          kind={kind}
          limits={limits}
          onOpen={(model) => change({ model: model.id })}
        />
      )}
      {found.length > ROWS_MAX && (
        <Text size="sm" c="dimmed">
          {words.more(countText(found.length - ROWS_MAX))}
        </Text>
      )}
      {opened !== undefined && (
        <ModelSheet
          model={opened}
          limits={limitTexts(limits, opened.id)}
          onClose={() => change({ model: "" })}
        />
      )}
    </Stack>
  );
}

const priceColumn = (
  field: PriceField,
  title: string,
  decimals: number,
  isMinor: boolean,
): Column<Model> => ({
  ...{ key: field, title, isFigure: true, isMinor },
  cell: ({ price }) => <Price price={price} field={field} decimals={decimals} />,
});

function ModelTable(props: {
  readonly models: readonly Model[];
  readonly kind: ModelKind;
  readonly limits: LimitsByModel;
  readonly onOpen: (model: Model) => void;
}) {
  const { models, kind, limits, onOpen } = props;
  const words = useWords(MODELS);
  const { page, noData } = useWords(SHELL);
  const tokenColumn = (key: string, title: string, tokensOf: (model: Model) => number): Column<Model> => ({
    ...{ key, title, isFigure: true, isMinor: true },
    cell: (row) => (tokensOf(row) === 0 ? noData : countText(tokensOf(row))),
  });
  const columns: readonly Column<Model>[] = [
    {
      key: "id",
      title: words.model,
      cell: (row) => (
        <UnstyledButton
          fz="sm"
          fw={600}
          className="model-name"
          title={row.id}
          onClick={() => onOpen(row)}
          aria-label={words.open(row.id)}
        >
          {row.id}
        </UnstyledButton>
      ),
    },
    ...COLUMNS_OF[kind]
      .filter((field) => isPriced(models, field))
      .map((field, nth) => priceColumn(field, words.price[field], decimalsIn(models, field), nth >= 2)),
    ...(models.some(({ context_window }) => context_window > 0)
      ? [
          tokenColumn("context", words.context, ({ context_window }) => context_window),
          tokenColumn("output", words.output, ({ max_output_tokens }) => max_output_tokens),
        ]
      : []),
    { key: "provider", title: words.provider, isMinor: true, cell: (row) => row.provider || noData },
    ...(models.some(({ id }) => limitTexts(limits, id).length > 0)
      ? [
          {
            ...{ key: "limits", title: words.limits, isMinor: true },
            cell: ({ id }: Model) => limitTexts(limits, id).join(" · "),
          },
        ]
      : []),
  ];
  return (
    <DataTable caption={page.models} columns={columns} rows={models} keyOf={({ id }) => id} onOpen={onOpen} />
  );
}
