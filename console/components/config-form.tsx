// A form that changes the configuration. When somebody else saved a version since it was opened, the form says what that changed
// and what to do, and sends nothing before.

import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useConfigWrite } from "../api/config-writes.ts";
import type { Basis } from "../api/configuration.ts";
import { differencesOf } from "../api/difference.ts";
import type { Write } from "../api/writes.ts";
import { CONFIGURATION } from "../i18n/configuration.ts";
import { useWords } from "../i18n/language.ts";
import { Differences } from "./differences.tsx";
import { WriteForm } from "./write-form.tsx";

/** A form about the configuration of `basis`. `onDone` is called after the write succeeded. */
export function ConfigForm(props: {
  readonly basis: Basis;
  readonly write: Write | null;
  readonly submit: string;
  readonly onDone: () => void;
  readonly beside?: ReactNode;
  readonly children?: ReactNode;
}) {
  const { basis, write, submit, onDone, beside, children } = props;
  const writing = useConfigWrite(basis.former.version);
  // The later version may be what this form itself sent.
  const isInDoubt = writing.isRunning || writing.failure?.kind === "unknown";
  const isOutdated = basis.newer !== null && !isInDoubt;
  return (
    <WriteForm
      writing={writing}
      write={isOutdated ? null : write}
      submit={submit}
      onDone={onDone}
      beside={beside}
    >
      {children}
      {isOutdated && <NewerVersion basis={basis} />}
    </WriteForm>
  );
}

/** What somebody else saved meanwhile, and what to do. */
function NewerVersion({ basis }: { readonly basis: Basis }) {
  const { newer: words, moreChanges } = useWords(CONFIGURATION);
  const { former, newer, takeNewer } = basis;
  if (newer === null) return null;
  return (
    <Alert color="yellow" title={words.title(newer.version)} role="alert">
      <Stack gap={6} align="flex-start">
        <Text size="sm">{words.advice}</Text>
        <div className="difference-lists">
          {Object.keys(newer.settings).map((name) => (
            <Differences
              key={name}
              name={name}
              differences={differencesOf(former.settings[name], newer.settings[name])}
              more={moreChanges}
            />
          ))}
        </div>
        <Group gap="sm">
          <Button variant="default" onClick={takeNewer}>
            {words.take(newer.version)}
          </Button>
          <Anchor component={Link} href="/admin/history" size="sm">
            {words.history}
          </Anchor>
        </Group>
      </Stack>
    </Alert>
  );
}
