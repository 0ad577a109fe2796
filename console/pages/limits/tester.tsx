// The tester: a model, a path, an address and an API key, and what would be decided about such a request now. Nothing is sent to a
// provider and nothing is charged.

import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { questionAbout, useAccountGet, useAccountView } from "../../api/account-view.ts";
import { useGet } from "../../api/queries.ts";
import { isAllowed } from "../../api/role.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { CopyCurl } from "../../components/copy.tsx";
import { RouteDecision, RouteTables } from "../../components/explained-route.tsx";
import { Section } from "../../components/section.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { LIMITS } from "../../i18n/limits.ts";
import { LINES } from "../../i18n/lines.ts";

/** The paths that spend money. */
const PATHS = [
  ...["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions", "/v1/embeddings"],
  ...["/v1/images/generations", "/v1/images/edits", "/v1/audio/speech", "/v1/audio/transcriptions"],
  ...["/v1/audio/translations", "/v1/rerank", "/v1/moderations"],
];

const QUESTION = { model: "", path: "", ip: "", api_key: "" };

/** The tester of an account's access. What was asked is in the address. */
export function AccessTester() {
  const words = useWords(LIMITS);
  const [question, change] = useUrlState(QUESTION);
  return (
    <Section title={words.tester}>
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {words.testerAbout}
        </Text>
        <Fields key={JSON.stringify(question)} question={question} onAsk={change} />
        {question.model !== "" && <Result question={question} />}
      </Stack>
    </Section>
  );
}

/** The fields of a question; they begin with what was asked last. */
function Fields(props: {
  readonly question: typeof QUESTION;
  readonly onAsk: (question: typeof QUESTION) => void;
}) {
  const words = useWords(LIMITS);
  const [typed, setTyped] = useState(props.question);
  const models = useGet("/dashboard/models", {}, { everyMs: 0 });
  const listsKeys = isAllowed(useStatus(), "manage_keys");
  const ask = (event: FormEvent) => {
    event.preventDefault();
    props.onAsk({ ...typed, model: typed.model.trim(), ip: typed.ip.trim() });
  };
  const text = (name: "model" | "ip", label: string) => ({
    ...{ label, value: typed[name], spellCheck: false, autoComplete: "off" },
    onChange: (event: { readonly currentTarget: HTMLInputElement }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
  });
  return (
    <form onSubmit={ask}>
      <Group gap="xs" align="flex-end">
        <TextInput {...text("model", words.model)} placeholder="gpt-4o" list="known-models" w={220} />
        <datalist id="known-models">
          {models.data?.models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <Select
          label={words.path}
          data={PATHS}
          value={typed.path === "" ? PATHS[0]! : typed.path}
          onChange={(path) => setTyped({ ...typed, path: path === PATHS[0] ? "" : (path ?? "") })}
          allowDeselect={false}
          w={210}
        />
        <TextInput {...text("ip", words.address)} placeholder={words.anyAddress} w={160} />
        {listsKeys && (
          <KeyChoice value={typed.api_key} onChange={(api_key) => setTyped({ ...typed, api_key })} />
        )}
        <Button type="submit" disabled={typed.model.trim() === ""}>
          {words.test}
        </Button>
      </Group>
    </form>
  );
}

/** The API key that asks; the main key without a choice. */
function KeyChoice(props: { readonly value: string; readonly onChange: (apiKey: string) => void }) {
  const { key, mainKey } = useWords(LINES);
  const keys = useAccountGet("keys", { size: 200 }, { everyMs: 0 });
  const named = (keys.data?.keys ?? []).filter(({ id }) => id !== 0);
  return (
    <Select
      label={key}
      data={[
        { value: "", label: mainKey },
        ...named.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      value={props.value}
      onChange={(chosen) => props.onChange(chosen ?? "")}
      allowDeselect={false}
      w={150}
    />
  );
}

function Result({ question }: { readonly question: typeof QUESTION }) {
  const asked = useAccountGet("explain", question);
  const { path, query } = questionAbout(useAccountView(), "explain", question);
  return (
    <AskedState asked={asked}>
      {(route) => (
        <Stack gap="sm">
          <RouteDecision route={route} />
          <RouteTables route={route} />
          <div>
            <CopyCurl method="GET" path={path} query={query} />
          </div>
        </Stack>
      )}
    </AskedState>
  );
}
