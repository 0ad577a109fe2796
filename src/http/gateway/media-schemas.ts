// Shapes of the gateway's paths beside the two styles of conversation: what is read of a request, and what is promised of an
// answer. Everything else passes between client and provider, so all of them are open.

import { type TProperties, Type } from "@sinclair/typebox";
import { int, maybe, namedSchema, open, orNull, string } from "../schemas.ts";
import { model, positiveSchema, stream } from "./schemas.ts";

const texts = Type.Array(string);
const tokens = Type.Array(Type.Integer({ minimum: 0 }));
const usage = maybe(orNull(open({})));
const upTo128 = maybe(orNull(Type.Integer({ minimum: 1, maximum: 128 })));
const list = (properties: TProperties) => Type.Array(open(properties));

export const ResponsesRequest = namedSchema(
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

export const ResponseObject = namedSchema(
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

export const ResponseDeleted = namedSchema("ResponseDeleted", open({ id: string, deleted: Type.Boolean() }));

export const InputItems = namedSchema("InputItems", open({ data: list({}) }));

export const CompletionRequest = namedSchema(
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

export const Completion = namedSchema(
  "Completion",
  open({
    id: string,
    object: Type.Literal("text_completion"),
    model: string,
    choices: list({ text: string, finish_reason: orNull(string) }),
    usage,
  }),
);

export const EmbeddingsRequest = namedSchema(
  "EmbeddingsRequest",
  open({
    model,
    input: Type.Union([string, texts, tokens, Type.Array(tokens)]),
    encoding_format: maybe(string),
    dimensions: maybe(positiveSchema),
  }),
);

export const Embeddings = namedSchema(
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

export const ImageRequest = namedSchema("ImageRequest", open({ ...pictured, prompt: string, stream }));

const picture = Type.String({ format: "binary", description: "a file" });

/** The fields of a form; yes, no and numbers are spelt. */
export const ImageForm = namedSchema(
  "ImageForm",
  open({ model, image: maybe(picture), mask: maybe(picture), prompt: maybe(string) }),
);

export const Images = namedSchema(
  "Images",
  open({ created: maybe(int), data: list({ url: maybe(string), b64_json: maybe(string) }), usage }),
);

export const SpeechRequest = namedSchema(
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

export const Sound = Type.String({ format: "binary", description: "The sound, in the form asked for" });

export const SoundForm = namedSchema(
  "SoundForm",
  open({
    model,
    file: Type.String({ format: "binary", description: "the sound; its name tells its form" }),
    prompt: maybe(string),
    response_format: maybe(string),
    stream: maybe(Type.Union([Type.Literal("true"), Type.Literal("false")])),
  }),
);

export const Transcript = namedSchema(
  "Transcript",
  open({ text: string, duration: maybe(Type.Union([Type.Number(), string])), usage }),
);

export const Words = Type.String({ description: "What was heard, as plain text or subtitles" });

export const RerankRequest = namedSchema(
  "RerankRequest",
  open({
    model,
    query: string,
    documents: Type.Array(Type.Union([string, open({})]), { minItems: 1 }),
    top_n: maybe(positiveSchema),
  }),
);

const ranks = list({ index: int, relevance_score: Type.Number() });

/** Makers call the list `results` or `data`. */
export const Ranking = namedSchema(
  "Ranking",
  open({ results: maybe(ranks), data: maybe(ranks), meta: maybe(open({})), usage }),
);

export const ModerationRequest = namedSchema(
  "ModerationRequest",
  open({ model: maybe(orNull(model)), input: Type.Union([string, texts, list({ type: string })]) }),
);

export const Moderation = namedSchema(
  "Moderation",
  open({ id: maybe(string), model: maybe(string), results: list({ flagged: Type.Boolean() }) }),
);
