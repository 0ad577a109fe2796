// Code that asks a model, in the style and the language that a person chooses. The key that is signed in is never in it, but for
// its beginning.

import { Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { ModelKind } from "../api/model-kind.ts";
import { currentKey } from "../api/session.ts";
import {
  type CodeLanguage,
  hasCode,
  keyHint,
  languagesFor,
  STYLES,
  type Style,
  snippetOf,
} from "../api/snippets.ts";
import { useWords } from "../i18n/language.ts";
import { MODELS } from "../i18n/models.ts";
import { CodeBlock } from "./code-block.tsx";

/** The code for a model. `secret`: a key that the page shows anyway, which stands in the code whole. */
export function RequestCode(props: {
  readonly model: string;
  readonly kind: ModelKind;
  readonly secret?: string;
}) {
  const { model, kind, secret } = props;
  const words = useWords(MODELS);
  const [style, setStyle] = useState<Style>("chat");
  const [chosen, setLanguage] = useState<CodeLanguage>("curl");
  if (!hasCode(kind)) return <Text size="sm">{words.noCode}</Text>;
  const languages = languagesFor(kind);
  const language = languages.includes(chosen) ? chosen : "curl";
  const code = snippetOf({
    ...{ origin: location.origin, model, kind, style, language },
    key: secret ?? keyHint(currentKey()),
  });
  return (
    <Stack gap="xs">
      <Group gap="xs" className="no-print">
        {kind === "chat" && (
          <SegmentedControl
            aria-label={words.style}
            data={STYLES.map((value) => ({ value, label: words.styles[value] }))}
            value={style}
            onChange={setStyle}
          />
        )}
        <SegmentedControl
          aria-label={words.language}
          data={languages.map((value) => ({ value, label: words.languages[value] }))}
          value={language}
          onChange={setLanguage}
        />
      </Group>
      <CodeBlock code={code} label={words.file(model)} />
      {secret === undefined && (
        <Text size="xs" c="dimmed">
          {words.keyPlace}
        </Text>
      )}
    </Stack>
  );
}
