// The fields for the period of a bill or of the usage.

import { Select } from "@mantine/core";
import { useWords } from "../i18n/language.ts";
import { USAGE } from "../i18n/usage.ts";
import { TextFilter } from "./filter-bar.tsx";

type Period = keyof (typeof USAGE)["en"]["periods"];

/** A choice of `periods`, of which `chosen` is chosen, and the days of one that is typed; `onPeriod` gets null for none. */
export function PeriodFields(props: {
  readonly periods: readonly Period[];
  readonly chosen: string;
  readonly days: { readonly start: string; readonly end: string };
  readonly onPeriod: (period: string | null) => void;
  readonly onDays: (days: { readonly start: string } | { readonly end: string }) => void;
}) {
  const { periods, chosen, days, onPeriod, onDays } = props;
  const words = useWords(USAGE);
  return (
    <>
      <Select
        label={words.period}
        value={chosen}
        onChange={onPeriod}
        data={periods.map((value) => ({ value, label: words.periods[value] }))}
        allowDeselect={false}
        w={150}
      />
      {chosen === "custom" && (
        <>
          <TextFilter
            {...{ label: words.start, value: days.start, type: "date", width: 140 }}
            onChange={(start) => onDays({ start })}
          />
          <TextFilter
            {...{ label: words.end, value: days.end, type: "date", width: 140 }}
            onChange={(end) => onDays({ end })}
          />
        </>
      )}
    </>
  );
}
