// Rows of the gateway's paths beside the two styles of conversation.

import { Type } from "@sinclair/typebox";
import { keptRow as kept, gatewayRow as row } from "../openapi/gateway-row.ts";
import { json, type Rows } from "../openapi/openapi-row.ts";
import { maybe, object } from "../schemas.ts";
import {
  Completion,
  CompletionRequest,
  Embeddings,
  EmbeddingsRequest,
  ImageForm,
  ImageRequest,
  Images,
  InputItems,
  Moderation,
  ModerationRequest,
  Ranking,
  RerankRequest,
  ResponseDeleted,
  ResponseObject,
  ResponsesRequest,
  Sound,
  SoundForm,
  SpeechRequest,
  Transcript,
  Words,
} from "./media-schemas.ts";
import { Events } from "./schemas.ts";

const events = { "text/event-stream": Events };
const sound = Object.fromEntries(
  ["audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"].map((type) => [
    type,
    Sound,
  ]),
);
const words = { "text/plain": Words, "text/vtt": Words, "application/x-subrip": Words };

const picture = { created: 1_760_000_000, data: [{ b64_json: "iVBORw0KGgo=" }] };
const heard = { text: "Hello there.", usage: { type: "duration", seconds: 2 } };

const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-4o-mini",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello!" }] }],
  usage: { input_tokens: 8, output_tokens: 2, total_tokens: 10 },
};

const FREE = "Free; it counts as a request.";
const ID = { id: "The response's id." };
const INCLUDE = { include: "What the provider is to tell beside." };

export const PATH_ROWS: Rows = {
  "POST /v1/responses": row({
    summary: "Ask a model, in the style of responses",
    description:
      "A stream ends with exactly one of `response.completed`, `response.incomplete` and `response.failed`; one that was cut ends with an `error` event instead. `previous_response_id`, `conversation` and `item_reference` find what this account made in the last thirty days, at the provider key that made it; anything else is 400 `previous_response_not_found`. `background` is not offered.",
    body: ResponsesRequest,
    refuses: ["previous_response_not_found"],
    asked: { model: "gpt-4o-mini", input: "Hi" },
    answers: { ...json(ResponseObject), ...events },
    answered: response,
  }),
  "GET /v1/responses/:id": kept({
    summary: "Read a response again",
    description: `Of the last thirty days, by the account that made it, from the provider key that did. ${FREE}`,
    params: { ...ID, ...INCLUDE },
    query: object({ include: maybe(Type.String()) }),
    answers: json(ResponseObject),
    answered: response,
  }),
  "DELETE /v1/responses/:id": kept({
    summary: "Delete a response at its provider",
    description: `By the account that made it. ${FREE}`,
    params: ID,
    answers: json(ResponseDeleted),
    answered: { id: "resp_1", object: "response", deleted: true },
  }),
  "GET /v1/responses/:id/input_items": kept({
    summary: "List what a response was asked with",
    description: `By the account that made it. ${FREE}`,
    params: {
      ...{ ...ID, ...INCLUDE },
      limit: "How many at most.",
      order: "`asc` or `desc`.",
      after: "Those behind this one.",
    },
    query: object({
      include: maybe(Type.String()),
      limit: maybe(Type.String()),
      order: maybe(Type.String()),
      after: maybe(Type.String()),
    }),
    answers: json(InputItems),
    answered: { object: "list", data: [{ type: "message", role: "user" }], has_more: false },
  }),
  "POST /v1/completions": row({
    summary: "Let a model complete a text",
    description: "The older style. Without `max_tokens` 16 are held, as providers take them.",
    body: CompletionRequest,
    asked: { model: "gpt-3.5-turbo-instruct", prompt: "Once upon", max_tokens: 5 },
    answers: { ...json(Completion), ...events },
    answered: {
      id: "cmpl-1",
      object: "text_completion",
      model: "gpt-3.5-turbo-instruct",
      choices: [{ index: 0, text: " a time", finish_reason: "stop" }],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    },
  }),
  "POST /v1/embeddings": row({
    summary: "Turn texts into vectors",
    description: "Texts, or tokens. Charged by what was read.",
    body: EmbeddingsRequest,
    asked: { model: "text-embedding-3-small", input: ["one", "two"] },
    answers: json(Embeddings),
    answered: {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [0.1, -0.2] }],
      model: "text-embedding-3-small",
      usage: { prompt_tokens: 2, total_tokens: 2 },
    },
  }),
  "POST /v1/images/generations": row({
    summary: "Draw images from words",
    description:
      "Charged by tokens where the provider reports them, else by the images that came, in their size and quality. A stream has one image.",
    body: ImageRequest,
    asked: { model: "gpt-image-1", prompt: "a lighthouse", size: "1024x1024", quality: "low" },
    answers: { ...json(Images), ...events },
    answered: picture,
  }),
  "POST /v1/images/edits": row({
    summary: "Change images by words",
    description: "As a form with the images as files, or as JSON with `images`. Charged as drawn ones are.",
    body: ImageRequest,
    form: ImageForm,
    asked: {
      model: "gpt-image-1",
      prompt: "add a boat",
      images: [{ image_url: "https://example.com/a.png" }],
    },
    answers: { ...json(Images), ...events },
    answered: picture,
  }),
  "POST /v1/images/variations": row({
    summary: "Vary an image",
    description: "A form with the image as a file. Charged as drawn ones are.",
    form: ImageForm,
    answers: json(Images),
    answered: picture,
  }),
  "POST /v1/audio/speech": row({
    summary: "Speak a text",
    description:
      "Answered with sound in the form asked for, as it comes; one that was cut breaks off. With `stream_format: sse`, with events. Charged by characters, or by tokens where the model is priced so.",
    body: SpeechRequest,
    asked: { model: "tts-1", input: "Hello there.", voice: "alloy" },
    answers: { ...sound, "application/octet-stream": Sound, ...events },
  }),
  "POST /v1/audio/transcriptions": row({
    summary: "Write down what is said",
    description:
      "A form with the sound as `file`. Charged by tokens where the provider reports them, else by the time that it sounds.",
    form: SoundForm,
    answers: { ...json(Transcript), ...words, ...events },
    answered: heard,
  }),
  "POST /v1/audio/translations": row({
    summary: "Write down in English what is said",
    description: "A form with the sound as `file`. Never streamed.",
    form: SoundForm,
    answers: { ...json(Transcript), ...words },
    answered: heard,
  }),
  "POST /v1/rerank": row({
    summary: "Order documents by how well they answer a query",
    description: "Charged by search units (100 documents each), or by tokens, as the model is priced.",
    body: RerankRequest,
    asked: { model: "rerank-v3.5", query: "a lighthouse", documents: ["a tower by the sea", "a boat"] },
    answers: json(Ranking),
    answered: {
      results: [{ index: 0, relevance_score: 0.98 }],
      meta: { billed_units: { search_units: 1 } },
    },
  }),
  "POST /v1/moderations": row({
    summary: "Judge texts by the maker's rules",
    description: "Charged by the call; free where the maker takes nothing.",
    body: ModerationRequest,
    asked: { model: "omni-moderation-latest", input: "Hello there." },
    answers: json(Moderation),
    answered: { id: "modr-1", model: "omni-moderation-latest", results: [{ flagged: false }] },
  }),
};
