// Streams as providers may send them, made by chance: the content, and a wire that says it, cut and mixed in any way that
// the dialect and its hosts allow.

import fc from "fast-check";
import type { Content } from "./stream-grammar.ts";
import {
  block,
  COUNTED,
  call,
  chatWire,
  DONE,
  delta,
  ended,
  finish,
  messagesWire,
  type Row,
  role,
  START,
  STOP,
  stop,
  text,
  thought,
} from "./streams.ts";

export interface Provided extends Content {
  readonly wire: string;
  /** The provider said that it was done. */
  readonly whole: boolean;
}

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const pieces = fc.array(words, { maxLength: 5 });

/** A text cut into pieces, none of them empty. */
const cut = (whole: string) =>
  fc.array(fc.nat({ max: whole.length }), { maxLength: 4 }).map((places) => {
    const at = [...new Set([0, ...places, whole.length])].sort((a, b) => a - b);
    return at.slice(1).map((end, i) => whole.slice(at[i], end));
  });

const given = fc
  .dictionary(words, fc.oneof(words, fc.integer(), fc.constant(null)), { maxKeys: 4 })
  .map((input) => JSON.stringify(input))
  .chain((json) => cut(json).map((parts) => ({ json, parts })));

const calls = fc
  .array(given, { maxLength: 3 })
  .map((all) => all.map(({ json, parts }, nth) => ({ id: `t${nth}`, name: `f${nth}`, given: json, parts })));
type Calls = typeof calls extends fc.Arbitrary<infer T> ? T : never;

/** How a host says which call a fragment belongs to. */
const NAMING: readonly ((nth: number, first: boolean) => Row)[] = [
  (nth, first) => (first ? { index: nth, id: `t${nth}` } : { index: nth }),
  (nth, first) => (first ? { index: nth, id: `t${nth}` } : { index: nth, id: "" }),
  (nth) => ({ index: nth, id: `t${nth}` }),
  (nth) => ({ index: 0, id: `t${nth}` }),
  (nth) => ({ id: `t${nth}` }),
];

function fragments(all: Calls, naming: number): object[][] {
  return all.map(({ name, parts }, nth) =>
    ["", ...parts].map((part, i) =>
      call({ ...NAMING[naming]!(nth, i === 0), function: { ...(i === 0 ? { name } : {}), arguments: part } }),
    ),
  );
}

/** Several sequences as one, each in its own order; `picks` says whose turn it is. */
function mixed(sequences: readonly (readonly object[])[], picks: readonly number[]): object[] {
  const left = sequences.filter((one) => one.length > 0).map((one) => [...one]);
  const all: object[] = [];
  for (let turn = 0; left.length > 0; turn++) {
    const at = (picks[turn % picks.length] ?? 0) % left.length;
    all.push(left[at]!.shift()!);
    if (left[at]!.length === 0) left.splice(at, 1);
  }
  return all;
}

const picks = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 40 });

/** A chat provider: calls through each other and through text, usage anywhere or nowhere, with an end or without. */
export const chatProvider: fc.Arbitrary<Provided> = fc
  .record({
    said: pieces,
    thinking: pieces,
    calls,
    naming: fc.nat({ max: NAMING.length - 1 }),
    picks,
    opened: fc.boolean(),
    finished: fc.boolean(),
    counted: fc.constantFrom("never", "after", "beside", "always"),
    done: fc.boolean(),
  })
  .map(({ said, thinking, calls, naming, picks, opened, finished, counted, done }) => {
    const body = mixed([said.map(text), thinking.map(thought), ...fragments(calls, naming)], picks);
    const beside = { usage: COUNTED.usage };
    const chunks = [
      ...(opened ? [role()] : []),
      ...(counted === "always" ? body.map((one) => ({ ...one, ...beside })) : body),
      ...(finished
        ? [finish(calls.length > 0 ? "tool_calls" : "stop", counted === "beside" ? beside : {})]
        : []),
      ...(counted === "after" ? [COUNTED] : []),
      ...(done ? [DONE] : []),
    ];
    return {
      text: said.join(""),
      thinking: thinking.join(""),
      calls: calls.map(({ id, name, given }) => ({ id, name, given })),
      wire: chatWire(...chunks),
      whole: chunks.some((one) => typeof one === "object") && (done || finished),
    };
  });

interface Block {
  readonly kind: "text" | "thinking" | "call" | "news";
  readonly parts: readonly string[];
}

const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  pieces.map((parts) => ({ kind: "text" as const, parts })),
  pieces.map((parts) => ({ kind: "thinking" as const, parts })),
  given.map(({ parts }) => ({ kind: "call" as const, parts })),
  pieces.map((parts) => ({ kind: "news" as const, parts })),
);

const DELTAS = {
  text: (part: string) => ({ type: "text_delta", text: part }),
  thinking: (part: string) => ({ type: "thinking_delta", thinking: part }),
  call: (part: string) => ({ type: "input_json_delta", partial_json: part }),
  news: (part: string) => ({ type: "news_delta", news: part }),
};

function begun(kind: Block["kind"], nth: number): Row {
  if (kind === "call") return { type: "tool_use", id: `t${nth}`, name: `f${nth}`, input: {} };
  return kind === "news" ? { type: "news" } : { type: kind, [kind]: "" };
}

/** A messages provider: blocks of any kind, pings anywhere, with counts or without, with an end or without. */
export const messagesProvider: fc.Arbitrary<Provided> = fc
  .record({
    blocks: fc.array(anyBlock, { maxLength: 6 }),
    pings: fc.boolean(),
    stopped: fc.boolean(),
    counted: fc.boolean(),
    ended: fc.constantFrom("stop", "[DONE]", "nothing"),
  })
  .map(({ blocks, pings, stopped, counted, ended: end }) => {
    const calls = blocks.flatMap(({ kind, parts }, nth) =>
      kind === "call" ? [{ id: `t${nth}`, name: `f${nth}`, given: parts.join("") }] : [],
    );
    const body = blocks.flatMap(({ kind, parts }, nth) => [
      block(nth, begun(kind, nth)),
      ...parts.map((part) => delta(nth, DELTAS[kind](part))),
      ...(kind === "thinking" ? [delta(nth, { type: "signature_delta", signature: "s" })] : []),
      stop(nth),
    ]);
    const events: (Row | string)[] = [
      START,
      ...(pings ? body.flatMap((one) => [{ type: "ping" }, one]) : body),
      ...(stopped ? [ended("end_turn", counted ? { output_tokens: 4 } : null)] : []),
      ...(end === "stop" ? [STOP] : end === "[DONE]" ? [DONE] : []),
    ];
    const joined = (one: Block["kind"]) =>
      blocks.flatMap(({ kind, parts }) => (kind === one ? parts : [])).join("");
    return {
      ...{ text: joined("text"), thinking: joined("thinking"), calls, wire: messagesWire(...events) },
      whole: end === "stop" || stopped,
    };
  });

/** JSON that uses the dialects' own words in every wrong place. */
export const odd: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, 0, 1, -1, 1.5, "", true),
    fc.constantFrom(..."a t0 stop text thinking tool_use end_turn {}".split(" ")),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ..."choices delta index content text refusal reasoning reasoning_content thinking tool_calls".split(
          " ",
        ),
        ..."function function_call id name arguments finish_reason usage type prompt_tokens role".split(" "),
        ..."completion_tokens input_tokens output_tokens content_block partial_json message input".split(" "),
        ..."stop_reason matched_stop __proto__".split(" "),
      ),
      tie("value"),
      { maxKeys: 5 },
    ),
  ),
})).value;
