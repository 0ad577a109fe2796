// Shapes of answers: what more than one family of endpoints answers, and the account. They document and are checked against
// real answers by the tests; no answer is built or cut by them.

import { type TProperties, type TSchema, Type } from "@sinclair/typebox";

/** Names a schema: the document holds it once, under this name. */
export const namedSchema = <S extends TSchema>(name: string, schema: S): S => ({ ...schema, $id: name });

/** The keyword with what a parameter is for; `description` is the rule that an error repeats. */
export const PURPOSE = "x-purpose";

/** Says what a parameter of the path or the query is for. */
export const parameter = <S extends TSchema>(schema: S, purpose: string): S => ({
  ...schema,
  [PURPOSE]: purpose,
});

/** The keyword of a body that may be left out. */
export const OPTIONAL_BODY = "x-optional-body";

/** Marks the schema of a body that a request may leave out; it is then read as an empty object. */
export const optionalBody = <S extends TSchema>(schema: S): S => ({ ...schema, [OPTIONAL_BODY]: true });

/** Whether a request may leave out the body of this schema. */
export const isOptionalBody = (schema: unknown): boolean =>
  typeof schema === "object" && schema !== null && OPTIONAL_BODY in schema;

/** Marks the schema of an answer, which the compiler and the tests check, and production does not. */
export const answerOf = <S extends TSchema>(schema: S): S => ({ ...schema, noValidate: true });

/** What an object has in any case. Fields that may be absent are `maybe`. */
export const object = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, description === undefined ? {} : { description });

/** An object whose further fields are somebody else's business: a provider's. */
export const open = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: true });

export const maybe = Type.Optional;
export const yesSchema = Type.Literal(true);
export const int = Type.Integer();
export const string = Type.String();
export const flagSchema = Type.Boolean();
export const usd = Type.Number({ description: "US dollars" });
export const time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });
export const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);
export const oneOf = (...values: readonly string[]) => Type.Union(values.map((one) => Type.Literal(one)));
export const map = (value: Parameters<typeof Type.Record>[1]) => Type.Record(Type.String(), value);

/** A page of something that is counted, with the list under its own name. */
export const paged = { total: int, page: int, size: int, has_more: flagSchema };

const rate = Type.Integer({ minimum: 0, description: "0: no limit" });
const money = Type.Number({ minimum: 0, description: "US dollars; 0: no limit" });

export const ModelLimitsSchema = namedSchema(
  "ModelLimits",
  map(
    object({
      rpm: maybe(rate),
      rph: maybe(rate),
      rpd: maybe(rate),
      tpm: maybe(rate),
      tph: maybe(rate),
      tpd: maybe(rate),
    }),
  ),
);

/** The account record with every field of the specification's table. */
export const AccountRecordSchema = namedSchema(
  "Account",
  object({
    ID: int,
    Name: string,
    Email: string,
    Alias: string,
    BillingEmail: string,
    Balance: usd,
    Rates: Type.Number({ description: "multiplies every price" }),
    HardLimit: money,
    SoftLimit: money,
    AutoQuota: money,
    DailyLimit: money,
    UserLimit: orNull(Type.Integer({ description: "null: no limit; 0: no subaccounts" })),
    RPM: rate,
    RPH: rate,
    RPD: rate,
    TPM: rate,
    TPH: rate,
    TPD: rate,
    AllowIPs: string,
    AllowModels: string,
    AllowLevels: string,
    Resources: string,
    ModelLimits: ModelLimitsSchema,
    ModelMapper: string,
    QRCode: string,
    Status: flagSchema,
    Suspended: flagSchema,
    Level: int,
    Role: int,
    Gear: int,
    Factor: Type.Number(),
    Tier: int,
    LevelMapper: string,
    DNA: Type.String({ description: "the ids of its ancestors, as .1.2." }),
    ParentID: orNull(int),
    CreditUsed: usd,
    ChargeAmount: usd,
    XCredit: usd,
    isOwner: flagSchema,
    CreatedAt: time,
    UpdatedAt: time,
  }),
);

const request = {
  request_id: maybe(orNull(Type.String({ description: "what the client saw as x-request-id" }))),
  model: maybe(string),
  answered_model: maybe(
    Type.String({ description: "the model that the provider named in its answer, where it is another" }),
  ),
  level: maybe(int),
  basis: maybe(Type.String({ description: "provider, partial or estimate" })),
  prompt_tokens: maybe(int),
  completion_tokens: maybe(int),
  path: maybe(string),
  stream: maybe(flagSchema),
};

const figures = object({ CreditUsed: maybe(usd), ChargeAmount: maybe(usd), XCredit: maybe(usd) });

const LedgerLine = namedSchema(
  "LedgerLine",
  object({
    id: string,
    type: oneOf(
      "grant",
      "transfer_in",
      "transfer_out",
      "refund",
      "charge",
      "late_charge",
      "query_fee",
      "delete_fee",
      "expire",
      "write_off",
      "auto_quota",
      "adjust",
    ),
    amount: Type.Number({ description: "US dollars, signed from the account's side" }),
    balance_after: usd,
    created_at: time,
    ...request,
    operation_id: maybe(string),
    to: maybe(int),
    from: maybe(orNull(int)),
    why: maybe(string),
    by: maybe(int),
    before: maybe(figures),
    after: maybe(figures),
  }),
);

/** GET /dashboard/ledger and /x-ledger. */
export const Ledger = namedSchema("Ledger", object({ lines: Type.Array(LedgerLine), ...paged }));
