// Writes that change an Owner's configuration: `PUT`, `POST` and `DELETE /x-config`, `POST /x-conf`. Each makes one version, and
// after it the way back to the version before is offered. When somebody else made a version at the same time nothing is offered,
// because going back would undo that too.

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Answers } from "./answers.ts";
import { callApi } from "./call.ts";
import { CallFailed, type Failure, failureOf } from "./failure.ts";
import { refreshAll } from "./queries.ts";
import { offerUndo } from "./undo.ts";
import { useWrite, type Write, type Writing } from "./writes.ts";

/** Returns the number of the newest version; 0 while nothing was ever changed. Rejects with `CallFailed`. */
export async function newestVersion(): Promise<number> {
  const query = { page: 1, size: 1 };
  const answer = await callApi({ method: "GET", path: "/x-config/history", query });
  return (answer as Answers["/x-config/history"]).versions[0]?.version ?? 0;
}

/** Without the version there is no offer to undo, but the write itself does not depend on it. */
async function versionOrNull(): Promise<number | null> {
  try {
    return await newestVersion();
  } catch (error) {
    if (error instanceof CallFailed) return null;
    throw error;
  }
}

/**
 * Returns the writes of a form that changes the configuration. After each that succeeded the undo is offered. `basis` is the
 * version that the form is about: when there is a later one nothing is sent, and what the page shows is asked again.
 */
export function useConfigWrite<A = unknown>(basis: number | null = null): Writing<A> {
  const client = useQueryClient();
  const writing = useWrite<A>();
  const [isReading, setReading] = useState(false);
  // A repeat after an unknown outcome is the same write: its version before is the one before the first attempt.
  const [unread, setUnread] = useState<Failure | null>(null);
  const unanswered = useRef<{ readonly write: Write; readonly before: number | null } | null>(null);
  const [asked, setAsked] = useState<Write | null>(null);
  const send = async (write: Write): Promise<A | null> => {
    setAsked(write);
    setReading(true);
    setUnread(null);
    try {
      const isRepeat = unanswered.current?.write === write;
      const read = basis === null ? versionOrNull : newestVersion;
      const before = isRepeat ? unanswered.current!.before : await read();
      if (!isRepeat && basis !== null && before !== null && before !== basis) {
        await refreshAll(client);
        return null;
      }
      unanswered.current = { write, before };
      const answer = await writing.send(write);
      if (answer === null) return null;
      unanswered.current = null;
      const made = before === null ? null : await versionOrNull();
      if (before !== null && made === before + 1) offerUndo({ made, former: before });
      return answer;
    } catch (error) {
      // The version was not read, so nothing was sent.
      setUnread(failureOf(error));
      return null;
    } finally {
      setReading(false);
    }
  };
  return {
    ...writing,
    failure: unread ?? writing.failure,
    last: asked,
    send,
    isRunning: isReading || writing.isRunning,
  };
}
