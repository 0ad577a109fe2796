// The lists of an account: what may be called, by which Levels, from where. All that was changed is saved together.

import { SimpleGrid, Text } from "@mantine/core";
import { useState } from "react";
import type { Account } from "../../api/accounts.ts";
import { useWrite } from "../../api/writes.ts";
import { Section } from "../../components/section.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import {
  changeText,
  itemsOf,
  LIST_FIELDS,
  type ListChange,
  type ListField,
  listChange,
  withChange,
} from "./list-change.ts";
import { ListEditor } from "./list-editor.tsx";

const NO_CHANGE: ListChange = { added: [], removed: [] };

/** The form of the lists. */
export function AccessForm({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS);
  const { save, saved } = useWords(SHELL);
  const writing = useWrite();
  const [edited, setEdited] = useState<Partial<Record<ListField, ListChange>>>({});
  const before = (field: ListField) => itemsOf(account[field]);
  const after = (field: ListField) => withChange(before(field), edited[field] ?? NO_CHANGE);
  const changes = LIST_FIELDS.map((field) => [field, changeText(field, before(field), after(field))]).filter(
    ([, text]) => text !== null,
  );
  const isChanged = changes.length > 0;
  return (
    <Section title={words.access}>
      <WriteForm
        writing={writing}
        write={
          isChanged
            ? { method: "PUT", path: `/x-users/${account.ID}`, body: Object.fromEntries(changes) }
            : null
        }
        submit={save}
        onDone={() => setEdited({})}
      >
        <Text size="xs" c="dimmed">
          {words.lists.about}
        </Text>
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          {LIST_FIELDS.map((field) => (
            <ListEditor
              key={field}
              field={field}
              before={before(field)}
              after={after(field)}
              onChange={(list) => setEdited({ ...edited, [field]: listChange(before(field), list) })}
            />
          ))}
        </SimpleGrid>
        {writing.answer !== null && !isChanged && (
          <Text size="sm" role="status">
            {saved}
          </Text>
        )}
      </WriteForm>
    </Section>
  );
}
