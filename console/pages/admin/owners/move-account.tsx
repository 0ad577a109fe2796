// Moves an account, with everything below it, to another parent.

import { Group, NumberInput, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useWrite } from "../../../api/writes.ts";
import { WriteForm } from "../../../components/write-form.tsx";
import { useWords } from "../../../i18n/language.ts";
import { ROOT_PAGES } from "../../../i18n/root.ts";

/** The answer of the move, as far as the form reads it. */
interface Moved {
  readonly User: { readonly Name: string };
}

/** The form that moves an account. */
export function MoveAccount() {
  const words = useWords(ROOT_PAGES).owners;
  const [account, setAccount] = useState("");
  const [parent, setParent] = useState<number | string>("");
  const [moved, setMoved] = useState<string | null>(null);
  const writing = useWrite<Moved>();
  const isReady = account.trim() !== "" && typeof parent === "number";
  return (
    <WriteForm
      writing={writing}
      write={
        isReady
          ? {
              method: "PUT",
              path: `/x-users/${encodeURIComponent(account.trim())}`,
              body: { ParentID: parent },
            }
          : null
      }
      submit={words.moveNow}
      onDone={({ User }) => setMoved(words.moved(User.Name, String(parent)))}
    >
      <Text size="sm" c="dimmed">
        {words.moveAbout}
      </Text>
      <Group align="end" gap="xs">
        <TextInput
          label={words.account}
          placeholder={words.accountHint}
          value={account}
          onChange={(event) => setAccount(event.currentTarget.value)}
          w={260}
        />
        <NumberInput label={words.to} value={parent} onChange={setParent} min={1} hideControls w={160} />
      </Group>
      {moved !== null && (
        <Text size="sm" role="status">
          {moved}
        </Text>
      )}
    </WriteForm>
  );
}
