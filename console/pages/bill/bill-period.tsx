// The fields for the period of a bill.

import { Group, Select } from "@mantine/core";
import type { ReactNode } from "react";
import { TextFilter } from "../../components/filter-bar.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { USAGE } from "../../i18n/usage.ts";
import { BILL_PERIODS, PERIOD_VIEW, type PeriodView } from "./bill-view.ts";

/** The fields for the period; `children` stand beside them. */
export function BillPeriod(props: {
  readonly view: PeriodView;
  readonly change: (changes: Partial<PeriodView>) => void;
  readonly children?: ReactNode;
}) {
  const { view, change, children } = props;
  const words = useWords(USAGE);
  const { filters } = useWords(SHELL);
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={filters} className="no-print">
      <Select
        label={words.period}
        value={view.period}
        onChange={(period) => change({ period: period ?? PERIOD_VIEW.period })}
        data={BILL_PERIODS.map((value) => ({ value, label: words.periods[value] }))}
        allowDeselect={false}
        w={150}
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
      {children}
    </Group>
  );
}
