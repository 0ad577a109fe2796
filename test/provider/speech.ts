// The speech dialect: bytes of sound in chunks as they are made, with the content type of their format; or as events.
// Bytes are deterministic, and no text: a gateway that decodes them breaks them.

import { type Answer, type Ask, answerTo, countWords } from "./answer.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import type { Fields } from "./form.ts";
import { ASK, namedEvent, namedWording, OPENAI, readTexts, refused } from "./openai.ts";
import { usageField } from "./reported-usage.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";

export const speech: Dialect = {
  ...OPENAI,
  generates: true,
  idPrefix: "tts_",
  read,
  answer,
  whole: (serving) => Buffer.concat(chunksOf(serving)),
  stream: (serving) => (isEvents(serving.body) ? events(serving) : bytes(serving)),
  wording: () => namedWording("speech.audio.delta"),
  contentType: ({ body }, streamed) =>
    streamed && isEvents(body) ? "text/event-stream; charset=utf-8" : TYPES[formatOf(body)]!,
};

const TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

const INPUT_CHARACTERS_MAX = 4096;
const CHUNKS = 8;
const CHUNK_BYTES = 1000;
/** Tokens of sound that a chunk holds, unless `output` says how many there are. */
const CHUNK_TOKENS = 5;

const formatOf = (body: Fields): string => String(body.response_format ?? "mp3");
const isEvents = (body: Fields): boolean => body.stream_format === "sse";

function read(body: Fields): Reading {
  const required = ["model", "input", "voice"].find((name) => body[name] === undefined || body[name] === "");
  if (required !== undefined) return refused(`Missing required parameter: '${required}'.`, required);
  const { scripts, said } = readTexts([body.input], body);
  if ([...said[0]!].length > INPUT_CHARACTERS_MAX)
    return refused(
      `Invalid 'input': at most ${INPUT_CHARACTERS_MAX} characters.`,
      "input",
      "string_above_max_length",
    );
  if (TYPES[formatOf(body)] === undefined) return refused("Invalid 'response_format'.", "response_format");
  const model = String(body.model);
  if (isEvents(body) && model.startsWith("tts-1"))
    return refused(`'stream_format' 'sse' is not supported by '${model}'.`, "stream_format");
  const ask: Ask = {
    ...ASK,
    model,
    // Sound too comes in pieces: it has no length before it is made.
    stream: true,
    said: said[0]!,
    promptTokens: countWords(said[0]!),
  };
  return { ok: true, ask, scripts };
}

/** Characters are those of the input as it came, markers and all: that is what is paid for. */
function answer(ask: Ask, script: Script, { body }: { readonly body: Fields }): Answer {
  const { usage } = answerTo(ask, script);
  const characters = [...String(body.input)].length;
  const completion = script.output ?? chunkCount(script) * CHUNK_TOKENS;
  return { choices: [], usage: { ...usage, completion, audioOut: 0 }, units: { characters } };
}

const chunkCount = ({ kb }: Script): number =>
  kb === undefined ? CHUNKS : Math.max(1, Math.ceil((kb * 1024) / CHUNK_BYTES));

function chunksOf({ body, script }: Serving): Buffer[] {
  const count = chunkCount(script);
  const total = script.kb === undefined ? count * CHUNK_BYTES : Math.max(1, script.kb * 1024);
  const sound = Buffer.alloc(total);
  for (let at = 0; at < total; at++) sound[at] = (at * 7 + (at >> 8)) & 255;
  if (formatOf(body) === "wav" && total >= 44) wavHead(total - 44).copy(sound);
  return Array.from({ length: count }, (_, nth) =>
    sound.subarray(nth * CHUNK_BYTES, (nth + 1) * CHUNK_BYTES),
  );
}

/** 24,000 samples a second of 16 bits. */
function wavHead(dataBytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF\0\0\0\0WAVEfmt ", 0, "latin1");
  head.writeUInt32LE(dataBytes + 36, 4);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(24_000, 24);
  head.writeUInt32LE(48_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/** Tokens come with the chunks, the last with the rest of them. */
function shares(total: number, count: number): number[] {
  const each = Math.floor(total / count);
  return Array.from({ length: count }, (_, nth) => (nth === count - 1 ? total - each * (count - 1) : each));
}

function bytes(serving: Serving): Piece[] {
  const chunks = chunksOf(serving);
  const tokens = shares(serving.answer.usage.completion, chunks.length);
  return chunks.map((data, nth) => ({ data, tokens: tokens[nth]! }));
}

function events(serving: Serving): Piece[] {
  const { prompt, completion } = serving.answer.usage;
  const usage = { input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion };
  return [
    ...bytes(serving).map(({ data, tokens }) => ({
      data: namedEvent("speech.audio.delta", { audio: Buffer.from(data as Uint8Array).toString("base64") }),
      tokens,
    })),
    { data: namedEvent("speech.audio.done", usageField(serving.script, usage)), tokens: 0 },
  ];
}
