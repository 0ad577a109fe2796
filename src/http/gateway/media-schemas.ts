// Schemas of the gateway's endpoints other than conversations: the fields that the service reads or promises. Everything else
// passes between client and provider, so all of them are open.

import { type TProperties, Type } from "@sinclair/typebox";
import { int, maybe, namedSchema, open, orNull, string } from "../schemas.ts";
import { model, positiveSchema, stream } from "./schemas.ts";

const texts = Type.Array(string);
const tokens = Type.Array(Type.Integer({ minimum: 0 }));
const usage = maybe(orNull(open({})));
const upTo128 = maybe(orNull(Type.Integer({ minimum: 1, maximum: 128 })));
const list = (properties: TProperties) => Type.Array(open(properties));

export const ResponsesRequestSchema = namedSchema(
  "ResponsesRequest",
  open({
    model,
    input: maybe(Type.Union([string, list({})])),
    instructions: maybe(orNull(string)),
    stream,
    max_output_tokens: maybe(orNull(positiveSchema)),
    service_tier: maybe(orNull(string)),
  }),
);

export const ResponseObjectSchema = namedSchema(
  "ResponseObject",
  open({
    id: string,
    object: Type.Literal("response"),
    status: maybe(string),
    model: string,
    output: list({ type: string }),
    usage,
  }),
);

export const ResponseDeletedSchema = namedSchema(
  "ResponseDeleted",
  open({ id: string, deleted: Type.Boolean() }),
);

export const InputItemsSchema = namedSchema("InputItems", open({ data: list({}) }));

export const CompletionRequestSchema = namedSchema(
  "CompletionRequest",
  open({
    model,
    prompt: Type.Union([string, texts, tokens, Type.Array(tokens)]),
    stream,
    stream_options: maybe(orNull(open({ include_usage: maybe(Type.Boolean()) }))),
    n: upTo128,
    best_of: upTo128,
    max_tokens: maybe(orNull(Type.Integer({ minimum: 0 }))),
  }),
);

export const CompletionSchema = namedSchema(
  "Completion",
  open({
    id: string,
    object: Type.Literal("text_completion"),
    model: string,
    choices: list({ text: string, finish_reason: orNull(string) }),
    usage,
  }),
);

export const EmbeddingsRequestSchema = namedSchema(
  "EmbeddingsRequest",
  open({
    model,
    input: Type.Union([string, texts, tokens, Type.Array(tokens)]),
    encoding_format: maybe(string),
    dimensions: maybe(positiveSchema),
  }),
);

export const EmbeddingsSchema = namedSchema(
  "Embeddings",
  open({
    data: list({ embedding: Type.Union([Type.Array(Type.Number()), string]) }),
    usage,
  }),
);

const pictured = {
  model,
  n: upTo128,
  size: maybe(orNull(string)),
  quality: maybe(orNull(string)),
};

export const ImageRequestSchema = namedSchema("ImageRequest", open({ ...pictured, prompt: string, stream }));

const picture = Type.String({ format: "binary", description: "a file" });

/** The fields of a form; booleans and numbers are texts. */
export const ImageFormSchema = namedSchema(
  "ImageForm",
  open({ model, image: maybe(picture), mask: maybe(picture), prompt: maybe(string) }),
);

export const ImagesSchema = namedSchema(
  "Images",
  open({ created: maybe(int), data: list({ url: maybe(string), b64_json: maybe(string) }), usage }),
);

export const SpeechRequestSchema = namedSchema(
  "SpeechRequest",
  open({
    model,
    input: string,
    voice: Type.Union([string, open({ id: string })]),
    instructions: maybe(orNull(string)),
    response_format: maybe(orNull(string)),
    speed: maybe(orNull(Type.Number({ minimum: 0.25, maximum: 4 }))),
    stream_format: maybe(orNull(Type.Union([Type.Literal("audio"), Type.Literal("sse")]))),
  }),
);

export const SoundSchema = Type.String({
  format: "binary",
  description: "The audio, in the requested format",
});

export const SoundFormSchema = namedSchema(
  "SoundForm",
  open({
    model,
    file: Type.String({ format: "binary", description: "the audio; its name states its format" }),
    prompt: maybe(string),
    response_format: maybe(string),
    stream: maybe(Type.Union([Type.Literal("true"), Type.Literal("false")])),
  }),
);

export const TranscriptSchema = namedSchema(
  "Transcript",
  open({ text: string, duration: maybe(Type.Union([Type.Number(), string])), usage }),
);

export const SubtitlesSchema = Type.String({ description: "The transcript, as plain text or subtitles" });

export const RerankRequestSchema = namedSchema(
  "RerankRequest",
  open({
    model,
    query: string,
    documents: Type.Array(Type.Union([string, open({})]), { minItems: 1 }),
    top_n: maybe(positiveSchema),
  }),
);

const ranks = list({ index: int, relevance_score: Type.Number() });

/** Providers call the list `results` or `data`. */
export const RankingSchema = namedSchema(
  "Ranking",
  open({ results: maybe(ranks), data: maybe(ranks), meta: maybe(open({})), usage }),
);

export const ModerationRequestSchema = namedSchema(
  "ModerationRequest",
  open({ model: maybe(orNull(model)), input: Type.Union([string, texts, list({ type: string })]) }),
);

export const ModerationSchema = namedSchema(
  "Moderation",
  open({ id: maybe(string), model: maybe(string), results: list({ flagged: Type.Boolean() }) }),
);
