// One key: what it may do, and what can be done to it by the key that is signed in.

import { Button, Group, Stack, Table, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { Sheet } from "../../components/dialog.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { fieldsOf } from "./api-key-fields.ts";
import { DeleteKey, RotateKey, SwitchKey } from "./key-acts.tsx";
import { ChangeKeyForm, type IssuedKey } from "./key-form.tsx";
import { type ApiKeyRow, type Caller, isItself, MAIN_KEY_ID, mayTouch } from "./key-rights.ts";
import { ApiKeyState, capTexts } from "./key-table.tsx";

type Act = "rotate" | "switch" | "delete";

/** The sheet of a key. `onIssued` gets a secret that is shown once; `onClose` leaves it. */
export function KeySheet(props: {
  readonly row: ApiKeyRow;
  readonly caller: Caller;
  readonly keys: Answers["/dashboard/keys"]["keys"];
  readonly user: string | null;
  readonly onClose: () => void;
  readonly onIssued: (issued: IssuedKey) => void;
  readonly onRotateMain: () => void;
}) {
  const { row, caller, keys, user, onClose, onIssued, onRotateMain } = props;
  const words = useWords(KEYS);
  const { change } = useWords(SHELL);
  const [act, setAct] = useState<Act | null>(null);
  const isTouchable = mayTouch(caller, row);
  const isMainOfCaller = row.id === MAIN_KEY_ID && caller.isOwn && caller.isMain;
  const doing = { row, user, onClose: () => setAct(null) };
  // Escape reaches the sheet too while a dialog is over it, and is meant for the dialog.
  const close = () => {
    if (act === null) onClose();
  };
  return (
    <Sheet onClose={close} title={words.made(row.name)}>
      <Stack gap="sm">
        <KeyFacts row={row} />
        {isTouchable && (
          <Group gap="xs">
            <Button variant="default" onClick={() => setAct("rotate")}>
              {words.rotate}
            </Button>
            <Button variant="default" onClick={() => setAct("switch")}>
              {row.status ? words.disable : words.enable}
            </Button>
            <Button variant="light" color="red" onClick={() => setAct("delete")}>
              {words.deleteTitle(row.name)}
            </Button>
          </Group>
        )}
        {isMainOfCaller && (
          <Button variant="default" onClick={onRotateMain}>
            {words.rotateMain}
          </Button>
        )}
        {!isTouchable && !isMainOfCaller && <Text size="sm">{whyNot(row, caller, words)}</Text>}
        {isTouchable && (
          <Section title={change}>
            <ChangeKeyForm row={row} caller={caller} keys={keys} user={user} onDone={onClose} />
          </Section>
        )}
        {act === "rotate" && <RotateKey {...doing} onIssued={onIssued} />}
        {act === "switch" && <SwitchKey {...doing} />}
        {act === "delete" && <DeleteKey {...doing} onDeleted={onClose} />}
      </Stack>
    </Sheet>
  );
}

function whyNot(row: ApiKeyRow, caller: Caller, words: (typeof KEYS)["en"]): string {
  if (row.id === MAIN_KEY_ID) return words.untouchableMain;
  return isItself(caller, row) ? words.untouchableItself : words.untouchable;
}

/** What is set on a key; what is not set is left out. */
function KeyFacts({ row }: { readonly row: ApiKeyRow }) {
  const words = useWords(KEYS);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.key, row.public_key],
    [words.status, <ApiKeyState key="status" row={row} />],
    [words.scopes, row.scopes.join(" ")],
    [words.caps, capTexts(row, words).join(" · ")],
    [words.allowModels, row.allow_models.join(" ")],
    [words.resources, row.resources.join(" ")],
    [words.allowIps, row.allow_ips.join(" ")],
    [words.tags, fieldsOf(row).tags],
    [words.expires, <Time key="expires" at={row.expires_at} />],
    [words.lastUsed, <Time key="used" at={row.last_used_at} />],
    [
      words.created,
      <>
        <Time at={row.created_at} /> {row.created_by !== null && words.createdBy(row.created_by)}
      </>,
    ],
  ];
  return (
    <Table variant="vertical" layout="fixed" verticalSpacing={3} fz="sm" className="facts">
      <Table.Tbody>
        {facts
          .filter(([, value]) => value !== "")
          .map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w={120}>{label}</Table.Th>
              <Table.Td className="wraps">{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  );
}
