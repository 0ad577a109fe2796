// Start: where requests go, with which key, to which models, as code to copy.

import { Anchor, Group, Stack, Text } from "@mantine/core";
import { Link } from "wouter";
import { isAllowed } from "../../api/role.ts";
import { currentKey } from "../../api/session.ts";
import { keyHint } from "../../api/snippets.ts";
import { Copy } from "../../components/copy.tsx";
import { WithMyModels } from "../../components/my-models.tsx";
import { Page } from "../../components/page.tsx";
import { ModelCode } from "../../components/request-code.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { START } from "../../i18n/start.ts";

/** The page for who makes a first request. */
export default function Start() {
  const { page } = useWords(SHELL);
  const words = useWords(START);
  const status = useStatus();
  return (
    <Page title={page.start} about={words.about}>
      <Section title={words.address}>
        <Stack gap={4}>
          <Address label={words.openAi} address={`${location.origin}/v1`} />
          <Address label={words.anthropic} address={location.origin} />
        </Stack>
      </Section>
      <Section title={words.key}>
        <KeyOfRequests />
      </Section>
      <Section title={words.request}>
        <WithMyModels status={status}>{(models) => <ModelCode models={models} />}</WithMyModels>
      </Section>
      <Section title={words.further}>
        <Further />
      </Section>
    </Page>
  );
}

function Address({ label, address }: { readonly label: string; readonly address: string }) {
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed" w={190}>
        {label}
      </Text>
      <Text size="sm" ff="monospace" className="wraps">
        {address}
      </Text>
      <Copy text={address} />
    </Group>
  );
}

function KeyOfRequests() {
  const words = useWords(START);
  const status = useStatus();
  return (
    <Stack gap={4} align="flex-start">
      <Text size="sm">
        {words.keyIs} <b className="figure">{keyHint(currentKey())}</b>{" "}
        {words.scopes(status.scopes.join(", "))}
      </Text>
      {isAllowed(status, "manage_keys") && (
        <Text size="sm">
          {words.ownKeys}{" "}
          <Anchor component={Link} href="/keys" inherit>
            {words.makeKey}
          </Anchor>
        </Text>
      )}
    </Stack>
  );
}

function Further() {
  const words = useWords(START);
  const status = useStatus();
  const canRead = isAllowed(status, "read");
  return (
    <Stack gap={4}>
      <Anchor component={Link} href="/playground" size="sm">
        {words.playground}
      </Anchor>
      {canRead && (
        <>
          <Anchor component={Link} href="/models" size="sm">
            {words.prices}
          </Anchor>
          <Anchor component={Link} href="/requests?view=recent" size="sm">
            {words.requests}
          </Anchor>
        </>
      )}
      <Anchor href="/swagger" size="sm">
        {words.document}
      </Anchor>
    </Stack>
  );
}
