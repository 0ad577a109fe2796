// A list without rows: it says what would be there and what to do next.

import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** An empty state with its next step. */
export function Empty(props: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <Stack gap={6} align="flex-start" py="sm" className="empty">
      <Text size="sm" c="dimmed">
        {props.text}
      </Text>
      {props.children}
    </Stack>
  );
}
