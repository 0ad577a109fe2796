// The limits of models that hold for an account, its Owner's too, each with what counts against it now.

import { Text } from "@mantine/core";
import { countText } from "../../api/amount.ts";
import type { Answers } from "../../api/answers.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import type { LiveLimit } from "../../components/live-limit.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { LIMITS } from "../../i18n/limits.ts";

const NAMES = ["rpm", "rph", "rpd", "tpm", "tph", "tpd"] as const;

interface Row {
  readonly model: string;
  /** Limits by their names. */
  readonly limits: ReadonlyMap<string, LiveLimit>;
}

/** A table of models; nothing where no model has a limit. */
export function LimitsOfModels({ live: { windows } }: { readonly live: Answers["/dashboard/live"] }) {
  const words = useWords(LIMITS);
  const byModel = Map.groupBy(
    windows.filter(({ scope }) => scope === "model"),
    ({ model = "" }) => model,
  );
  const rows: readonly Row[] = [...byModel]
    .map(([model, limits]) => ({ model, limits: new Map(limits.map((one) => [one.name, one])) }))
    .sort((one, other) => one.model.localeCompare(other.model));
  if (rows.length === 0) return null;
  const columns: readonly Column<Row>[] = [
    { key: "model", title: words.model, cell: ({ model }) => model },
    ...NAMES.filter((name) => rows.some(({ limits }) => limits.has(name))).map((name) => ({
      ...{ key: name, title: name.toUpperCase(), isFigure: true },
      cell: ({ limits }: Row) => {
        const one = limits.get(name);
        return one === undefined ? "–" : words.used(countText(one.used), countText(one.limit));
      },
    })),
  ];
  return (
    <Section title={words.modelLimits}>
      <Text size="xs" c="dimmed">
        {words.modelLimitsAbout}
      </Text>
      <DataTable caption={words.modelLimits} columns={columns} rows={rows} keyOf={({ model }) => model} />
    </Section>
  );
}
