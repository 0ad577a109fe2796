// Adding a provider key, and then what came of it: the entries that LEVEL_MAPPER gained, and a test before the page is left.

import { Anchor, Button, Code, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link, useSearch } from "wouter";
import type { AddedKeySchema } from "../../../../src/http/provider-keys/schemas.ts";
import { useWrite } from "../../../api/writes.ts";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { WriteForm } from "../../../components/write-form.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { PROVIDER_KEY } from "../../../i18n/provider-key.ts";
import { addingBody, newDraft } from "./key-draft.ts";
import { ProviderKeyFields } from "./key-fields.tsx";
import { KeyTester } from "./key-tester.tsx";

type AddedKey = (typeof AddedKeySchema)["static"];

/** The page for a new key; `?level=` says for which Level. */
export default function NewKey() {
  const words = useWords(PROVIDER_KEY);
  const [added, setAdded] = useState<AddedKey | null>(null);
  return (
    <Page title={words.newTitle}>
      {added === null ? (
        <NewKeyForm onAdded={setAdded} />
      ) : (
        <Added added={added} again={() => setAdded(null)} />
      )}
    </Page>
  );
}

function NewKeyForm({ onAdded }: { readonly onAdded: (added: AddedKey) => void }) {
  const words = useWords(PROVIDER_KEY);
  const level = new URLSearchParams(useSearch()).get("level") ?? "1";
  const [draft, setDraft] = useState(() => newDraft(level));
  const writing = useWrite<AddedKey>();
  const body = addingBody(draft);
  return (
    <Section title={words.fields}>
      <WriteForm
        writing={writing}
        write={body === null ? null : { method: "POST", path: "/x-keys", body }}
        submit={words.add}
        onDone={onAdded}
      >
        <ProviderKeyFields
          draft={draft}
          change={(changes) => setDraft({ ...draft, ...changes })}
          failure={writing.failure}
          masks={null}
        />
      </WriteForm>
    </Section>
  );
}

function Added({ added, again }: { readonly added: AddedKey; readonly again: () => void }) {
  const words = useWords(PROVIDER_KEY);
  const { unnamed } = useWords(POOL);
  const { key, LevelMapper } = added;
  const gained = Object.entries(LevelMapper);
  return (
    <Stack gap="sm">
      <Section title={words.added(key.Name || unnamed(key.ID))}>
        <Text size="sm" role="status">
          {gained.length === 0 ? words.gainedNothing(key.Level) : words.gained}
        </Text>
        {gained.length > 0 && (
          <Code block>{gained.map(([pattern, level]) => `${pattern}=${level}`).join(", ")}</Code>
        )}
        <Group gap="sm" mt="xs">
          <Button component={Link} href={`/admin/pool/${key.ID}`} variant="default">
            {words.openKey}
          </Button>
          <Button variant="default" onClick={again}>
            {words.addAnother}
          </Button>
          <Anchor component={Link} href="/admin/routing" size="sm">
            {words.openRouting}
          </Anchor>
          <Anchor component={Link} href="/admin/pool" size="sm">
            {words.toPool}
          </Anchor>
        </Group>
      </Section>
      <KeyTester id={key.ID} />
    </Stack>
  );
}
