// Bodies, queries and answers of provider keys: what each field may be by itself. Which fields belong together is decided in
// src/admin/key-config.ts. The rule that an error repeats never holds what was sent.

import { type TSchema, Type } from "@sinclair/typebox";
import { API_VERSION } from "../../admin/key-config.ts";
import { SECRET_MIN } from "../../admin/key-secrets.ts";
import {
  answerOf,
  digits,
  flagSchema,
  int,
  maybe,
  namedSchema,
  object,
  oneOf,
  optionalBody,
  orNull,
  PURPOSE,
  paged,
  parameter,
  string,
  textSchema,
  time,
  yesSchema,
} from "../schemas.ts";
import { email, visibleText } from "../text-rules.ts";
import { characters } from "../text-schema.ts";
import { TIME_RANGE } from "../time-range.ts";

const SECRET_MAX = 8_192;

const Name = Type.Optional(visibleText(255));
const Level = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description: "must be an integer" });
const Provider = textSchema(2_048, 1);
const Status = Type.Optional(Type.Boolean({ description: "must be true or false" }));

const isGiven = { additionalProperties: false, description: "must be an object" } as const;

const ProviderType = Type.Union(
  [Type.Literal("standard"), Type.Literal("cloud_a"), Type.Literal("cloud_b")],
  { description: 'must be "standard", "cloud_a" or "cloud_b"' },
);
const ApiStyle = Type.Union([Type.Literal("chat"), Type.Literal("messages")], {
  description: 'must be "chat" or "messages"',
});
const AllowProviderObjects = Type.Boolean({ description: "must be true or false" });
const Responses = Type.Boolean({ description: "must be true or false" });
const ModelMapping = Type.Record(Type.String(), textSchema(256, 1), {
  description: "must map names or patterns of models to names of deployments",
  // A name with a line break is no key of a record: without this its value would pass unseen.
  additionalProperties: false,
});
const ApiVersion = Type.Optional(
  characters({
    maxLength: 64,
    pattern: API_VERSION.source,
    description: "must be a date such as 2024-10-21 or 2025-04-01-preview, or v1, latest or preview",
  }),
);
const ApiVersions = Type.Object(
  { chat: ApiVersion, embeddings: ApiVersion, responses: ApiVersion, audio: ApiVersion, images: ApiVersion },
  {
    additionalProperties: false,
    description:
      "must hold versions such as 2024-10-21, 2025-04-01-preview or v1 for any of chat, embeddings, responses, audio, images",
  },
);
const BaseUrl = textSchema(2_048, 1);
const ProjectId = characters({
  maxLength: 100,
  pattern: "^[A-Za-z0-9][A-Za-z0-9.:-]{0,99}$",
  description: "must be the id of a project",
});
const ClientEmail = email("the e-mail address of a service account");
const PrivateKey = textSchema(SECRET_MAX, 1);

/** The body of `POST /x-keys`. */
export const NewProviderKeySchema = Type.Object(
  {
    Name,
    Level,
    Provider,
    SecretKey: textSchema(SECRET_MAX, SECRET_MIN),
    Status,
    Config: Type.Optional(
      Type.Object(
        {
          provider_type: Type.Optional(ProviderType),
          api_style: Type.Optional(ApiStyle),
          allow_provider_objects: Type.Optional(AllowProviderObjects),
          responses: Type.Optional(Responses),
          model_mapping: Type.Optional(ModelMapping),
          api_versions: Type.Optional(ApiVersions),
          base_url: Type.Optional(BaseUrl),
          project_id: Type.Optional(ProjectId),
          client_email: Type.Optional(ClientEmail),
          private_key: Type.Optional(PrivateKey),
        },
        isGiven,
      ),
    ),
  },
  { additionalProperties: false },
);

/** A field of Config in an update: null takes it away. */
const orNone = <S extends TSchema>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description: `${schema.description}, or null` }));

/** The body of `PUT /x-keys/{key}`. */
export const KeyUpdateSchema = Type.Object(
  {
    Name,
    Level: Type.Optional(Level),
    Provider: Type.Optional(Provider),
    // Its mask is shorter than any secret, and leaves it as it is.
    SecretKey: Type.Optional(textSchema(SECRET_MAX, 1)),
    Status,
    Sleep: Type.Optional(
      Type.Literal(false, {
        description:
          "must be false, which wakes the key; its failures decide when it sleeps, and Status false takes it out of use",
      }),
    ),
    Config: Type.Optional(
      Type.Object(
        {
          provider_type: orNone(ProviderType),
          api_style: orNone(ApiStyle),
          allow_provider_objects: orNone(AllowProviderObjects),
          responses: orNone(Responses),
          model_mapping: orNone(ModelMapping),
          api_versions: orNone(ApiVersions),
          base_url: orNone(BaseUrl),
          project_id: orNone(ProjectId),
          client_email: orNone(ClientEmail),
          private_key: orNone(PrivateKey),
        },
        isGiven,
      ),
    ),
  },
  { additionalProperties: false },
);

/** The body of `POST /x-keys/{key}/test`: the model to test the key with. */
export const TestedModelSchema = optionalBody(
  Type.Object({ model: Type.Optional(textSchema(256, 1)) }, { additionalProperties: false }),
);

