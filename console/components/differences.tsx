// What a change of settings changes, one line for each entry: what was there struck out, what is there now beside it.

import { Stack, Text } from "@mantine/core";
import type { Difference } from "../api/difference.ts";

/** Lines of a difference that are shown; the number of the others is said. */
const LINES_MAX = 50;

/** The entries that differ; nothing where none does. `name`: the setting that they belong to; `more` says how many are not shown. */
export function Differences(props: {
  readonly name: string;
  readonly differences: readonly Difference[];
  readonly more: (count: number) => string;
}) {
  const { name, differences, more } = props;
  const rest = differences.length - LINES_MAX;
  if (differences.length === 0) return null;
  return (
    <Stack gap={0} component="ul" className="differences">
      {differences.slice(0, LINES_MAX).map(({ path, before, after }) => (
        <li key={path.join(" ")}>
          <Text size="xs" span ff="monospace">
            {[name, ...path].join(" › ")} {before !== null && <del>{before}</del>}{" "}
            {after !== null && <ins>{after}</ins>}
          </Text>
        </li>
      ))}
      {rest > 0 && (
        <Text size="xs" c="dimmed">
          {more(rest)}
        </Text>
      )}
    </Stack>
  );
}
