// Queries and answers of the dashboard: what an account sees of itself, and what its ancestors see of it.

import { Type } from "@sinclair/typebox";
import { SCOPES } from "../../../actors/api-key/api-key.ts";
import { LEVEL_AFFINITIES, type LevelAffinity } from "../../../actors/owner/config.ts";
import { PriceSchema, RefusalSchema } from "../gateway/schemas.ts";
import {
  answerOf,
  digits,
  flagSchema,
  int,
  list,
  ModelLimitsSchema,
  map,
  maybe,
  namedSchema,
  object,
  oneOf,
  orNull,
  paged,
  parameter,
  string,
  textSchema,
  time,
  usd,
} from "../schemas.ts";
import { TIME_RANGE } from "../time-range.ts";

/** The answer of `GET /dashboard/status`. */
export const StatusSchema = answerOf(
  object({
    object: Type.Literal("user_status"),
    id: int,
    dna: string,
    name: string,
    email: string,
    alias: string,
    public_key: Type.String({ description: "pk- and the beginning of the key's hash" }),
    balance: usd,
    user_api_balance: Type.Number({ description: "US dollars: the gateway asks for more than this" }),
    manage: Type.Boolean({ description: "may open the management console" }),
    admin: Type.Boolean({ description: "may open the administration console" }),
    scopes: list(oneOf(...SCOPES), { description: "those of the key that asks" }),
    admin_url: maybe(Type.String({ description: "where the administration is served, if it is elsewhere" })),
  }),
);

/** The answer of `GET /dashboard/x-user-status`. */
export const ShortStatusSchema = answerOf(
  object({ id: int, name: string, email: string, balance: usd, dna: string }),
);

const used = object({ requests: int, tokens: int, cost: usd });

const Credit = namedSchema("Credit", object({ amount: usd, expires_at: time }));

const information = {
  object: Type.Literal("user_info"),
  user: object({
    id: int,
    name: string,
    email: string,
    alias: string,
    level: int,
    gear: int,
    role: int,
    tier: int,
    factor: Type.Number(),
    rates: Type.Number(),
    dna: string,
    created_at: time,
    updated_at: time,
  }),
  balance: object({
    total: usd,
    held: Type.Number({ description: "US dollars reserved by requests under way" }),
    credits: list(Credit),
  }),
  limits: object({
    hard_limit: usd,
    soft_limit: usd,
    auto_quota: usd,
    daily_limit: usd,
    rpm: int,
    rph: int,
    rpd: int,
    tpm: int,
    tph: int,
    tpd: int,
  }),
  usage: object({ today: used, month: used }),
  restrictions: object({
    allow_ips: list(string),
    allow_models: list(string),
    allow_levels: list(int),
    resources: list(string),
  }),
  model_limits: ModelLimitsSchema,
};

/** The answer of `GET /dashboard/info`. */
export const InfoSchema = answerOf(namedSchema("Info", object(information)));

const Period = namedSchema(
  "Period",
  object({
    Requests: int,
    Prompt: int,
    Completion: int,
    Reasoning: int,
    CreditUsed: usd,
    ModelUsage: map(object({ Requests: int, Tokens: int, CreditUsed: usd })),
  }),
);

const LiveWindow = namedSchema(
  "LiveWindow",
  object({
    scope: oneOf("account", "api_key", "model"),
    name: Type.String({ description: "rpm, tpm, …, hard_limit or daily_limit" }),
    model: maybe(Type.String({ description: "where the scope is a model" })),
    limit: Type.Number({ description: "requests, tokens, or US dollars" }),
    used: Type.Number({ description: "what requests under way have reserved included" }),
    resets_at: orNull(
      Type.String({ ...time, description: "when all of it is free again; null: it is, or nothing counts" }),
    ),
  }),
);

const Blocked = namedSchema(
  "Blocked",
  object({
    code: string,
    message: string,
    until: orNull(Type.String({ ...time, description: "null: until somebody changes it" })),
  }),
);

/** The answer of `GET /dashboard/live`. */
export const LiveSchema = answerOf(
  namedSchema(
    "Live",
    object({
      ...information,
      daily_usage: Period,
      monthly_usage: Period,
      windows: Type.Array(LiveWindow),
      blocked: orNull(Blocked),
    }),
  ),
);

const LogLine = namedSchema(
  "LogLine",
  object({
    id: int,
    action: oneOf(
      "add_user",
      "update_user",
      "delete_user",
      "add_key",
      "update_key",
      "delete_key",
      "add_api_key",
      "update_api_key",
      "rotate_api_key",
      "delete_api_key",
      "rotate_self",
      "rotate_root",
      "move_clock",
      "auto_config",
      "update_config",
      "add_news",
      "delete_news",
      "auto_quota",
      "soft_limit_mail",
    ),
    operator_id: int,
    target_id: orNull(int),
    target_type: oneOf("user", "key", "api_key", "config", "news"),
    details: Type.String({ description: "what changed, before and after; secrets masked" }),
    ip_address: string,
    created_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$", description: "UTC" }),
    status: oneOf("success", "failed"),
  }),
);

/** The answer of `GET /dashboard/logs`. */
export const LogsSchema = answerOf(namedSchema("Logs", object({ logs: Type.Array(LogLine), ...paged })));

