// Validates the few fields of a request that the gateway must understand: one rule per field. The first
// broken rule decides the refusal.

import { isLonger } from "../../actors/code-points.ts";
import type { ParsedRequest, RequestRefusal } from "./dialect.ts";
import { isObject, type Json } from "./json.ts";
import { otherModelIn } from "./request-demands.ts";

/** The rule of one field; `rule` continues a sentence that begins with the field's name. */
export interface FieldRule {
  readonly field: string;
  readonly rule: string;
  readonly holds: (value: unknown) => boolean;
  /** Details that the refusal carries in addition to its message. */
  readonly errorDetails?: Readonly<Record<string, unknown>>;
}

/** The rules of one kind of request. They are made once. */
export class RequestRules {
  private readonly required: readonly FieldRule[];
  private readonly optional: readonly FieldRule[];
  /** The optional rules of each field that has a rule; required fields have an entry, too. */
  private readonly byField = new Map<string, readonly FieldRule[]>();

  constructor(required: readonly FieldRule[], optional: readonly FieldRule[]) {
    this.required = required;
    this.optional = optional;
    for (const { field } of required) this.byField.set(field, []);
    for (const rule of optional)
      this.byField.set(rule.field, [...(this.byField.get(rule.field) ?? []), rule]);
  }

  /**
   * Returns the refusal of the first rule that the body breaks, or null when it keeps them all. The caller
   * bounds the body's depth.
   */
  broken(body: unknown): Refused | null {
    if (!isObject(body)) return refuse("invalid_parameter", "body", "must be a JSON object");
    if (this.areKept(body)) return unroutedModel(body);
    const { required, optional } = this;
    const double = misspelt(body, [...required, ...optional]);
    if (double !== null) return refuse("invalid_parameter", double, "must be spelt in small letters");
    // An SDK acts on rules with `errorDetails`, so they precede other faults of the request.
    const decided = optional.filter(({ errorDetails }) => errorDetails !== undefined);
    return (
      firstBroken(body, decided) ??
      required.map((rule) => lacking(body, rule)).find((found) => found !== null) ??
      firstBroken(body, optional) ??
      unroutedModel(body)
    );
  }

  /** Whether the body certainly keeps all rules, found in one pass over its fields. */
  private areKept(body: Json): boolean {
    for (const { field, holds } of this.required) {
      if (body[field] === undefined || !holds(body[field])) return false;
    }
    for (const name in body) {
      const rules = this.byField.get(name);
      if (rules === undefined) {
        if (name !== folded(name)) return false;
        continue;
      }
      const value = body[name];
      if (value === undefined || value === null) continue;
      for (const { holds } of rules) if (!holds(value)) return false;
    }
    return true;
  }
}

/** Returns the refusal of a required field, or null when it is valid. */
function lacking(body: Json, { field, rule, holds }: FieldRule): Refused | null {
  if (body[field] === undefined) return refuse("missing_parameter", field, "is required");
  return holds(body[field]) ? null : refuse("invalid_parameter", field, rule);
}

/** Returns the refusal of the first rule that a present field breaks, or null. */
function firstBroken(body: Json, rules: readonly FieldRule[]): Refused | null {
  for (const { field, rule, holds, errorDetails } of rules) {
    const value = body[field];
    if (value !== undefined && value !== null && !holds(value))
      return refuse("invalid_parameter", field, rule, errorDetails);
  }
  return null;
}

/** Returns the refusal of a field that lets a provider answer with another model, or null. */
function unroutedModel(body: Json): Refused | null {
  const other = otherModelIn(body);
  return other === null ? null : refuse("invalid_parameter", other, NO_OTHER_MODEL);
}

type Refused = Extract<ParsedRequest, { ok: false }>;

const NO_OTHER_MODEL =
  "is not offered here: it lets the provider answer with a model that was not asked for. Ask for that model itself";

/**
 * Returns the field that another field spells in different case, or null. Some hosts ignore case and use the
 * later of both, which may not be the one by which the gateway charges.
 */
function misspelt(body: Json, rules: readonly FieldRule[]): string | null {
  const others = Object.keys(body).filter((name) => name !== folded(name));
  const read = others.length === 0 ? [] : rules.map(({ field }) => field);
  return read.find((field) => others.some((name) => folded(name) === field)) ?? null;
}

/** Folds case. Some letters fold to ASCII in upper case only. */
const folded = (name: string): string => (isSmallAscii(name) ? name : name.toUpperCase().toLowerCase());

function isSmallAscii(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code > 127 || (code >= 65 && code <= 90)) return false;
  }
  return true;
}

const refuse = (
  code: RequestRefusal["code"],
  field: string,
  rule: string,
  errorDetails?: FieldRule["errorDetails"],
): Refused => ({
  ok: false,
  refusal: {
    code,
    field,
    message: `${field} ${rule}`,
    ...(errorDetails === undefined ? {} : { errorDetails }),
  },
});

const isName = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && !isLonger(value, 256);
/** Whether a value is a positive safe integer. */
export const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const hasRole = (value: unknown): boolean =>
  isObject(value) && typeof value.role === "string" && value.role !== "";

/** The rules of fields that several dialects share. */
export const MODEL_RULE: FieldRule = {
  field: "model",
  rule: "must be a non-empty string of at most 256 characters",
  holds: isName,
};
export const STREAM_RULE: FieldRule = {
  field: "stream",
  rule: "must be true or false",
  holds: (v) => typeof v === "boolean",
};
export const STREAM_OPTIONS_RULE: FieldRule = {
  field: "stream_options",
  rule: "must be an object",
  holds: isObject,
};
export const SERVICE_TIER_RULE: FieldRule = {
  field: "service_tier",
  rule: "must be a string",
  holds: (v) => typeof v === "string",
};
/** Returns the rule of a field that must be a positive integer. */
export const positive = (field: string): FieldRule => {
  return { field, rule: "must be a positive integer", holds: isPositive };
};
/** Returns the rule of a field that must be an integer from 1 to 128. */
export const upTo128 = (field: string): FieldRule => {
  const holds = (v: unknown) => isPositive(v) && (v as number) <= 128;
  return { field, rule: "must be an integer from 1 to 128", holds };
};
/**
 * Returns the rule that forbids streaming. `why` says what happens in one answer, such as "tokens are
 * counted".
 */
export const neverStreamed = (why: string): FieldRule => {
  return { field: "stream", rule: `must not be true: ${why} in one answer`, holds: (v) => v !== true };
};
export const MESSAGES_RULE: FieldRule = {
  field: "messages",
  rule: "must be a non-empty array of objects with a string role",
  holds(value) {
    if (!Array.isArray(value) || value.length === 0) return false;
    for (const message of value as unknown[]) if (!hasRole(message)) return false;
    return true;
  },
};

/**
 * Fields that are refused because they would change the price or the time of the answer without being
 * metered.
 */
export const NOT_OFFERED: readonly FieldRule[] = [
  { field: "speed", rule: 'must not be "fast": it is not offered here', holds: (v) => v !== "fast" },
  { field: "inference_geo", rule: "is not offered here", holds: () => false },
  { field: "background", rule: "must not be true: it is not offered here", holds: (v) => v !== true },
];
