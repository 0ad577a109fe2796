// Details of the operation log as pages read them: whatever the service writes of a change comes back field by field.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AccountId, ROOT } from "../../../actors/ids.ts";
import { loggedText, loggedValue, readDetails, readRefusal } from "../../../console/api/log-details.ts";
import { type AuditRecord, openAuditEntry } from "../../../src/http/audit-log.ts";

type Fields = Record<string, unknown>;

/** Returns the details that the service writes of an act with these changes. */
async function written(after: Fields, before: Fields): Promise<string> {
  const lines: AuditRecord[] = [];
  const log = { write: async (line: AuditRecord) => void lines.push(line) };
  const entry = openAuditEntry(log, { action: "update_user", operator: ROOT as AccountId, ip: "" });
  entry.addChanges(after, before);
  await entry.close(null);
  return lines[0]!.details;
}

const value = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: fc.constantFrom("; ", " → ", ": ", '"', "\\", "…", "{", "🌸", "设"), maxLength: 400 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.dictionary(fc.constantFrom("a; b", "gpt-*", "→"), fc.string({ maxLength: 8 }), {
    noNullPrototype: true,
  }),
);
const fields = fc.dictionary(fc.constantFrom("Alias", "ModelMapper", "public_key", "Rates"), value, {
  noNullPrototype: true,
});

test("every field comes back with what it was and what it is, cut where the service cuts", async () => {
  await fc.assert(
    fc.asyncProperty(fields, fields, async (after, before) => {
      const { changes, rest } = readDetails(await written(after, before));
      expect(rest).toBe("");
      const json = (one: unknown) => JSON.stringify(one);
      const differing = Object.keys(after).filter(
        (name) => !Object.hasOwn(before, name) || json(before[name]) !== json(after[name]),
      );
      expect(changes.map(({ field }) => field)).toEqual(differing);
      for (const { field, before: was, after: is } of changes) {
        const whole = json(after[field]);
        if (whole.length <= 300) expect(loggedValue(is)).toEqual(JSON.parse(whole));
        else expect([is.length, is.endsWith("…")]).toEqual([300, true]);
        expect(was !== null).toBe(Object.hasOwn(before, field));
      }
    }),
    { numRuns: 500 },
  );
});

describe("other details", () => {
  test("a sentence behind the fields stays a sentence", () => {
    const found = readDetails(
      'name: "ci; build"; status: true → false; the account was moved away (made by 3)',
    );
    expect(found.changes).toEqual([
      { field: "name", before: null, after: '"ci; build"' },
      { field: "status", before: "true", after: "false" },
    ]);
    expect(found.rest).toBe("the account was moved away (made by 3)");
  });

  test("texts are shown without quotes, and what is cut off as it is", () => {
    expect(loggedText('"设计部 🎨"')).toBe("设计部 🎨");
    expect(loggedText('{"a":1}')).toBe('{"a":1}');
    expect(loggedText('"half…')).toBe('"half…');
  });

  test("a refusal has a code and a message", () => {
    expect(readRefusal("not_owner: Only: the Owner.")).toEqual({
      code: "not_owner",
      message: "Only: the Owner.",
    });
    expect(readRefusal("broken")).toEqual({ code: "", message: "broken" });
  });
});
