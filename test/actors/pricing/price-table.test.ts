// An Owner's PRICING over the defaults, and which values may be a PRICING at all.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import builtIn from "../../../actors/catalog/default-prices.json";
import { cost } from "../../../actors/pricing/cost.ts";
import { GROUP_FIELDS, GROUPS, type Price } from "../../../actors/pricing/price.ts";
import {
  checkPricing,
  GROUPS_OF,
  PRICING_BYTES_MAX,
  PRICING_ENTRIES_MAX,
  priceTable,
} from "../../../actors/pricing/price-table.ts";
import { NO_USAGE } from "../../../actors/pricing/usage.ts";

const amount = fc.double({ min: 0, max: 1000, noNaN: true });
const chatPrice: fc.Arbitrary<Price> = fc.record(
  Object.fromEntries(GROUP_FIELDS.ChatPricing.map((field) => [field, amount])) as Record<
    string,
    fc.Arbitrary<number>
  >,
  { requiredKeys: [] },
);
const chatNames = Object.keys(builtIn.ChatPricing) as (keyof typeof builtIn.ChatPricing)[];

describe("merging", () => {
  test("an override wins field by field, and the default stays for the rest", () => {
    fc.assert(
      fc.property(fc.constantFrom(...chatNames), chatPrice, (name, price) => {
        const found = priceTable({ ChatPricing: { [name]: price } }).find(name, GROUPS_OF.tokens)!;
        expect(found.price).toEqual({ ...builtIn.ChatPricing[name], ...price });
      }),
    );
  });

  test("a snapshot or alias in the override starts from the default that it would be billed at", () => {
    const table = priceTable({ ChatPricing: { "gpt-4o-2024-08-06": { InputText: 2 } } });
    expect(table.find("gpt-4o-2024-08-06", GROUPS_OF.tokens)?.price).toEqual({
      InputText: 2,
      OutputText: 10,
      CachedText: 1.25,
    });
    expect(table.find("gpt-4o", GROUPS_OF.tokens)?.price).toEqual(builtIn.ChatPricing["gpt-4o"]);
  });

  test("sizes merge one by one", () => {
    const table = priceTable({ ImgPricing: { "dall-e-2": { Sizes: { "256x256": 1 } } } });
    expect(table.find("dall-e-2", GROUPS_OF.images)?.price).toEqual({
      ...{ Call: 0.02, Sizes: { "1024x1024": 0.02, "256x256": 1, "512x512": 0.018 } },
    });
  });

  test("a model that only the override knows is added, with its snapshots", () => {
    const table = priceTable({ ChatPricing: { mine: { InputText: 1 } } });
    expect(table.find("mine-2025-01-01", GROUPS_OF.tokens)?.name).toBe("mine");
    expect(priceTable(null).find("mine", GROUPS_OF.tokens)).toBeNull();
    expect(table.named).toEqual(["mine"]);
  });

  test("an entry without any price adds nothing: the model stays unpriced", () => {
    expect(priceTable({ ChatPricing: { mine: { Rates: 2 } } }).find("mine", GROUPS_OF.tokens)).toBeNull();
    expect(priceTable({ ChatPricing: { "*": { Rates: 2 } } }).find("mine", GROUPS_OF.tokens)).toBeNull();
  });

  test("a star prices any otherwise unpriced model of its group, and no other", () => {
    const table = priceTable({ ChatPricing: { "*": { InputText: 7 } }, RerankPricing: { "*": { Call: 1 } } });
    expect(table.find("mine", GROUPS_OF.tokens)).toMatchObject({ name: "*", price: { InputText: 7 } });
    expect(table.find("gpt-4o", GROUPS_OF.tokens)).toMatchObject({ name: "gpt-4o" });
    expect(table.find("mine", GROUPS_OF.rerank)).toMatchObject({ group: "RerankPricing" });
    expect(table.find("mine", GROUPS_OF.audio)).toMatchObject({ group: "ChatPricing" });
    expect(table.find("mine", GROUPS_OF.calls)).toBeNull();
    expect(table.find("dall-e-3", GROUPS_OF.imageTokens)).toMatchObject({ group: "ImgPricing" });
    expect(table.named).toEqual([]);
  });

  test("one tuned model may be priced apart from the others of its base", () => {
    const tuned = "ft:gpt-4o-mini:acme::1";
    const table = priceTable({ FineTuningPricing: { [tuned]: { InputText: 9 } } });
    expect(table.find(tuned, GROUPS_OF.tokens)?.price).toEqual({ InputText: 9, OutputText: 1.2 });
    expect(table.find("ft:gpt-4o-mini:acme::2", GROUPS_OF.tokens)?.name).toBe("gpt-4o-mini");
  });

  test("the same price is the same object each time", () => {
    const table = priceTable(null);
    expect(table.find("gpt-4o", GROUPS_OF.tokens)).toBe(table.find("openai/gpt-4o", GROUPS_OF.tokens)!);
  });
});

