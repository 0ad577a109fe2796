// Rows of the two styles of conversation, and of what clients ask before they call a model.

import { Type } from "@sinclair/typebox";
import { QuoteSchema } from "../dashboard/schemas.ts";
import {
  ChatCompletion,
  ChatRequest,
  CountRequest,
  Events,
  MessageSchema,
  MessagesRequest,
  Model,
  ModelList,
  TokenCount,
} from "../gateway/schemas.ts";
import { maybe, object } from "../schemas.ts";
import { gatewayRow } from "./gateway-row.ts";
import { json, type Rows } from "./openapi-row.ts";

const asked = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }] };

const VERSION = { "anthropic-version": "Whoever sends it gets the messages style's shape." };

export const GATEWAY_ROWS: Rows = {
  "POST /v1/chat/completions": gatewayRow({
    summary: "Ask a model, in the chat style",
    description:
      "Fields that are not named here pass through to a provider of this style; for one of the messages style the request is translated, and what it has no words for is refused by name. A stream ends with `data: [DONE]`; one that was cut ends with an error event instead. The charge is in the ledger before the last byte leaves.",
    body: ChatRequest,
    asked,
    sent: {
      "x-stream-shape":
        "`message`: each event of a stream is an object of the whole answer's shape, with partial `message.content`, an empty `finish_reason` until the last, and the usage so far, estimated until the provider tells it.",
    },
    answers: { ...json(ChatCompletion), "text/event-stream": Events },
    answered: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_760_000_000,
      model: "gpt-4o-mini",
      choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
      system_fingerprint: "fp_1",
    },
  }),
  "POST /v1/messages": gatewayRow({
    summary: "Ask a model, in the messages style",
    description:
      "Fields that are not named here pass through to a provider of this style; for one of the chat style the request is translated, and what it has no words for is refused by name. A stream ends with the event `message_stop`; one that was cut ends with an `error` event instead. The whole conversation comes with each request: `thread` and `previous_message_id` are 400 with `error.details.error_code` `thread_unsupported_request`.",
    body: MessagesRequest,
    asked: { ...asked, max_tokens: 100 },
    answers: { ...json(MessageSchema), "text/event-stream": Events },
    answered: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "gpt-4o-mini",
      content: [{ type: "text", text: "Hello!" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 2 },
    },
  }),
  "POST /v1/messages/count_tokens": gatewayRow({
    summary: "Count the tokens of a messages request",
    description:
      "Free; it counts as a request. Counted by the provider, or here where the model's providers do not count.",
    body: CountRequest,
    asked,
    answers: json(TokenCount),
    answered: { input_tokens: 8 },
  }),
  "GET /v1/models": {
    tag: "Gateway",
    summary: "List the models that this account can call now",
    params: {
      limit: "Messages style only: 1 to 1000, 20 where absent.",
      after_id: "Messages style only: names behind this one.",
      before_id: "Messages style only: names before this one.",
    },
    query: object({
      limit: maybe(Type.String({ pattern: "^\\d{1,4}$" })),
      after_id: maybe(Type.String()),
      before_id: maybe(Type.String()),
    }),
    sent: VERSION,
    answers: json(ModelList),
    answered: {
      object: "list",
      data: [{ id: "gpt-4o-mini", object: "model", created: 1_700_000_000, owned_by: "openai" }],
    },
    refuses: ["invalid_parameter"],
  },
  "GET /v1/models/*": {
    tag: "Gateway",
    summary: "Get one model",
    params: { model: "Its name, which may hold slashes." },
    sent: VERSION,
    answers: json(Model),
    answered: { id: "gpt-4o-mini", object: "model", created: 1_700_000_000, owned_by: "openai" },
    refuses: ["model_not_found"],
  },
  "POST /v1/quote": {
    tag: "Gateway",
    summary: "Ask what a request would cost, without making it",
    description: "No call, no charge. A refusal of that request is part of the answer.",
    asked: { path: "/v1/chat/completions", body: { ...asked, max_tokens: 100 } },
    answers: json(QuoteSchema),
    answered: {
      object: "quote",
      admitted: true,
      refusal: null,
      model: "gpt-4o-mini",
      level: 1,
      estimated: { prompt_tokens: 8, max_completion_tokens: 100 },
      hold: 0.0000612,
      cost: { min: 0.0000012, max: 0.0000612 },
      price: { InputText: 0.15, OutputText: 0.6, CachedText: 0.075 },
      multipliers: { model: 1, rates: 1, factor: 1 },
    },
  },
};
