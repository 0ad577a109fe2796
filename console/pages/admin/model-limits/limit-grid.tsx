// The grid of limits: a row for each model or pattern, a field for each limit.

import { Button, Group, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { ScrollRegion } from "../../../components/scroll-region.tsx";
import { useWords } from "../../../i18n/language.ts";
import { LIMIT_WORDS } from "../../../i18n/model-limits.ts";
import {
  type GridRow,
  LIMIT_FIELDS,
  type LimitEdits,
  type LimitField,
  NO_LIMIT_TEXTS,
} from "./limit-draft.ts";

/** The grid. `onEdits` gets all edits with the last one. */
export function LimitGrid(props: {
  readonly rows: readonly GridRow[];
  readonly edits: LimitEdits;
  readonly onEdits: (edits: LimitEdits) => void;
}) {
  const { rows, edits, onEdits } = props;
  const words = useWords(LIMIT_WORDS);
  const onText = (pattern: string, field: LimitField, text: string) =>
    onEdits({ ...edits, [pattern]: { ...edits[pattern], [field]: text } });
  const undo = (pattern: string) => {
    const { [pattern]: _, ...others } = edits;
    onEdits(others);
  };
  const remove = ({ pattern, state }: GridRow) =>
    state === "new" ? undo(pattern) : onEdits({ ...edits, [pattern]: null });
  return (
    <ScrollRegion label={words.grid}>
      <Table verticalSpacing={3} horizontalSpacing={6} fz="sm" className="limit-grid">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.model}</Table.Th>
            {LIMIT_FIELDS.map((field) => (
              <Table.Th key={field} className="figure-cell" title={words.meaning[field]}>
                {words.field[field]}
              </Table.Th>
            ))}
            <Table.Th>{words.change}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.pattern} data-state={row.state}>
              <Table.Td className="limit-model" title={row.pattern}>
                {row.state === "removed" ? <del>{row.pattern}</del> : row.pattern}
              </Table.Td>
              {LIMIT_FIELDS.map((field) => (
                <Table.Td key={field}>
                  <TextInput
                    classNames={{ input: "limit-input" }}
                    aria-label={words.cell(row.pattern, words.field[field])}
                    inputMode="numeric"
                    placeholder="–"
                    value={row.texts[field]}
                    error={row.unreadable.includes(field)}
                    disabled={row.state === "removed"}
                    onChange={(event) => onText(row.pattern, field, event.currentTarget.value)}
                  />
                </Table.Td>
              ))}
              <Table.Td>
                <RowAct row={row} remove={() => remove(row)} undo={() => undo(row.pattern)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  );
}

function RowAct(props: { readonly row: GridRow; readonly remove: () => void; readonly undo: () => void }) {
  const { row, remove, undo } = props;
  const words = useWords(LIMIT_WORDS);
  const isUndone = row.state === "removed" || row.state === "changed";
  return (
    <Group gap={4} wrap="nowrap">
      {row.state !== "removed" && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          onClick={remove}
          aria-label={words.removeOf(row.pattern)}
        >
          {words.remove}
        </Button>
      )}
      {isUndone && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          onClick={undo}
          aria-label={words.keepOf(row.pattern)}
        >
          {words.keep}
        </Button>
      )}
    </Group>
  );
}

/** Adds a row for a model or a pattern. */
export function AddLimits(props: {
  readonly rows: readonly GridRow[];
  readonly edits: LimitEdits;
  readonly onEdits: (edits: LimitEdits) => void;
}) {
  const { rows, edits, onEdits } = props;
  const words = useWords(LIMIT_WORDS);
  const [name, setName] = useState("");
  const pattern = name.trim();
  const isThere = rows.some((row) => row.pattern === pattern && row.state !== "removed");
  const add = () => {
    if (pattern === "" || isThere) return;
    onEdits({ ...edits, [pattern]: NO_LIMIT_TEXTS });
    setName("");
  };
  return (
    <Group gap="xs" align="flex-start">
      <TextInput
        aria-label={words.newModel}
        placeholder={words.newModel}
        value={name}
        w={260}
        spellCheck={false}
        error={isThere && words.isThere}
        onChange={(event) => setName(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // The form around it would be sent.
          event.preventDefault();
          add();
        }}
      />
      <Button variant="default" onClick={add} disabled={pattern === "" || isThere}>
        {words.add}
      </Button>
      <Text size="xs" c="dimmed" maw={420}>
        {words.patternHint}
      </Text>
    </Group>
  );
}
