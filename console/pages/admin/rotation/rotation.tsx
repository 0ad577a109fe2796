// Root replaces its own key, or that of any account. The endpoint takes no Idempotency-Key, and the new key is shown once: the page
// says so before, and proposes another way in first.

import { Alert, Anchor, Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { callApi } from "../../../api/call.ts";
import { replaceKey } from "../../../api/session.ts";
import { useWrite } from "../../../api/writes.ts";
import { SecretOnce } from "../../../components/copy.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { WriteForm } from "../../../components/write-form.tsx";
import { useStatus } from "../../../frame/status.ts";
import { useWords } from "../../../i18n/language.ts";
import { ROOT_PAGES } from "../../../i18n/root.ts";
import { SHELL } from "../../../i18n/shell.ts";

/** The answer of `POST /x-root`, as far as the page reads it. */
interface Rotated {
  readonly rotate: { readonly id: number; readonly name: string; readonly key: string };
}

/** Returns what is to be typed: today in UTC, and the act. */
const confirmationOf = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 10)}-ROTATE-ROOT`;

/** The page that replaces keys. */
export default function Rotation() {
  const { page } = useWords(SHELL);
  const words = useWords(ROOT_PAGES).rotation;
  const status = useStatus();
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [confirm, setConfirm] = useState("");
  const [done, setDone] = useState<Rotated["rotate"] | null>(null);
  const writing = useWrite<Rotated>();
  const expected = confirmationOf(Date.now());
  const finish = ({ rotate }: Rotated) => {
    setDone(rotate);
    setConfirm("");
    setKey("");
    if (rotate.id === status.id) replaceKey(rotate.key);
  };
  const generate = async () => {
    const fresh = (await callApi({ method: "GET", path: "/x-gkey" })) as { readonly key: string };
    setKey(fresh.key);
  };
  const body = { confirm, ...(name === "" ? {} : { name }), ...(key === "" ? {} : { key }) };
  return (
    <Page title={page.rotation} about={words.about}>
      <Alert color="yellow">
        {words.lost}{" "}
        <Anchor component={Link} href="/keys" size="sm" c="inherit" underline="always">
          {words.makeKey}
        </Anchor>
      </Alert>
      {done !== null && (
        <Stack gap="xs" role="status">
          <Text size="sm" fw={600}>
            {words.done(done.name)} {done.id === status.id && words.replaced}
          </Text>
          <SecretOnce secret={done.key} name={done.name} />
        </Stack>
      )}
      <Section title={words.rotate}>
        <WriteForm
          writing={writing}
          write={confirm === expected ? { method: "POST", path: "/x-root", body } : null}
          submit={words.rotate}
          color="red"
          isUnrepeatable
          onDone={finish}
        >
          <TextInput
            label={words.whose}
            description={words.whoseHint}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            maw={420}
          />
          <Group align="end" gap="xs">
            <PasswordInput
              label={words.key}
              description={words.keyHint}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              autoComplete="off"
              w={420}
            />
            <Button variant="default" onClick={() => void generate()}>
              {words.generate}
            </Button>
          </Group>
          <Group align="end" gap="xs">
            <TextInput
              label={words.confirm}
              description={words.confirmHint(expected)}
              value={confirm}
              onChange={(event) => setConfirm(event.currentTarget.value)}
              w={420}
            />
            <Button variant="default" onClick={() => setConfirm(expected)}>
              {words.fill}
            </Button>
          </Group>
        </WriteForm>
      </Section>
    </Page>
  );
}
