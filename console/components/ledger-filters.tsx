// The filters of lists of ledger lines. What is chosen is in the address.

import { useAccountGet } from "../api/account-view.ts";
import { isFiltered, LEDGER_FILTERS, type LedgerFilter, ledgerFilterOf } from "../api/ledger-filter.ts";
import { useWords } from "../i18n/language.ts";
import { LINES } from "../i18n/lines.ts";
import { ChoiceFilter, FilterBar, TextFilter } from "./filter-bar.tsx";

type LineType = keyof (typeof LINES)["en"]["types"];

interface Filter {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Fields for every filter; the type only where `hasTypes`. `listsKeys`: the key that is signed in may list API keys. */
export function LedgerFilters(props: {
  readonly filter: LedgerFilter;
  readonly change: (changes: Partial<LedgerFilter>) => void;
  readonly listsKeys: boolean;
  readonly hasTypes?: boolean;
}) {
  const { filter, change, listsKeys, hasTypes = false } = props;
  const words = useWords(LINES);
  const field = (name: keyof LedgerFilter, label: string) => ({
    ...{ label, value: filter[name] },
    onChange: (value: string) => change({ [name]: value }),
  });
  const set = hasTypes ? ledgerFilterOf(filter) : { ...ledgerFilterOf(filter), type: "" };
  return (
    <FilterBar onClear={isFiltered(set) ? () => change(LEDGER_FILTERS) : null}>
      {hasTypes && (
        <ChoiceFilter
          {...field("type", words.type)}
          width={130}
          choices={(Object.keys(words.types) as LineType[]).map((value) => ({
            value,
            label: words.types[value],
          }))}
        />
      )}
      <DayFilter {...field("from", words.from)} />
      <DayFilter {...field("to", words.to)} />
      <TextFilter {...field("model", words.model)} width={130} />
      {listsKeys ? (
        <KeyFilter {...field("api_key", words.key)} />
      ) : (
        <TextFilter {...field("api_key", words.key)} width={90} placeholder="0" />
      )}
      <TextFilter {...field("tag", words.tag)} placeholder={words.tagHint} width={115} />
      <TextFilter {...field("request", words.request)} width={150} />
    </FilterBar>
  );
}

const A_DAY = /^(\d{4}-\d\d-\d\d)?$/;

/** A day of the calendar, or the instant that a link brought. */
export function DayFilter(props: Filter) {
  return A_DAY.test(props.value) ? (
    <TextFilter {...props} width={132} type="date" />
  ) : (
    <TextFilter {...props} width={190} />
  );
}

/** The API keys of the account by name; one that is not there any more by its number. */
export function KeyFilter(props: Filter) {
  const words = useWords(LINES);
  const asked = useAccountGet("keys", { size: 200 }, { everyMs: 0 });
  const choices = [
    { value: "0", label: words.mainKey },
    ...(asked.data?.keys ?? [])
      .filter(({ id }) => id !== 0)
      .map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  const isListed = props.value === "" || choices.some(({ value }) => value === props.value);
  return (
    <ChoiceFilter
      {...props}
      choices={isListed ? choices : [...choices, { value: props.value, label: props.value }]}
    />
  );
}
