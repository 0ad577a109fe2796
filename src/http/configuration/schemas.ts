// Bodies, queries and answers of an Owner's configuration and of what is done to its whole tree.

import { Type } from "@sinclair/typebox";
import { LEVEL_AFFINITIES } from "../../../actors/owner/config.ts";
import { GROUPS } from "../../../actors/pricing/price.ts";
import { PriceSchema } from "../gateway/schemas.ts";
import {
  answerOf,
  digits,
  flagSchema,
  int,
  list,
  ModelLimitsSchema,
  map,
  maybe,
  money,
  namedSchema,
  object,
  oneOf,
  optionalBody,
  orNull,
  paged,
  parameter,
  string,
  textOrObject,
  textSchema,
  time,
  usd,
  yesSchema,
} from "../schemas.ts";
import { emailOrNone } from "../text-rules.ts";
import { characters } from "../text-schema.ts";

const mapField = Type.Optional(textOrObject("must be a text such as a=b,c=d, or an object of such entries"));

/** A text of this form; an empty one clears. */
const word = (most: number, what: string, pattern: string) =>
  Type.Optional(characters({ maxLength: most, pattern, description: `must be ${what}, or empty for none` }));

/** The body of `PUT /x-config`. */
export const ConfigurationBodySchema = Type.Object(
  {
    MODEL_MAPPER: mapField,
    LEVEL_MAPPER: mapField,
    SWITCH_OVER: mapField,
    MODEL_FAILOVER: mapField,
    LEVEL_AFFINITY: Type.Optional(
      Type.Union(
        [...LEVEL_AFFINITIES, ""].map((one) => Type.Literal(one)),
        {
          description: "must be on or off, or empty for on",
        },
      ),
    ),
    RESOURCES: Type.Optional(textOrObject("must be paths below /v1/, separated by commas or spaces")),
    MODEL_LIMITS: Type.Optional(
      textOrObject("must be an object of limits by model, or the JSON text of one"),
    ),
    PRICING: Type.Optional(textOrObject("must be a JSON object, or the text of one")),
    USER_MIN_BALANCE: Type.Optional(money(0)),
    USER_API_BALANCE: Type.Optional(money(0)),
    SERVICE_MAIL: Type.Optional(emailOrNone),
    EMAIL_SMTP: word(253, "the name or address of a mail server", "^[A-Za-z0-9._:\\-\\[\\]]*$"),
    EMAIL_PORT: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 1, maximum: 65_535 }),
          Type.String({
            pattern:
              "^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?$",
          }),
        ],
        { description: "must be a port from 1 to 65535, or empty for the usual one" },
      ),
    ),
    EMAIL_AUTH: word(254, "the name of an account, without spaces", "^[^\\s\\x00-\\x1f\\x7f]*$"),
    EMAIL_PASS: Type.Optional(
      characters({
        maxLength: 1_024,
        description: "must be a text of at most 1024 characters, empty for none",
      }),
    ),
    EMAIL_TLS: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal("true"), Type.Literal("false"), Type.Literal("")], {
        description: "must be true or false",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The body of `DELETE /x-config`. */
export const ConfigResetSchema = Type.Object(
  {
    keys: Type.Array(characters({ description: "must be a key of the configuration" }), {
      minItems: 1,
      maxItems: 1_000,
      description: "must be a list of one or more keys of the configuration",
    }),
  },
  { additionalProperties: false },
);

/** The query of `GET /x-config/history`. */
export const HistoryQuerySchema = Type.Object(
  {
    page: Type.Optional(parameter(digits, "From 1; 0: all at once.")),
    size: Type.Optional(parameter(digits, "100 where absent, at most 1000; 0: all at once.")),
  },
  { additionalProperties: false },
);

/** The body of `POST /x-config/revert`. */
export const RevertSchema = Type.Object(
  {
    version: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "must be the number of a version, 0 for the defaults",
    }),
  },
  { additionalProperties: false },
);

/** The body of `POST /x-config/preview`. */
export const PreviewBodySchema = Type.Object(
  { PRICING: textOrObject("must be a JSON object, or the text of one") },
  { additionalProperties: false },
);

/** The body of `POST /x-config/test-mail`. */
export const NoBodySchema = optionalBody(Type.Object({}, { additionalProperties: false }));

/** The answer of `POST /x-config/test-mail`. */
export const TestMailSchema = answerOf(
  object({
    success: flagSchema,
    stage: oneOf(
      ...([
        "address",
        "connect",
        "greeting",
        "tls",
        "login",
        "sender",
        "recipient",
        "content",
        "accepted",
      ] as const),
    ),
    code: Type.Union([int, Type.Null()], { description: "the server's last answer, such as 250 or 535" }),
    enhanced_status: Type.Union([string, Type.Null()], { description: "of that answer, such as 5.7.8" }),
  }),
);

