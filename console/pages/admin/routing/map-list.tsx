// All maps of routing with what is odd about them. One is edited in its place, while the others stay to be read.

import { Button, Code, Group, SimpleGrid, Text } from "@mantine/core";
import { useState } from "react";
import { countText } from "../../../api/amount.ts";
import type { Answers } from "../../../api/answers.ts";
import { type Configuration, useConfiguration } from "../../../api/configuration.ts";
import {
  MAP_NAMES,
  type MapEntry,
  type MapName,
  type Maps,
  mapsOf,
  type StatedMaps,
} from "../../../api/map-text.ts";
import { useGetList } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Section } from "../../../components/section.tsx";
import { useWords } from "../../../i18n/language.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import { KEYS_MAX } from "../pool/pool-keys.ts";
import { FindingList } from "./finding-list.tsx";
import { MapEditor } from "./map-editor.tsx";
import { type Finding, findingsOf, type PoolByLevel } from "./map-findings.ts";

/** Entries that are shown at first. */
const SHOWN = 40;

type KeyRow = Answers["/x-keys"]["keys"][number];

/** Counts the keys of each Level. */
const poolOf = (keys: readonly KeyRow[]): PoolByLevel =>
  new Map(
    [...Map.groupBy(keys, ({ Level }) => Level)].map(([level, all]) => [
      level,
      { keys: all.length, enabled: all.filter(({ Status }) => Status).length },
    ]),
  );

/** The maps as they are in force. */
export function MapList() {
  const configuration = useConfiguration();
  const { data } = useGetList("/x-keys", { page: 1, size: KEYS_MAX });
  // Where there are more keys than one answer holds, nothing is said of Levels.
  const pool = data === undefined || data.total > KEYS_MAX ? null : poolOf(data.rows.keys);
  return (
    <AskedState asked={configuration} rows={12}>
      {(newest) => <Loaded newest={newest} pool={pool} />}
    </AskedState>
  );
}

function Loaded({ newest, pool }: { readonly newest: Configuration; readonly pool: PoolByLevel }) {
  const maps = mapsOf(newest.settings as StatedMaps);
  const findings = findingsOf(maps, pool);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" verticalSpacing="sm" className="maps">
      {MAP_NAMES.map((name) => (
        <OneMap key={name} {...{ name, newest, maps, pool }} findings={findings[name]} />
      ))}
    </SimpleGrid>
  );
}

function OneMap(props: {
  readonly name: MapName;
  readonly newest: Configuration;
  readonly maps: Maps;
  readonly pool: PoolByLevel;
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
}) {
  const { name, newest, maps, pool, findings } = props;
  const words = useWords(ROUTING);
  const [isEdited, setEdited] = useState(false);
  const entries = maps[name];
  return (
    <Section
      title={name}
      aside={
        !isEdited && (
          <Button variant="default" onClick={() => setEdited(true)} aria-label={`${words.edit} ${name}`}>
            {words.edit}
          </Button>
        )
      }
    >
      <Text size="xs" c="dimmed" mb="xs">
        {words.about[name]} {entries.length > 1 && name !== "SWITCH_OVER" && words.order}
      </Text>
      {isEdited ? (
        <MapEditor name={name} newest={newest} pool={pool} onClose={() => setEdited(false)} />
      ) : entries.length === 0 ? (
        <Empty text={words.empty[name]} />
      ) : (
        <MapTable name={name} entries={entries} findings={findings} />
      )}
    </Section>
  );
}

function MapTable(props: {
  readonly name: MapName;
  readonly entries: readonly MapEntry[];
  readonly findings: ReadonlyMap<string, readonly Finding[]>;
}) {
  const { name, entries, findings } = props;
  const words = useWords(ROUTING);
  const [shown, setShown] = useState(SHOWN);
  const columns: readonly Column<MapEntry>[] = [
    { key: "left", title: words.left[name], cell: ({ left }) => <Code className="break">{left}</Code> },
    {
      key: "right",
      title: words.right[name],
      cell: ({ right }) => <Code className="break">{right.replaceAll("|", " | ")}</Code>,
    },
    {
      key: "findings",
      title: words.findingsTitle,
      cell: ({ left }) => <FindingList findings={findings.get(left) ?? []} />,
    },
  ];
  const hasFindings = findings.size > 0;
  return (
    <div className="wrapped-cells">
      <DataTable
        caption={name}
        columns={hasFindings ? columns : columns.slice(0, 2)}
        rows={entries.slice(0, shown)}
        keyOf={({ left }) => left}
      />
      {entries.length > shown && (
        <Group mt="xs">
          <Button variant="default" onClick={() => setShown(shown + 10 * SHOWN)}>
            {words.showAll(countText(entries.length - shown))}
          </Button>
        </Group>
      )}
    </div>
  );
}
