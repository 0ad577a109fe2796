// A field that chooses one account below the signed-in one: what is typed is searched by name, id or e-mail.

import { Select, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { accountFilterOf } from "../api/account-filter.ts";
import { useAccount } from "../api/accounts.ts";
import { useGet } from "../api/queries.ts";

const FOUND_MAX = 20;
const TYPING_MS = 200;

/** Chooses the id of an account; null: none is chosen. */
export function AccountPicker(props: {
  readonly label: string;
  readonly description: string;
  readonly nothingFound: string;
  readonly value: number | null;
  readonly onChoose: (id: number | null) => void;
}) {
  const { label, description, nothingFound, value, onChoose } = props;
  const [text, setText] = useState("");
  const [settled] = useDebouncedValue(text.trim(), TYPING_MS);
  const chosen = useAccount(value).data?.[0];
  // The name of the chosen account in the field is no search: all accounts are offered again.
  const search = settled === chosen?.Name ? "" : settled;
  const asked = useGet("/x-dna", { ...accountFilterOf(search), page: 1, size: FOUND_MAX }, { everyMs: 0 });
  const found = Array.isArray(asked.data) ? asked.data : [];
  const known = chosen === undefined || found.some(({ ID }) => ID === chosen.ID) ? found : [chosen, ...found];
  const places = new Map(known.map(({ ID, Email, DNA }) => [String(ID), `${Email} · ${DNA}`]));
  return (
    <Select
      label={label}
      description={description}
      data={known.map(({ ID, Name }) => ({ value: String(ID), label: Name }))}
      value={value === null ? null : String(value)}
      onChange={(id) => onChoose(id === null ? null : Number(id))}
      searchable
      clearable
      searchValue={text}
      onSearchChange={setText}
      // The service has searched already.
      filter={({ options }) => options}
      nothingFoundMessage={asked.isFetching ? "…" : nothingFound}
      renderOption={({ option }) => (
        <div className="text-block">
          {option.label}
          <Text size="xs" c="dimmed">
            {places.get(option.value)}
          </Text>
        </div>
      )}
    />
  );
}
