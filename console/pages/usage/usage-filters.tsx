// The period and the grouping of the page Usage.

import { Group, SegmentedControl } from "@mantine/core";
import { ChoiceFilter, TextFilter } from "../../components/filter-bar.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { USAGE } from "../../i18n/usage.ts";
import { PERIODS } from "./period.ts";
import type { UsageView } from "./usage.tsx";

/** Fields for the period and what the usage is grouped by. */
export function UsageFilters(props: {
  readonly view: UsageView;
  readonly change: (changes: Partial<UsageView>) => void;
}) {
  const { view, change } = props;
  const words = useWords(USAGE);
  const { filters } = useWords(SHELL);
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={filters} className="no-print">
      <ChoiceFilter
        label={words.period}
        value={view.period}
        onChange={(period) => change({ period })}
        choices={PERIODS.map((value) => ({ value, label: words.periods[value] }))}
      />
      {view.period === "custom" && (
        <>
          <TextFilter
            {...{ label: words.start, value: view.start, type: "date", width: 140 }}
            onChange={(start) => change({ start })}
          />
          <TextFilter
            {...{ label: words.end, value: view.end, type: "date", width: 140 }}
            onChange={(end) => change({ end })}
          />
        </>
      )}
      <SegmentedControl
        value={view.group}
        onChange={(group) => change({ group })}
        aria-label={words.groupBy}
        data={[
          { value: "model", label: words.groups.model },
          { value: "api_key", label: words.groups.api_key },
          { value: "tag", label: words.groups.tag },
        ]}
      />
      {view.group === "tag" && (
        <TextFilter
          {...{ label: words.tagName, value: view.tag, placeholder: "team" }}
          onChange={(tag) => change({ tag: tag.toLowerCase() })}
        />
      )}
    </Group>
  );
}
