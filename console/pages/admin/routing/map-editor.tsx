// The editor of one map: rows or text in the syntax of the configuration, what changes by it, and what would be odd about it. What
// is saved replaces the whole map, and can be undone for ten seconds; nothing is sent over a version that somebody else saved meanwhile.

import { Button, SegmentedControl, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { type Configuration, useBasis } from "../../../api/configuration.ts";
import {
  changesBetween,
  type ItemFault,
  type MapName,
  type Maps,
  mapsOf,
  type StatedMaps,
} from "../../../api/map-text.ts";
import { compareTried } from "../../../api/pattern.ts";
import { ConfigForm } from "../../../components/config-form.tsx";
import { MapDifference } from "../../../components/map-difference.tsx";
import { useWords } from "../../../i18n/language.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { FindingList } from "./finding-list.tsx";
import { converted, isBlocking, type MapDraft, mapDraftOf, readDraft, sentText } from "./map-draft.ts";
import { findingsOf, type PoolByLevel } from "./map-findings.ts";
import { MapRows } from "./map-rows.tsx";

/** Edits a map. `onClose`: it is saved, or left as it was. */
export function MapEditor(props: {
  readonly name: MapName;
  readonly newest: Configuration;
  readonly pool: PoolByLevel;
  readonly onClose: () => void;
}) {
  const { name, newest, pool, onClose } = props;
  const basis = useBasis(newest, true);
  const maps = mapsOf(basis.former.settings as StatedMaps);
  const words = useWords(ROUTING);
  const { save, cancel } = useWords(SHELL);
  const [draft, setDraft] = useState<MapDraft>(() => mapDraftOf(maps[name]));
  const { entries, faults } = readDraft(draft);
  const changes = changesBetween(maps[name], entries);
  const canSave = changes.length > 0 && !faults.some(isBlocking);
  const body = { [name]: sentText(entries) };
  return (
    <ConfigForm
      basis={basis}
      write={canSave ? { method: "PUT", path: "/x-config", body } : null}
      submit={save}
      onDone={onClose}
      beside={
        <Button variant="default" onClick={onClose}>
          {cancel}
        </Button>
      }
    >
      <SegmentedControl
        value={draft.as}
        onChange={(as) => setDraft(converted(draft, as as MapDraft["as"]))}
        aria-label={words.how}
        w="fit-content"
        data={[
          { value: "table", label: words.asTable },
          { value: "text", label: words.asText },
        ]}
      />
      {draft.as === "table" ? (
        <MapRows name={name} rows={draft.rows} onRows={(rows) => setDraft({ as: "table", rows })} />
      ) : (
        <Textarea
          label={words.text(name)}
          description={words.textHint}
          value={draft.text}
          onChange={(event) => setDraft({ as: "text", text: event.currentTarget.value })}
          spellCheck={false}
          autosize
          minRows={4}
          maxRows={20}
          classNames={{ input: "map-text" }}
        />
      )}
      <Faults faults={faults} />
      <MapDifference changes={changes} words={words} />
      <DraftFindings name={name} maps={{ ...maps, [name]: entries.toSorted(byTried) }} pool={pool} />
    </ConfigForm>
  );
}

const byTried = (one: { readonly left: string }, other: { readonly left: string }): number =>
  compareTried(one.left, other.left);

function Faults({ faults }: { readonly faults: readonly ItemFault[] }) {
  const words = useWords(ROUTING);
  return faults.map((fault) => (
    <Text
      key={`${fault.kind} ${fault.item}`}
      size="xs"
      role="alert"
      className="break"
      c={isBlocking(fault) ? "var(--console-negative)" : "dimmed"}
    >
      {words.faults[fault.kind](fault.item)}
    </Text>
  ));
}

/** What would be odd about the entries of the map once it is saved. */
function DraftFindings(props: { readonly name: MapName; readonly maps: Maps; readonly pool: PoolByLevel }) {
  const words = useWords(ROUTING);
  const found = [...findingsOf(props.maps, props.pool)[props.name]];
  if (found.length === 0) return null;
  return (
    <Stack gap={2} role="status" aria-label={words.findingsTitle}>
      {found.map(([left, findings]) => (
        <div key={left}>
          <Text size="xs" fw={600} className="break">
            {left}
          </Text>
          <FindingList findings={findings} />
        </div>
      ))}
    </Stack>
  );
}