describe("checking", () => {
  test("the built-in prices pass, as an object and as text", () => {
    expect(checkPricing(builtIn).ok).toBe(true);
    expect(checkPricing(JSON.stringify(builtIn)).ok).toBe(true);
    expect(checkPricing({}).ok).toBe(true);
  });

  test.each([
    [{ ChatPricing: { "gpt-4o": { InputText: -1 } } }, 'ChatPricing["gpt-4o"].InputText'],
    [{ ChatPricing: { "gpt-4o": { InputText: "1" } } }, 'ChatPricing["gpt-4o"].InputText'],
    [{ ChatPricing: { "gpt-4o": { InputText: null } } }, 'ChatPricing["gpt-4o"].InputText'],
    ['{"ChatPricing":{"gpt-4o":{"InputText":1e999}}}', 'ChatPricing["gpt-4o"].InputText'],
    [{ ChatPricing: { "gpt-4o": { InputText: Number.NaN } } }, 'ChatPricing["gpt-4o"].InputText'],
    [
      { ChatPricing: { "gpt-4o": { InputText: Number.POSITIVE_INFINITY } } },
      'ChatPricing["gpt-4o"].InputText',
    ],
    [{ ChatPricing: { "gpt-4.1": { Call: 1 } } }, 'ChatPricing["gpt-4.1"].Call'],
    [{ ChatPricing: { "gpt-4o": 5 } }, 'ChatPricing["gpt-4o"]'],
    [{ ChatPricing: [] }, "ChatPricing"],
    [{ OtherPricing: {} }, "OtherPricing"],
    [{ ImgPricing: { a: { Sizes: 1 } } }, 'ImgPricing["a"].Sizes'],
    [{ ImgPricing: { a: { Sizes: { "1x1": -1 } } } }, 'ImgPricing["a"].Sizes["1x1"]'],
    ['{"__proto__":{}}', "__proto__"],
    ['{"ChatPricing":{"a":{"__proto__":1}}}', 'ChatPricing["a"].__proto__'],
    ['{"ChatPricing":{"a":{"constructor":1}}}', 'ChatPricing["a"].constructor'],
    ["{", "PRICING"],
    ["[".repeat(100_000), "PRICING"],
    ["[]", "PRICING"],
    [null, "PRICING"],
    [undefined, "PRICING"],
    [5, "PRICING"],
  ])("%j is refused at %p", (value, path) => {
    const checked = checkPricing(value);
    expect(checked).toMatchObject({ ok: false, path });
    expect(checked.ok ? "" : checked.message).toStartWith(`${path} `);
  });

  test(`more than ${PRICING_ENTRIES_MAX} entries over all groups are refused`, () => {
    const models = (n: number) =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`m${i}`, { Call: 1 }]));
    expect(checkPricing({ ImgPricing: models(512), CallPricing: models(512) }).ok).toBe(true);
    expect(checkPricing({ ImgPricing: models(512), CallPricing: models(513) }).ok).toBe(false);
  });

  test("JSON longer than 128 KB is refused, counted in bytes", () => {
    const named = (name: string) => ({ CallPricing: { [name]: { Call: 1 } } });
    const room = PRICING_BYTES_MAX - JSON.stringify(named("")).length;
    for (const form of [(v: unknown) => v, JSON.stringify]) {
      expect(checkPricing(form(named("x".repeat(room)))).ok).toBe(true);
      expect(checkPricing(form(named("x".repeat(room + 1)))).ok).toBe(false);
      expect(checkPricing(form(named("é".repeat(room / 2 + 1)))).ok).toBe(false);
    }
  });

  test("any JSON value may be checked: it never throws, and what passes makes a table that prices", () => {
    const json = fc.jsonValue();
    const near = fc.dictionary(
      fc.constantFrom<string>(...GROUPS, "x"),
      fc.dictionary(
        fc.oneof(fc.string(), fc.constantFrom("gpt-4o", "*", "__proto__", "constructor")),
        fc.dictionary(
          fc.constantFrom("InputText", "Call", "Rates", "Sizes", "Input"),
          fc.oneof(amount, json),
        ),
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          near,
          near.map((v) => JSON.stringify(v)),
          fc.string(),
        ),
        (value) => {
          const checked = checkPricing(value);
          if (!checked.ok) return expect(checked.message.length).toBeLessThan(500);
          const table = priceTable(checked.value);
          for (const name of [...table.named, "gpt-4o", "other"]) {
            for (const groups of Object.values(GROUPS_OF)) {
              const priced = table.find(name, groups);
              if (priced) cost(priced, { ...NO_USAGE, inText: 1, calls: 1 }, { rates: 1, factor: 1 });
            }
          }
        },
      ),
    );
  });

  test.each([
    ["another case", "Gpt-4o"],
    ["other signs for the same letters", "ｇpt-4o"],
  ])("a name beside one that looks the same is refused: %s", (_what, name) => {
    const twins = { ChatPricing: { "gpt-4o": { InputText: 1 }, [name]: { InputText: 2 } } };
    expect(checkPricing(twins)).toMatchObject({ ok: false, path: `ChatPricing["${name}"]` });
    expect(checkPricing({ ChatPricing: { [name]: { InputText: 2 } } }).ok).toBe(true);
    // What is asked in one group is not asked in another.
    expect(
      checkPricing({ ...{ CallPricing: { [name]: { Call: 2 } } }, ChatPricing: { "gpt-4o": {} } }).ok,
    ).toBe(true);
  });

  test.each(["", " ", " gpt-4o", "gpt-4o\t", "gpt\u200b-4o", "gpt-4o\n", "\u202egpt"])(
    "%j is no name of a model",
    (name) => {
      const path = `ChatPricing[${JSON.stringify(name)}]`;
      expect(checkPricing({ ChatPricing: { [name]: { InputText: 1 } } })).toMatchObject({ ok: false, path });
    },
  );

  test.each([
    ["the name of every object's prototype", '{"ChatPricing":{"__proto__":{"InputText":5}}}'],
    ["half a character", '{"ChatPricing":{"a\\ud800":{"InputText":5}}}'],
  ])("%s is no model: it would be lost on its way", (_what, text) => {
    expect(checkPricing(text)).toMatchObject({ ok: false });
  });

  test("names that poison prototypes are models and sizes like any other", () => {
    const text =
      '{"ChatPricing":{"toString":{"InputText":5}},"ImgPricing":{"constructor":{"Sizes":{"valueOf":2}}}}';
    const checked = checkPricing(text);
    if (!checked.ok) throw new Error(checked.message);
    const table = priceTable(checked.value);
    expect(table.find("toString", GROUPS_OF.tokens)?.price).toEqual({ InputText: 5 });
    const image = { rates: 1, factor: 1, image: { size: "valueOf" } };
    const sized = table.find("constructor", GROUPS_OF.images)!;
    expect(cost(sized, { ...NO_USAGE, calls: 1 }, image).amount as number).toBe(2e9);
    expect(Object.hasOwn({}, "InputText")).toBe(false);
    expect(({} as Price).InputText).toBeUndefined();
  });
});
