// Loops of tool calls as the tests ask for them and as a program reports them. Every program runs the same loops: it asks once,
// executes each call that the model makes, sends the result back, and ends with the model's text. Judges nothing.

import type { Json } from "../harness.ts";
import { inTurns } from "../sdk/script.ts";

/** The calls of the longest loop; one request more brings the text. */
export const CALLS = 10;

/** One loop. */
export interface LoopScript {
  readonly name: string;
  /** What a user says; the stand-in calls the tool with the words outside of the brackets, and then answers. */
  readonly said: string;
  /** All calls of the tool, and all requests. */
  readonly calls: number;
  readonly requests: number;
}

/** The output tokens of the last answer are three words and their reasoning. */
export const SCRIPTS: readonly LoopScript[] = [
  {
    name: "a call in each answer",
    said: `go on [[tool=1 rounds=${CALLS} output=3]]`,
    calls: CALLS,
    requests: CALLS + 1,
  },
  {
    name: "reasoning, text and two calls in each answer",
    said: "go on [[tool=2 rounds=3 words=2 reasoning=4 think call_ids=kimi output=7]]",
    calls: 6,
    requests: 4,
  },
];

/** What each call is given, and the text at the end. */
export const ARGUMENT = "go on";
export const TEXT = "go on time";

/** The one tool of the loop. */
export const TOOL = "repeat";
export const DESCRIPTION = "Repeats a text.";
/** What the tool answers. */
export const repeat = (text: string): string => `${text}, again`;

export const PARAMETERS = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
} as const;

/** A library that gives up sooner than the loop ends is asked for so many requests. */
export const REQUESTS_MAX = CALLS + 2;

export interface LoopRequest {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  readonly said: string;
  readonly stream: boolean;
}

export interface LoopReport {
  readonly text: string;
  /** What the tool was called with, in order. */
  readonly calls: readonly string[];
  /** Input and output tokens that the program received; null where it makes figures of its own. */
  readonly tokens: readonly [number, number] | null;
}

/** The path that a program speaks. */
export type Speaks = "chat" | "messages" | "responses";

export interface LoopClient {
  readonly name: string;
  readonly speaks: Speaks;
  run(requests: readonly LoopRequest[]): Promise<readonly (LoopReport | { readonly broke: string })[]>;
}

/** Loops of a client at the same time. On a busy machine the service may answer 503 for a moment; libraries try again. */
const AT_ONCE = 3;

/** A client that runs in this process. */
export const inProcessClient = (
  name: string,
  speaks: Speaks,
  loop: (request: LoopRequest) => Promise<LoopReport>,
): LoopClient => ({
  name,
  speaks,
  async run(requests) {
    const reports: (LoopReport | { readonly broke: string })[] = [];
    await inTurns(requests.entries(), AT_ONCE, async ([i, request]) => {
      reports[i] = await loop(request).catch((error: Json) => ({ broke: String(error?.stack ?? error) }));
    });
    return reports;
  },
});
