// The requests of a conversation: sent, streamed, stopped, repeated. One runs at a time; leaving the page ends it.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { respond } from "../../api/call.ts";
import { ChatStreamReader } from "../../api/chat-stream.ts";
import { CallFailed, type Failure } from "../../api/failure.ts";
import { refreshAll } from "../../api/queries.ts";
import {
  begun,
  CHAT_PATH,
  connectionLost,
  type Exchange,
  ended,
  type Sent,
  withEvent,
} from "./conversation.ts";
import { quoteOf } from "./use-quote.ts";

/** A conversation, and what can be done in it. */
export interface Chat {
  readonly exchanges: readonly Exchange[];
  readonly isRunning: boolean;
  /** Sends a request. `instead`: the exchange that it takes the place of. */
  readonly send: (sent: Sent, instead?: string | null) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

/** Returns the conversation of a page. */
export function useChat(): Chat {
  const client = useQueryClient();
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const [isRunning, setRunning] = useState(false);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const change = (id: string, next: (exchange: Exchange) => Exchange) =>
    setExchanges((all) => all.map((one) => (one.id === id ? next(one) : one)));
  const run = async (sent: Sent, { signal }: AbortController) => {
    try {
      if (sent.quote === null) {
        const quote = await quoteOf(sent.body, signal).catch(() => null);
        change(sent.id, (one) => ({ ...one, quote }));
      }
      const response = await request(sent, signal);
      // From now on its hold is seen in the balance.
      void client.invalidateQueries({ queryKey: ["/dashboard/live"] });
      await stream(response, (next) => change(sent.id, next));
    } catch (error) {
      const end = signal.aborted ? stopped : failedWith(error);
      change(sent.id, (one) => ({ ...one, ...end(one), endedAt: Date.now() }));
    }
    setRunning(false);
    await refreshAll(client);
  };
  return {
    exchanges,
    isRunning,
    send(sent, instead = null) {
      running.current = new AbortController();
      setRunning(true);
      setExchanges((all) => [...all.filter(({ id }) => id !== instead), begun(sent)]);
      void run(sent, running.current);
    },
    stop: () => running.current?.abort(),
    clear: () => setExchanges([]),
  };
}

/** Sends a request. Its errors say themselves that nothing was charged. */
const request = ({ id, body }: Sent, signal: AbortSignal): Promise<Response> =>
  respond({
    ...{ method: "POST", path: CHAT_PATH, body, signal, idempotencyKey: id, isQuestion: true },
    headers: { "x-arbor-cost": "stream", "x-request-id": id },
  });

/** Reports an answer as it comes. */
async function stream(
  response: Response,
  change: (next: (exchange: Exchange) => Exchange) => void,
): Promise<void> {
  const reader = new ChatStreamReader();
  const pieces = response.body!.getReader();
  for (;;) {
    const { done, value } = await pieces.read();
    if (done) break;
    const events = reader.read(value);
    change((one) => events.reduce(withEvent, one));
  }
  const nowMs = Date.now();
  change((one) => ended(one, nowMs));
}

type End = (exchange: Exchange) => Pick<Exchange, "state" | "failure">;

const stopped: End = () => ({ state: "stopped", failure: null });

/** Whatever breaks a connection is a failure to show; a stream that cannot be read is one too. */
const failedWith =
  (error: unknown): End =>
  ({ id }) => ({ state: "failed", failure: failureOfChat(error, id) });

function failureOfChat(error: unknown, id: string): Failure {
  if (error instanceof CallFailed && error.failure.kind !== "unreachable") return error.failure;
  return connectionLost(id, String(error));
}
