// Root replaces its own key, or that of any account. The endpoint takes no Idempotency-Key, and the new key is shown once: the page
// says so before, and proposes another way in first.

import { Alert, Anchor, Button, Group, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { callApi } from "../../../api/call.ts";
import { utcDay } from "../../../api/days.ts";
import { type Failure, failureOf } from "../../../api/failure.ts";
import { currentKey, replaceKey, whileReplacing } from "../../../api/session.ts";
import { useWrite, type Write } from "../../../api/writes.ts";
import { SecretOnce } from "../../../components/copy.tsx";
import { FailureNotice } from "../../../components/failure-notice.tsx";
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
const confirmationOf = (nowMs: number): string => `${utcDay(nowMs)}-ROTATE-ROOT`;

/** The page that replaces keys. */
export default function Rotation() {
  const { page } = useWords(SHELL);
  const words = useWords(ROOT_PAGES).rotation;
  const status = useStatus();
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [confirm, setConfirm] = useState("");
  const [done, setDone] = useState<Rotated["rotate"] | null>(null);
  const former = currentKey();
  const rotation = useWrite<Rotated>(({ rotate }) => {
    if (rotate.id === status.id) replaceKey(rotate.key, former);
  });
  // When Root replaces its own key, polls with the former one are refused before the answer is here.
  const writing = { ...rotation, send: (write: Write) => whileReplacing(() => rotation.send(write)) };
  const [failure, setFailure] = useState<Failure | null>(null);
  const expected = confirmationOf(Date.now());
  const finish = ({ rotate }: Rotated) => {
    setDone(rotate);
    setConfirm("");
    setKey("");
  };
  const generate = async () => {
    setFailure(null);
    try {
      const fresh = (await callApi({ method: "GET", path: "/x-gkey" })) as { readonly key: string };
      setKey(fresh.key);
    } catch (error) {
      setFailure(failureOf(error));
    }
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
          {failure !== null && <FailureNotice failure={failure} />}
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
