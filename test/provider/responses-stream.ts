// A streamed response as events: created, each item opened, filled and closed, and the response once more at its end.
// Every event has its place in the order as `sequence_number`; there is no [DONE].

import { alternately, argumentParts, type Choice, type ToolCall, toolTokens } from "./answer.ts";
import type { Serving } from "./dialect.ts";
import { namedEvent } from "./openai.ts";
import { finished, inputOf, itemsOf, type OutputItem, responseBody } from "./response.ts";
import type { Piece } from "./score.ts";
import type { ToolForm } from "./script.ts";

/** An event without its place in the order. */
interface Said {
  readonly type: string;
  readonly data: object;
  readonly tokens: number;
}

const say = (type: string, data: object, tokens = 0): Said => ({ type: `response.${type}`, data, tokens });

export function responsesStream(serving: Serving): Piece[] {
  const begun = { response: responseBody(serving, "in_progress", []) };
  const end = finished(serving);
  const said = [
    say("created", begun),
    say("in_progress", begun),
    ...itemEvents(serving),
    say(end.status, { response: end }),
  ];
  return said.map(({ type, data, tokens }, nth) => ({
    data: namedEvent(type, { sequence_number: nth, ...data }),
    tokens,
  }));
}

function itemEvents(serving: Serving): Said[] {
  const choice = serving.answer.choices[0]!;
  const form = serving.script.tool_form ?? "fragments";
  const items = itemsOf(serving);
  const firstCall = items.findIndex(({ type }) => CALLS.includes(type));
  const voices = items.map((item, index) => {
    const call = choice.toolCalls[index - firstCall];
    return CALLS.includes(item.type) && call !== undefined
      ? (item.type === "function_call" ? callEvents : customEvents)(item, index, call, form)
      : (ITEM_EVENTS[item.type]?.(item, index, choice) ?? []);
  });
  if (form !== "interleaved" || firstCall < 0) return voices.flat();
  return [...voices.slice(0, firstCall).flat(), ...alternately(voices.slice(firstCall))];
}

const CALLS: readonly string[] = ["function_call", "custom_tool_call"];

type WriteEvent = (item: OutputItem, output_index: number, choice: Choice) => Said[];

const ITEM_EVENTS: Readonly<Record<string, WriteEvent>> = {
  reasoning: (item, output_index, { thoughts }) => {
    const at = { item_id: item.id, output_index, summary_index: 0 };
    const text = thoughts.join("").trimStart();
    const summary = [
      say("reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } }),
      ...thoughts.map((word, nth) =>
        say("reasoning_summary_text.delta", { ...at, delta: spoken(word, nth) }),
      ),
      say("reasoning_summary_text.done", { ...at, text }),
      say("reasoning_summary_part.done", { ...at, part: { type: "summary_text", text } }),
    ];
    return around(item, output_index, { summary: [] }, thoughts.length > 0 ? summary : []);
  },
  web_search_call: (item, output_index) => {
    const at = { item_id: item.id, output_index };
    const steps = ["in_progress", "searching", "completed"].map((step) => say(`web_search_call.${step}`, at));
    return around(item, output_index, { status: "in_progress" }, steps);
  },
  message: (item, output_index, choice) => {
    const at = { item_id: item.id, output_index, content_index: 0 };
    const [part] = (item as OutputItem & { readonly content: readonly { readonly type: string }[] }).content;
    const field = part!.type === "refusal" ? "refusal" : "text";
    const name = part!.type;
    const text = choice.words.join("").trimStart();
    const logprobs = field === "text" ? { logprobs: [] } : {};
    return around(item, output_index, { status: "in_progress", content: [] }, [
      say("content_part.added", { ...at, part: { ...part, [field]: "" } }),
      ...choice.words.map((word, nth) =>
        say(`${name}.delta`, { ...at, delta: spoken(word, nth), ...logprobs }, 1),
      ),
      say(`${name}.done`, { ...at, [field]: text, ...logprobs }),
      say("content_part.done", { ...at, part }),
    ]);
  },
};

function callEvents(item: OutputItem, output_index: number, call: ToolCall, form: ToolForm): Said[] {
  const at = { item_id: item.id, output_index };
  const parts = form === "whole" ? [call.arguments] : argumentParts(call);
  const inside = [
    ...parts.map((delta) => say("function_call_arguments.delta", { ...at, delta })),
    say("function_call_arguments.done", { ...at, name: call.name, arguments: call.arguments }),
  ];
  return around(item, output_index, { status: "in_progress", arguments: "" }, inside, toolTokens(call));
}

function customEvents(item: OutputItem, output_index: number, call: ToolCall): Said[] {
  const at = { item_id: item.id, output_index };
  const input = inputOf(call);
  const inside = [
    say("custom_tool_call_input.delta", { ...at, delta: input }),
    say("custom_tool_call_input.done", { ...at, input }),
  ];
  return around(item, output_index, { status: "in_progress", input: "" }, inside, toolTokens(call));
}

/** An item opened, with what it lacks so far; what fills it; and the item closed. */
const around = (
  item: OutputItem,
  output_index: number,
  lacking: object,
  inside: readonly Said[],
  tokens = 0,
): Said[] => [
  say("output_item.added", { output_index, item: { ...item, ...lacking } }, tokens),
  ...inside,
  say("output_item.done", { output_index, item }),
];

/** The first word of a text has no leading space. */
const spoken = (word: string, nth: number): string => (nth === 0 ? word.slice(1) : word);
