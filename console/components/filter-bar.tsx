// The filters above a list: a row that wraps, fields that take effect when they are left or Enter is pressed, and a way to clear
// them. What is chosen lives in the address, see url-state.ts.

import { Button, Group, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** The filters of a list; `onClear` is null while none is set. */
export function FilterBar(props: { readonly onClear: (() => void) | null; readonly children: ReactNode }) {
  const words = useWords(SHELL);
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label={words.filters}>
      {props.children}
      {props.onClear !== null && (
        <Button variant="subtle" color="gray" onClick={props.onClear}>
          {words.clearFilters}
        </Button>
      )}
    </Group>
  );
}

/** A filter that is typed. It is asked for when the field is left, not at every letter. */
export function TextFilter(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly type?: "text" | "date" | "datetime-local" | "search";
  readonly width?: number;
}) {
  const { label, value, onChange, placeholder, type = "text", width = 150 } = props;
  const commit = (text: string) => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <TextInput
      // A change of the address from elsewhere, such as "back", begins the field anew.
      key={value}
      label={label}
      defaultValue={value}
      type={type}
      w={width}
      {...(placeholder === undefined ? {} : { placeholder })}
      onBlur={(event) => commit(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit(event.currentTarget.value);
      }}
    />
  );
}

/** A filter that is chosen out of a few; an empty text is all of them. */
export function ChoiceFilter(props: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly width?: number;
}) {
  const { label, value, onChange, choices, width = 150 } = props;
  const words = useWords(SHELL);
  return (
    <Select
      label={label}
      data={[{ value: "", label: words.all }, ...choices]}
      value={value}
      onChange={(chosen) => onChange(chosen ?? "")}
      allowDeselect={false}
      w={width}
    />
  );
}
