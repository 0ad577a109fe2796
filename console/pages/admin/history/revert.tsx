// Going back to a version: what becomes different, then the button that does it.

import { Alert, Button, Text } from "@mantine/core";
import { useState } from "react";
import { changesBackTo } from "../../../api/config-history.ts";
import { useConfigWrite } from "../../../api/config-writes.ts";
import { differencesOf } from "../../../api/difference.ts";
import { useGetList } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { Differences } from "../../../components/differences.tsx";
import { WriteForm } from "../../../components/write-form.tsx";
import { CONFIGURATION } from "../../../i18n/configuration.ts";
import { useWords } from "../../../i18n/language.ts";
import { SHELL } from "../../../i18n/shell.ts";

/** The service lists so many versions at once. */
const VERSIONS_MAX = 1_000;

/** Asks before going back to `version` from the one in force; 0 is the defaults. */
export function Revert(props: {
  readonly version: number;
  readonly present: number;
  readonly close: () => void;
}) {
  const { version, present, close } = props;
  const words = useWords(CONFIGURATION).history;
  const { cancel } = useWords(SHELL);
  const [opened] = useState(present);
  const writing = useConfigWrite(present);
  return (
    <Dialog title={version === 0 ? words.confirmDefaults : words.confirm(version)} onClose={close}>
      <WriteForm
        writing={writing}
        write={{ method: "POST", path: "/x-config/revert", body: { version } }}
        submit={words.revert}
        onDone={close}
        beside={
          <Button variant="default" onClick={close}>
            {cancel}
          </Button>
        }
      >
        {present !== opened && (
          <Alert color="yellow" role="alert" title={words.newer(present)}>
            {words.newerAdvice}
          </Alert>
        )}
        <Text size="sm">{words.confirmAbout}</Text>
        <Back version={version} present={present} />
      </WriteForm>
    </Dialog>
  );
}

/** What becomes different. */
function Back({ version, present }: { readonly version: number; readonly present: number }) {
  const { history: words, moreChanges } = useWords(CONFIGURATION);
  const size = Math.min(present - version, VERSIONS_MAX);
  const asked = useGetList("/x-config/history", { page: 1, size }, { everyMs: 0 });
  return (
    <AskedState asked={asked} rows={2}>
      {({ rows: { versions } }) => {
        const lists = changesBackTo(version, versions).map(({ name, before, after }) => ({
          name,
          differences: differencesOf(before, after),
        }));
        const isSame = lists.every(({ differences }) => differences.length === 0);
        return isSame ? (
          <Text size="sm">{words.noChanges}</Text>
        ) : (
          <div className="difference-lists">
            {lists.map(({ name, differences }) => (
              <Differences key={name} name={name} differences={differences} more={moreChanges} />
            ))}
          </div>
        );
      }}
    </AskedState>
  );
}
