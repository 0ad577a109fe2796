// The frame of a page below the header: its heading, what can be done on it, its content.

import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

/** A page with its one h1, which also names the browser's tab. */
export function Page(props: {
  readonly title: string;
  /** One line under the heading. */
  readonly about?: ReactNode;
  /** Buttons at the right of the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { title, about, actions, children } = props;
  useEffect(() => {
    document.title = `${title} · arborgate`;
  }, [title]);
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start" gap="xs">
        <div>
          <Title order={1}>{title}</Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {about}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  );
}
