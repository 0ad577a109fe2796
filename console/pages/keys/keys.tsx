// The API keys of an account: its own, or a descendant's. Secrets are shown once, after they were made.

import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import { currentKey } from "../../api/session.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { Empty } from "../../components/empty.tsx";
import { loadLater } from "../../components/load-later.tsx";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { NEW_KEY } from "./api-key-fields.ts";
import type { ShownOver } from "./key-over.tsx";
import { type ApiKeyRow, type Caller, callerOf } from "./key-rights.ts";
import { KeyTable } from "./key-table.tsx";

const KeyOver = loadLater(() => import("./key-over.tsx"));

const DEFAULTS = { page: "1" };

/** The page of keys. */
export default function Keys() {
  const { page: names } = useWords(SHELL);
  const words = useWords(KEYS);
  const [{ page }, change] = useUrlState(DEFAULTS);
  const [shown, setShown] = useState<ShownOver | null>(null);
  const caller = callerOf(useStatus(), currentKey() ?? "", useAccountView().user);
  const asked = useAccountGet("keys", { page });
  return (
    <Page
      title={names.keys}
      about={words.about}
      actions={<Button onClick={() => setShown({ what: "new", initial: NEW_KEY })}>{words.add}</Button>}
    >
      <AskedState asked={asked} rows={6}>
        {(list) => (
          <Stack gap="sm">
            <KeyList caller={caller} keys={list.keys} onOpen={({ id }) => setShown({ what: "key", id })} />
            <Pager list={list} shown={list.keys.length} onPage={(to) => change({ page: String(to) })} />
            {shown !== null && <KeyOver {...{ keys: list.keys, caller, shown, setShown }} />}
          </Stack>
        )}
      </AskedState>
    </Page>
  );
}

function KeyList(props: {
  readonly keys: readonly ApiKeyRow[];
  readonly caller: Caller;
  readonly onOpen: (row: ApiKeyRow) => void;
}) {
  const { keys, caller, onOpen } = props;
  const words = useWords(KEYS);
  return (
    <>
      <KeyTable keys={keys} caller={caller} onOpen={onOpen} />
      {keys.length <= 1 && <Empty text={words.empty} />}
    </>
  );
}
