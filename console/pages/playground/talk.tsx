// What was said in a conversation, one exchange under the other. All of it is text: a model's answer is never taken for markup.

import { Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import { Empty } from "../../components/empty.tsx";
import { FailureNotice } from "../../components/failure-notice.tsx";
import { useWords } from "../../i18n/language.ts";
import { PLAYGROUND } from "../../i18n/playground.ts";
import type { Exchange } from "./conversation.ts";
import { Truth } from "./truth.tsx";

/** So close to its end a conversation follows what comes; a person who reads further up is left there. */
const FOLLOW_PIXELS = 40;

/** The conversation; `onRepeat` sends a request whose outcome is unknown, or that was refused, again. */
export function Talk(props: {
  readonly exchanges: readonly Exchange[];
  readonly onRepeat: (exchange: Exchange) => void;
}) {
  const { exchanges, onRepeat } = props;
  const words = useWords(PLAYGROUND);
  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const count = exchanges.length;
  // A new exchange is always shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs for every new exchange
  useEffect(() => {
    isAtEnd.current = true;
  }, [count]);
  useEffect(() => {
    const { current } = log;
    if (current !== null && isAtEnd.current) current.scrollTop = current.scrollHeight;
  });
  return (
    <div
      ref={log}
      className="conversation"
      role="log"
      aria-label={words.conversation}
      // A region that scrolls is reached by the keyboard.
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < FOLLOW_PIXELS;
      }}
    >
      {count === 0 ? (
        <Empty text={words.empty} />
      ) : (
        exchanges.map((exchange) => (
          <ExchangeOf key={exchange.id} exchange={exchange} onRepeat={() => onRepeat(exchange)} />
        ))
      )}
    </div>
  );
}

function ExchangeOf(props: { readonly exchange: Exchange; readonly onRepeat: () => void }) {
  const { exchange, onRepeat } = props;
  const { asked, model, state, thought, answer, failure } = exchange;
  const words = useWords(PLAYGROUND);
  return (
    <Stack gap={4} component="article" data-state={state}>
      <Text size="sm" component="div" className="said asked">
        {asked}
      </Text>
      <Text size="xs" c="dimmed">
        {model} {state === "stopped" && `· ${words.stopped}`}
        {state === "waiting" && `· ${words.waiting}`}
      </Text>
      {thought !== "" && (
        <Text size="xs" c="dimmed" component="div" className="said">
          {thought}
        </Text>
      )}
      {answer !== "" && (
        <Text size="sm" component="div" className="said answer">
          {answer}
        </Text>
      )}
      {failure !== null && (
        <FailureNotice failure={failure} onRetry={onRepeat} repeat={{ run: onRepeat, isSafe: true }} />
      )}
      {exchange.endedAt !== null && <Truth exchange={exchange} />}
    </Stack>
  );
}
