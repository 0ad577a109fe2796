// The dialects of transcriptions and translations: a form with a sound, answered in words. In which format is
// transcript.ts; how long the sound is, sound-length.ts.

import { type Answer, type Ask, answerTo, countWords } from "./answer.ts";
import type { Dialect, Reading, Sent, Serving } from "./dialect.ts";
import type { Fields, FilePart } from "./form.ts";
import { ASK, isTrue, namedEvent, namedWording, OPENAI, readTexts, refused } from "./openai.ts";
import { usageField } from "./reported-usage.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";
import { soundSeconds } from "./sound-length.ts";
import { FORMATS, type Transcript } from "./transcript.ts";

const audioDialect = (task: Transcript["task"]): Dialect => ({
  ...OPENAI,
  generates: true,
  forms: true,
  idPrefix: "tr_",
  read: (body, _, files) => read(task, body, files),
  answer,
  whole: (serving) => FORMATS[formatOf(serving.body)]!.body(transcriptOf(task, serving)),
  stream: (serving) => stream(task, serving),
  wording: () => namedWording("transcript.text.delta"),
  contentType: ({ body }, streamed) =>
    streamed ? "text/event-stream; charset=utf-8" : FORMATS[formatOf(body)]!.type,
});

export const transcriptions: Dialect = audioDialect("transcribe");
export const translations: Dialect = audioDialect("translate");

/** Tokens of a second of sound. */
const TOKENS_PER_SECOND = 10;

const formatOf = (body: Fields): string => String(body.response_format ?? "json");
const fileOf = (files: readonly FilePart[]): FilePart | undefined =>
  files.find(({ field }) => field === "file");
/** The old model knows no tokens, and no streams. */
const isOld = (model: string): boolean => model.startsWith("whisper");

function read(task: Transcript["task"], body: Fields, files: readonly FilePart[]): Reading {
  if (typeof body.model !== "string" || body.model === "")
    return refused("you must provide a model parameter", "model");
  const file = fileOf(files);
  if (file === undefined) return refused("Missing required parameter: 'file'.", "file");
  if (!/\.(flac|m4a|mp3|mp4|mpeg|mpga|oga|ogg|wav|webm)$/i.test(file.name))
    return refused("Unrecognized file format.", "file", "invalid_value");
  const format = FORMATS[formatOf(body)];
  if (format === undefined || (task === "translate" && format.transcribeOnly === true))
    return refused("Invalid 'response_format'.", "response_format");
  const { scripts, said } = readTexts([body.prompt], body);
  const ask: Ask = {
    ...ASK,
    model: body.model,
    stream: task === "transcribe" && isTrue(body.stream) && !isOld(body.model),
    said: said[0]!,
    promptTokens: countWords(said[0]!),
    choices: 1,
  };
  return { ok: true, ask, scripts };
}

const secondsOf = (script: Script, files: readonly FilePart[]): number =>
  script.seconds ?? soundSeconds(fileOf(files)!.bytes);

function answer(ask: Ask, script: Script, { files }: Sent): Answer {
  const seconds = secondsOf(script, files);
  const made = answerTo(ask, script);
  const audioIn = script.audio_in ?? Math.ceil(seconds * TOKENS_PER_SECOND);
  const prompt = script.prompt ?? ask.promptTokens + audioIn;
  return { ...made, usage: { ...made.usage, audioIn, prompt }, units: { seconds } };
}

function transcriptOf(task: Transcript["task"], serving: Serving): Transcript {
  const { answer, script, body } = serving;
  return {
    task,
    text: textOf(serving),
    seconds: answer.units!.seconds!,
    language: typeof body.language === "string" ? body.language : "english",
    wordTimes: [body["timestamp_granularities[]"]].flat().includes("word"),
    usage: usageField(script, usageOf(serving)),
  };
}

const textOf = ({ answer }: Serving): string => answer.choices[0]!.words.join("").trimStart();

/** Seconds or tokens, as the model has it or `billed` says. */
function usageOf({ ask, answer, script }: Serving): object {
  const { prompt, audioIn, completion } = answer.usage;
  if ((script.billed ?? (isOld(ask.model) ? "duration" : "tokens")) === "duration")
    return { type: "duration", seconds: Math.ceil(answer.units!.seconds!) };
  return {
    type: "tokens",
    input_tokens: prompt,
    input_token_details: { text_tokens: prompt - audioIn, audio_tokens: audioIn },
    output_tokens: completion,
    total_tokens: prompt + completion,
  };
}

function stream(task: Transcript["task"], serving: Serving): Piece[] {
  const { text, usage } = transcriptOf(task, serving);
  return [
    ...serving.answer.choices[0]!.words.map((word, nth) => ({
      data: namedEvent("transcript.text.delta", { delta: nth === 0 ? word.slice(1) : word }),
      tokens: 1,
    })),
    { data: namedEvent("transcript.text.done", { text, ...usage }), tokens: 0 },
  ];
}
