// Schemas of conversations in both styles, of models and of quotes. Those of conversations have the fields that the service
// reads or promises; everything else passes between client and provider, so they are open.

import { Type } from "@sinclair/typebox";
import {
  answerOf,
  flagSchema,
  int,
  map,
  maybe,
  namedSchema,
  object,
  oneOf,
  open,
  orNull,
  parameter,
  string,
  textSchema,
  usd,
} from "../schemas.ts";

export const model = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "a name that GET /v1/models lists",
});
export const stream = maybe(orNull(Type.Boolean({ description: "true: server-sent events" })));
export const positiveSchema = Type.Integer({ minimum: 1 });
const content = Type.Union([string, Type.Array(open({ type: string })), Type.Null()]);

export const ChatRequestSchema = namedSchema(
  "ChatRequest",
  open({
    model,
    messages: Type.Array(open({ role: string, content: maybe(content) }), { minItems: 1 }),
    stream,
    stream_options: maybe(orNull(open({ include_usage: maybe(Type.Boolean()) }))),
    n: maybe(orNull(Type.Integer({ minimum: 1, maximum: 128 }))),
    max_tokens: maybe(orNull(positiveSchema)),
    max_completion_tokens: maybe(orNull(positiveSchema)),
    temperature: maybe(orNull(Type.Number())),
    service_tier: maybe(orNull(string)),
  }),
);

const messagesFields = {
  model,
  messages: Type.Array(open({ role: oneOf("user", "assistant", "system"), content }), { minItems: 1 }),
  system: maybe(Type.Union([string, Type.Array(open({ type: string }))])),
  service_tier: maybe(orNull(string)),
};

export const MessagesRequestSchema = namedSchema(
  "MessagesRequest",
  open({
    ...messagesFields,
    max_tokens: Type.Integer({ minimum: 0, description: "the maximum that the answer may have" }),
    stream,
  }),
);

export const CountTokensRequestSchema = namedSchema("CountRequest", open(messagesFields));

/** An invalid figure of a provider passes to the client as it is; the charge uses what was counted. */
const figure = maybe(Type.Unknown({ description: "tokens, an integer, as the provider reports it" }));

export const ChatCompletionSchema = namedSchema(
  "ChatCompletion",
  open({
    id: string,
    object: Type.Literal("chat.completion"),
    created: Type.Integer({ description: "Unix seconds" }),
    model: string,
    choices: Type.Array(
      open({
        index: int,
        message: open({ role: string, content: maybe(orNull(string)) }),
        finish_reason: orNull(string),
      }),
    ),
    usage: maybe(orNull(open({ prompt_tokens: figure, completion_tokens: figure, total_tokens: figure }))),
    system_fingerprint: maybe(orNull(string)),
  }),
);

export const MessageSchema = namedSchema(
  "Message",
  open({
    id: string,
    type: Type.Literal("message"),
    role: Type.Literal("assistant"),
    model: string,
    content: Type.Array(open({ type: string })),
    stop_reason: orNull(string),
    stop_sequence: maybe(orNull(string)),
    usage: maybe(orNull(open({ input_tokens: figure, output_tokens: figure }))),
  }),
);

export const TokenCountSchema = namedSchema("TokenCount", open({ input_tokens: int }));

const sameAs = (field: string) => Type.Integer({ description: `the same as ${field}` });

const ChatModelSchema = namedSchema(
  "ChatModel",
  open({
    id: string,
    object: Type.Literal("model"),
    created: int,
    owned_by: string,
    context_window: maybe(int),
    context_length: maybe(sameAs("context_window")),
    max_model_len: maybe(sameAs("context_window")),
    max_output_tokens: maybe(int),
    max_completion_tokens: maybe(sameAs("max_output_tokens")),
  }),
);
const MessagesModelSchema = namedSchema(
  "MessagesModel",
  open({
    id: string,
    type: Type.Literal("model"),
    display_name: string,
    created_at: string,
    max_input_tokens: orNull(int),
    max_tokens: orNull(int),
    capabilities: Type.Null(),
    line: Type.Null(),
    lifecycle: Type.Literal("active"),
    deprecated_at: Type.Null(),
    retires_at: Type.Null(),
  }),
);

/** A model in the shape of the SDK that sends the request: the second with the header `anthropic-version`. */
export const ModelSchema = answerOf(Type.Union([ChatModelSchema, MessagesModelSchema]));

export const ModelListSchema = answerOf(
  Type.Union([
    open({ object: Type.Literal("list"), data: Type.Array(ChatModelSchema) }),
    open({
      data: Type.Array(MessagesModelSchema),
      has_more: Type.Boolean(),
      first_id: orNull(string),
      last_id: orNull(string),
    }),
  ]),
);

export const ModelParams = Type.Object({
  "*": parameter(Type.String(), "The model's name, which may hold slashes."),
});

/** The query of `GET /v1/models`. The chat style reads none of it. */
export const ModelsQuerySchema = open({
  limit: maybe(parameter(Type.String(), "Messages style only: 1 to 1000, by default 20.")),
  after_id: maybe(parameter(Type.String(), "Messages style only: names behind this one.")),
  before_id: maybe(parameter(Type.String(), "Messages style only: names before this one.")),
});

/** The fields of a price in PRICING, and those that only a provider's tier has. */
export const PriceSchema = namedSchema(
  "Price",
  Type.Object(
    {
      Rates: maybe(Type.Number({ description: "multiplies the others; 1 where absent" })),
      Sizes: maybe(map(usd)),
    },
    {
      additionalProperties: Type.Number(),
      description: "US dollars per million tokens; Call and Sizes: per call",
    },
  ),
);

/** Why a request would be refused; null when it would be admitted. */
export const RefusalSchema = orNull(object({ code: string, message: string }));

/** The body of `POST /v1/quote`. Unknown fields pass, as at every path below `/v1`. */
export const QuestionSchema = open({
  path: textSchema(256, 1),
  body: Type.Object({}, { additionalProperties: true, description: "must be the request's body, an object" }),
});

/** The answer of `POST /v1/quote`. */
export const QuoteSchema = answerOf(
  namedSchema(
    "Quote",
    object({
      object: Type.Literal("quote"),
      admitted: flagSchema,
      refusal: RefusalSchema,
      model: orNull(string),
      level: orNull(int),
      estimated: object({ prompt_tokens: int, max_completion_tokens: int }),
      hold: usd,
      cost: object({ min: usd, max: usd }),
      price: orNull(PriceSchema),
      multipliers: orNull(object({ model: Type.Number(), rates: Type.Number(), factor: Type.Number() })),
    }),
  ),
);

/** A stream: `data:` lines of JSON, the last of them `[DONE]` or the event `message_stop`. */
export const EventsSchema = Type.String({ description: "Server-sent events of the style's own shape" });
