// Moving an account to another parent, which Root may: both places before it is done, and what follows from it.

import { Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Account, dnaBelow, useAccount } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { useGetList } from "../../api/queries.ts";
import { useWrite } from "../../api/writes.ts";
import { WriteForm } from "../../components/write-form.tsx";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";

const ID = /^[1-9]\d{0,14}$/;

/** The form that moves `account`. One that has subaccounts stays where it is. */
export function MoveHere({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS).move;
  const below = useGetList("/x-users", { parent: account.ID, page: 1, size: 1 });
  const writing = useWrite();
  const [text, setText] = useState("");
  const isId = ID.test(text.trim());
  const asked = useAccount(isId ? Number(text) : null);
  const parent = isId ? (asked.data?.[0] ?? null) : null;
  const isUnknown = isId && asked.data?.length === 0;
  const isSame = parent !== null && (parent.ID === account.ID || parent.ID === account.ParentID);
  const children = below.data?.total ?? 0;
  if (children > 0) return <Text size="sm">{words.hasChildren(countText(children))}</Text>;
  return (
    <WriteForm
      writing={writing}
      write={
        parent === null || isSame
          ? null
          : { method: "PUT", path: `/x-users/${account.ID}`, body: { ParentID: parent.ID } }
      }
      submit={words.submit}
      onDone={() => setText("")}
    >
      <Text size="sm">{words.about}</Text>
      <Group align="flex-end" gap="xs">
        <TextInput
          label={words.parent}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          inputMode="numeric"
          autoComplete="off"
          w={160}
          {...(isUnknown ? { error: words.unknown } : isSame ? { error: words.same } : {})}
        />
      </Group>
      {parent !== null && !isSame && (
        <Text size="sm" role="status" className="text-block">
          {words.plan(account.DNA, dnaBelow(parent.DNA, parent.ID), parent.Name)}
        </Text>
      )}
      {writing.answer !== null && text === "" && (
        <Text size="sm" role="status">
          {words.done(account.DNA)}
        </Text>
      )}
    </WriteForm>
  );
}
