// Buttons that put a text on the clipboard, and a key that is shown once.

import { Alert, Button, Code, CopyButton, Group, Stack } from "@mantine/core";
import { addressOf, type Query } from "../api/call.ts";
import { curlOf } from "../api/curl.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { saveFile } from "./download.tsx";

/** A button that copies a text; `label` says what, "Copy" by default. */
export function Copy(props: { readonly text: string; readonly label?: string }) {
  const words = useWords(SHELL);
  return (
    <CopyButton value={props.text}>
      {({ copied, copy }) => (
        <Button variant="default" onClick={copy}>
          {copied ? words.copied : (props.label ?? words.copy)}
        </Button>
      )}
    </CopyButton>
  );
}

/** "Copy as curl" of a call: the key stands in it as a variable. */
export function CopyCurl(props: {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
}) {
  const { method, path, query, body } = props;
  const words = useWords(SHELL);
  const text = curlOf({ origin: location.origin, method, path: addressOf(path, query), body });
  return <Copy text={text} label={words.copyCurl} />;
}

/** A new API key, shown this once: to copy, or to save as a file. */
export function SecretOnce(props: { readonly secret: string; readonly name: string }) {
  const { secret, name } = props;
  const words = useWords(SHELL);
  return (
    <Alert color="yellow" title={words.secret.once}>
      <Stack gap="xs">
        <Code block className="secret">
          {secret}
        </Code>
        <Group gap="xs">
          <Copy text={secret} />
          <Button
            variant="default"
            onClick={() => saveFile(`${name}.key.txt`, new Blob([`${secret}\n`], { type: "text/plain" }))}
          >
            {words.secret.saveFile}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
