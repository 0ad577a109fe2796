// Changes to everybody at once: maps and limits of the whole tree, the operation log, and acts on all keys. What reaches
// everybody asks for a typed word first.

import { Button, Group, SimpleGrid, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { countText } from "../../../api/amount.ts";
import { useConfigWrite } from "../../../api/config-writes.ts";
import { useGet, useGetList } from "../../../api/queries.ts";
import { useWrite } from "../../../api/writes.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { FailureNotice } from "../../../components/failure-notice.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { WriteForm } from "../../../components/write-form.tsx";
import { useWords } from "../../../i18n/language.ts";
import { ROOT_PAGES } from "../../../i18n/root.ts";
import { SHELL } from "../../../i18n/shell.ts";

const MAPS = ["ModelMapper", "LevelMapper", "ModelFailover", "SwitchOver", "Resources"] as const;
type Change = Readonly<Record<(typeof MAPS)[number] | "ModelLimits", string>>;
const NOTHING: Change = {
  ModelMapper: "",
  LevelMapper: "",
  ModelFailover: "",
  SwitchOver: "",
  Resources: "",
  ModelLimits: "",
};

/** The page of cascades. */
export default function Cascades() {
  const { page } = useWords(SHELL);
  const words = useWords(ROOT_PAGES).cascades;
  return (
    <Page title={page.cascades} about={words.about}>
      <Stack gap="sm">
        <Section title={page.cascades}>
          <CascadeForm />
        </Section>
        <Section title={words.acts}>
          <Acts />
        </Section>
        <Section title={words.log}>
          <OperationLog />
        </Section>
      </Stack>
    </Page>
  );
}

function CascadeForm() {
  const words = useWords(ROOT_PAGES).cascades;
  const [change, setChange] = useState(NOTHING);
  const [confirmed, setConfirmed] = useState("");
  const [isApplied, setApplied] = useState(false);
  const writing = useConfigWrite();
  // The list of one row has the number of all accounts below in its headers.
  const reach = useGetList("/x-dna", { page: 1, size: 1 });
  const body = Object.fromEntries(Object.entries(change).filter(([, text]) => text.trim() !== ""));
  const isReady = Object.keys(body).length > 0 && confirmed === words.confirmWord;
  const set = (field: keyof Change, text: string) => {
    setApplied(false);
    setChange({ ...change, [field]: text });
  };
  return (
    <WriteForm
      writing={writing}
      write={isReady ? { method: "POST", path: "/x-conf", body } : null}
      submit={words.apply}
      color="red"
      onDone={() => {
        setApplied(true);
        setChange(NOTHING);
        setConfirmed("");
      }}
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm" verticalSpacing="sm">
        {MAPS.map((field) => (
          <TextInput
            key={field}
            label={words.field[field]}
            description={field === "Resources" ? words.resources : words.syntax}
            value={change[field]}
            onChange={(event) => set(field, event.currentTarget.value)}
          />
        ))}
      </SimpleGrid>
      <Textarea
        label={words.limits}
        description={words.limitsHint}
        value={change.ModelLimits}
        onChange={(event) => set("ModelLimits", event.currentTarget.value)}
        autosize
        maxRows={8}
      />
      <TextInput
        label={words.confirm(reach.data === undefined ? "…" : countText(reach.data.total))}
        value={confirmed}
        onChange={(event) => setConfirmed(event.currentTarget.value)}
        maw={420}
      />
      {isApplied && (
        <Text size="sm" role="status">
          {words.applied}
        </Text>
      )}
    </WriteForm>
  );
}

/** Acts on the keys and snapshots of the whole service. */
function Acts() {
  const words = useWords(ROOT_PAGES).cascades;
  const writing = useWrite();
  const acts = [
    ["DelKeys", words.wake],
    ["LoadKeys", words.load],
    ["SaveCache", words.save],
  ] as const;
  const isDone = writing.answer !== null && !writing.isRunning;
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {words.actsAbout}
      </Text>
      <Group gap="xs">
        {acts.map(([act, label]) => (
          <Button
            key={act}
            variant="default"
            disabled={writing.isRunning}
            onClick={() => void writing.send({ method: "POST", path: "/x-conf", body: { [act]: true } })}
          >
            {label}
          </Button>
        ))}
      </Group>
      {writing.failure !== null && <FailureNotice failure={writing.failure} />}
      {isDone && (
        <Text size="sm" role="status">
          {words.done}
        </Text>
      )}
    </Stack>
  );
}

/** Whether the operation log is written. */
function OperationLog() {
  const words = useWords(ROOT_PAGES).cascades;
  const asked = useGet("/x-conf");
  const writing = useWrite();
  return (
    <AskedState asked={asked} rows={1}>
      {({ LogEnable: isWritten = true }) => (
        <Stack gap="xs">
          <Switch
            label={isWritten ? words.logOn : words.logOff}
            checked={isWritten}
            disabled={writing.isRunning}
            onChange={() =>
              void writing.send({ method: "POST", path: "/x-conf", body: { LogEnable: !isWritten } })
            }
          />
          {writing.failure !== null && <FailureNotice failure={writing.failure} />}
        </Stack>
      )}
    </AskedState>
  );
}
