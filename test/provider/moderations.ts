// The moderations dialect: a verdict on each text or image. Nothing is harmful unless `finish=content_filter` says so.

import type { Ask } from "./answer.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import type { Fields } from "./form.ts";
import { ASK, namedWording, OPENAI, readTexts, refused } from "./openai.ts";

export const moderations: Dialect = {
  ...OPENAI,
  generates: false,
  idPrefix: "modr-",
  read,
  whole,
  stream: () => [],
  wording: () => namedWording("delta"),
};

const MODEL = "omni-moderation-latest";
const CATEGORIES = ["harassment", "hate", "illicit", "self-harm", "sexual", "violence"];

interface Part {
  readonly type?: unknown;
  readonly text?: unknown;
}

/** Texts that get a verdict each; parts get one together. */
function inputsOf(input: unknown): readonly (string | readonly Part[])[] | null {
  if (typeof input === "string") return [input];
  if (!Array.isArray(input) || input.length === 0) return null;
  if (input.every((one) => typeof one === "string")) return input;
  return input.every((one) => KINDS.includes((one as Part | null)?.type)) ? [input as Part[]] : null;
}

const KINDS: readonly unknown[] = ["text", "image_url"];

const textsOf = (input: string | readonly Part[]): readonly unknown[] =>
  typeof input === "string" ? [input] : input.map(({ text }) => text);

function read(body: Fields): Reading {
  const inputs = inputsOf(body.input);
  if (inputs === null) return refused("Invalid 'input': a text, texts or parts expected.", "input");
  const { scripts, said } = readTexts(inputs.flatMap(textsOf), body);
  const ask: Ask = {
    ...ASK,
    model: typeof body.model === "string" ? body.model : MODEL,
    said: said.join(" "),
    promptTokens: 0,
  };
  return { ok: true, ask, scripts };
}

function whole({ id, ask, script, body }: Serving): string {
  const flagged = script.finish === "content_filter";
  const each = <T>(value: T) => Object.fromEntries(CATEGORIES.map((name) => [name, value]));
  const results = inputsOf(body.input)!.map((input) => {
    const image = typeof input !== "string" && input.some(({ type }) => type === "image_url");
    return {
      flagged,
      categories: { ...each(false), violence: flagged },
      category_scores: { ...each(0.0001), violence: flagged ? 0.98 : 0.0002 },
      category_applied_input_types: each(image ? ["text", "image"] : ["text"]),
    };
  });
  return JSON.stringify({ id, model: ask.model, results });
}
