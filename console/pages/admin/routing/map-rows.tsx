// A map as rows of two input fields each.

import { ActionIcon, Button, Group, Text, TextInput } from "@mantine/core";
import type { MapName } from "../../../api/map-text.ts";
import { useWords } from "../../../i18n/language.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import { type DraftRow, emptyRow } from "./map-draft.ts";

/** Maps whose left or right sides are Levels. */
const LEFT_IS_LEVEL: ReadonlySet<MapName> = new Set(["SWITCH_OVER"]);
const RIGHT_IS_LEVEL: ReadonlySet<MapName> = new Set(["SWITCH_OVER", "LEVEL_MAPPER"]);

/** The rows of a draft. */
export function MapRows(props: {
  readonly name: MapName;
  readonly rows: readonly DraftRow[];
  readonly onRows: (rows: readonly DraftRow[]) => void;
}) {
  const { name, rows, onRows } = props;
  const words = useWords(ROUTING);
  const change = (nth: number, sides: Partial<DraftRow>) =>
    onRows(rows.map((row) => (row.nth === nth ? { ...row, ...sides } : row)));
  const modeOf = (isLevel: boolean) => (isLevel ? ("numeric" as const) : ("text" as const));
  return (
    <div className="map-rows">
      <Text size="xs" fw={600}>
        {words.left[name]}
      </Text>
      <Text size="xs" fw={600}>
        {words.right[name]}
      </Text>
      <span />
      {rows.map(({ nth, left, right }, at) => (
        <div key={nth} className="map-row">
          <TextInput
            aria-label={words.row(words.left[name], at + 1)}
            value={left}
            onChange={(event) => change(nth, { left: event.currentTarget.value })}
            inputMode={modeOf(LEFT_IS_LEVEL.has(name))}
            spellCheck={false}
          />
          <TextInput
            aria-label={words.row(words.right[name], at + 1)}
            value={right}
            onChange={(event) => change(nth, { right: event.currentTarget.value })}
            inputMode={modeOf(RIGHT_IS_LEVEL.has(name))}
            spellCheck={false}
          />
          <ActionIcon
            aria-label={words.removeRow(left || String(at + 1))}
            onClick={() => onRows(rows.filter((row) => row.nth !== nth))}
          >
            ×
          </ActionIcon>
        </div>
      ))}
      <Group>
        <Button variant="default" onClick={() => onRows([...rows, emptyRow(rows)])}>
          {words.addRow}
        </Button>
      </Group>
    </div>
  );
}
