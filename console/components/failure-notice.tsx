// A failure as a page shows it: what happened, the code, the request id, and what to do. Never a bare "error".

import { Alert, Button, Code, Group, Text } from "@mantine/core";
import type { Failure } from "../api/failure.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { loadLater } from "./load-later.tsx";

/** What to do about a refusal, by its code. It is loaded after a failure: the advice for every code is larger than this file. */
export const Advice = loadLater(() => import("./failure-advice.tsx"));

/** What to do about the failure of a write. */
export interface Repeat {
  readonly run: () => void;
  /** false: the endpoint takes no Idempotency-Key. */
  readonly isSafe: boolean;
}

/** A failure with what is known of it; `onRetry` asks again, `repeat` sends a write whose outcome is unknown again. */
export function FailureNotice(props: {
  readonly failure: Failure;
  readonly onRetry?: () => void;
  readonly repeat?: Repeat;
}) {
  const { failure, onRetry, repeat } = props;
  const words = useWords(SHELL);
  const text = words.failure;
  if (failure.kind === "unreachable") {
    return (
      <Alert color="gray" title={text.unreachable} role="alert">
        <Text size="sm">{text.unreachableAdvice}</Text>
        {onRetry !== undefined && (
          <Button mt="xs" variant="default" onClick={onRetry}>
            {words.retry}
          </Button>
        )}
      </Alert>
    );
  }
  const isUnknown = failure.kind === "unknown";
  const isSafe = repeat?.isSafe ?? true;
  return (
    <Alert
      color={isUnknown ? "yellow" : "red"}
      title={isUnknown ? text.unknown : failure.message}
      role="alert"
      data-code={failure.code}
    >
      {isUnknown ? (
        <Text size="sm">{isSafe ? text.unknownAdvice : text.unknownUnrepeatable}</Text>
      ) : (
        <Advice code={failure.code} />
      )}
      <Group gap="xs" mt={4}>
        <Code>{failure.code}</Code>
        {failure.requestId !== null && (
          <Text size="xs" c="dimmed">
            {text.requestId} {failure.requestId}
          </Text>
        )}
      </Group>
      {isUnknown && repeat !== undefined && isSafe && (
        <Button mt="xs" variant="default" onClick={repeat.run}>
          {text.repeat}
        </Button>
      )}
      {!isUnknown && onRetry !== undefined && (
        <Button mt="xs" variant="default" onClick={onRetry}>
          {words.retry}
        </Button>
      )}
    </Alert>
  );
}
