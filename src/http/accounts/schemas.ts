// Bodies, queries and answers of the endpoints of accounts.

import { type Static, Type } from "@sinclair/typebox";
import { RANK_ORDERS } from "../../store/store.ts";
import {
  answerOf,
  count,
  digits,
  flagField,
  flagSchema,
  int,
  ModelLimitsSchema,
  maybe,
  modelLimitsInput,
  money,
  namedSchema,
  object,
  orNull,
  PURPOSE,
  parameter,
  rate,
  string,
  textSchema,
  time,
  usd,
} from "../schemas.ts";
import { email, nameText, visibleText } from "../text-rules.ts";
import { characters } from "../text-schema.ts";
import type { AccountField } from "./permissions.ts";

/** Fields that a creation and a change have in common; amounts in US dollars, lists as text. */
const COMMON = {
  Alias: Type.Optional(visibleText(255)),
  BillingEmail: Type.Optional(email()),
  Rates: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000, description: "must be a number from 0 to 1000" }),
  ),
  Days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 36_500, description: "must be an integer from 1 to 36500" }),
  ),
  HardLimit: Type.Optional(money(0)),
  SoftLimit: Type.Optional(money(0)),
  AutoQuota: Type.Optional(money(0)),
  RPM: Type.Optional(count),
  RPH: Type.Optional(count),
  RPD: Type.Optional(count),
  TPM: Type.Optional(count),
  TPH: Type.Optional(count),
  TPD: Type.Optional(count),
  AllowIPs: Type.Optional(textSchema(8_192)),
  AllowModels: Type.Optional(textSchema(8_192)),
  Resources: Type.Optional(textSchema(8_192)),
};

/** The body of `POST /x-users`. */
export const NewUserSchema = Type.Object(
  {
    Name: nameText,
    Email: email(),
    CreditGranted: money(2),
    ...COMMON,
    ModelLimits: Type.Optional(modelLimitsInput),
    isOwner: Type.Optional(flagField),
  },
  { additionalProperties: false },
);

/** A new account, as a request states it. */
export type NewUser = Static<typeof NewUserSchema>;

const integer = (least: number, most: number) =>
  Type.Integer({
    minimum: least,
    maximum: most,
    description: `must be an integer from ${least} to ${most}`,
  });

const MILLION = 1_000_000;
const map = Type.Optional(textSchema(131_072));

/** The body of `PUT /x-users/{identifier}`. */
export const UserChangeSchema = Type.Object(
  {
    ...COMMON,
    CreditGranted: Type.Optional(money(-9_000_000)),
    Status: Type.Optional(flagField),
    Suspended: Type.Optional(flagField),
    DailyLimit: Type.Optional(money(0)),
    UserLimit: Type.Optional(
      Type.Union([count, Type.Null()], {
        description: "must be an integer of at least 0, or null for no limit",
      }),
    ),
    AllowLevels: Type.Optional(textSchema(8_192)),
    ModelLimits: Type.Optional(
      Type.Union([modelLimitsInput, textSchema(131_072)], {
        description:
          'must map model names to objects of rpm, rph, rpd, tpm, tph, tpd, or be the JSON text of that, "*", or "-model"',
      }),
    ),
    ModelMapper: map,
    QRCode: Type.Optional(textSchema(2_048)),
    Level: Type.Optional(integer(-MILLION, MILLION)),
    Role: Type.Optional(integer(0, MILLION)),
    Gear: Type.Optional(integer(1, MILLION)),
    Tier: Type.Optional(integer(0, MILLION)),
    Factor: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1_000, description: "must be a number from 0 to 1000" }),
    ),
    LevelMapper: map,
    DNA: Type.Optional(
      characters({
        pattern: "^\\.([0-9]{1,15}\\.)*$",
        maxLength: 4_096,
        description: "must be a DNA such as .1.2.",
      }),
    ),
    ParentID: Type.Optional(integer(1, 999_999_999_999_999)),
    CreditUsed: Type.Optional(money(0)),
    ChargeAmount: Type.Optional(money(0)),
    XCredit: Type.Optional(money(0)),
  } satisfies Record<AccountField, unknown>,
  { additionalProperties: false },
);

/** A change of an account, as a request states it. */
export type Change = Static<typeof UserChangeSchema>;

/** Filters of lists; an empty one is met by every account. */
const FILTERS = {
  id: Type.Optional(parameter(textSchema(254), "By any form of identifier.")),
  name: Type.Optional(parameter(textSchema(254), "By a part of the name.")),
  email: Type.Optional(parameter(textSchema(254), "By e-mail address.")),
  level: Type.Optional(
    Type.String({
      pattern: "^(-?\\d{1,9}|[LGRTF][0-9.]{1,20})?$",
      description: "must be an integer, or a filter such as L2, G1, R0, T3 or F1.5",
      [PURPOSE]: "By Level, `2` or `L2`; also takes `G<n>`, `R<n>`, `T<n>` and `F<n>`.",
    }),
  ),
  dna: Type.Optional(
    Type.String({
      pattern: "^(\\.[0-9.]*)?$",
      maxLength: 4_096,
      description: "must be a DNA such as .1.2.",
      [PURPOSE]: "By the beginning of the DNA.",
    }),
  ),
};

