// Shapes of the gateway: what its clients send and get, in both styles. They say what the service itself reads and
// promises; everything else passes between client and provider, so all of them are open.

import { Type } from "@sinclair/typebox";
import { int, maybe, namedSchema, oneOf, open, orNull, string } from "../schemas.ts";

export const model = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "a name that GET /v1/models lists",
});
export const stream = maybe(orNull(Type.Boolean({ description: "true: server-sent events" })));
export const positiveSchema = Type.Integer({ minimum: 1 });
const content = Type.Union([string, Type.Array(open({ type: string })), Type.Null()]);

export const ChatRequest = namedSchema(
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

const asked = {
  model,
  messages: Type.Array(open({ role: oneOf("user", "assistant", "system"), content }), { minItems: 1 }),
  system: maybe(Type.Union([string, Type.Array(open({ type: string }))])),
  service_tier: maybe(orNull(string)),
};

export const MessagesRequest = namedSchema(
  "MessagesRequest",
  open({
    ...asked,
    max_tokens: Type.Integer({ minimum: 0, description: "the most that the answer may have" }),
    stream,
  }),
);

export const CountRequest = namedSchema("CountRequest", open(asked));

/** An invalid figure of a provider passes to the client as it is; the charge uses what was counted. */
const figure = maybe(Type.Unknown({ description: "tokens, a whole number, as the provider tells it" }));

export const ChatCompletion = namedSchema(
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

export const TokenCount = namedSchema("TokenCount", open({ input_tokens: int }));

const ChatModel = namedSchema(
  "ChatModel",
  open({ id: string, object: Type.Literal("model"), created: int, owned_by: string }),
);
const MessagesModel = namedSchema(
  "MessagesModel",
  open({
    id: string,
    type: Type.Literal("model"),
    display_name: string,
    created_at: string,
    max_input_tokens: maybe(int),
    max_tokens: maybe(int),
  }),
);

/** In the shape of the SDK that asks: the second for those who send `anthropic-version`. */
export const Model = Type.Union([ChatModel, MessagesModel]);

export const ModelList = Type.Union([
  open({ object: Type.Literal("list"), data: Type.Array(ChatModel) }),
  open({
    data: Type.Array(MessagesModel),
    has_more: Type.Boolean(),
    first_id: orNull(string),
    last_id: orNull(string),
  }),
]);

/** A stream: `data:` lines of JSON, the last of them `[DONE]` or the event `message_stop`. */
export const Events = Type.String({ description: "Server-sent events of the style's own shape" });
