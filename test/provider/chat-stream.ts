// A streamed chat answer as events: opening, words, tool calls in the form asked, finish, usage, [DONE].
// Events are put together as text around a ready prefix: a stream of a hundred costs little more than its bytes.

import { unreachable } from "../../src/base/errors.ts";
import {
  alternately,
  argumentParts,
  type Choice,
  hiddenTokens,
  type ToolCall,
  toolTokens,
} from "./answer.ts";
import { CHAT_USAGE, type UsagePlace } from "./chat-usage.ts";
import type { Serving } from "./dialect.ts";
import type { Piece } from "./score.ts";
import type { ToolForm } from "./script.ts";

/** The start of every chunk, up to and with the opening bracket of `choices`. */
export const chunkPrefix = (serving: Serving): string =>
  `data: {"id":"${serving.id}","object":"chat.completion.chunk","created":${serving.createdS},` +
  `"model":${JSON.stringify(serving.script.answered ?? serving.ask.model)},"service_tier":"${serving.script.tier ?? "default"}",` +
  `"system_fingerprint":"fp_standin","choices":[`;

/** A chunk about one choice, before it has its place in a stream. */
interface Delta {
  readonly delta: string;
  readonly tokens: number;
  readonly finish?: string;
}

export function chatStream(serving: Serving): Piece[] {
  const { ask, answer, script } = serving;
  const form = CHAT_USAGE[script.usage ?? "asked"];
  const place = form.place(ask.usageAsked);
  const prefix = chunkPrefix(serving);
  let completion = hiddenTokens(answer.usage);
  const usageNow = () => `,"usage":${JSON.stringify(form.body({ ...answer.usage, completion }))}`;

  const voices = answer.choices.map((choice) => deltasOf(choice, script.tool_form ?? "fragments"));
  const turns = inTurns(voices);
  const carries = carriers(place, turns);
  const silence = ask.usageAsked && (OWN_CHUNKS[place] ?? 0) > 0 ? ',"usage":null' : "";
  const pieces: Piece[] = turns.map(({ index, delta, tokens, finish }, nth) => {
    completion += tokens;
    const reason = finish === undefined ? "null" : JSON.stringify(finish);
    const tail = carries(nth) ? usageNow() : silence;
    const data = `${prefix}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":${reason}}]${tail}}\n\n`;
    return { data, tokens };
  });
  for (let own = 0; own < (OWN_CHUNKS[place] ?? 0); own++) {
    pieces.push({ data: `${prefix}]${usageNow()}}\n\n`, tokens: 0 });
  }
  pieces.push({ data: "data: [DONE]\n\n", tokens: 0 });
  return pieces;
}

/** Chunks that hold usage and nothing else. */
const OWN_CHUNKS: Readonly<Partial<Record<UsagePlace, number>>> = { own_chunk: 1, own_chunk_twice: 2 };

interface Turn extends Delta {
  readonly index: number;
}

/** The choices speak in turns; the last turn of all is a finish. */
const inTurns = (voices: readonly (readonly Delta[])[]): Turn[] =>
  alternately(voices.map((voice, index) => voice.map((delta) => ({ ...delta, index }))));

/** Which of the turns carry usage beside what they say. */
function carriers(place: UsagePlace, turns: readonly Turn[]): (nth: number) => boolean {
  switch (place) {
    case "every_chunk":
      return () => true;
    case "finish_chunk":
      return (nth) => nth === turns.length - 1;
    case "content_chunk": {
      const last = turns.findLastIndex((turn) => turn.finish === undefined);
      return (nth) => nth === last;
    }
    case "own_chunk":
    case "own_chunk_twice":
    case "nowhere":
      return () => false;
    default:
      return unreachable(place);
  }
}

/** The finish of an answer that is a refusal, which this dialect says in a field of its own. */
export const REFUSED = "refusal";
export const finishOf = ({ finish }: Choice): string => (finish === REFUSED ? "stop" : finish);

function deltasOf(choice: Choice, form: ToolForm): Delta[] {
  const content = choice.toolCalls.length > 0 ? "null" : '""';
  const field = choice.finish === REFUSED ? "refusal" : "content";
  const deltas: Delta[] = [{ delta: `{"role":"assistant","content":${content},"refusal":null}`, tokens: 0 }];
  for (const [nth, word] of choice.thoughts.entries()) {
    deltas.push({ delta: `{"reasoning_content":${spoken(word, nth)}}`, tokens: 0 });
  }
  for (const [nth, word] of choice.words.entries()) {
    deltas.push({ delta: `{"${field}":${spoken(word, nth)}}`, tokens: 1 });
  }
  const calls = choice.toolCalls.map((call, nth) =>
    TOOL_FORMS[form](call, nth).map((fragment, part) => ({
      delta: JSON.stringify({ tool_calls: [fragment] }),
      tokens: part === 0 ? toolTokens(call) : 0,
    })),
  );
  deltas.push(...(form === "interleaved" ? alternately(calls) : calls.flat()));
  deltas.push({ delta: "{}", tokens: 0, finish: finishOf(choice) });
  return deltas;
}

/** The first word of a text has no leading space. */
const spoken = (word: string, nth: number): string => JSON.stringify(nth === 0 ? word.slice(1) : word);

const named = (call: ToolCall, args: string) => ({
  id: call.id,
  type: "function",
  function: { name: call.name, arguments: args },
  ...extraOf(call),
});

/** What is attached to a call. */
export const extraOf = ({ signature }: ToolCall): object =>
  signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };

const fragments = (call: ToolCall, index: number): object[] => [
  { index, ...named(call, "") },
  ...argumentParts(call).map((part) => ({ index, function: { arguments: part } })),
];

const TOOL_FORMS: Readonly<Record<ToolForm, (call: ToolCall, index: number) => object[]>> = {
  fragments,
  interleaved: fragments,
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
