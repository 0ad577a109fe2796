// What stands on a page while a question has no answer: a quiet placeholder, or the failure. A failed poll leaves the last answer
// where it is, under a line that says so.

import { Skeleton, Stack, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { CallFailed } from "../api/failure.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { FailureNotice } from "./failure-notice.tsx";

/**
 * Shows the answer of a question by `children`. `rows`: how high the placeholder is. `hasFee`: only a button that names the fee may
 * ask again, so a failure offers no retry.
 */
export function AskedState<T>(props: {
  readonly asked: UseQueryResult<T, CallFailed>;
  readonly rows?: number;
  readonly hasFee?: boolean;
  readonly children: (answer: T) => ReactNode;
}) {
  const { asked, rows = 3, hasFee = false, children } = props;
  const words = useWords(SHELL);
  if (asked.data !== undefined) {
    return (
      <>
        {asked.error !== null && (
          <Text size="xs" c="dimmed" role="status">
            {words.offline}
          </Text>
        )}
        {children(asked.data)}
      </>
    );
  }
  if (asked.error !== null) {
    return (
      <FailureNotice
        failure={asked.error.failure}
        {...(hasFee ? {} : { onRetry: () => void asked.refetch() })}
      />
    );
  }
  return (
    <Stack gap={6} role="status" aria-busy="true" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: placeholders have no identity
        <Skeleton key={row} height={18} animate={false} />
      ))}
    </Stack>
  );
}
