// The state of a provider key in a few words: what it is, why, and how long still.

import { Group, Text } from "@mantine/core";
import { Countdown } from "../../../components/countdown.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";

/** A state with its mark, the time that is left and the reason. Colour never says it alone. */
export function ProviderKeyState(props: {
  readonly state: string;
  readonly until?: string | null | undefined;
  readonly reason?: string | null | undefined;
}) {
  const { state, until, reason } = props;
  const words = useWords(POOL);
  // That a key is disabled has no other reason than that.
  const why = reason && state !== "disabled" ? (words.reasons[reason] ?? reason) : null;
  return (
    <Group gap={5} wrap="nowrap" align="baseline">
      <span className="state-mark" data-state={state} aria-hidden="true" />
      <Text size="xs" component="span" title={words.about_states[state] ?? undefined}>
        <b>{words.states[state] ?? state}</b>
        {until && (
          <>
            {" "}
            <Countdown until={until} />
          </>
        )}
        {why !== null && ` · ${why}`}
      </Text>
    </Group>
  );
}
