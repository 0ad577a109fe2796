// One good request for each path of the gateway, and what it is charged: rows that several tests multiply. A script for the
// stand-in goes where it looks for one. Nothing here asserts.

import { formOf, wavFile } from "../provider/asking.ts";

/** A script as it stands in a prompt; without one the prompt has no mark of it. */
const marked = (words: string, script: string): string => (script === "" ? words : `${words} [[${script}]]`);

const picture = (): File => new File([new Uint8Array(300).fill(7)], "boat.png", { type: "image/png" });

export interface Good {
  readonly path: string;
  readonly model: string;
  readonly body: (script: string) => object | FormData;
  /** The script of the stand-in, in addition to that of a test. */
  readonly script: string;
  /** What one answer costs at the built-in prices, in nano-dollars. */
  readonly cost: number;
  readonly group: string;
  readonly basis: "provider" | "estimate";
  /** As the ledger has it. */
  readonly tokens: readonly [prompt: number, completion: number];
  /** What is held while it runs, in nano-dollars. */
  readonly hold: number;
}

const WORDS = "one two three";

/** Bytes as a hold estimates tokens by them. */
const estimated = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

/** The prompt as it stands in the rows' holds: every test asks with a script of this length. */
export const HELD_SCRIPT = "head_ms=400";

const heldPrompt = (script: string): number => estimated(marked(WORDS, `${script} ${HELD_SCRIPT}`.trim()));

/** Prices in nano-dollars a token: 2,500 and 10,000 are 2.5 and 10 USD a million. */
export const GOOD: readonly Good[] = [
  {
    path: "/v1/responses",
    model: "gpt-4o",
    script: "prompt=2006 cached=1920 output=300",
    body: (script) => ({ model: "gpt-4o", input: marked(WORDS, script), max_output_tokens: 300 }),
    cost: 86 * 2_500 + 1_920 * 1_250 + 300 * 10_000,
    group: "ChatPricing",
    basis: "provider",
    tokens: [2_006, 300],
    hold: heldPrompt("prompt=2006 cached=1920 output=300") * 2_500 + 300 * 10_000,
  },
  {
    path: "/v1/completions",
    model: "gpt-3.5-turbo-instruct",
    script: "prompt=100 output=16",
    body: (script) => ({ model: "gpt-3.5-turbo-instruct", prompt: marked(WORDS, script) }),
    cost: 100 * 1_500 + 16 * 2_000,
    group: "ChatPricing",
    basis: "provider",
    tokens: [100, 16],
    // Without a limit of the client's: the 16 tokens that providers take.
    hold: heldPrompt("prompt=100 output=16") * 1_500 + 16 * 2_000,
  },
  {
    path: "/v1/embeddings",
    model: "text-embedding-3-small",
    script: "prompt=5000",
    body: (script) => ({ model: "text-embedding-3-small", input: marked(WORDS, script) }),
    cost: 5_000 * 20,
    group: "ChatPricing",
    basis: "provider",
    tokens: [5_000, 0],
    hold: heldPrompt("prompt=5000") * 20,
  },
  {
    path: "/v1/images/generations",
    model: "dall-e-3",
    script: "",
    body: (script) => ({
      model: "dall-e-3",
      prompt: marked(WORDS, script),
      n: 2,
      size: "1024x1792",
      quality: "hd",
    }),
    cost: 240_000_000,
    group: "ImgPricing",
    basis: "provider",
    tokens: [0, 0],
    hold: 240_000_000,
  },
  {
    path: "/v1/images/edits",
    model: "gpt-image-1",
    script: "prompt=250 image_in=200 output=1056",
    body: (script) =>
      formOf({
        model: "gpt-image-1",
        prompt: marked(WORDS, script),
        image: picture(),
        size: "1024x1024",
        quality: "medium",
      }),
    // InputImage 10, InputText 5, OutputImage 40 USD a million.
    cost: 50 * 5_000 + 200 * 10_000 + 1_056 * 40_000,
    group: "ChatPricing",
    basis: "provider",
    tokens: [250, 1_056],
    // By tokens it may come to more than by the piece: one image of input is held at 1,600 tokens.
    hold: (heldPrompt("prompt=250 image_in=200 output=1056") + 1_600) * 10_000 + 1_056 * 40_000,
  },
  {
    path: "/v1/images/variations",
    model: "dall-e-2",
    script: "",
    body: (script) =>
      formOf({ model: "dall-e-2", image: picture(), size: "512x512", user: marked("somebody", script) }),
    cost: 18_000_000,
    group: "ImgPricing",
    basis: "provider",
    tokens: [0, 0],
    // Its quality is left to the provider, whose price without one is that of the largest.
    hold: 20_000_000,
  },
  {
    path: "/v1/audio/speech",
    model: "tts-1",
    script: "",
    // Priced by the character, marks of the script included.
    body: (script) => ({
      model: "tts-1",
      input: marked(WORDS, script).padEnd(2_000, "é"),
      voice: "alloy",
    }),
    cost: 30_000_000,
    group: "AudioPricing",
    basis: "provider",
    tokens: [0, 0],
    hold: 30_000_000,
  },
  {
    path: "/v1/audio/transcriptions",
    model: "whisper-1",
    script: "",
    body: (script) => formOf({ model: "whisper-1", file: wavFile(90), prompt: marked(WORDS, script) }),
    cost: 9_000_000,
    group: "AudioPricing",
    basis: "provider",
    tokens: [0, 0],
    hold: 9_000_000,
  },
  {
    path: "/v1/audio/translations",
    model: "whisper-1",
    script: "",
    body: (script) => formOf({ model: "whisper-1", file: wavFile(30), prompt: marked(WORDS, script) }),
    cost: 3_000_000,
    group: "AudioPricing",
    basis: "provider",
    tokens: [0, 0],
    hold: 3_000_000,
  },
  {
    path: "/v1/rerank",
    model: "rerank-v3.5",
    script: "",
    body: (script) => ({
      model: "rerank-v3.5",
      query: marked(WORDS, script),
      documents: Array.from({ length: 101 }, (_, i) => `document ${i}`),
    }),
    cost: 4_000_000,
    group: "RerankPricing",
    basis: "provider",
    // Also reported, but not charged: the model has a price by the search alone.
    tokens: [505, 0],
    hold: 4_000_000,
  },
  {
    path: "/v1/moderations",
    model: "omni-moderation-latest",
    script: "",
    body: (script) => ({ model: "omni-moderation-latest", input: marked(WORDS, script) }),
    // Its maker takes nothing; the Owner of these tests does.
    cost: 1_000_000,
    group: "CallPricing",
    basis: "provider",
    tokens: [0, 0],
    hold: 1_000_000,
  },
];

/** What the Owner of these tests prices himself. */
export const OWN_PRICES = { CallPricing: { "omni-moderation-latest": { Call: 0.001 } } };
