// A streamed message as events: its start, each block opened, filled and closed, its end with the usage.
// Only one block is open at a time, and their indexes have no gaps.

import { unreachable } from "../../src/base/errors.ts";
import { argumentParts, type Choice, hiddenTokens, toolTokens } from "./answer.ts";
import type { Serving } from "./dialect.ts";
import { blockWords, messageBody, signatureOf, spokenAs, stopOf, toolId } from "./message.ts";
import { MESSAGES_USAGE, type MessagesUsagePlace } from "./messages-usage.ts";
import type { Piece } from "./score.ts";
import type { ToolForm } from "./script.ts";

export const event = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** An event inside a block. */
interface Part {
  readonly type: "content_block_start" | "content_block_delta" | "content_block_stop";
  readonly data?: object;
  readonly tokens: number;
}

export function messagesStream(serving: Serving): Piece[] {
  const { answer, script } = serving;
  const choice = answer.choices[0]!;
  const tier = script.tier ?? "standard";
  const form = MESSAGES_USAGE[script.usage ?? "asked"];
  let completion = hiddenTokens(answer.usage);
  const usageEvent = (stop: object): Piece => ({
    data: event("message_delta", {
      delta: stop,
      usage: form.later({ ...answer.usage, completion }, tier),
    }),
    tokens: 0,
  });

  const start = { message: messageBody(serving, [], OPEN, form.start(answer.usage, tier)) };
  const pieces: Piece[] = [{ data: event("message_start", start), tokens: 0 }];
  const parts = blocksOf(choice, script.tool_form ?? "fragments").flatMap((block, index) =>
    block.map((part) => ({ ...part, index })),
  );
  const { within, after } = carriers(form.place, parts);
  for (const [nth, { type, index, data, tokens }] of parts.entries()) {
    completion += tokens;
    pieces.push({ data: event(type, { index, ...data }), tokens });
    if (within(nth)) pieces.push(usageEvent(OPEN));
  }
  const stop = stopOf(choice);
  if (after === 0) pieces.push({ data: event("message_delta", { delta: stop }), tokens: 0 });
  for (let nth = 0; nth < after; nth++) pieces.push(usageEvent(stop));
  pieces.push({ data: event("message_stop"), tokens: 0 });
  return pieces;
}

/** A message that has not stopped. */
const OPEN = { stop_reason: null, stop_sequence: null };

/** After which parts usage is reported, and how many closing events report it. */
function carriers(
  place: MessagesUsagePlace,
  parts: readonly Part[],
): { readonly within: (nth: number) => boolean; readonly after: number } {
  const never = () => false;
  const filled = (part: Part | undefined) => part?.type === "content_block_delta";
  switch (place) {
    case "end":
      return { within: never, after: 1 };
    case "end_twice":
      return { within: never, after: 2 };
    case "every_content":
      return { within: (nth) => filled(parts[nth]), after: 1 };
    case "last_content": {
      const last = parts.findLastIndex(filled);
      return { within: (nth) => nth === last, after: last < 0 ? 1 : 0 };
    }
    case "nowhere":
      return { within: never, after: 0 };
    default:
      return unreachable(place);
  }
}

function blocksOf(choice: Choice, form: ToolForm): Part[][] {
  return [
    ...blockWords(choice).map(({ type, words }, place) => {
      const spoken = words.map(spokenAs);
      if (type === "text") {
        const text = spoken.map((word) => filling({ type: "text_delta", text: word }, 1));
        return block({ type, text: "" }, text);
      }
      const thinking = spoken.map((word) => filling({ type: "thinking_delta", thinking: word }, 0));
      const signature = signatureOf(spoken.join(""), place);
      const signed = filling({ type: "signature_delta", signature }, 0);
      return block({ type, thinking: "", signature: "" }, [...thinking, signed]);
    }),
    ...choice.toolCalls.map((call) => {
      const fragments = form === "whole" ? [call.arguments] : ["", ...argumentParts(call)];
      const input = fragments.map((partial_json) => filling({ type: "input_json_delta", partial_json }, 0));
      return block(
        { type: "tool_use", id: toolId(call), name: call.name, input: {} },
        input,
        toolTokens(call),
      );
    }),
  ];
}

const filling = (delta: object, tokens: number): Part => ({
  type: "content_block_delta",
  data: { delta },
  tokens,
});

const block = (content_block: object, inside: readonly Part[], tokens = 0): Part[] => [
  { type: "content_block_start", data: { content_block }, tokens },
  ...inside,
  { type: "content_block_stop", tokens: 0 },
];
