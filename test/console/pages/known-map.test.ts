// The own model map as the page knows it: read from the operation log, and changed by edits that the service merges.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { editModelMapper } from "../../../actors/owner/map-edit-parsers.ts";
import { applyEdits } from "../../../actors/owner/map-edits.ts";
import type { LogLine } from "../../../console/api/log-details.ts";
import { readMap, textOf } from "../../../console/api/map-text.ts";
import {
  editsOf,
  entriesOf,
  entryFor,
  loggedMap,
  sampleOf,
} from "../../../console/pages/mapping/known-map.ts";

const name = fc.string({ unit: fc.constantFrom("a", "b", "-", "*", "型", "🌸"), minLength: 1, maxLength: 4 });
const map = fc.dictionary(
  name,
  name.filter((text) => !text.includes("*")),
  { maxKeys: 6, noNullPrototype: true },
);
const entriesIn = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([left, right]) => ({ left, right }));

test("the edits that are sent make the second map of the first, by the service's own rule", () => {
  fc.assert(
    fc.property(map, map, (before, after) => {
      const edits = editModelMapper(editsOf(entriesIn(before), entriesIn(after)));
      if (!edits.ok) throw new Error(edits.message);
      expect(new Map(Object.entries(applyEdits(before, edits.value)))).toEqual(
        new Map(Object.entries(after)),
      );
    }),
    { numRuns: 500 },
  );
});

test("what is written as a text is read again", () => {
  fc.assert(
    fc.property(map, (of) => {
      const entries = entriesIn(of);
      expect(readMap(textOf(entries))).toEqual({ entries, faults: [] });
    }),
  );
});

test("faults of a text are named", () => {
  expect(readMap("a=b, -c,\nd, a=e, =f").faults).toEqual([
    { kind: "deletes", item: "-c" },
    { kind: "no_entry", item: "d" },
    { kind: "twice", item: "a" },
    { kind: "no_entry", item: "=f" },
  ]);
});

describe("the operation log says", () => {
  const line = (details: string): LogLine => ({
    ...{ id: 1, action: "update_user", operator_id: 6, target_id: 6, target_type: "user", details },
    ...{ ip_address: "", created_at: "2027-03-01 10:00:00", status: "success" },
  });

  test("the map after the last change of it", () => {
    const found = loggedMap([
      line('Alias: "x"'),
      line('ModelMapper: "" → "g*=设计模型,fast=gpt-4o"'),
      line('ModelMapper: "" → "old=gone"'),
    ]);
    expect(found).toEqual({ entries: entriesOf("fast=gpt-4o,g*=设计模型"), at: "2027-03-01T10:00:00Z" });
  });

  test("nothing when no line is about it, or the last one was cut off", () => {
    expect(loggedMap([line('Alias: "x"')])).toBeNull();
    expect(
      loggedMap([line(`ModelMapper: "" → "${"a".repeat(298)}…`), line('ModelMapper: "a=b"')]),
    ).toBeNull();
  });
});

test("an entry is tried by a name that it applies to", () => {
  const lefts = ["gpt-*", "gpt-4o", "x*"];
  expect(sampleOf("gpt-4o", lefts, [])).toBe("gpt-4o");
  expect(sampleOf("gpt-*", lefts, ["gpt-4o", "gpt-4.1"])).toBe("gpt-4.1");
  expect(sampleOf("gpt-*", lefts, ["gpt-4o"])).toBe("gpt-4o");
  expect(sampleOf("x*", lefts, ["gpt-4o"])).toBeNull();
});

test("the entry for a name is the more specific one", () => {
  const entries = entriesOf("*=a,gpt-*=b");
  expect(entryFor(entries, "gpt-4o")).toEqual({ left: "gpt-*", right: "b" });
  expect(entryFor([], "gpt-4o")).toBeNull();
});
