// The period and the grouping of the page Usage.

import { Group, SegmentedControl } from "@mantine/core";
import { TextFilter } from "../../components/filter-bar.tsx";
import { PeriodFields } from "../../components/period-fields.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { USAGE } from "../../i18n/usage.ts";
import { PERIODS } from "./period.ts";
import { GROUPINGS } from "./usage-rows.ts";
import type { UsageView } from "./view.ts";

/** Fields for the period and what the usage is grouped by. */
export function UsageFilters(props: {
  readonly view: UsageView;
  readonly change: (changes: Partial<UsageView>) => void;
}) {
  const { view, change } = props;
  const words = useWords(USAGE);
  const { filters } = useWords(SHELL);
  const isHours = view.period.endsWith("h");
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={filters} className="no-print">
      <PeriodFields
        periods={PERIODS}
        chosen={PERIODS.find((name) => name === view.period) ?? "custom"}
        days={view}
        onPeriod={(period) => change({ period: period ?? "" })}
        onDays={change}
      />
      <SegmentedControl
        value={GROUPINGS.find((one) => one === view.group) ?? "model"}
        onChange={(group) => change({ group })}
        aria-label={words.groupBy}
        data={GROUPINGS.map((value) => ({
          value,
          label: words.groups[value === "time" ? (isHours ? "hour" : "day") : value],
        }))}
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
