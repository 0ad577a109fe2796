// A text to copy by hand, where the browser lets no page do it. It is needed rarely, and loaded then.

import { Paper, Text, Textarea } from "@mantine/core";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** The text, selected, and the keys that copy it. */
export default function CopyByHand({ text, label }: { readonly text: string; readonly label: string }) {
  const words = useWords(SHELL);
  return (
    <Paper withBorder p="xs">
      <Text size="xs" role="status">
        {words.copyByHand}
      </Text>
      <Textarea
        aria-label={label}
        value={text}
        readOnly
        autoFocus
        onFocus={(event) => event.currentTarget.select()}
      />
    </Paper>
  );
}
