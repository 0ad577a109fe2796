// One provider key: how it is, its fields, a test, and its end.

import { Button, Grid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { GAUGE_MS, useGet } from "../../../api/queries.ts";
import { useWrite } from "../../../api/writes.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { Empty } from "../../../components/empty.tsx";
import { loadLater } from "../../../components/load-later.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { Time } from "../../../components/time.tsx";
import { WriteForm } from "../../../components/write-form.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { PROVIDER_KEY } from "../../../i18n/provider-key.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { KeyCard } from "./key-card.tsx";
import { changingBody, draftOf, type KeyDraft } from "./key-draft.ts";
import { ProviderKeyFields } from "./key-fields.tsx";
import { KeyTester } from "./key-tester.tsx";
import type { KeyRow } from "./levels.ts";

const DeleteKey = loadLater(() => import("./delete-key.tsx"));

/** The page for the key of the address. */
export default function OneKey() {
  const { id = "" } = useParams<{ id: string }>();
  const words = useWords(PROVIDER_KEY);
  const { unnamed } = useWords(POOL);
  const keys = useGet("/x-keys", { id }, { everyMs: GAUGE_MS, enabled: /^\d+$/.test(id) });
  const row = keys.data?.keys[0];
  const name = row === undefined ? `#${id}` : row.Name || unnamed(row.ID);
  return (
    <Page title={words.title(name)}>
      <AskedState asked={keys} rows={8}>
        {({ keys: [found] }) =>
          found === undefined ? (
            <Empty text={words.gone}>
              <Button component={Link} href="/admin/pool" variant="default">
                {words.toPool}
              </Button>
            </Empty>
          ) : (
            <Grid gap="sm">
              <Grid.Col span={{ base: 12, md: 8 }}>
                <KeyForm key={found.ID} row={found} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 4 }}>
                <Beside row={found} name={name} />
              </Grid.Col>
            </Grid>
          )
        }
      </AskedState>
    </Page>
  );
}

function KeyForm({ row }: { readonly row: KeyRow }) {
  const words = useWords(PROVIDER_KEY);
  const { saved } = useWords(SHELL);
  // What is typed is compared with the row that it began with: the row of a later poll would make what others changed meanwhile
  // look like a change of this form, which would undo it. Until something is typed the form follows the polls.
  const [edited, setEdited] = useState<{ readonly from: KeyRow; readonly draft: KeyDraft } | null>(null);
  const { from, draft } = edited ?? { from: row, draft: draftOf(row) };
  const writing = useWrite();
  const body = changingBody(draft, from);
  const maskOf = (value: unknown) => (typeof value === "string" ? value : null);
  const privateKey = maskOf((row.Config as Readonly<Record<string, unknown>>).private_key);
  return (
    <Section
      title={words.fields}
      aside={
        <Text size="xs" c="dimmed" component="div">
          {words.history}: <Time at={row.CreatedAt} isShort /> · <Time at={row.UpdatedAt} isShort />
        </Text>
      }
    >
      <WriteForm
        writing={writing}
        write={body === null ? null : { method: "PUT", path: `/x-keys/${row.ID}`, body }}
        submit={words.save}
        onDone={() => setEdited(null)}
        beside={
          writing.answer !== null && body === null ? (
            <Text size="sm" role="status">
              {saved}
            </Text>
          ) : undefined
        }
      >
        <ProviderKeyFields
          draft={draft}
          change={(changes) => setEdited({ from, draft: { ...draft, ...changes } })}
          failure={writing.failure}
          masks={{ secret: row.SecretKey, privateKey }}
        />
      </WriteForm>
    </Section>
  );
}

/** How the key is now, its test, and its end. */
function Beside({ row, name }: { readonly row: KeyRow; readonly name: string }) {
  const words = useWords(PROVIDER_KEY);
  const { delete: deleteWord } = useWords(POOL);
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Stack gap="sm">
      <Section title={words.now}>
        <KeyCard row={row} />
      </Section>
      <KeyTester id={row.ID} />
      <Button color="red" variant="light" onClick={() => setDeleting(true)}>
        {deleteWord}
      </Button>
      {isDeleting && <DeleteKey row={row} name={name} onClose={() => setDeleting(false)} />}
    </Stack>
  );
}
