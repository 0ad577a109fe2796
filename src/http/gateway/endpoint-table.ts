// What the document says of the gateway's endpoints: those of chat completions and messages, and what all of them have in
// common. The gateway reads their bodies itself, so no schema here validates anything.

import type { TObject, TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/error-codes.ts";
import { type Operation, operation } from "../operation.ts";
import { answerOf } from "../schemas.ts";
import {
  ChatCompletionSchema,
  ChatRequestSchema,
  CountTokensRequestSchema,
  EventsSchema,
  MessageSchema,
  MessagesRequestSchema,
  TokenCountSchema,
} from "./schemas.ts";

/** The declaration of an endpoint whose requests go to a provider. */
export interface GatewayDeclaration {
  /** Elysia neither reads nor validates the body. */
  readonly parse: "none";
  readonly body?: TSchema;
  readonly response?: TSchema;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly detail: object;
}

/** Refusals of every endpoint whose requests go to a provider. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  "invalid_parameter",
  "missing_api_key",
  "invalid_api_key",
  "account_disabled",
  "account_suspended",
  "ip_not_allowed",
  "scope_missing",
  "path_not_allowed",
  "rpm_exceeded",
  "rph_exceeded",
  "rpd_exceeded",
  "tpm_exceeded",
  "tph_exceeded",
  "tpd_exceeded",
  "too_many_aborts",
  "upstream_rate_limited",
  "insufficient_balance",
  "hard_limit_reached",
  "daily_limit_reached",
  "internal_error",
  "upstream_failed",
  "no_available_key",
  "service_unavailable",
  "upstream_timeout",
];

/** Refusals of those that name a model in a body. */
const MODEL_ERRORS: readonly ErrorCode[] = [
  ...COMMON_ERRORS,
  "invalid_json",
  "missing_parameter",
  "body_too_large",
  "idempotency_mismatch",
  "idempotency_expired",
  "model_not_allowed",
  "level_not_allowed",
  "model_not_found",
  "model_not_priced",
];

const ANSWER_HEADERS = {
  "x-arbor-model": "The model that answered.",
  "x-arbor-level": "The Level of the key that answered.",
  "x-arbor-attempts": "How many calls to providers were made.",
  "x-arbor-cost": "The cost in US dollars, to the last digit; on whole answers.",
};

const REQUEST_HEADERS = {
  "Idempotency-Key":
    "1 to 255 printable ASCII characters: a repeat with it gets the first answer and no second charge.",
  "x-arbor-tags":
    "Up to 8 pairs, as in `team=search,env=prod`: a name is 1 to 32 of `a-z0-9_.-`, a value 1 to 64 printable ASCII characters without comma and equals sign. They stand in the ledger, bills group by them, and no provider sees them.",
  "x-arbor-cost": "`stream`: a stream states its cost in a comment before its closing event.",
};

const FORWARDED = { tag: "Gateway", security: [{ bearer: [] }], isForwarded: true } as const;

type Documented = Omit<Operation, "tag" | "security" | "isForwarded" | "answerHeaders">;

/** Declares an endpoint of the gateway's table. `body` is its JSON body, `answer` its JSON answer. */
export function modelEndpoint({
  body,
  answer,
  errors = [],
  requestHeaders,
  ...documented
}: Documented & { readonly body?: TSchema; readonly answer?: TSchema }): GatewayDeclaration {
  return {
    parse: "none",
    ...(body && { body }),
    ...(answer && { response: answerOf(answer) }),
    detail: operation({
      ...FORWARDED,
      ...documented,
      answerHeaders: ANSWER_HEADERS,
      errors: [...MODEL_ERRORS, ...errors],
      requestHeaders: { ...REQUEST_HEADERS, ...requestHeaders },
    }),
  };
}

/** Declares an endpoint that reads or deletes what a provider stores. */
export const storedEndpoint = ({
  params,
  query,
  answer,
  ...documented
}: Documented & {
  readonly params: TObject;
  readonly query?: TObject;
  readonly answer: TSchema;
}): GatewayDeclaration => ({
  parse: "none",
  params,
  ...(query && { query }),
  response: answerOf(answer),
  detail: operation({
    ...FORWARDED,
    ...documented,
    errors: [...COMMON_ERRORS, "model_not_allowed", "level_not_allowed", "not_found"],
  }),
});

const events = { "text/event-stream": EventsSchema };

const request = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }] };

/** Declarations of the endpoints of conversations, by path. */
export const CONVERSATION_ENDPOINTS: Readonly<Record<string, GatewayDeclaration>> = {
  "/v1/chat/completions": modelEndpoint({
    operationId: "createChatCompletion",
    summary: "Create a chat completion",
    description:
      "Fields that are not named here pass through to a provider of this style; for one of the messages style the request is translated, and what cannot be expressed there is refused by name. A stream ends with `data: [DONE]`; one that was cut ends with an error event instead. The charge is in the ledger before the last byte leaves.",
    body: ChatRequestSchema,
    requestExample: request,
    requestHeaders: {
      "x-stream-shape":
        "`message`: each event of a stream is an object of the whole answer's shape, with partial `message.content`, an empty `finish_reason` until the last, and the usage so far, estimated until the provider reports it.",
    },
    answer: ChatCompletionSchema,
    answerContent: events,
    answerExample: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_760_000_000,
      model: "gpt-4o-mini",
      choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
      system_fingerprint: "fp_1",
    },
  }),
  "/v1/messages": modelEndpoint({
    operationId: "createMessage",
    summary: "Create a message",
    description:
      "Fields that are not named here pass through to a provider of this style; for one of the chat style the request is translated, and what cannot be expressed there is refused by name. A stream ends with the event `message_stop`; one that was cut ends with an `error` event instead. The whole conversation comes with each request: `thread` and `previous_message_id` are 400 with `error.details.error_code` `thread_unsupported_request`.",
    body: MessagesRequestSchema,
    requestExample: { ...request, max_tokens: 100 },
    answer: MessageSchema,
    answerContent: events,
    answerExample: {
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
  "/v1/messages/count_tokens": modelEndpoint({
    operationId: "countMessageTokens",
    summary: "Count the tokens of a message request",
    description:
      "Free; it counts as a request. Counted by the provider, or here where the model's providers do not count.",
    body: CountTokensRequestSchema,
    requestExample: request,
    answer: TokenCountSchema,
    answerExample: { input_tokens: 8 },
  }),
};
