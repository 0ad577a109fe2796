// The old completions dialect: a text goes on. Reads its requests, says whole answers and streams; usage is chat's.

import { type Answer, type Ask, answerTo, type Choice, countWords } from "./answer.ts";
import { CHAT_USAGE } from "./chat-usage.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import type { Fields } from "./form.ts";
import { ASK, namedWording, OPENAI, readTexts, refused, wholeNumber } from "./openai.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";

/** What the provider generates at most when nobody says. */
const LIMIT_TOKENS = 16;

export const completions: Dialect = {
  ...OPENAI,
  generates: true,
  idPrefix: "cmpl-",
  read,
  answer,
  whole,
  stream,
  wording: (serving) =>
    namedWording("delta", {
      error: `data: ${namedWording("").errorBody}\n\n`,
      garbage: 'data: {"id":"cmpl-\n\n',
      opening: `${prefix(serving)}]}\n\n`,
      late: `${prefix(serving)}]}\n\n`,
      bare: `${prefix(serving)}{"index":0,"finish_reason":null}]}\n\n`,
      padded: (characters) => `${prefix(serving)}],"obfuscation":"${"x".repeat(characters)}"}\n\n`,
    }),
};

/** A prompt is a text, or tokens. */
type Prompt = string | readonly number[];

function promptsOf(prompt: unknown): readonly Prompt[] {
  if (!Array.isArray(prompt)) return [typeof prompt === "string" ? prompt : ""];
  return typeof prompt[0] === "number" ? [prompt as number[]] : (prompt as Prompt[]);
}

function read(body: Fields): Reading {
  if (typeof body.model !== "string" || body.model === "")
    return refused("you must provide a model parameter", "model");
  if (typeof body.prompt !== "string" && !Array.isArray(body.prompt))
    return refused("Missing required parameter: 'prompt'.", "prompt");
  const n = wholeNumber(body.n, 1, 1, 128);
  if (n === null) return refused("Invalid 'n': integer between 1 and 128 expected.", "n");
  const best = wholeNumber(body.best_of, n, n, 128);
  if (best === null) return refused("Invalid 'best_of': at least 'n', at most 128.", "best_of");
  if (best > n && body.stream === true)
    return refused("You cannot stream with 'best_of' above 'n'.", "best_of");
  const limit = wholeNumber(body.max_tokens, LIMIT_TOKENS, 0, 1_000_000);
  if (limit === null) return refused("Invalid 'max_tokens'.", "max_tokens");
  const prompts = promptsOf(body.prompt);
  const { scripts, said } = readTexts(prompts, body);
  const options = body.stream_options as { readonly include_usage?: unknown } | null | undefined;
  const ask: Ask = {
    ...ASK,
    model: body.model,
    stream: body.stream === true,
    usageAsked: options?.include_usage === true,
    said: said.at(-1) ?? "",
    promptTokens: prompts.reduce(
      (sum, prompt, nth) => sum + (typeof prompt === "string" ? countWords(said[nth]!) : prompt.length),
      0,
    ),
    choices: n * prompts.length,
    limit,
  };
  return { ok: true, ask, scripts };
}

/** All that is tried is generated, and owed; only the best `n` are shown. */
function answer(ask: Ask, script: Script, { body }: { readonly body: Fields }): Answer {
  const shown = answerTo(ask, script);
  const n = wholeNumber(body.n, 1, 1, 128) ?? 1;
  const tries = (wholeNumber(body.best_of, n, n, 128) ?? n) / n;
  const completion = Math.round(shown.usage.completion * tries);
  return { ...shown, usage: { ...shown.usage, completion } };
}

const textOf = (choice: Choice): string => choice.words.join("").trimStart();

function whole({ id, createdS, ask, answer, script, body }: Serving): string {
  const form = CHAT_USAGE[script.usage ?? "asked"];
  const echo = body.echo === true ? ask.said : "";
  return JSON.stringify({
    id,
    object: "text_completion",
    created: createdS,
    model: ask.model,
    choices: answer.choices.map((choice, index) => ({
      text: echo + textOf(choice),
      index,
      logprobs: null,
      finish_reason: choice.finish,
    })),
    ...(form.place(true) !== "nowhere" && { usage: form.body(answer.usage) }),
  });
}

const prefix = ({ id, createdS, ask }: Serving): string =>
  `data: {"id":"${id}","object":"text_completion","created":${createdS},"model":${JSON.stringify(ask.model)},"choices":[`;

function stream(serving: Serving): Piece[] {
  const { ask, answer, script } = serving;
  const form = CHAT_USAGE[script.usage ?? "asked"];
  const place = form.place(ask.usageAsked);
  const usage = `"usage":${JSON.stringify(form.body(answer.usage))}`;
  const piece = (choice: string, tail: string, tokens: number): Piece => ({
    data: `${prefix(serving)}${choice}]${tail}}\n\n`,
    tokens,
  });
  const silence = ask.usageAsked && place === "own_chunk" ? ',"usage":null' : "";
  const text = (index: number, words: string, finish: string | null) =>
    JSON.stringify({ text: words, index, logprobs: null, finish_reason: finish });
  const last = answer.choices.length - 1;
  const pieces = answer.choices.flatMap((choice, index) => [
    ...choice.words.map((word, nth) =>
      piece(text(index, nth === 0 ? word.slice(1) : word, null), silence, 1),
    ),
    piece(
      text(index, "", choice.finish),
      place === "finish_chunk" && index === last ? `,${usage}` : silence,
      0,
    ),
  ]);
  const own = OWN_CHUNKS[place] ?? 0;
  for (let nth = 0; nth < own; nth++) pieces.push(piece("", `,${usage}`, 0));
  return [...pieces, { data: "data: [DONE]\n\n", tokens: 0 }];
}

/** Chunks that hold usage and nothing else. */
const OWN_CHUNKS: Readonly<Record<string, number>> = { own_chunk: 1, own_chunk_twice: 2 };
