// The frame of a page below the header: its heading, what can be done on it, its content.

import { Group, Stack, Text, Title } from "@mantine/core";
import { createContext, type ReactNode, useContext, useEffect } from "react";

const IsInsideContext = createContext(false);

/**
 * A page with its one h1, which also names the browser's tab. Inside another page, such as a tab of an account, its heading is of
 * second order.
 */
export function Page(props: {
  readonly title: string;
  /** One line under the heading. */
  readonly about?: ReactNode;
  /** Buttons at the right of the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { title, about, actions, children } = props;
  const isInside = useContext(IsInsideContext);
  useEffect(() => {
    if (!isInside) document.title = `${title} · arborgate`;
  }, [title, isInside]);
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start" gap="xs">
        <div className="page-heading">
          <Title order={isInside ? 2 : 1}>{title}</Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {about}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      <IsInsideContext.Provider value={true}>{children}</IsInsideContext.Provider>
    </Stack>
  );
}
