// A streamed chat answer as events: opening, words, tool calls in the form asked, finish, usage, [DONE].
// Events are put together as text around a ready prefix: a stream of a hundred costs little more than its bytes.

import { type Choice, type ToolCall, toolTokens } from "./answer.ts";
import type { Serving } from "./dialect.ts";
import type { Piece } from "./score.ts";
import type { ToolForm } from "./script.ts";
import { USAGE } from "./usage.ts";

/** The start of every chunk, up to and with the opening bracket of `choices`. */
export const chunkPrefix = (serving: Serving): string =>
  `data: {"id":"${serving.id}","object":"chat.completion.chunk","created":${serving.createdS},` +
  `"model":${JSON.stringify(serving.ask.model)},"service_tier":"${serving.script.tier ?? "default"}",` +
  `"system_fingerprint":"fp_standin","choices":[`;

/** A chunk about one choice, before it has its place in a stream. */
interface Delta {
  readonly delta: string;
  readonly tokens: number;
  readonly finish?: string;
}

export function chatStream(serving: Serving): Piece[] {
  const { ask, answer, script } = serving;
  const form = USAGE[script.usage ?? "asked"];
  const place = form.place(ask.usageAsked);
  const prefix = chunkPrefix(serving);
  const pieces: Piece[] = [];
  let completion = answer.usage.reasoning + answer.usage.audioOut;

  const usageNow = () => `,"usage":${JSON.stringify(form.body({ ...answer.usage, completion }))}`;
  const tail = (last: boolean): string => {
    if (place === "every_chunk" || (place === "finish_chunk" && last)) return usageNow();
    return ask.usageAsked && place === "own_chunk" ? ',"usage":null' : "";
  };
  const add = (index: number, delta: Delta, last: boolean) => {
    completion += delta.tokens;
    const finish = delta.finish === undefined ? "null" : JSON.stringify(delta.finish);
    const data = `${prefix}{"index":${index},"delta":${delta.delta},"logprobs":null,"finish_reason":${finish}}]${tail(last)}}\n\n`;
    pieces.push({ data, tokens: delta.tokens });
  };

  const voices = answer.choices.map((choice) => deltasOf(choice, script.tool_form ?? "fragments"));
  const longest = Math.max(...voices.map((voice) => voice.length));
  let left = voices.length;
  for (let turn = 0; turn < longest; turn++) {
    for (let index = 0; index < voices.length; index++) {
      const delta = voices[index]![turn];
      if (delta === undefined) continue;
      if (delta.finish !== undefined) left--;
      add(index, delta, left === 0);
    }
  }
  if (place === "own_chunk") pieces.push({ data: `${prefix}]${usageNow()}}\n\n`, tokens: 0 });
  pieces.push({ data: "data: [DONE]\n\n", tokens: 0 });
  return pieces;
}

function deltasOf(choice: Choice, form: ToolForm): Delta[] {
  const content = choice.toolCalls.length > 0 ? "null" : '""';
  const deltas: Delta[] = [{ delta: `{"role":"assistant","content":${content},"refusal":null}`, tokens: 0 }];
  for (const [nth, word] of choice.thoughts.entries()) {
    deltas.push({ delta: `{"reasoning_content":${spoken(word, nth)}}`, tokens: 0 });
  }
  for (const [nth, word] of choice.words.entries()) {
    deltas.push({ delta: `{"content":${spoken(word, nth)}}`, tokens: 1 });
  }
  for (const [nth, call] of choice.toolCalls.entries()) {
    for (const [part, fragment] of TOOL_FORMS[form](call, nth).entries()) {
      const tokens = part === 0 ? toolTokens(call) : 0;
      deltas.push({ delta: JSON.stringify({ tool_calls: [fragment] }), tokens });
    }
  }
  deltas.push({ delta: "{}", tokens: 0, finish: choice.finish });
  return deltas;
}

/** The first word of a text has no leading space. */
const spoken = (word: string, nth: number): string => JSON.stringify(nth === 0 ? word.slice(1) : word);

const argumentParts = (call: ToolCall): string[] => call.arguments.match(/.{1,9}/gsu) ?? [];

const named = (call: ToolCall, args: string) => ({
  id: call.id,
  type: "function",
  function: { name: call.name, arguments: args },
});

const TOOL_FORMS: Readonly<Record<ToolForm, (call: ToolCall, index: number) => object[]>> = {
  fragments: (call, index) => [
    { index, ...named(call, "") },
    ...argumentParts(call).map((part) => ({ index, function: { arguments: part } })),
  ],
  whole: (call, index) => [{ index, ...named(call, call.arguments) }],
  repeat_id: (call, index) => [
    { index, ...named(call, "") },
    ...argumentParts(call).map((part) => ({
      index,
      id: call.id,
      type: "function",
      function: { arguments: part },
    })),
  ],
  no_index: (call) => [
    named(call, ""),
    ...argumentParts(call).map((part) => ({ function: { arguments: part } })),
  ],
  zero_index: (call) => [{ index: 0, ...named(call, call.arguments) }],
};
