// The embeddings dialect: vectors of texts or of tokens, as numbers or as base64, deterministic by what is embedded.

import { type Ask, countWords } from "./answer.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import { type Fields, sha256Of } from "./form.ts";
import { ASK, namedWording, OPENAI, readTexts, refused, wholeNumber } from "./openai.ts";
import { reportedUsage } from "./reported-usage.ts";
import type { Script, Shape } from "./script.ts";

const INPUTS_MAX = 2048;
const DIMENSIONS = 1536;
const DIMENSIONS_MAX = 8192;

export const embeddings: Dialect = {
  ...OPENAI,
  generates: true,
  idPrefix: "emb_",
  read,
  whole,
  stream: () => [],
  wording: () => namedWording("delta"),
};

/** A text, or tokens. */
type Input = string | readonly number[];

/** One text, one list of tokens, or a list of either; null when it is none of these. */
function inputsOf(input: unknown): readonly Input[] | null {
  if (typeof input === "string") return [input];
  if (!Array.isArray(input) || input.length === 0) return null;
  if (isTokens(input)) return [input];
  return input.every((one) => typeof one === "string" || isTokens(one)) ? input : null;
}

const isTokens = (input: unknown): input is number[] =>
  Array.isArray(input) && input.length > 0 && input.every((one) => Number.isInteger(one) && one >= 0);

function read(body: Fields): Reading {
  if (typeof body.model !== "string" || body.model === "")
    return refused("you must provide a model parameter", "model");
  const inputs = inputsOf(body.input);
  if (inputs === null || inputs.includes("")) return refused("'$.input' is invalid.", "input");
  if (inputs.length > INPUTS_MAX) return refused(`'$.input' has more than ${INPUTS_MAX} inputs.`, "input");
  if (!["float", "base64", undefined, null].includes(body.encoding_format as string))
    return refused("Invalid 'encoding_format': 'float' or 'base64' expected.", "encoding_format");
  if (wholeNumber(body.dimensions, DIMENSIONS, 1, DIMENSIONS_MAX) === null)
    return refused("Invalid 'dimensions'.", "dimensions");
  const { scripts, said } = readTexts(inputs, body);
  const ask: Ask = {
    ...ASK,
    model: body.model,
    said: said.join(" "),
    promptTokens: inputs.reduce(
      (sum, one, nth) => sum + (typeof one === "string" ? countWords(said[nth]!) : one.length),
      0,
    ),
  };
  return { ok: true, ask, scripts };
}

/** Who reports usage how: all of it, only the total, or as what is billed. */
const REPORTS: Readonly<Record<Shape, (script: Script, tokens: number) => object>> = {
  openai: (script, tokens) => ({
    usage: reportedUsage(script, { prompt_tokens: tokens, total_tokens: tokens }),
  }),
  jina: (script, tokens) => ({ usage: reportedUsage(script, { total_tokens: tokens }) }),
  voyage: (script, tokens) => ({ usage: reportedUsage(script, { total_tokens: tokens }) }),
  cohere: (script, tokens) => ({
    meta: { api_version: { version: "2" }, billed_units: reportedUsage(script, { input_tokens: tokens }) },
  }),
};

function whole({ ask, answer, script, body }: Serving): string {
  const dimensions = wholeNumber(body.dimensions, DIMENSIONS, 1, DIMENSIONS_MAX)!;
  const inputs = inputsOf(body.input)!;
  const { said } = readTexts(inputs, body);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(said[index] || input, dimensions);
    const embedding =
      body.encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : Array.from(vector);
    return { object: "embedding", index, embedding };
  });
  const report = REPORTS[script.shape ?? "openai"](script, answer.usage.prompt);
  return JSON.stringify({ object: "list", data, model: ask.model, ...report });
}

/** A direction of length one, another for every input. */
function vectorOf(input: Input, dimensions: number): Float32Array {
  const seed = Number.parseInt(sha256Of(Buffer.from(String(input))).slice(0, 4), 16);
  const scale = Math.sqrt(2 / dimensions);
  return Float32Array.from({ length: dimensions }, (_, nth) => Math.sin(seed + nth * 1.7) * scale);
}