const level = Type.String({
  pattern: "^L?-?[0-9]{1,7}$",
  description: "must be a Level such as 2 or L2",
  [PURPOSE]: "By Level, `2` or `L2`.",
});

const paging = {
  page: Type.Optional(parameter(digits, "From 1; 0: all at once.")),
  size: Type.Optional(parameter(digits, "100 where absent, at most 1000; 0: all at once.")),
};

/** The query of `GET /x-keys`. */
export const KeysQuerySchema = Type.Object(
  {
    id: Type.Optional(parameter(digits, "By ID.")),
    level: Type.Optional(level),
    provider: Type.Optional(parameter(textSchema(2_048), "By base URL or host.")),
    ...paging,
  },
  { additionalProperties: false },
);

/** The query of `GET /x-keys/{key}`. */
export const KeyQuerySchema = Type.Object(paging, { additionalProperties: false });

export const KeyParams = Type.Object({ key: parameter(Type.String(), "The key's ID.") });

export const KeyFilterParams = Type.Object({
  key: parameter(Type.String(), "An ID, a Level as `L<n>`, or a provider's host."),
});

const ProviderKeySchema = namedSchema(
  "ProviderKey",
  object({
    ID: int,
    Name: string,
    Level: int,
    Provider: string,
    SecretKey: Type.String({ description: "masked" }),
    Status: flagSchema,
    Config: Type.Object({}, { additionalProperties: true }),
    CreatedAt: time,
    UpdatedAt: time,
  }),
);

const counted = Type.Integer({ minimum: 0 });

const lastHour = object({
  attempts: Type.Integer({ minimum: 0, description: "the sum of per_minute" }),
  failures: Type.Integer({
    minimum: 0,
    description: "those of them that failed because of the key or its provider",
  }),
  per_minute: Type.Array(counted, {
    description: "attempts by the minute, 60 numbers, the oldest first; the last one is the current minute",
  }),
  p50_ms: orNull(
    Type.Integer({
      description:
        "half of the successful attempts took less, up to the end of their answer; of the last 60 to 70 minutes, within an eighth; null: there was none",
    }),
  ),
  p95_ms: orNull(Type.Integer({ description: "the same for 95 of a hundred" })),
});

/** A provider key as lists show it. */
export const ProviderKeyRowSchema = namedSchema(
  "ProviderKeyRow",
  object({
    ...ProviderKeySchema.properties,
    State: oneOf("normal", "resting", "sleeping", "waking", "disabled"),
    Until: orNull(time),
    Reason: orNull(Type.String({ description: "why it rests or sleeps, or slept" })),
    InFlight: Type.Integer({ minimum: 0, description: "requests that the key serves at the moment" }),
    LastHour: lastHour,
    CostToday: Type.Number({
      description:
        "US dollars: what requests cost the accounts today (UTC) that this key answered; it trails by two seconds",
    }),
  }),
);

const Keys = object({ success: yesSchema, keys: Type.Array(ProviderKeyRowSchema) });

/** The answer of `GET /x-keys`. */
export const KeyListSchema = answerOf(Keys);
const OneKey = object({ success: yesSchema, key: ProviderKeyRowSchema });

/** The answer of `GET /x-keys/{key}`. */
export const KeyOrKeysSchema = answerOf(Type.Union([OneKey, Keys]));

export const AddedKeySchema = answerOf(
  object({
    success: yesSchema,
    Action: Type.Literal("add"),
    key: ProviderKeySchema,
    LevelMapper: Type.Record(Type.String(), Type.Integer(), {
      description: "what was added to LEVEL_MAPPER; empty for a provider that is not known",
    }),
  }),
);

export const TestedKeySchema = answerOf(
  object({
    success: flagSchema,
    status: Type.Integer({ description: "the provider's; 0: there was no response" }),
    signal: Type.String({ description: "`ok`, or what is wrong" }),
    latency_ms: int,
    url: Type.String({ description: "the address that was called" }),
    model: string,
    message: Type.String({ description: "what to do" }),
  }),
);

/** The query of `GET /x-events`. */
export const KeyEventsQuerySchema = Type.Object(
  {
    ...TIME_RANGE,
    page: Type.Optional(parameter(digits, "From 1.")),
    size: Type.Optional(parameter(digits, "100 where absent, at most 1000.")),
  },
  { additionalProperties: false },
);

/** The answer of `GET /x-events`. */
export const KeyEventsSchema = answerOf(
  object({
    events: Type.Array(
      object({
        at: time,
        type: oneOf("sleep", "wake", "switch_over"),
        level: int,
        key_id: maybe(Type.Integer({ description: "of a sleep or wake" })),
        to_level: maybe(
          Type.Integer({ description: "of a switch-over for which SWITCH_OVER named a Level" }),
        ),
        reason: Type.String({
          description:
            "of a sleep, its last failure, and of a switch-over, its last failure; of a wake `answered` (its probe), `woken` (by hand), `changed` (by its Owner) or `late_answer` (it had not failed in a row)",
        }),
        until: maybe(time),
      }),
    ),
    ...paged,
  }),
);

/** The answer of a change or a deletion. */
export const changedKeySchema = <A extends "update" | "delete">(action: A) =>
  answerOf(object({ success: yesSchema, Action: Type.Literal(action), key: ProviderKeySchema }));
