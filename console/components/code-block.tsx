// Code or a command to copy, in one block that scrolls sideways.

import { Box, Code } from "@mantine/core";
import { Copy } from "./copy.tsx";

/** A block of code with a button that copies it; `label` says to screen readers what it is. */
export function CodeBlock(props: { readonly code: string; readonly label: string }) {
  const { code, label } = props;
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} className="code-block">
        {code}
      </Code>
      <Box pos="absolute" top={6} right={6}>
        <Copy text={code} />
      </Box>
    </Box>
  );
}
