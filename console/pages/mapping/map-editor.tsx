// The editor of the map: its text, what is wrong with it, what saving would change. Only the difference is sent, so that what an
// account above lays over the map meanwhile stays.

import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { AccountWrites } from "../../api/answers.ts";
import { changesBetween, readMap, textOf } from "../../api/map-text.ts";
import { useWrite } from "../../api/writes.ts";
import { FailureNotice } from "../../components/failure-notice.tsx";
import { MapDifference } from "../../components/map-difference.tsx";
import { utcText } from "../../components/time.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { MAPPING } from "../../i18n/mapping.ts";
import { SHELL } from "../../i18n/shell.ts";
import { editsOf, type KnownMap } from "./known-map.ts";

type Updated = AccountWrites["updated"];

const mapOf = ({ User }: Updated): string => String(User.Updates.ModelMapper ?? "");

/** The form of the map. `draft` is what was typed, null: nothing yet. `onStated` gets the map as the service answers it. */
export function OwnMapEditor(props: {
  readonly known: KnownMap | null;
  readonly draft: string | null;
  readonly onDraft: (text: string) => void;
  readonly onStated: (map: string) => void;
}) {
  const { known, draft, onDraft, onStated } = props;
  const words = useWords(MAPPING);
  const { save } = useWords(SHELL);
  const { id } = useStatus();
  const writing = useWrite<Updated>();
  const before = known?.entries ?? [];
  const text = draft ?? textOf(before);
  const { entries, faults } = readMap(text);
  const edits = editsOf(before, entries);
  const canSave = edits !== "" && faults.every(({ kind }) => kind === "twice");
  const path = `/x-users/${id}`;
  return (
    <WriteForm
      writing={writing}
      write={canSave ? { method: "PUT", path, body: { ModelMapper: edits } } : null}
      submit={save}
      onDone={(answer) => onStated(mapOf(answer))}
    >
      <MapSource known={known} onStated={onStated} />
      <Textarea
        label={words.text}
        description={words.textHint}
        value={text}
        onChange={(event) => onDraft(event.currentTarget.value)}
        spellCheck={false}
        autosize
        minRows={5}
        maxRows={18}
        placeholder={"fast=gpt-4o-mini,\nclaude-*=claude-sonnet-4-5"}
        classNames={{ input: "mapping-text" }}
      />
      {faults.map(({ kind, item }) => (
        <Text key={`${kind} ${item}`} size="xs" role="alert" className="text-block">
          {words.fault[kind](item)}
        </Text>
      ))}
      <MapDifference changes={changesBetween(before, entries)} words={words} />
      {writing.answer !== null && draft === null && (
        <Text size="sm" role="status">
          {words.saved}
        </Text>
      )}
    </WriteForm>
  );
}

/** Where the map of the form comes from, and the way to read it from the service. */
function MapSource(props: { readonly known: KnownMap | null; readonly onStated: (map: string) => void }) {
  const { known, onStated } = props;
  const words = useWords(MAPPING);
  const { id } = useStatus();
  const [isAsked, setAsked] = useState(false);
  const writing = useWrite<Updated>();
  const read = async () => {
    setAsked(true);
    const answer = await writing.send({ method: "PUT", path: `/x-users/${id}`, body: { ModelMapper: "" } });
    if (answer !== null) onStated(mapOf(answer));
  };
  const isNow = known !== null && known.at === null;
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed">
        {known === null
          ? words.unknown
          : known.at === null
            ? words.asOfNow
            : `${words.asOf(utcText(known.at))} ${words.asOfHint}`}
      </Text>
      {!isNow && (
        <Group gap="xs">
          <Button variant="default" size="compact-xs" onClick={() => void read()} loading={writing.isRunning}>
            {words.read}
          </Button>
          <Text size="xs" c="dimmed">
            {words.readHint}
          </Text>
        </Group>
      )}
      {isAsked && writing.failure !== null && <FailureNotice failure={writing.failure} />}
    </Stack>
  );
}
