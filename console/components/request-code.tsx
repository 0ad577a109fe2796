// Code that asks a model, in the style and the language that a person chooses. The key that is signed in is never in it, but for
// its beginning.

import { Group, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { countText } from "../api/amount.ts";
import { firstModel, kindOf, type Model, type ModelKind } from "../api/model-kind.ts";
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

/** The code for one of several models, of which there is one at least. */
export function ModelCode(props: { readonly models: readonly Model[]; readonly secret?: string }) {
  const { models, ...rest } = props;
  const words = useWords(MODELS);
  const [chosen, setChosen] = useState<string | null>(null);
  const model = models.find(({ id }) => id === chosen) ?? firstModel(models)!;
  return (
    <Stack gap="xs">
      <Group gap="xs" align="flex-end" className="no-print">
        <Select
          label={words.model}
          data={models.map(({ id }) => id)}
          value={model.id}
          onChange={setChosen}
          allowDeselect={false}
          searchable
          limit={MODELS_SHOWN_MAX}
          w={260}
        />
        <Text size="xs" c="dimmed">
          {words.mayCall(countText(models.length))}
        </Text>
      </Group>
      <RequestCode model={model.id} kind={kindOf(model.id, model.price)} {...rest} />
    </Stack>
  );
}

/** Models that the list shows at once; typing finds the others. */
const MODELS_SHOWN_MAX = 60;
