// Signing in: a key is tried with `/dashboard/status` and kept only when the service accepts it.

import { Alert, Button, Checkbox, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { callApi } from "../api/call.ts";
import { type Failure, failureOf } from "../api/failure.ts";
import { type SignedOutReason, signIn } from "../api/session.ts";
import { FailureNotice } from "../components/failure-notice.tsx";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** The page for who is not signed in; `reason` says why. */
export function SignIn({ reason }: { readonly reason: SignedOutReason }) {
  const words = useWords(SHELL).signIn;
  const [key, setKey] = useState("");
  const [remember, setRemember] = useState(false);
  const [isTrying, setTrying] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    document.title = `${words.title} · arborgate`;
  }, [words.title]);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setTrying(true);
    setFailure(null);
    try {
      await callApi({ method: "GET", path: "/dashboard/status", key: key.trim() });
      signIn(key.trim(), remember);
    } catch (error) {
      setFailure(failureOf(error));
      setTrying(false);
    }
  };
  return (
    <Stack component="main" align="center" pt="12vh" px="sm">
      <Paper withBorder p="lg" w="100%" maw={380}>
        <form onSubmit={enter}>
          <Stack gap="sm">
            <Title order={1}>{words.title}</Title>
            {reason !== "none" && <Alert color="gray">{words.reason[reason]}</Alert>}
            <PasswordInput
              label={words.key}
              description={words.keyHint}
              value={key}
              onChange={(event) => setKey(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
              required
            />
            <Checkbox
              label={words.remember}
              description={words.rememberHint}
              checked={remember}
              onChange={(event) => setRemember(event.currentTarget.checked)}
            />
            {failure !== null && <FailureNotice failure={failure} />}
            <Button type="submit" loading={isTrying} disabled={key.trim() === ""}>
              {words.enter}
            </Button>
            <Text size="xs" c="dimmed">
              {words.host(location.host)}
            </Text>
          </Stack>
        </form>
      </Paper>
    </Stack>
  );
}
