// What the document says of the gateway's other endpoints: responses, texts, images, sound, rerank and moderations; and of
// those that read or delete what a provider stores.

import { Type } from "@sinclair/typebox";
import { maybe, open, parameter } from "../schemas.ts";
import { type GatewayDeclaration, modelEndpoint, storedEndpoint } from "./endpoint-table.ts";
import {
  CompletionRequestSchema,
  CompletionSchema,
  EmbeddingsRequestSchema,
  EmbeddingsSchema,
  ImageFormSchema,
  ImageRequestSchema,
  ImagesSchema,
  InputItemsSchema,
  ModerationRequestSchema,
  ModerationSchema,
  RankingSchema,
  RerankRequestSchema,
  ResponseDeletedSchema,
  ResponseObjectSchema,
  ResponsesRequestSchema,
  SoundFormSchema,
  SoundSchema,
  SpeechRequestSchema,
  SubtitlesSchema,
  TranscriptSchema,
} from "./media-schemas.ts";
import { EventsSchema } from "./schemas.ts";

const events = { "text/event-stream": EventsSchema };
const sound = Object.fromEntries(
  ["audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"].map((type) => [
    type,
    SoundSchema,
  ]),
);
const subtitles = {
  "text/plain": SubtitlesSchema,
  "text/vtt": SubtitlesSchema,
  "application/x-subrip": SubtitlesSchema,
};

const imagesExample = { created: 1_760_000_000, data: [{ b64_json: "iVBORw0KGgo=" }] };
const transcriptExample = { text: "Hello there.", usage: { type: "duration", seconds: 2 } };

const responseExample = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "gpt-4o-mini",
  output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello!" }] }],
  usage: { input_tokens: 8, output_tokens: 2, total_tokens: 10 },
};

/** Declarations of these endpoints, by path. */
export const MEDIA_ENDPOINTS: Readonly<Record<string, GatewayDeclaration>> = {
  "/v1/responses": modelEndpoint({
    operationId: "createResponse",
    summary: "Create a model response",
    description:
      "A stream ends with exactly one of `response.completed`, `response.incomplete` and `response.failed`; one that was cut ends with an `error` event instead. `previous_response_id`, `conversation` and `item_reference` find what this account created in the last thirty days, at the provider key that created it; anything else is 400 `previous_response_not_found`. `background` is not offered. " +
      "Where a provider does not have this path, the request is translated: the answer has `store` false, a cut stream ends with `response.failed`, and what needs a provider that keeps responses or runs tools itself is 400.",
    body: ResponsesRequestSchema,
    errors: ["previous_response_not_found"],
    requestExample: { model: "gpt-4o-mini", input: "Hi" },
    answer: ResponseObjectSchema,
    answerContent: events,
    answerExample: responseExample,
  }),
  "/v1/completions": modelEndpoint({
    operationId: "createCompletion",
    summary: "Create a completion",
    description: "The older style. Without `max_tokens` 16 are held, as providers take them.",
    body: CompletionRequestSchema,
    requestExample: { model: "gpt-3.5-turbo-instruct", prompt: "Once upon", max_tokens: 5 },
    answer: CompletionSchema,
    answerContent: events,
    answerExample: {
      id: "cmpl-1",
      object: "text_completion",
      model: "gpt-3.5-turbo-instruct",
      choices: [{ index: 0, text: " a time", finish_reason: "stop" }],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    },
  }),
  "/v1/embeddings": modelEndpoint({
    operationId: "createEmbedding",
    summary: "Create embeddings",
    description: "Texts, or tokens. Charged by the tokens that were read.",
    body: EmbeddingsRequestSchema,
    requestExample: { model: "text-embedding-3-small", input: ["one", "two"] },
    answer: EmbeddingsSchema,
    answerExample: {
      object: "list",
      data: [{ object: "embedding", index: 0, embedding: [0.1, -0.2] }],
      model: "text-embedding-3-small",
      usage: { prompt_tokens: 2, total_tokens: 2 },
    },
  }),
  "/v1/images/generations": modelEndpoint({
    operationId: "createImage",
    summary: "Create an image",
    description:
      "Charged by tokens where the provider reports them, else by the images that came, in their size and quality. A stream has one image.",
    body: ImageRequestSchema,
    requestExample: { model: "gpt-image-1", prompt: "a lighthouse", size: "1024x1024", quality: "low" },
    answer: ImagesSchema,
    answerContent: events,
    answerExample: imagesExample,
  }),
  "/v1/images/edits": modelEndpoint({
    operationId: "createImageEdit",
    summary: "Create an image edit",
    description:
      "As a form with the images as files, or as JSON with `images`. Charged as generated images are.",
    body: ImageRequestSchema,
    requestContent: { "multipart/form-data": ImageFormSchema },
    requestExample: {
      model: "gpt-image-1",
      prompt: "add a boat",
      images: [{ image_url: "https://example.com/a.png" }],
    },
    answer: ImagesSchema,
    answerContent: events,
    answerExample: imagesExample,
  }),
  "/v1/images/variations": modelEndpoint({
    operationId: "createImageVariation",
    summary: "Create an image variation",
    description: "A form with the image as a file. Charged as generated images are.",
    requestContent: { "multipart/form-data": ImageFormSchema },
    answer: ImagesSchema,
    answerExample: imagesExample,
  }),
  "/v1/audio/speech": modelEndpoint({
    operationId: "createSpeech",
    summary: "Create speech",
    description:
      "The answer is audio in the requested format, sent as it is produced; one that was cut breaks off. With `stream_format: sse` it is events. Charged by characters, or by tokens where the model is priced so.",
    body: SpeechRequestSchema,
    requestExample: { model: "tts-1", input: "Hello there.", voice: "alloy" },
    answerContent: { ...sound, "application/octet-stream": SoundSchema, ...events },
  }),
  "/v1/audio/transcriptions": modelEndpoint({
    operationId: "createTranscription",
    summary: "Create a transcription",
    description:
      "A form with the audio as `file`. Charged by tokens where the provider reports them, else by its duration.",
    requestContent: { "multipart/form-data": SoundFormSchema },
    answer: TranscriptSchema,
    answerContent: { ...subtitles, ...events },
    answerExample: transcriptExample,
  }),
  "/v1/audio/translations": modelEndpoint({
    operationId: "createTranslation",
    summary: "Create a translation into English",
    description: "A form with the audio as `file`. Never streamed.",
    requestContent: { "multipart/form-data": SoundFormSchema },
    answer: TranscriptSchema,
    answerContent: subtitles,
    answerExample: transcriptExample,
  }),
  "/v1/rerank": modelEndpoint({
    operationId: "rerank",
    summary: "Rerank documents by their relevance to a query",
    description: "Charged by search units (100 documents each), or by tokens, as the model is priced.",
    body: RerankRequestSchema,
    requestExample: {
      model: "rerank-v3.5",
      query: "a lighthouse",
      documents: ["a tower by the sea", "a boat"],
    },
    answer: RankingSchema,
    answerExample: {
      results: [{ index: 0, relevance_score: 0.98 }],
      meta: { billed_units: { search_units: 1 } },
    },
  }),
  "/v1/moderations": modelEndpoint({
    operationId: "createModeration",
    summary: "Create a moderation",
    description: "Charged by the call; free where the provider takes nothing.",
    body: ModerationRequestSchema,
    requestExample: { model: "omni-moderation-latest", input: "Hello there." },
    answer: ModerationSchema,
    answerExample: { id: "modr-1", model: "omni-moderation-latest", results: [{ flagged: false }] },
  }),
};

