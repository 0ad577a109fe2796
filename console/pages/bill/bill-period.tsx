// The fields for the period of a bill.

import { Group } from "@mantine/core";
import type { ReactNode } from "react";
import { PeriodFields } from "../../components/period-fields.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { BILL_PERIODS, PERIOD_VIEW, type PeriodView } from "./bill-view.ts";

/** The fields for the period; `children` stand beside them. */
export function BillPeriod(props: {
  readonly view: PeriodView;
  readonly change: (changes: Partial<PeriodView>) => void;
  readonly children?: ReactNode;
}) {
  const { view, change, children } = props;
  const { filters } = useWords(SHELL);
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={filters} className="no-print">
      <PeriodFields
        periods={BILL_PERIODS}
        chosen={view.period}
        days={view}
        onPeriod={(period) => change({ period: period ?? PERIOD_VIEW.period })}
        onDays={change}
      />
      {children}
    </Group>
  );
}
