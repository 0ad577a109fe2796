// Bodies, queries and answers of the endpoints of an account's API keys.

import { type Static, Type } from "@sinclair/typebox";
import { SCOPES } from "../../../actors/api-key/api-key.ts";
import {
  answerOf,
  count,
  digits,
  flagField,
  flagSchema,
  list,
  map,
  money,
  namedSchema,
  object,
  oneOf,
  optionalBody,
  orNull,
  paged,
  parameter,
  rate,
  string,
  textSchema,
  time,
  usd,
  yesSchema,
} from "../schemas.ts";
import { nameText } from "../text-rules.ts";
import { characters } from "../text-schema.ts";

const scopes = Type.Array(oneOf(...SCOPES), {
  minItems: 1,
  maxItems: SCOPES.length,
  uniqueItems: true,
  description: `must be a list of ${SCOPES.join(", ")}, each at most once`,
});

/** An instant in UTC, to the millisecond at most. */
const instant = Type.Union(
  [
    characters({
      maxLength: 30,
      pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?Z$",
      description: "must be an instant in UTC",
    }),
    Type.Null(),
  ],
  { description: "must be an instant in UTC such as 2026-12-31T23:59:59Z, or null for never" },
);

/** What may be set on a key; amounts in US dollars, lists as text in the syntax of accounts. */
const SETTINGS = {
  Scopes: Type.Optional(scopes),
  AllowModels: Type.Optional(textSchema(8_192)),
  AllowIPs: Type.Optional(textSchema(8_192)),
  Resources: Type.Optional(textSchema(8_192)),
  HardLimit: Type.Optional(money(0)),
  DailyLimit: Type.Optional(money(0)),
  RPM: Type.Optional(count),
  TPM: Type.Optional(count),
  ExpiresAt: Type.Optional(instant),
  Tags: Type.Optional(textSchema(1_024)),
};

/** The body of `POST /dashboard/keys`. */
export const NewApiKeySchema = Type.Object({ Name: nameText, ...SETTINGS }, { additionalProperties: false });

/** The body of `PUT /dashboard/keys/{id}`. */
export const ApiKeyChangeSchema = Type.Object(
  { Name: Type.Optional(nameText), ...SETTINGS, Status: Type.Optional(flagField) },
  { additionalProperties: false },
);

/** A change of a key, as a request states it. */
export type ApiKeyFields = Static<typeof ApiKeyChangeSchema>;

/** The body of `POST /dashboard/keys/{id}/rotate`. */
export const ApiKeyRotationSchema = optionalBody(
  Type.Object(
    {
      OverlapSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 604_800,
          description: "must be an integer of seconds from 0 to 604800",
        }),
      ),
    },
    { additionalProperties: false },
  ),
);

const user = Type.Optional(
  parameter(
    textSchema(254, 1),
    "A descendant's id, name or e-mail address; without it the caller's own keys.",
  ),
);

/** The query of the calls that touch one key. */
export const KeyAccountQuerySchema = Type.Object({ user }, { additionalProperties: false });

/** The query of `GET /dashboard/keys`. */
export const ApiKeysQuerySchema = Type.Object(
  {
    user,
    page: Type.Optional(parameter(digits, "From 1.")),
    size: Type.Optional(parameter(digits, "100 where absent, at most 1000.")),
  },
  { additionalProperties: false },
);

/** The path of one key. */
export const ApiKeyParams = Type.Object({
  id: parameter(
    Type.String({ pattern: "^[0-9]{1,15}$", description: "must be the id of an API key" }),
    "The id of the key; 0 is the main key.",
  ),
});

const limit = Type.Number({ minimum: 0, description: "US dollars; 0: no limit" });

/** A key as lists and answers show it. */
const ApiKeySchema = namedSchema(
  "ApiKey",
  object({
    id: Type.Integer({ description: "0: the main key" }),
    name: string,
    public_key: Type.String({ description: "pk- and the beginning of the newest secret's hash" }),
    scopes: list(oneOf(...SCOPES)),
    allow_models: list(string),
    allow_ips: list(string),
    resources: list(string),
    hard_limit: limit,
    daily_limit: limit,
    rpm: rate,
    tpm: rate,
    tags: map(string),
    expires_at: orNull(time),
    status: flagSchema,
    created_at: time,
    created_by: orNull(Type.Integer({ description: "the account that made it; null for the main key" })),
    overlap_until: orNull(
      Type.String({ format: "date-time", description: "until then the former secret is valid too" }),
    ),
    last_used_at: orNull(
      Type.String({ format: "date-time", description: "by the hour for what writes no ledger line" }),
    ),
    cost_today: usd,
    cost_month: usd,
    cost_total: usd,
  }),
);

export const ApiKeysSchema = answerOf(object({ keys: list(ApiKeySchema), ...paged }));
export const ChangedApiKeySchema = answerOf(object({ success: yesSchema, key: ApiKeySchema }));
export const IssuedApiKeySchema = answerOf(
  object({
    success: yesSchema,
    key: ApiKeySchema,
    secret: Type.String({ pattern: "^sk-", description: "the API key itself; it is shown this once" }),
  }),
);

export type ApiKeyShape = Static<typeof ApiKeySchema>;
