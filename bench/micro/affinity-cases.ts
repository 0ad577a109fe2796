// What prompt-cache affinity adds to a request: the hint of its conversation, the choice among the keys of its Level, and the note of
// where it was answered.

import type { AccountId } from "../../actors/ids.ts";
import { chatHint } from "../../src/dialect/conversation-hint.ts";
import { createKeyChooser, type Wish } from "../../src/gateway/attempt/key-chooser.ts";
import { atLevel, conversationOf } from "../../src/gateway/routing/rendezvous.ts";
import { viewOf } from "../../test/gateway/level-samples.ts";
import { manualClock, NOON } from "../../test/runtime/manual-clock.ts";
import type { Call } from "./timing.ts";

/** Conversations that take turns. */
const CONVERSATIONS = 256;
const LEVEL = 1;

/** Reads the hint of a small chat request, chooses one of five healthy keys, and notes that it has answered. */
export function conversationMeetsKey(): Call {
  const payloads = Array.from({ length: CONVERSATIONS }, (_, nth) => ({
    value: {
      model: "gpt-4o-mini",
      messages: [
        { role: "system", content: "You are a helpful assistant." },
        {
          role: "user",
          content: `This is conversation ${nth}, which begins with a question of a line or so.`,
        },
      ],
    },
  }));
  const view = viewOf(LEVEL, [1, 2, 3, 4, 5]);
  const chooser = createKeyChooser(manualClock());
  const headers = new Headers({ "content-type": "application/json" });
  const account = 7 as AccountId;
  const wish: Omit<Wish, "conversation"> = {
    ...{ model: "gpt-4o-mini", now: NOON, serves: () => "served", isLaterTurn: true },
    ...{ tried: new Set(), probing: new Set() },
  };
  return {
    call(nth) {
      const hint = chatHint(payloads[nth % CONVERSATIONS]!);
      const conversation = atLevel(conversationOf(account, "chat", hint, headers)!, LEVEL);
      const choice = chooser.choose(view, { ...wish, conversation });
      if (choice === null) throw new Error("no key is chosen");
      chooser.answered(view, { ...wish, conversation }, choice.key.id);
    },
  };
}