/** The name of a filter. */
export type UserFilter = keyof typeof FILTERS;

const LISTED = {
  ...FILTERS,
  page: Type.Optional(parameter(digits, "From 1; 0: all at once.")),
  size: Type.Optional(parameter(digits, "100 where absent, at most 1000; 0: all at once.")),
};

/** The query of lists of descendants. */
export const DescendantsQuerySchema = Type.Object(LISTED, { additionalProperties: false });

/** One of these texts, or none. */
const choice = <const V extends readonly string[]>(purpose: string, ...values: V) =>
  Type.Optional(
    parameter(
      Type.Unsafe<V[number]>(
        Type.Union(
          values.map((one) => Type.Literal(one)),
          { description: `must be one of ${values.join(", ")}` },
        ),
      ),
      purpose,
    ),
  );

/** The query of lists of subaccounts. */
export const UsersQuerySchema = Type.Object(
  {
    ...LISTED,
    parent: Type.Optional(
      parameter(
        textSchema(254),
        "Whose subaccounts: an account by id, name or e-mail address; the caller where absent.",
      ),
    ),
    sort: choice(
      "`id` where absent. `balance` and `month_cost` trail by at most 2 s; equal ones come by id.",
      ...RANK_ORDERS,
    ),
    order: choice("`asc` where absent.", "asc", "desc"),
    with: Type.Optional(
      Type.String({
        pattern: "^((children|month_cost)(,(children|month_cost))*)?$",
        maxLength: 64,
        description: "must be children, month_cost, or both with a comma between",
        [PURPOSE]: "What rows also show: `children`, `month_cost`, or both with a comma between.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** The query of a list, parsed. */
export type UsersQuery = Static<typeof UsersQuerySchema>;

/** The query of `DELETE /x-users/{identifier}`. */
export const DeleteUserQuerySchema = Type.Object(
  {
    recursive: Type.Optional(
      parameter(
        Type.Union([Type.Literal("true"), Type.Literal("false")], { description: "must be true or false" }),
        "`true`: with all accounts below it.",
      ),
    ),
  },
  { additionalProperties: false },
);

/** The path of an account that is changed or deleted. */
export const UserParams = Type.Object({
  identifier: parameter(Type.String(), "An id, a name or an e-mail address that only one account has."),
});

/** The path of a list that an identifier narrows. */
export const UsersParams = Type.Object({
  identifier: parameter(
    Type.String(),
    "An id, a name, an e-mail address, a filter (`L<n>` Level, `G<n>` Gear, `R<n>` Role, `T<n>` Tier, `F<n>` Factor) or a DNA path.",
  ),
});

const limit = Type.Number({ minimum: 0, description: "US dollars; 0: no limit" });
/** The account record with every field of the specification's table. */
const AccountRecordSchema = namedSchema(
  "Account",
  object({
    ID: int,
    Name: string,
    Email: string,
    Alias: string,
    BillingEmail: string,
    Balance: usd,
    Rates: Type.Number({ description: "multiplies every price" }),
    HardLimit: limit,
    SoftLimit: limit,
    AutoQuota: limit,
    DailyLimit: limit,
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
    children: maybe(Type.Integer({ description: "how many direct subaccounts it has; where asked for" })),
    month_cost: maybe(
      Type.Number({ description: "US dollars of this month's requests, in UTC; where asked for" }),
    ),
  }),
);

const SecretKey = Type.String({ description: "the new API key; it is shown this once" });

/** The answer of lists of accounts. */
export const AccountListSchema = answerOf(Type.Array(AccountRecordSchema));

export const AddedAccountSchema = answerOf(
  object({
    Action: Type.Literal("add"),
    User: object({
      ID: int,
      SecretKey,
      Updates: object({
        Name: string,
        Email: string,
        CreditGranted: usd,
        Balance: usd,
        HardLimit: usd,
        SoftLimit: usd,
        Status: flagSchema,
        Level: int,
        DNA: string,
      }),
    }),
  }),
);

export const UpdatedAccountSchema = answerOf(
  object({
    Action: Type.Literal("update"),
    User: object({
      ID: int,
      Name: string,
      Updates: Type.Record(Type.String(), Type.Unknown(), {
        description: "the given fields as they now are",
      }),
    }),
  }),
);

export const DeletedAccountSchema = answerOf(
  object({
    Action: Type.Literal("delete"),
    User: object({ ID: int, Name: string, RefundedBalance: usd, TransactionFee: usd }),
    message: string,
  }),
);