const RESPONSE_PARAMS = Type.Object({ id: parameter(Type.String(), "The response's id.") });

const include = maybe(parameter(Type.String(), "What else the provider includes in the answer."));

/** An endpoint below `/v1/responses/{id}`. */
interface StoredResponseEndpoint {
  readonly method: "GET" | "DELETE";
  /** What follows the id in the path; may be empty. */
  readonly suffix: "" | "/input_items";
  readonly declaration: GatewayDeclaration;
}

/** The endpoints that read or delete a stored response. */
export const STORED_RESPONSE_ENDPOINTS: readonly StoredResponseEndpoint[] = [
  {
    method: "GET",
    suffix: "",
    declaration: storedEndpoint({
      operationId: "getResponse",
      summary: "Get a model response",
      description:
        "Of the last thirty days, for the account that created it, from the provider key that did. Free; it counts as a request.",
      params: RESPONSE_PARAMS,
      query: open({ include }),
      answer: ResponseObjectSchema,
      answerExample: responseExample,
    }),
  },
  {
    method: "DELETE",
    suffix: "",
    declaration: storedEndpoint({
      operationId: "deleteResponse",
      summary: "Delete a model response at its provider",
      description: "For the account that created it. Free; it counts as a request.",
      params: RESPONSE_PARAMS,
      answer: ResponseDeletedSchema,
      answerExample: { id: "resp_1", object: "response", deleted: true },
    }),
  },
  {
    method: "GET",
    suffix: "/input_items",
    declaration: storedEndpoint({
      operationId: "listInputItems",
      summary: "List the input items of a model response",
      description: "For the account that created it. Free; it counts as a request.",
      params: RESPONSE_PARAMS,
      query: open({
        include,
        limit: maybe(parameter(Type.String(), "How many at most.")),
        order: maybe(parameter(Type.String(), "`asc` or `desc`.")),
        after: maybe(parameter(Type.String(), "Items behind this one.")),
      }),
      answer: InputItemsSchema,
      answerExample: { object: "list", data: [{ type: "message", role: "user" }], has_more: false },
    }),
  },
];
