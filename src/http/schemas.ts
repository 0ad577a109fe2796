// Schemas and pieces of schemas that several families use. The schema of an input validates it, gives its type and documents it;
// its description is the rule that an error repeats. The schema of an answer gives the handler's type and documents it.

import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { RefusedError } from "../base/errors.ts";
import { characters } from "./text-schema.ts";

/** Names a schema: the document holds it once, under this name. */
export const namedSchema = <S extends TSchema>(name: string, schema: S): S => ({ ...schema, $id: name });

/** The keyword with what a parameter is for; `description` is the rule that an error repeats. */
export const PURPOSE = "x-purpose";

/** Adds what a parameter of the path or the query is for. */
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

/** An object of an answer. Fields that may be absent are `maybe`. */
export const object = <P extends TProperties>(properties: P, description?: string) =>
  Type.Object(properties, description === undefined ? {} : { description });

/** An object with further fields, which a provider defines. */
export const open = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: true });

export const maybe = Type.Optional;
export const yesSchema = Type.Literal(true);
export const int = Type.Integer();
export const string = Type.String();
export const flagSchema = Type.Boolean();
export const usd = Type.Number({ description: "US dollars" });
export const time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });
/** A value that may be null. */
export const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
/** A list that its maker may not change. */
export const list = <S extends TSchema>(items: S, options: { readonly description?: string } = {}) =>
  Type.Unsafe<readonly Static<S>[]>(Type.Array(items, options));
/** One of these texts. */
export const oneOf = <const V extends readonly string[]>(...values: V) =>
  Type.Unsafe<V[number]>(Type.Union(values.map((one) => Type.Literal(one))));
/** An object whose keys are free, such as names of models. */
export const map = <S extends TSchema>(value: S) => Type.Record(Type.String(), value);

/** The fields beside a paged list, which has its own name. */
export const paged = { total: int, page: int, size: int, has_more: flagSchema };

/** A rate limit of an account or model, in an answer. */
export const rate = Type.Integer({ minimum: 0, description: "0: no limit" });
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

const MONEY_MAX = 9_000_000;

/** An amount of US dollars from `least` up to what an account can hold. */
export const money = (least: number) =>
  Type.Number({
    minimum: least,
    maximum: MONEY_MAX,
    description: `must be a number of US dollars from ${least} to ${MONEY_MAX}`,
  });

export const count = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "must be an integer of at least 0; 0 means no limit",
});

/** A text of `least` to `most` UTF-16 units. */
export const textSchema = (most: number, least = 0) =>
  characters({
    minLength: least,
    maxLength: most,
    description: `must be a text of ${least === 0 ? "at most" : `${least} to`} ${most} characters`,
  });

/** The query of an endpoint that has no parameters. */
export const NoQuerySchema = Type.Object({}, { additionalProperties: false });

/** A text, or the object that it stands for. `rule` is what an error repeats. */
export const textOrObject = (rule: string) =>
  Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], { description: rule });

/** A page number or size in a query, converted by `pageOf`. Elysia would refuse `?page=2` for an integer. */
export const digits = Type.String({
  pattern: "^[0-9]{1,30}$",
  description: "must be an integer of at least 0",
});

const ratePart = Type.Optional(count);

export const modelLimitsInput = Type.Record(
  Type.String(),
  Type.Object(
    { rpm: ratePart, rph: ratePart, rpd: ratePart, tpm: ratePart, tph: ratePart, tpd: ratePart },
    { additionalProperties: false },
  ),
  {
    description: "must map model names to objects of rpm, rph, rpd, tpm, tph, tpd",
    // A name with a line break is no key of a record: without this its value would pass unseen.
    additionalProperties: false,
  },
);

export const flagField = Type.Boolean({ description: "must be true or false" });

/** Later pages are read as this one: no list is so long, and its position stays an exact number. */
const PAGE_MAX = 1_000_000_000_000;

/** Returns `page` and `size` of a query within their bounds. 0 for either means that the list is not paged. */
export function pageOf(
  query: { readonly page?: string; readonly size?: string },
  defaults: { readonly size: number; readonly most: number },
): { page: number; size: number } {
  const page = query.page === undefined ? 1 : Math.min(PAGE_MAX, Number(query.page));
  const size = query.size === undefined ? defaults.size : Math.min(defaults.most, Number(query.size));
  return { page, size };
}

/** The same of a list that always comes by pages. Throws `invalid_parameter` for 0. */
export function positivePageOf(...args: Parameters<typeof pageOf>): { page: number; size: number } {
  const { page, size } = pageOf(...args);
  if (page !== 0 && size !== 0) return { page, size };
  throw new RefusedError({
    code: "invalid_parameter",
    message: '"page" and "size" must be at least 1 here.',
  });
}

/** Returns the headers of a list with `total` entries. `paging` is null for a list that is not paged. */
export const pageHeaders = (
  total: number,
  paging: { readonly page: number; readonly size: number } | null,
): Record<string, string> => ({
  "X-Total-Count": String(total),
  ...(paging && {
    "X-Page": String(paging.page),
    "X-Per-Page": String(paging.size),
    "X-Total-Pages": String(Math.ceil(total / paging.size)),
  }),
});
