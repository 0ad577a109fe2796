// Prices as the page Prices edits them: groups and rules are those of the service, a form keeps what differs from the list, and no
// digit is lost.

import { describe, expect, test } from "bun:test";
import { GROUP_FIELDS } from "../../../actors/pricing/price.ts";
import { checkPricing, priceTable } from "../../../actors/pricing/price-table.ts";
import {
  NO_PRICE_TEXTS,
  priceText,
  readPrice,
  textsOf,
  typedPrice,
} from "../../../console/pages/admin/prices/price-texts.ts";
import {
  entryEdits,
  hasAmount,
  mergedPrice,
  PRICE_GROUPS,
  type PricingMap,
  pricingBody,
  pricingFile,
  pricingOf,
  rebased,
  withEntry,
} from "../../../console/pages/admin/prices/pricing.ts";
import { readPricingText } from "../../../console/pages/admin/prices/pricing-faults.ts";

test("the groups and their fields are those of the service", () => {
  expect(PRICE_GROUPS).toEqual(GROUP_FIELDS);
});

describe("a pasted text", () => {
  const long = (count: number) =>
    JSON.stringify({
      CallPricing: Object.fromEntries(Array.from({ length: count }, (_, nth) => [`m${nth}`, {}])),
    });
  test.each([
    ["no JSON", "{", [["PRICING", "json"]]],
    ["a list", "[]", [["PRICING", "object"]]],
    ["a group that is none", '{"Chat":{}}', [["Chat", "group"]]],
    ["a group that is a list", '{"ChatPricing":[]}', [["ChatPricing", "models"]]],
    ["a name with a space", '{"ChatPricing":{" a":{}}}', [['ChatPricing[" a"]', "modelName"]]],
    ["two names that look alike", '{"ChatPricing":{"a":{},"A":{}}}', [['ChatPricing["A"]', "twin"]]],
    ["a price that is a number", '{"ChatPricing":{"a":1}}', [['ChatPricing["a"]', "price"]]],
    ["a field of another group", '{"CallPricing":{"a":{"Input":1}}}', [['CallPricing["a"].Input', "field"]]],
    ["a text as price", '{"CallPricing":{"a":{"Call":"1"}}}', [['CallPricing["a"].Call', "amount"]]],
    ["a price below 0", '{"CallPricing":{"a":{"Call":-1}}}', [['CallPricing["a"].Call', "amount"]]],
    ["sizes that are a number", '{"ImgPricing":{"a":{"Sizes":1}}}', [['ImgPricing["a"].Sizes', "sizes"]]],
    [
      "a size whose price is null",
      '{"ImgPricing":{"a":{"Sizes":{"1x1":null}}}}',
      [['ImgPricing["a"].Sizes["1x1"]', "amount"]],
    ],
    ["too many models", long(1_025), [["PRICING", "entries"]]],
  ])("%s is refused by path, and by the service too", (_, text, expected) => {
    const read = readPricingText(text);
    expect(read.ok ? [] : read.faults.map(({ path, rule }) => [path, rule])).toEqual(expected);
    const judged = checkPricing(text);
    expect(judged.ok).toBe(false);
    if (!judged.ok && expected[0]![1] !== "json") expect(judged.path).toBe(expected[0]![0]!);
  });

  test("all faults are named, not the first one alone", () => {
    const read = readPricingText('{"ChatPricing":{"a":{"InputText":"1","Call":1},"b":2},"X":{}}');
    expect(read.ok ? 0 : read.faults.length).toBe(4);
  });

  test("what the service takes is taken, and an empty text is no prices", () => {
    const pricing: PricingMap = {
      ChatPricing: { "*": { InputText: 1, Rates: 2 } },
      ImgPricing: { m: { Sizes: { "1x1": 0.1 } } },
    };
    expect(checkPricing(pricing).ok).toBe(true);
    expect(readPricingText(pricingFile(pricing))).toEqual({ ok: true, pricing });
    expect(readPricingText(" ")).toEqual({ ok: true, pricing: {} });
    expect([pricingOf(""), pricingBody({}), pricingBody(pricing)]).toEqual([{}, "", pricing]);
  });
});

