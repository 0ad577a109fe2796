// The form of an API key, new or changed. The service judges every field; here only what cannot be read keeps it from being sent.

import { Checkbox, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { type SyntheticEvent, useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { useWrite, type Write } from "../../api/writes.ts";
import { utcText } from "../../components/time.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { type ApiKeyFields, bodyOf, fieldsOf, NEW_KEY, UNFINISHED, unreadable } from "./api-key-fields.ts";
import { type ApiKeyRow, type Caller, givableScopes, isItself, type Scope } from "./key-rights.ts";

/** What the service answers to a new secret. */
export interface IssuedKey {
  readonly key: ApiKeyRow;
  readonly secret: string;
}

/** A form whose `write` is made of what differs from `before`. */
export function KeyForm<A>(props: {
  /** What the form begins with. */
  readonly initial: ApiKeyFields;
  readonly before: ApiKeyFields;
  readonly caller: Caller;
  /** The keys of the page, among them perhaps the one that is signed in. */
  readonly keys: Answers["/dashboard/keys"]["keys"];
  readonly submit: string;
  readonly writeOf: (body: object) => Write;
  readonly onDone: (answer: A) => void;
}) {
  const { caller, keys, submit, writeOf, onDone } = props;
  // What is typed is compared with the key that it began with: the key of a later poll would make what others changed meanwhile look
  // like a change of this form, which would undo it. Until something is typed the form follows the polls.
  const [edited, setEdited] = useState<{
    readonly before: ApiKeyFields;
    readonly fields: ApiKeyFields;
  } | null>(null);
  const { before, fields } = edited ?? { before: props.before, fields: props.initial };
  const writing = useWrite<A>();
  const words = useWords(KEYS);
  const body = bodyOf(fields, before);
  const wrong = new Set(unreadable(fields));
  const set = (change: Partial<ApiKeyFields>) => setEdited({ before, fields: { ...fields, ...change } });
  const itself = keys.find((row) => isItself(caller, row));
  const input = (name: Exclude<keyof ApiKeyFields, "scopes">, label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      value={fields[name]}
      error={fields[name] !== "" && wrong.has(name)}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <WriteForm writing={writing} write={body === null ? null : writeOf(body)} submit={submit} onDone={onDone}>
      {input("name", words.name, words.nameHint)}
      <Scopes chosen={fields.scopes} offered={givableScopes(caller)} onChange={(scopes) => set({ scopes })} />
      {fields.scopes.includes("manage") ? (
        <Text size="xs" c="dimmed">
          {words.manageHint}
        </Text>
      ) : (
        <>
          <SimpleGrid cols={2} spacing="xs" verticalSpacing="xs">
            {input("hardLimit", words.hardLimit, words.hardLimitHint)}
            {input("dailyLimit", words.dailyLimit, words.dailyLimitHint)}
            {input("rpm", words.rpm, words.limitHint)}
            {input("tpm", words.tpm, words.limitHint)}
          </SimpleGrid>
          {input("allowModels", words.allowModels, words.allowModelsHint)}
          {input("resources", words.resources, words.resourcesHint)}
        </>
      )}
      {input("allowIps", words.allowIps, words.allowIpsHint)}
      {itself !== undefined && itself.allow_ips.length > 0 && (
        <Text size="xs">{words.boundedFrom(itself.allow_ips.join(" "))}</Text>
      )}
      {input("tags", words.tags, words.tagsHint)}
      <Expiry expires={fields.expires} onChange={(expires) => set({ expires })} />
      {itself !== undefined && itself.expires_at !== null && (
        <Text size="xs">{words.bounded(utcText(itself.expires_at, true))}</Text>
      )}
    </WriteForm>
  );
}

/** The input of the expiry. A part that is typed or deleted changes nothing that `onChange` sees while the value stays empty. */
function Expiry(props: { readonly expires: string; readonly onChange: (expires: string) => void }) {
  const { expires, onChange } = props;
  const words = useWords(KEYS);
  const read = ({ currentTarget: { value, validity } }: SyntheticEvent<HTMLInputElement>) => {
    const text = validity.badInput ? UNFINISHED : value;
    if (text !== expires) onChange(text);
  };
  return (
    <TextInput
      type="datetime-local"
      label={words.expires}
      description={words.expiresHint}
      value={expires === UNFINISHED ? "" : expires}
      error={expires === UNFINISHED && words.expiresUnfinished}
      onChange={read}
      onKeyUp={read}
      onBlur={read}
    />
  );
}

function Scopes(props: {
  readonly chosen: readonly Scope[];
  readonly offered: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
}) {
  const { chosen, offered, onChange } = props;
  const words = useWords(KEYS);
  // Administration is given beside the management alone.
  const shown = offered.filter((scope) => scope !== "admin" || chosen.includes("manage"));
  return (
    <Checkbox.Group
      size="xs"
      label={words.scopes}
      value={[...chosen]}
      onChange={(values) =>
        onChange(
          offered.filter(
            (scope) => values.includes(scope) && (scope !== "admin" || values.includes("manage")),
          ),
        )
      }
    >
      <Stack gap={4} mt={4}>
        {shown.map((scope) => (
          <Checkbox key={scope} value={scope} label={words.scope[scope]} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

/** The form of a new key; `onDone` gets its secret. */
export function NewKeyForm(props: {
  readonly initial: ApiKeyFields;
  readonly caller: Caller;
  readonly keys: Answers["/dashboard/keys"]["keys"];
  readonly user: string | null;
  readonly onDone: (issued: IssuedKey) => void;
}) {
  const { user, ...form } = props;
  const { add } = useWords(KEYS);
  return (
    <KeyForm<IssuedKey>
      {...form}
      before={NEW_KEY}
      submit={add}
      writeOf={(body) => ({
        method: "POST",
        path: "/dashboard/keys",
        query: { user: user ?? undefined },
        body,
      })}
    />
  );
}

/** The form of a key that exists. */
export function ChangeKeyForm(props: {
  readonly row: ApiKeyRow;
  readonly caller: Caller;
  readonly keys: Answers["/dashboard/keys"]["keys"];
  readonly user: string | null;
  readonly onDone: () => void;
}) {
  const { row, user, ...form } = props;
  const { save } = useWords(SHELL);
  const before = fieldsOf(row);
  return (
    <KeyForm
      {...form}
      initial={before}
      before={before}
      submit={save}
      writeOf={(body) => ({
        method: "PUT",
        path: `/dashboard/keys/${row.id}`,
        query: { user: user ?? undefined },
        body,
      })}
    />
  );
}
