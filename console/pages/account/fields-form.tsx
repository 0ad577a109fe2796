// A form of some fields of an account: each with the value that it has, and one button that saves what was changed.

import { SimpleGrid, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { type FieldTexts, fieldText, readChanged, type TextField } from "../../api/account-fields.ts";
import type { Account } from "../../api/accounts.ts";
import { useWrite } from "../../api/writes.ts";
import { AccountField } from "../../components/account-field.tsx";
import { Section } from "../../components/section.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";

/** A field whose value the record of an account has. */
export type RecordField = Exclude<TextField, "CreditGranted" | "Days">;

/** The form of `fields`; `about` stands above them. */
export function FieldsForm(props: {
  readonly title: string;
  readonly account: Account;
  readonly fields: readonly RecordField[];
  readonly about?: ReactNode;
}) {
  const { title, account, fields, about } = props;
  const { save, saved } = useWords(SHELL);
  const writing = useWrite();
  // Only what was typed is kept, so that a change by somebody else is seen in the other fields, and never taken back by this form.
  const [typed, setTyped] = useState<FieldTexts>({});
  const before = Object.fromEntries(fields.map((field) => [field, fieldText(account, field)])) as FieldTexts;
  const { body, unreadable } = readChanged(typed, before);
  const isChanged = Object.keys(body).length > 0 || unreadable.size > 0;
  const isReady = isChanged && unreadable.size === 0;
  return (
    <Section title={title}>
      <WriteForm
        writing={writing}
        write={isReady ? { method: "PUT", path: `/x-users/${account.ID}`, body } : null}
        submit={save}
        onDone={() => setTyped({})}
      >
        {about !== undefined && (
          <Text size="xs" c="dimmed" component="div">
            {about}
          </Text>
        )}
        <SimpleGrid cols={{ base: 2, md: 3, lg: 4 }} spacing="xs">
          {fields.map((field) => (
            <AccountField
              key={field}
              field={field}
              text={typed[field] ?? before[field] ?? ""}
              onText={(text) => setTyped({ ...typed, [field]: text })}
              isUnreadable={unreadable.has(field)}
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