describe("a typed price", () => {
  test.each([
    ["2.5", 2.5],
    [" $ 1,234.50 ", 1_234.5],
    [".075", 0.075],
    ["２.５", 2.5],
    ["0.0000001", 1e-7],
    ["0", 0],
    ["", undefined],
    ["1,5", null],
    ["-1", null],
    ["1e3", null],
    [".", null],
    ["0.12345678901234567890", null],
    ["9007199254740993", null],
  ])("%p is %p", (text, price) => {
    expect(readPrice(text)).toBe(price as number);
  });

  test("is written without an exponent", () => {
    expect([1e-7, 0.1, 1_234.5, 12].map(priceText)).toEqual(["0.0000001", "0.1", "1234.5", "12"]);
  });

  test("is kept where it differs from the list price", () => {
    const list = { InputText: 2.5, OutputText: 10 };
    const texts = {
      fields: { InputText: "2.50", OutputText: "12", CachedText: "0.5", Rates: "1" },
      sizes: {},
    };
    expect(typedPrice(texts, "ChatPricing", list)).toEqual({
      entry: { OutputText: 12, CachedText: 0.5 },
      unreadable: [],
    });
    expect(typedPrice(NO_PRICE_TEXTS, "ChatPricing", list).entry).toBeNull();
    expect(typedPrice({ fields: { Call: "x" }, sizes: { a: "1,1" } }, "ImgPricing", null)).toEqual({
      entry: null,
      unreadable: ["Call", "a"],
    });
  });

  test("of an image is kept by size", () => {
    const own = { Sizes: { "1024x1024": 0.05, "high/1024x1024": 0.2 } };
    const list = { Sizes: { "1024x1024": 0.04, "high/1024x1024": 0.2 } };
    expect(typedPrice(textsOf(own), "ImgPricing", list).entry).toEqual({ Sizes: { "1024x1024": 0.05 } });
  });
});

test("a merged price is what the service charges", () => {
  const own = { OutputText: 12 };
  const listed = priceTable(null).find("gpt-4o", ["ChatPricing"])!.price;
  const charged = priceTable({ ChatPricing: { "gpt-4o": own } }).find("gpt-4o", ["ChatPricing"])!.price;
  expect(mergedPrice(listed, own)).toEqual(charged);
  expect([hasAmount({ Rates: 2 }), hasAmount(own), hasAmount({ Sizes: {} })]).toEqual([false, true, false]);
});

describe("edits of prices", () => {
  const former: PricingMap = { ChatPricing: { a: { InputText: 1 }, b: { InputText: 2 } } };

  test("a price is set, changed in its place, and taken away with its empty group", () => {
    const set = withEntry(former, "CallPricing", "t", { Call: 1 });
    expect(set.CallPricing).toEqual({ t: { Call: 1 } });
    expect(withEntry(set, "CallPricing", "t", null)).toEqual(former);
    const changed = withEntry(former, "ChatPricing", "a", { InputText: 3 });
    expect(Object.keys(changed.ChatPricing!)).toEqual(["a", "b"]);
  });

  test("those of a draft go on top of what somebody else saved", () => {
    const draft = withEntry(
      withEntry(former, "ChatPricing", "a", { InputText: 9 }),
      "ChatPricing",
      "b",
      null,
    );
    const newest: PricingMap = {
      ChatPricing: { a: { InputText: 1 }, b: { InputText: 2 }, c: { InputText: 4 } },
    };
    expect(rebased(former, draft, newest)).toEqual({
      ChatPricing: { a: { InputText: 9 }, c: { InputText: 4 } },
    });
  });

  test("fields in another order are no difference", () => {
    const one: PricingMap = { ChatPricing: { a: { InputText: 1, OutputText: 2 } } };
    expect(entryEdits(one, { ChatPricing: { a: { OutputText: 2, InputText: 1 } } })).toEqual([]);
  });
});
