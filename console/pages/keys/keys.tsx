// The API keys of an account: its own, or a descendant's. Secrets are shown once, after they were made.

import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { useAccountGet, useAccountView } from "../../api/account-view.ts";
import { currentKey } from "../../api/session.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { SecretOnce } from "../../components/copy.tsx";
import { Dialog, Sheet } from "../../components/dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { Pager } from "../../components/pager.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { type ApiKeyFields, NEW_KEY } from "./api-key-fields.ts";
import { type IssuedKey, NewKeyForm } from "./key-form.tsx";
import { type ApiKeyRow, apiKeyStateOf, callerOf } from "./key-rights.ts";
import { KeySheet } from "./key-sheet.tsx";
import { KeyTable } from "./key-table.tsx";
import { RotateMainKey } from "./main-key.tsx";

const DEFAULTS = { page: "1" };

/** What stands over the list. */
type Shown =
  | { readonly what: "nothing" | "main" }
  | { readonly what: "new"; readonly initial: ApiKeyFields }
  | { readonly what: "key"; readonly id: number }
  | { readonly what: "secret"; readonly title: string; readonly name: string; readonly secret: string };

const NOTHING: Shown = { what: "nothing" };

/** The page of keys. */
export default function Keys() {
  const { page: names } = useWords(SHELL);
  const words = useWords(KEYS);
  const [{ page }, change] = useUrlState(DEFAULTS);
  const [shown, setShown] = useState<Shown>(NOTHING);
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
            <KeyList keys={list.keys} onOpen={({ id }) => setShown({ what: "key", id })} />
            <Pager list={list} shown={list.keys.length} onPage={(to) => change({ page: String(to) })} />
            <Over keys={list.keys} shown={shown} setShown={setShown} />
          </Stack>
        )}
      </AskedState>
    </Page>
  );
}

const useCaller = () => callerOf(useStatus(), currentKey() ?? "", useAccountView().user);

function KeyList(props: { readonly keys: readonly ApiKeyRow[]; readonly onOpen: (row: ApiKeyRow) => void }) {
  const { keys, onOpen } = props;
  const words = useWords(KEYS);
  const caller = useCaller();
  return (
    <>
      <KeyTable keys={keys} caller={caller} onOpen={onOpen} />
      {keys.length <= 1 && <Empty text={words.empty} />}
    </>
  );
}

/** The dialog or the sheet over the list. */
function Over(props: {
  readonly keys: readonly ApiKeyRow[];
  readonly shown: Shown;
  readonly setShown: (shown: Shown) => void;
}) {
  const { keys, shown, setShown } = props;
  const words = useWords(KEYS);
  const { user } = useAccountView();
  const caller = useCaller();
  const close = () => setShown(NOTHING);
  const onIssued = ({ key: { name }, secret }: IssuedKey) =>
    setShown({ what: "secret", title: words.made(name), name, secret });
  switch (shown.what) {
    case "nothing":
      return null;
    case "new":
      return (
        <Sheet onClose={close} title={words.add}>
          <NewKeyForm initial={shown.initial} caller={caller} keys={keys} user={user} onDone={onIssued} />
        </Sheet>
      );
    case "key": {
      const row = keys.find(({ id }) => id === shown.id);
      if (row === undefined) return null;
      const onRotateMain = () => setShown({ what: "main" });
      return <KeySheet {...{ row, caller, keys, user, onIssued, onRotateMain }} onClose={close} />;
    }
    case "main":
      return (
        <RotateMainKey
          hasSpare={keys.some(isSpare)}
          onMakeSpare={() => setShown({ what: "new", initial: spareKey(words.spareName) })}
          onRotated={(secret) => setShown({ what: "secret", title: words.mainDone, name: "main", secret })}
          onClose={close}
        />
      );
    case "secret":
      return (
        <Dialog onClose={close} title={shown.title} isKept>
          <Stack gap="sm" align="flex-start">
            <SecretOnce secret={shown.secret} name={shown.name} />
            <Button onClick={close}>{words.done}</Button>
          </Stack>
        </Dialog>
      );
  }
}

/** Whether a key can manage the account in the place of the main key. */
const isSpare = (row: ApiKeyRow): boolean =>
  row.id > 0 &&
  apiKeyStateOf(row, Date.now()) === "active" &&
  row.scopes.includes("read") &&
  row.scopes.includes("manage");

const spareKey = (name: string): ApiKeyFields => ({ ...NEW_KEY, name, scopes: ["read", "manage"] });
