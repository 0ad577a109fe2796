// A file of the API, fetched with the key and handed to the browser as a file: a link could not carry the Authorization header,
// and a key in an address would end up in logs.

import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { type Query, respond } from "../api/call.ts";
import { type Failure, failureOf } from "../api/failure.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { FailureNotice } from "./failure-notice.tsx";

/** The browser reads a blob after the click on its link has returned; its address is withdrawn after this. */
const REVOKE_MS = 60_000;

/** Hands a file to the browser, which saves it under `name`. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS);
}

/**
 * A button that downloads GET `path` as the file `name`; `label` says what, "Download" by default. `hasFee`: the label names a fee,
 * and only the button that bears it may ask again, so a failure offers no retry.
 */
export function Download(props: {
  readonly path: string;
  readonly query?: Query;
  readonly name: string;
  readonly label?: string;
  readonly hasFee?: boolean;
}) {
  const { path, query, name, label, hasFee = false } = props;
  const words = useWords(SHELL);
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const run = async () => {
    setRunning(true);
    setFailure(null);
    try {
      const response = await respond({ method: "GET", path, ...(query === undefined ? {} : { query }) });
      saveFile(name, await response.blob());
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setRunning(false);
    }
  };
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="default" onClick={run} loading={isRunning}>
        {label ?? words.download}
      </Button>
      {failure !== null && <FailureNotice failure={failure} {...(hasFee ? {} : { onRetry: run })} />}
    </Stack>
  );
}
