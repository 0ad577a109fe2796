// The Level map of an account: what it is, and a text that changes it entry by entry.

import { Code, Text } from "@mantine/core";
import { useState } from "react";
import type { Account } from "../../api/accounts.ts";
import { useWrite } from "../../api/writes.ts";
import { AccountField } from "../../components/account-field.tsx";
import { Section } from "../../components/section.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";

/** The map and its form. */
export function LevelMap({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS);
  const { save, none } = useWords(SHELL);
  const writing = useWrite();
  const [text, setText] = useState("");
  const body = { LevelMapper: text.trim() };
  return (
    <Section title={words.levelMap}>
      <WriteForm
        writing={writing}
        write={text.trim() === "" ? null : { method: "PUT", path: `/x-users/${account.ID}`, body }}
        submit={save}
        onDone={() => setText("")}
      >
        <Text size="sm" component="div" className="text-block">
          {words.mapNow} {account.LevelMapper === "" ? none : <Code>{account.LevelMapper}</Code>}
        </Text>
        <AccountField field="LevelMapper" text={text} onText={setText} />
      </WriteForm>
    </Section>
  );
}
