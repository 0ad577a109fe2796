// The form of a write: its fields, its button, "copy as curl", and what became of it. The answer is shown by the page that uses it.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { type FormEvent, type ReactNode, useReducer } from "react";
import { forgetWrite, isInDoubt, type Write, type Writing } from "../api/writes.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { CopyCurl } from "./copy.tsx";
import { FailureNotice } from "./failure-notice.tsx";

/**
 * A form around a write. `write` is null while the fields hold nothing that could be sent. `isUnrepeatable`: the endpoint takes no
 * Idempotency-Key, so after an unknown outcome no repeat is offered. `onDone` gets the answer.
 */
export function WriteForm<A>(props: {
  readonly writing: Writing<A>;
  readonly write: Write | null;
  readonly submit: string;
  readonly color?: string;
  readonly isUnrepeatable?: boolean;
  readonly onDone?: (answer: A) => void;
  /** Further buttons beside the one that sends. */
  readonly beside?: ReactNode;
  readonly children?: ReactNode;
}) {
  const { writing, write, submit, color, isUnrepeatable = false, onDone, beside, children } = props;
  const run = async (sent: Write | null) => {
    if (sent === null || writing.isRunning) return;
    const answer = await writing.send(sent);
    if (answer !== null) onDone?.(answer);
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void run(write);
  };
  const { failure, last } = writing;
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        {children}
        {write !== null && failure === null && !writing.isRunning && <DoubtNotice write={write} />}
        {failure !== null && (
          <FailureNotice failure={failure} repeat={{ run: () => void run(last), isSafe: !isUnrepeatable }} />
        )}
        <Group gap="xs">
          <Button
            type="submit"
            loading={writing.isRunning}
            disabled={write === null}
            {...(color === undefined ? {} : { color })}
          >
            {submit}
          </Button>
          {beside}
          {write !== null && <CopyCurl {...write} />}
        </Group>
      </Stack>
    </form>
  );
}

/** Says of a write that an earlier form sent with an unknown outcome that it is repeated, and lets it be another one instead. */
function DoubtNotice({ write }: { readonly write: Write }) {
  const text = useWords(SHELL).failure;
  const [, render] = useReducer((count: number) => count + 1, 0);
  if (!isInDoubt(write)) return null;
  const onAnother = () => {
    forgetWrite(write);
    render();
  };
  return (
    <Alert color="yellow" title={text.inDoubt} role="status">
      <Text size="sm">{text.inDoubtAdvice}</Text>
      <Button mt="xs" variant="default" onClick={onAnother}>
        {text.another}
      </Button>
    </Alert>
  );
}
