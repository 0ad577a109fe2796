// The versions of an Owner's configuration: what each changed, and the way back to one.

import { Badge, Button } from "@mantine/core";
import { useState } from "react";
import type { Answers } from "../../../api/answers.ts";
import { differencesOf } from "../../../api/difference.ts";
import { useGetList } from "../../../api/queries.ts";
import type { Status } from "../../../api/role.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Differences } from "../../../components/differences.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Page } from "../../../components/page.tsx";
import { Pager } from "../../../components/pager.tsx";
import { Time } from "../../../components/time.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useStatus } from "../../../frame/status.ts";
import { CONFIGURATION } from "../../../i18n/configuration.ts";
import { useWords } from "../../../i18n/language.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { Revert } from "./revert.tsx";

const SIZE = 25;
const DEFAULTS = { page: "1" } as const;

type Version = Answers["/x-config/history"]["versions"][number];

/** The page of versions. */
export default function History() {
  const { page: pages } = useWords(SHELL);
  const words = useWords(CONFIGURATION).history;
  const me = useStatus();
  const [{ page }, change] = useUrlState<"page">(DEFAULTS);
  const [chosen, setChosen] = useState<number | null>(null);
  const asked = useGetList("/x-config/history", { page, size: SIZE });
  // The version in force is on the first page, whichever is shown.
  const newest = useGetList("/x-config/history", { page: 1, size: 1 });
  const present = newest.data?.rows.versions[0]?.version ?? null;
  return (
    <Page title={pages.history} about={words.about}>
      <AskedState asked={asked} rows={8}>
        {({ rows: { versions }, total }) =>
          versions.length === 0 ? (
            <Empty text={words.empty} />
          ) : (
            <>
              <DataTable
                caption={pages.history}
                columns={columnsOf(words, me, present, setChosen)}
                rows={versions}
                keyOf={({ version }) => version}
              />
              <Pager
                list={{ page: Number(page), size: SIZE, total, has_more: Number(page) * SIZE < total }}
                shown={versions.length}
                onPage={(next) => change({ page: String(next) })}
              />
              {present !== null && present > 0 && Number(page) * SIZE >= total && (
                <Button variant="default" w="fit-content" onClick={() => setChosen(0)}>
                  {words.revertToDefaults}
                </Button>
              )}
            </>
          )
        }
      </AskedState>
      {chosen !== null && present !== null && (
        <Revert version={chosen} present={present} close={() => setChosen(null)} />
      )}
    </Page>
  );
}

/** `present` is the version in force; null while it is not known. */
function columnsOf(
  words: (typeof CONFIGURATION)["en"]["history"],
  me: Pick<Status, "id" | "name">,
  present: number | null,
  choose: (version: number) => void,
): readonly Column<Version>[] {
  return [
    { key: "version", title: words.version, isFigure: true, cell: ({ version }) => version },
    { key: "at", title: words.at, cell: ({ at }) => <Time at={at} isShort /> },
    { key: "by", title: words.by, isMinor: true, cell: ({ by }) => (by === me.id ? me.name : by) },
    {
      key: "changes",
      title: words.changes,
      isWrapping: true,
      cell: (version) => <Changes version={version} />,
    },
    {
      key: "revert",
      title: words.revertColumn,
      cell: ({ version }) =>
        version === present ? (
          <Badge tt="none" color="arbor">
            {words.present}
          </Badge>
        ) : (
          <Button variant="default" size="compact-xs" onClick={() => choose(version)}>
            {words.revert}
          </Button>
        ),
    },
  ];
}

function Changes({ version }: { readonly version: Version }) {
  const { moreChanges } = useWords(CONFIGURATION);
  return (
    <>
      {Object.entries(version.changes).map(([name, { before, after }]) => (
        <Differences key={name} name={name} differences={differencesOf(before, after)} more={moreChanges} />
      ))}
    </>
  );
}
