// What can be done to a key beside changing its settings: another secret, disabling, deleting. Each is asked about first.

import { Select, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Write } from "../../api/writes.ts";
import { ConfirmModal } from "../../components/confirm-modal.tsx";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import type { IssuedKey } from "./key-form.tsx";
import type { ApiKeyRow } from "./key-rights.ts";

interface Doing {
  readonly row: ApiKeyRow;
  readonly user: string | null;
  readonly onClose: () => void;
}

const writeTo = ({ row, user }: Doing, method: Write["method"], act = "", body?: object): Write => ({
  method,
  path: `/dashboard/keys/${row.id}${act}`,
  query: { user: user ?? undefined },
  ...(body === undefined ? {} : { body }),
});

/** Gives a key another secret, with an overlap of the former one. */
export function RotateKey(props: Doing & { readonly onIssued: (issued: IssuedKey) => void }) {
  const words = useWords(KEYS);
  const [seconds, setSeconds] = useState("3600");
  return (
    <ConfirmModal<IssuedKey>
      title={`${words.rotate}: ${props.row.name}`}
      write={writeTo(props, "POST", "/rotate", { OverlapSeconds: Number(seconds) })}
      submit={words.rotate}
      onClose={props.onClose}
      onDone={props.onIssued}
    >
      <Text size="sm">{words.rotateText}</Text>
      <Select
        label={words.overlapFor}
        data={Object.entries(words.overlaps).map(([value, label]) => ({ value, label }))}
        value={seconds}
        onChange={(chosen) => setSeconds(chosen ?? "0")}
        allowDeselect={false}
      />
    </ConfirmModal>
  );
}

/** Disables a key, or enables it again. */
export function SwitchKey(props: Doing) {
  const words = useWords(KEYS);
  const { row, onClose } = props;
  const submit = row.status ? words.disable : words.enable;
  return (
    <ConfirmModal
      title={`${submit}: ${row.name}`}
      write={writeTo(props, "PUT", "", { Status: !row.status })}
      submit={submit}
      onClose={onClose}
      onDone={onClose}
    >
      <Text size="sm">{row.status ? words.disableText : words.enableText}</Text>
    </ConfirmModal>
  );
}

/** Deletes a key, once its name was typed. */
export function DeleteKey(props: Doing & { readonly onDeleted: () => void }) {
  const words = useWords(KEYS);
  const shell = useWords(SHELL);
  const [typed, setTyped] = useState("");
  const { name } = props.row;
  return (
    <ConfirmModal
      title={words.deleteTitle(name)}
      write={typed.trim() === name ? writeTo(props, "DELETE") : null}
      submit={shell.delete}
      onClose={props.onClose}
      onDone={props.onDeleted}
      isFinal
    >
      <Text size="sm">{words.deleteText}</Text>
      <TextInput
        label={words.deleteType(name)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
      />
    </ConfirmModal>
  );
}
