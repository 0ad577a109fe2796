// Buttons that put a text on the clipboard, and a key that is shown once.

import { Alert, Button, Code, Group, Stack } from "@mantine/core";
import { useTimeout } from "@mantine/hooks";
import { type MouseEvent, useState } from "react";
import { addressOf, type Query } from "../api/call.ts";
import { curlOf } from "../api/curl.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { putOnClipboard } from "./clipboard.ts";
import { saveFile } from "./download.tsx";
import { loadLater } from "./load-later.tsx";

const CopyByHand = loadLater(() => import("./copy-by-hand.tsx"));

/** So long the button says that the text is copied. */
const COPIED_MS = 2_000;

/** A button that copies a text; `label` says what, "Copy" by default. */
export function Copy(props: { readonly text: string; readonly label?: string }) {
  const { text, label } = props;
  const words = useWords(SHELL);
  const [outcome, setOutcome] = useState<"none" | "copied" | "refused">("none");
  const { start, clear } = useTimeout(() => setOutcome("none"), COPIED_MS);
  const copy = async (event: MouseEvent<HTMLButtonElement>) => {
    const isCopied = await putOnClipboard(text, event.currentTarget);
    clear();
    setOutcome(isCopied ? "copied" : "refused");
    if (isCopied) start();
  };
  return (
    <>
      <Button variant="default" onClick={(event) => void copy(event)}>
        {outcome === "copied" ? words.copied : (label ?? words.copy)}
      </Button>
      {outcome === "refused" && <CopyByHand text={text} label={label ?? words.copy} />}
    </>
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
