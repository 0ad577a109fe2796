// What stands over the list of API keys: the form of a new key, one key, the new secret of the main key, a secret shown once. It is
// loaded when it is first opened.

import { Button, Stack } from "@mantine/core";
import { useAccountView } from "../../api/account-view.ts";
import { SecretOnce } from "../../components/copy.tsx";
import { Dialog, Sheet } from "../../components/dialog.tsx";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { type ApiKeyFields, NEW_KEY } from "./api-key-fields.ts";
import { type IssuedKey, NewKeyForm } from "./key-form.tsx";
import { type ApiKeyRow, apiKeyStateOf, type Caller } from "./key-rights.ts";
import { KeySheet } from "./key-sheet.tsx";
import { RotateMainKey } from "./main-key.tsx";

/** What stands over the list. */
export type ShownOver =
  | { readonly what: "main" }
  | { readonly what: "new"; readonly initial: ApiKeyFields }
  | { readonly what: "key"; readonly id: number }
  | { readonly what: "secret"; readonly title: string; readonly name: string; readonly secret: string };

/** The dialog or the sheet over the list. */
export default function KeyOver(props: {
  readonly keys: readonly ApiKeyRow[];
  readonly caller: Caller;
  readonly shown: ShownOver;
  readonly setShown: (shown: ShownOver | null) => void;
}) {
  const { keys, caller, shown, setShown } = props;
  const words = useWords(KEYS);
  const { user } = useAccountView();
  const close = () => setShown(null);
  const onIssued = ({ key: { name }, secret }: IssuedKey) =>
    setShown({ what: "secret", title: words.made(name), name, secret });
  switch (shown.what) {
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
