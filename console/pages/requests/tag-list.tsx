// The tags of a request, in a cell or a line. They are the client's own texts, so they are text nodes.

import { Text } from "@mantine/core";

/** Tags as `name:value`; nothing where there are none. */
export function TagList({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  const texts = Object.entries(tags).map(([name, value]) => `${name}:${value}`);
  if (texts.length === 0) return null;
  const text = texts.join(" ");
  return (
    <Text span size="xs" c="dimmed" className="cut" title={text}>
      {text}
    </Text>
  );
}