/** The query of `GET /x-prices`. */
export const PricesQuerySchema = Type.Object(
  {
    page: Type.Optional(parameter(digits, "From 1.")),
    size: Type.Optional(parameter(digits, "100 where absent, at most 1000.")),
    q: Type.Optional(parameter(textSchema(254), "By a part of the model's name, without regard to case.")),
  },
  { additionalProperties: false },
);

/** The answer of `GET /x-prices`. */
export const PricesSchema = answerOf(
  object({
    prices: Type.Array(
      object({
        model: string,
        group: Type.Union([oneOf(...GROUPS), Type.Null()], { description: "null: nothing prices it" }),
        list: orNull(PriceSchema),
        override: orNull(PriceSchema),
        effective: orNull(PriceSchema),
        priced_by: Type.Union([string, Type.Null()], {
          description:
            "the name of the entry that `effective` comes from: the model's own, another one's, `*`",
        }),
        requests_30d: int,
      }),
    ),
    ...paged,
  }),
);

const flag = Type.Optional(Type.Boolean({ description: "must be true or false" }));
const mapper = Type.Optional(
  characters({ description: "must be a text such as a=b, -c: a=b adds or changes, -c deletes" }),
);

/** The body of `POST /x-conf`. */
export const BatchSchema = Type.Object(
  {
    LoadKeys: flag,
    LogEnable: flag,
    SaveCache: flag,
    Resources: Type.Optional(
      characters({ description: "must be paths below /v1/, separated by commas or spaces" }),
    ),
    ModelMapper: mapper,
    LevelMapper: mapper,
    ModelFailover: mapper,
    SwitchOver: mapper,
    ModelLimits: Type.Optional(
      textOrObject('must be an object of limits by model, or a text: "*" clears, "-model" deletes'),
    ),
    DelKeys: flag,
  },
  { additionalProperties: false },
);

/** Settings as they are: maps as objects, limits as a map, prices and texts as they are kept. */
export const ConfigurationSchema = answerOf(
  namedSchema(
    "Configuration",
    object({
      success: yesSchema,
      oid: Type.Integer({ description: "the Owner" }),
      configs: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
);

const Change = object({ before: Type.Unknown(), after: Type.Unknown() });

/** The answer of `GET /x-config/history`. */
export const HistorySchema = answerOf(
  object({
    success: yesSchema,
    versions: Type.Array(
      object({
        version: int,
        at: time,
        by: Type.Integer({ description: "the account that made it" }),
        changes: Type.Record(Type.String(), Change, { description: "by key of the configuration" }),
      }),
    ),
  }),
);

/** The answer of `POST /x-config/preview`. */
export const PricePreviewSchema = answerOf(
  object({
    success: yesSchema,
    days: Type.Literal(30),
    models: Type.Array(
      object({
        model: string,
        requests: int,
        cost_now: usd,
        cost_preview: Type.Union([usd, Type.Null()], { description: "null: the model would have no price" }),
      }),
      { description: "the dearest now first, then by name" },
    ),
    total: object({ cost_now: usd, cost_preview: usd }),
  }),
);

const outOfUse = { ID: int, Name: string, Level: int, Provider: string, Status: flagSchema, SleepTimes: int };

/** The answer of `GET /x-conf`. */
export const ConfSchema = answerOf(
  namedSchema(
    "Conf",
    object({
      Resources: map(Type.Object({})),
      LevelMapper: map(int),
      ModelMapper: map(string),
      ModelFailover: map(list(string)),
      ModelLimits: ModelLimitsSchema,
      SwitchOver: map(int),
      SleepingKeys: Type.Array(object({ ...outOfUse, SleepSeconds: int, WakesAt: time, Reason: string })),
      DisabledKeys: Type.Array(object(outOfUse)),
      UserMinBalance: usd,
      UserApiBalance: usd,
      LogEnable: maybe(
        Type.Boolean({ description: "whether the operation log is written; Root sees it alone" }),
      ),
    }),
  ),
);

const done = maybe(oneOf("true", "false"));

/** The answer of `POST /x-conf`: acts as text, maps as they now are. */
export const AppliedConfSchema = answerOf(
  object({
    success: yesSchema,
    LoadKeys: done,
    LogEnable: done,
    SaveCache: done,
    DelKeys: done,
    Resources: maybe(map(Type.Object({}))),
    LevelMapper: maybe(map(int)),
    ModelMapper: maybe(map(string)),
    ModelFailover: maybe(map(list(string))),
    ModelLimits: maybe(ModelLimitsSchema),
    SwitchOver: maybe(map(int)),
  }),
);