/** The answer of `GET /dashboard/models`. */
export const ModelsSchema = answerOf(
  namedSchema(
    "Models",
    object({
      models: Type.Array(
        object({
          id: string,
          provider: string,
          context_window: int,
          max_output_tokens: int,
          price: orNull(PriceSchema),
        }),
      ),
    }),
  ),
);

const Candidate = object({
  model: string,
  level: int,
  key_id: maybe(Type.Integer({ description: "for the Owner" })),
  count: maybe(Type.Integer({ description: "for everybody else: how many keys are in this state" })),
  state: string,
  reason: maybe(string),
  until: maybe(time),
  affinity: maybe(
    Type.Unsafe<"first_choice" | "remembered">({
      ...oneOf("first_choice", "remembered"),
      description:
        "with `session`, for the Owner: the key that this conversation meets first, or the one that this node remembers for it",
    }),
  ),
});

/** The answer of `GET /dashboard/explain`. */
export const ExplainSchema = answerOf(
  namedSchema(
    "Explain",
    object({
      object: Type.Literal("explain"),
      model: string,
      steps: list(
        object({ step: string, in: string, out: string, rule: maybe(string), note: maybe(string) }),
      ),
      limits: Type.Array(
        object({
          scope: oneOf("api_key", "account", "model"),
          name: string,
          limit: Type.Number(),
          remaining: Type.Number(),
          resets_at: orNull(time),
        }),
      ),
      affinity: maybe(
        Type.Unsafe<LevelAffinity>({
          ...oneOf(...LEVEL_AFFINITIES),
          description: "of a model: whether the turns of a conversation go to the same key",
        }),
      ),
      candidates: Type.Array(Candidate),
      decision: object({
        model: orNull(string),
        level: orNull(int),
        admitted: flagSchema,
        refusal: RefusalSchema,
      }),
      attempts: maybe(
        Type.Array(
          object({
            key_id: maybe(int),
            level: int,
            model: string,
            status: int,
            signal: string,
            ms: Type.Number(),
          }),
        ),
      ),
      request: maybe(
        object({
          id: string,
          request_id: string,
          path: string,
          at: time,
          cost: usd,
          stream: maybe(flagSchema),
          basis: maybe(string),
          prompt_tokens: maybe(int),
          completion_tokens: maybe(int),
          answered_model: maybe(string),
          tags: maybe(map(string)),
          usage: maybe(
            Type.Unknown({ description: "all counts of the charge by name, those of its parts included" }),
          ),
          price: maybe(Type.Unknown({ description: "what the charge was computed from" })),
          parts: maybe(
            list(
              object({
                name: string,
                usage: Type.Unknown({ description: "counts, all of them inside the charge's" }),
                price: Type.Unknown({ description: "what this part was computed from" }),
              }),
              { description: "what was priced apart: calls of tools, turns that no total counts" },
            ),
          ),
        }),
      ),
    }),
  ),
);

/** The query of `GET /dashboard/logs`. */
export const LogsQuerySchema = Type.Object(
  {
    page: Type.Optional(parameter(digits, "From 1.")),
    size: Type.Optional(parameter(digits, "24 where absent, at most 100.")),
    ...TIME_RANGE,
    action: Type.Optional(parameter(textSchema(64), "Only lines of this action, such as `update_user`.")),
    operator_id: Type.Optional(
      parameter(
        Type.String({ pattern: "^[0-9]{1,15}$", description: "must be the number of an account" }),
        "Only lines of what this account did.",
      ),
    ),
    target_id: Type.Optional(
      parameter(
        Type.String({ pattern: "^[0-9]{1,15}$", description: "must be the number of an account or a key" }),
        "Only lines about this account, key or item.",
      ),
    ),
    status: Type.Optional(
      parameter(
        Type.Union([Type.Literal("success"), Type.Literal("failed")], {
          description: 'must be "success" or "failed"',
        }),
        "`success` or `failed`.",
      ),
    ),
  },
  { additionalProperties: false },
);

const question = {
  model: Type.Optional(parameter(textSchema(256, 1), "The model asked for; either this or `request`.")),
  request: Type.Optional(parameter(textSchema(128, 1), "The `x-request-id` of a request that was made.")),
  path: Type.Optional(
    parameter(textSchema(256, 1), "The gateway's path it is asked on; chat completions where absent."),
  ),
  api_key: Type.Optional(
    parameter(
      Type.String({ pattern: "^[0-9]{1,15}$", description: "must be the number of an API key" }),
      "The API key that asks, by its id; the main key, 0, where absent.",
    ),
  ),
  session: Type.Optional(
    parameter(
      textSchema(1_024, 1),
      "The `prompt_cache_key` or `x-session-id` of a conversation, whose key is then marked.",
    ),
  ),
  ip: Type.Optional(
    parameter(textSchema(64, 1), "The address that asks; where absent, addresses are not judged."),
  ),
};

/** The query of an endpoint about one descendant. */
export const DescendantQuerySchema = Type.Object(
  { user: parameter(textSchema(254, 1), "An id, a name or an e-mail address.") },
  { additionalProperties: false },
);

/** The query of `GET /dashboard/explain`. */
export const ExplainQuerySchema = Type.Object(question, { additionalProperties: false });

/** The query of `GET /x-explain`. */
export const DescendantExplainQuerySchema = Type.Object(
  { user: parameter(textSchema(254, 1), "An id, a name or an e-mail address."), ...question },
  { additionalProperties: false },
);
