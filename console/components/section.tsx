// A titled part of a page, in one thin frame.

import { Group, Paper, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** A part of a page with a heading of second order; `aside` stands at the right of the heading. */
export function Section(props: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) {
  const { title, aside, children } = props;
  return (
    <Paper withBorder component="section" aria-label={title}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2}>{title}</Title>
        {aside}
      </Group>
      {children}
    </Paper>
  );
}
