// The rules of a request's fields: the first broken one decides, whatever finds it.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { type FieldRule, RequestRules } from "../../src/dialect/validation.ts";

const isOne = (value: unknown): boolean => value === 1;
const rule = (field: string, errorDetails?: FieldRule["errorDetails"]): FieldRule => ({
  ...{ field, rule: "must be 1", holds: isOne },
  ...(errorDetails === undefined ? {} : { errorDetails }),
});

const REQUIRED = [rule("a"), rule("b")];
const OPTIONAL = [rule("b"), rule("c"), rule("d", { code: "x" }), rule("d"), rule("e")];
const RULES = new RequestRules(REQUIRED, OPTIONAL);

/** The field that the rules name, found rule by rule in the order that the refusals have. */
function expected(body: Record<string, unknown>): string | null {
  const fields = [...REQUIRED, ...OPTIONAL].map(({ field }) => field);
  const names = Object.keys(body);
  const double = fields.find((field) => names.some((name) => name !== field && name.toLowerCase() === field));
  const isBroken = ({ field }: FieldRule) => (body[field] ?? null) !== null && body[field] !== 1;
  return (
    double ??
    OPTIONAL.filter((one) => one.errorDetails !== undefined).find(isBroken)?.field ??
    REQUIRED.find(({ field }) => body[field] !== 1)?.field ??
    OPTIONAL.find(isBroken)?.field ??
    null
  );
}

test("the first broken rule is named, in any body", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e", "x", "A", "D", "X", "é", "__proto__");
  const value = fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, fc.constantFrom(2, null, "1"));
  const body = fc
    .tuple(fc.constantFrom({}, { a: 1, b: 1 }), fc.dictionary(name, value, { maxKeys: 5 }))
    .map(([kept, more]) => ({ ...kept, ...more }));
  fc.assert(
    fc.property(body, (given) => {
      const refused = RULES.broken(given);
      expect(refused?.refusal.field ?? null).toBe(expected(given));
    }),
    { numRuns: 2_000 },
  );
});

test("what is no object has no fields", () => {
  for (const body of [null, 1, "a", [], undefined]) expect(RULES.broken(body)?.refusal.field).toBe("body");
});
