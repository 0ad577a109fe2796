// Headline figures of a page, and how far a limit is used.

import { Group, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** A row of headline figures that wraps on narrow screens. */
export function Stats(props: { readonly children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs" verticalSpacing="xs">
      {props.children}
    </SimpleGrid>
  );
}

/** A headline figure: its name, the figure, and a line of detail. */
export function Stat(props: {
  readonly label: string;
  readonly children: ReactNode;
  readonly detail?: ReactNode;
}) {
  return (
    <Stack gap={0} className="stat">
      <Text size="xs" c="dimmed">
        {props.label}
      </Text>
      <Text component="div" size="lg" fw={600} lh={1.4} className="figure">
        {props.children}
      </Text>
      {props.detail !== undefined && (
        <Text size="xs" c="dimmed" component="div">
          {props.detail}
        </Text>
      )}
    </Stack>
  );
}

/** How far a limit is used; `share` from 0 to 1, above 0.9 it warns. `used` is the words for it. */
export function LimitBar(props: {
  readonly label: string;
  readonly share: number;
  readonly used: ReactNode;
  readonly detail?: ReactNode;
}) {
  const { label, share, used, detail } = props;
  const color = share >= 1 ? "red" : share >= 0.9 ? "yellow" : "arbor";
  return (
    <Stack gap={2}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-end">
        <Text size="sm">{label}</Text>
        <Text size="sm" component="div" ta="right" className="figure">
          {used}
        </Text>
      </Group>
      <Progress
        value={Math.min(100, share * 100)}
        color={color}
        size="sm"
        aria-label={label}
        transitionDuration={0}
      />
      {detail !== undefined && (
        <Text size="xs" c="dimmed" component="div">
          {detail}
        </Text>
      )}
    </Stack>
  );
}
