// The images dialect: generations, edits, variations. Models of the gpt-image family report usage, give base64 and can
// stream; all others give an address or base64 as asked, and report nothing.

import { type Answer, type Ask, answerTo, countWords } from "./answer.ts";
import type { Dialect, Reading, Sent, Serving } from "./dialect.ts";
import type { Fields, FilePart } from "./form.ts";
import { ASK, isTrue, namedEvent, namedWording, OPENAI, readTexts, refused, wholeNumber } from "./openai.ts";
import { reportedUsage, usageField } from "./reported-usage.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";

/** One row per endpoint: what its events are called and what it needs. */
interface Kind {
  readonly event: "image_generation" | "image_edit";
  readonly needsPrompt: boolean;
  readonly needsImage: boolean;
}

const KINDS = {
  generations: { event: "image_generation", needsPrompt: true, needsImage: false },
  edits: { event: "image_edit", needsPrompt: true, needsImage: true },
  variations: { event: "image_generation", needsPrompt: false, needsImage: true },
} as const satisfies Readonly<Record<string, Kind>>;

const images = (kind: Kind): Dialect => ({
  ...OPENAI,
  generates: true,
  ...(kind.needsImage && { forms: true }),
  idPrefix: "img_",
  read: (body, _, files) => read(kind, body, files),
  answer,
  whole,
  stream: (serving) => stream(kind, serving),
  wording: () => namedWording(`${kind.event}.partial_image`),
});

export const imageGenerations: Dialect = images(KINDS.generations);
export const imageEdits: Dialect = images(KINDS.edits);
export const imageVariations: Dialect = images(KINDS.variations);

const MODEL = "dall-e-2";
const reportsUsage = (model: string): boolean => /^(gpt|chatgpt)-image/.test(model);

/** What one image costs, and one that is shown to the model. */
const OUTPUT_TOKENS = 272;
const INPUT_TOKENS = 194;

function read(kind: Kind, body: Fields, files: readonly FilePart[]): Reading {
  const model = typeof body.model === "string" ? body.model : MODEL;
  if (kind.needsPrompt && (typeof body.prompt !== "string" || body.prompt === ""))
    return refused("Missing required parameter: 'prompt'.", "prompt", "missing_required_parameter");
  if (kind.needsImage && imagesGiven(body, files) === 0)
    return refused("Missing required parameter: 'image'.", "image", "missing_required_parameter");
  const n = wholeNumber(body.n, 1, 1, 10);
  if (n === null) return refused("Invalid 'n': integer between 1 and 10 expected.", "n");
  if (wholeNumber(body.partial_images, 0, 0, 3) === null)
    return refused("Invalid 'partial_images': integer between 0 and 3 expected.", "partial_images");
  const modern = reportsUsage(model);
  if (modern && body.response_format !== undefined)
    return refused("Unknown parameter: 'response_format'.", "response_format", "unknown_parameter");
  if (!modern && isTrue(body.stream)) return refused(`Streaming is not supported by '${model}'.`, "stream");
  const { scripts, said } = readTexts([body.prompt], body);
  const ask: Ask = {
    ...ASK,
    model,
    stream: isTrue(body.stream),
    said: said[0]!,
    promptTokens: countWords(said[0]!),
    choices: n,
  };
  return { ok: true, ask, scripts };
}

/** Images to work on: files, or addresses and ids in JSON. */
const imagesGiven = ({ images: listed }: Fields, files: readonly FilePart[]): number =>
  files.filter(({ field }) => field !== "mask").length + (Array.isArray(listed) ? listed.length : 0);

/** `output` tokens of each image; tokens only where the model has any. */
function answer(ask: Ask, script: Script, sent: Sent): Answer {
  const { usage } = answerTo({ ...ask, choices: 0 }, script);
  const units = { images: ask.choices };
  if (!reportsUsage(ask.model)) return { choices: [], usage: { ...usage, prompt: 0, completion: 0 }, units };
  const imageIn = script.image_in ?? imagesGiven(sent.body, sent.files) * INPUT_TOKENS;
  const prompt = script.prompt ?? ask.promptTokens + imageIn;
  const completion = ask.choices * (script.output ?? OUTPUT_TOKENS);
  return { choices: [], usage: { ...usage, imageIn, prompt, completion }, units };
}

const usageOf = ({ answer: { usage } }: Serving): object => ({
  input_tokens: usage.prompt,
  input_tokens_details: { text_tokens: usage.prompt - usage.imageIn, image_tokens: usage.imageIn },
  output_tokens: usage.completion,
  total_tokens: usage.prompt + usage.completion,
});

/** What the image became, where the request left it open. */
const looks = ({ body }: Serving): object => ({
  background: chosen(body.background, "opaque"),
  output_format: chosen(body.output_format, "png"),
  quality: chosen(body.quality, "medium"),
  size: chosen(body.size, "1024x1024"),
});

const chosen = (value: unknown, otherwise: string): string =>
  typeof value === "string" && value !== "auto" ? value : otherwise;

function whole(serving: Serving): string {
  const { createdS, ask, script, body } = serving;
  const modern = reportsUsage(ask.model);
  const revised = ask.model === "dall-e-3" ? { revised_prompt: ask.said } : {};
  const data = Array.from({ length: ask.choices }, (_, nth) =>
    modern || body.response_format === "b64_json"
      ? { b64_json: imageBytes(script, nth), ...revised }
      : { url: `https://images.standin.example/${serving.id}-${nth}.png`, ...revised },
  );
  return JSON.stringify({
    created: createdS,
    ...(modern && looks(serving)),
    data,
    ...(modern && usageField(script, usageOf(serving))),
  });
}

/** Partial images, then the whole one, for each image in turn; usage with the last. */
function stream(kind: Kind, serving: Serving): Piece[] {
  const { createdS, ask, answer, script, body } = serving;
  const partials = wholeNumber(body.partial_images, 0, 0, 3)!;
  const event = (step: string, nth: number, more: object) =>
    namedEvent(`${kind.event}.${step}`, {
      b64_json: imageBytes(script, nth),
      created_at: createdS,
      ...looks(serving),
      ...more,
    });
  const last = ask.choices - 1;
  return Array.from({ length: ask.choices }, (_, nth): Piece[] => {
    const usage = nth === last ? { usage: reportedUsage(script, usageOf(serving)) } : {};
    return [
      ...Array.from({ length: partials }, (_, partial) => ({
        data: event("partial_image", nth, { partial_image_index: partial }),
        tokens: 0,
      })),
      { data: event("completed", nth, usage), tokens: answer.usage.completion / ask.choices },
    ];
  }).flat();
}

/** A small PNG in base64, with `kb` behind it; another for every image. */
function imageBytes({ kb }: Script, nth: number): string {
  const padding = Buffer.alloc((kb ?? 0) * 1024 + 1, nth + 1);
  return Buffer.concat([PNG, padding]).toString("base64");
}

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
