// The maps of routing as the page reads them: texts, drafts, differences, and what is odd about an entry.

import { describe, expect, test } from "bun:test";
import {
  changesBetween,
  type Maps,
  mapsOf,
  readMap,
  type StatedMaps,
  textOf,
} from "../../../../console/api/map-text.ts";
import { hiddenBy } from "../../../../console/api/pattern.ts";
import {
  converted,
  mapDraftOf,
  readDraft,
  sentText,
} from "../../../../console/pages/admin/routing/map-draft.ts";
import { findingsOf, type PoolByLevel } from "../../../../console/pages/admin/routing/map-findings.ts";
import { placesOf } from "../../../../console/pages/admin/routing/xray-groups.ts";

const POOL: PoolByLevel = new Map([
  [1, { keys: 2, enabled: 1 }],
  [2, { keys: 1, enabled: 0 }],
]);

const codesOf = (maps: StatedMaps, name: keyof Maps) =>
  [...findingsOf(mapsOf(maps), POOL)[name]].map(
    ([left, found]) => `${left}: ${found.map(({ code }) => code).join(", ")}`,
  );

test("an entry is hidden by one that is tried before and takes all that it would", () => {
  expect(hiddenBy(["a*b*", "a*"], "a*")).toBeNull();
  expect(hiddenBy(["*4*4", "*44"], "*44")).toBe("*4*4");
  expect(hiddenBy(["*", "**"], "**")).toBe("*");
});

describe("a text", () => {
  test("is read as entries; of two with the same left side the later one counts", () => {
    expect(readMap("a=1,\n b = 2 ,a=3,,")).toEqual({
      entries: [
        { left: "a", right: "3" },
        { left: "b", right: "2" },
      ],
      faults: [{ kind: "twice", item: "a" }],
    });
  });

  test("says which items are no entries, and which delete", () => {
    expect(readMap("a, =b, -c, d=").faults).toEqual([
      { kind: "no_entry", item: "a" },
      { kind: "no_entry", item: "=b" },
      { kind: "deletes", item: "-c" },
      { kind: "no_entry", item: "d=" },
    ]);
  });

  test("and rows are two forms of one draft", () => {
    const entries = [
      { left: "gpt-*", right: "1" },
      { left: "*", right: "3" },
    ];
    const text = converted(mapDraftOf(entries), "text");
    expect(text).toEqual({ as: "text", text: textOf(entries) });
    expect(readDraft(converted(text, "table"))).toEqual({ entries, faults: [] });
    expect(sentText(entries)).toBe("gpt-*=1,*=3");
    expect(mapDraftOf(Array.from({ length: 61 }, (_, n) => ({ left: `m${n}`, right: "1" }))).as).toBe("text");
  });
});

test("a difference has what comes, goes and leads elsewhere, in the order in which entries are tried", () => {
  const before = readMap("gpt-*=1,claude-*=2,*=3").entries;
  const after = readMap("*=4,gpt-*=1,o4=1").entries;
  expect(changesBetween(before, after)).toEqual([
    { left: "o4", before: null, after: "1" },
    { left: "claude-*", before: "2", after: null },
    { left: "*", before: "3", after: "4" },
  ]);
});

describe("an entry is marked", () => {
  test.each([
    [
      "a Level without keys",
      { LEVEL_MAPPER: { "a-*": 1, "b-*": 2, "c-*": 3 } },
      "LEVEL_MAPPER",
      ["b-*: all_disabled", "c-*: no_keys"],
    ],
    [
      "a model whose Level has none",
      { LEVEL_MAPPER: { "*": 3 }, MODEL_MAPPER: { fast: "m" } },
      "MODEL_MAPPER",
      ["fast: leads_to_no_keys"],
    ],
    [
      "a map that applies once",
      { LEVEL_MAPPER: { "*": 1 }, MODEL_MAPPER: { a: "b", b: "c" } },
      "MODEL_MAPPER",
      ["a: mapped_once"],
    ],
    [
      "a name that no request has any more",
      { LEVEL_MAPPER: { "*": 1, a: 1 }, MODEL_MAPPER: { a: "b" } },
      "LEVEL_MAPPER",
      ["a: renamed"],
    ],
    [
      "a backup without a Level of its own",
      { LEVEL_MAPPER: { "a-*": 1 }, MODEL_FAILOVER: { "a-1": ["b"] } },
      "MODEL_FAILOVER",
      ["a-1: own_level"],
    ],
    [
      "more backups than are tried",
      { LEVEL_MAPPER: { "*": 1 }, MODEL_FAILOVER: { a: ["b", "c", "d", "e", "f", "g"] } },
      "MODEL_FAILOVER",
      ["a: too_many"],
    ],
    [
      "a Level that refuses before it switches over",
      { SWITCH_OVER: { "3": 1 } },
      "SWITCH_OVER",
      ["3: no_way_in"],
    ],
    ["nothing", { LEVEL_MAPPER: { "*": 1 }, SWITCH_OVER: { "2": 1 } }, "SWITCH_OVER", []],
  ] as const)("%s", (_, maps, name, found) => {
    expect(codesOf(maps as StatedMaps, name)).toEqual([...found]);
  });

  test("by nothing about Levels while the pool is not known", () => {
    const maps = mapsOf({ LEVEL_MAPPER: { "*": 9 } });
    expect(findingsOf(maps, null).LEVEL_MAPPER.size).toBe(0);
  });
});

test("keys of an explanation stand by place, and the place of the decision is the first", () => {
  const key = (model: string, level: number, key_id: number) => ({ model, level, key_id, state: "normal" });
  const decision = { model: "m", level: 3, admitted: true, refusal: null };
  const candidates = [key("m", 2, 1), key("m", 2, 4), key("m", 3, 5), key("n", 3, 5)];
  const places = placesOf({ candidates, decision });
  expect(places.map(({ model, level, role, candidates: all }) => [model, level, role, all.length])).toEqual([
    ["m", 2, "backup", 2],
    ["m", 3, "first", 1],
    ["n", 3, "backup", 1],
  ]);
});
