// Where the next request is typed and sent. Enter sends, Shift and Enter begin a new line; composing a character does neither.

import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import type { FormEvent, KeyboardEvent } from "react";
import { CopyCurl } from "../../components/copy.tsx";
import { useWords } from "../../i18n/language.ts";
import { PLAYGROUND } from "../../i18n/playground.ts";
import { CHAT_PATH, type ChatBody } from "./conversation.ts";

/** The field of the next request and its buttons; `body` is null while it could not be sent. */
export function Composer(props: {
  readonly typed: string;
  readonly onTyped: (text: string) => void;
  readonly body: ChatBody | null;
  readonly isRunning: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly onClear: (() => void) | null;
}) {
  const { typed, onTyped, body, isRunning, onSend, onStop, onClear } = props;
  const words = useWords(PLAYGROUND);
  const maySend = body !== null && !isRunning;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (maySend) onSend();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (maySend) onSend();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs">
        <Textarea
          label={words.message}
          value={typed}
          onChange={(event) => onTyped(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          rows={3}
        />
        <Group gap="xs">
          {isRunning ? (
            <Button type="button" color="red" onClick={onStop}>
              {words.stop}
            </Button>
          ) : (
            <Button type="submit" disabled={!maySend}>
              {words.send}
            </Button>
          )}
          {onClear !== null && (
            <Button variant="default" onClick={onClear} disabled={isRunning}>
              {words.clear}
            </Button>
          )}
          {body !== null && <CopyCurl method="POST" path={CHAT_PATH} body={body} />}
          <Text size="xs" c="dimmed">
            {words.enterSends}
          </Text>
        </Group>
      </Stack>
    </form>
  );
}
