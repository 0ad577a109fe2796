// The rotation of the main key, by the main key itself. The endpoint takes no Idempotency-Key, and the former key is dead with the
// answer: so a spare key is proposed first, and what to do after a lost answer is said before.

import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { callApi } from "../../api/call.ts";
import { utcDay } from "../../api/days.ts";
import { type Failure, failureOf } from "../../api/failure.ts";
import { refreshAll } from "../../api/queries.ts";
import { isRoot } from "../../api/role.ts";
import { currentKey, replaceKey, whileReplacing } from "../../api/session.ts";
import { CopyCurl } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FailureNotice } from "../../components/failure-notice.tsx";
import { useStatus } from "../../frame/status.ts";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";

/** Returns the confirmation of today, in UTC. */
export const confirmationAt = (nowMs: number): string => `${utcDay(nowMs)}-ROTATE-SELF`;

/** Rotates the main key, which is then the key of the session, and returns it. */
const rotateMainKey = (confirm: string): Promise<string> =>
  whileReplacing(async () => {
    const former = currentKey();
    const answer = await callApi({ method: "POST", path: "/x-self", body: { confirm } });
    const { key } = (answer as { readonly rotate: { readonly key: string } }).rotate;
    replaceKey(key, former);
    return key;
  });

/**
 * The dialog. `hasSpare`: there is a named key with `read` and `manage`; `onMakeSpare` makes one first. `onRotated` gets the new
 * key, which is shown once.
 */
export function RotateMainKey(props: {
  readonly hasSpare: boolean;
  readonly onMakeSpare: () => void;
  readonly onRotated: (key: string) => void;
  readonly onClose: () => void;
}) {
  const { hasSpare, onMakeSpare, onRotated, onClose } = props;
  const words = useWords(KEYS);
  const client = useQueryClient();
  const { id } = useStatus();
  const [confirm, setConfirm] = useState(() => confirmationAt(Date.now()));
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setFailure(null);
    try {
      onRotated(await rotateMainKey(confirm));
      await refreshAll(client);
    } catch (error) {
      setFailure(failureOf(error));
      setRunning(false);
    }
  };
  return (
    <Dialog onClose={onClose} title={words.rotateMain}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Text size="sm">{words.mainText}</Text>
          <Text size="sm">{words.mainLost}</Text>
          {isRoot({ id }) && <Text size="sm">{words.mainRoot}</Text>}
          {!hasSpare && (
            <Stack gap={4} align="flex-start">
              <Text size="sm" fw={600}>
                {words.mainFirst}
              </Text>
              <Button variant="default" onClick={onMakeSpare}>
                {words.makeFirst}
              </Button>
            </Stack>
          )}
          <TextInput
            label={words.confirm}
            description={words.confirmHint}
            value={confirm}
            onChange={(event) => setConfirm(event.currentTarget.value)}
          />
          {failure !== null && (
            <FailureNotice failure={failure} repeat={{ run: () => undefined, isSafe: false }} />
          )}
          <Group gap="xs">
            <Button type="submit" color="red" loading={isRunning}>
              {words.rotateMain}
            </Button>
            <CopyCurl method="POST" path="/x-self" body={{ confirm }} />
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
