// Answers with exact money: by the source of a number and without it, in every shape; and the names of amounts compared with
// all schemas of the HTTP layer.

import { describe, expect, test } from "bun:test";
import type { Static, TSchema } from "@sinclair/typebox";
import fc from "fast-check";
import { type Billionths, type Nanos, plainUsd, toNanos } from "../../../console/api/amount.ts";
import {
  type Exact,
  FIGURE_FIELDS,
  isDollarFigure,
  MONEY_FIELDS,
  PLAIN_FIELDS,
  readExact,
  writeExact,
} from "../../../console/api/exact-json.ts";
import { type AppParts, routesOf } from "../../../src/http/app.ts";
import type { AttentionSchema } from "../../../src/http/attention/schemas.ts";
import type { LedgerSchema } from "../../../src/http/dashboard/ledger-schemas.ts";
import type { ExplainSchema, InfoSchema, LiveSchema } from "../../../src/http/dashboard/schemas.ts";
import type { Json } from "../../e2e/harness.ts";

/** Reads as in a browser whose revivers get no source of numbers. */
const withoutSource = (text: string): Json =>
  readExact(text, (json, reviver) => JSON.parse(json, (key, value) => reviver(key, value)));
const WAYS: readonly (readonly [string, (text: string) => Json])[] = [
  ["by the source of numbers", (text) => readExact(text)],
  ["by their shortest text", withoutSource],
];

describe.each(WAYS)("%s", (_, read) => {
  test.each([
    ["9007199.254740993", 9_007_199_254_740_993n],
    ["-9007199.254740993", -9_007_199_254_740_993n],
    ["1e-9", 1n],
    ["-1e-9", -1n],
    ["1.5e-8", 15n],
    ["0.1", 100_000_000n],
    ["0", 0n],
    ["-0", 0n],
    ["5", 5_000_000_000n],
  ])("%s USD", (text, amount) => {
    expect(read(`{"cost":${text}}`)).toEqual({ cost: amount });
    expect(read(`[{"windows":[{"limit":${text}}]}]`)).toEqual([{ windows: [{ limit: amount }] }]);
  });

  test("every amount below 8,388,608 USD is read as it was", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 23n) * 10n ** 9n, max: 2n ** 23n * 10n ** 9n }), (amount) => {
        // As the service writes it: a number, by its shortest text.
        const text = JSON.stringify({ balance: Number(plainUsd(amount)) });
        expect(read(text).balance).toBe(amount);
      }),
    );
  });

  test("a total is a count beside has_more, and money elsewhere", () => {
    expect(read('{"total":3,"page":1,"size":24,"has_more":false,"lines":[]}').total).toBe(3);
    expect(read('{"has_more":true,"total":3}').total).toBe(3);
    expect(read('{"balance":{"total":3,"held":0.5}}').balance).toEqual({
      total: 3_000_000_000n,
      held: 500_000_000n,
    });
    expect(read('{"total":{"cost_now":1,"cost_preview":null}}').total).toEqual({
      cost_now: 1_000_000_000n,
      cost_preview: null,
    });
  });

  test("names that an Owner chose are no amounts, wherever they stand", () => {
    const text =
      '{"LevelMapper":{"cost":2,"total":3},"configs":{"USER_MIN_BALANCE":0.5,"LEVEL_MAPPER":{"balance":1}},' +
      '"changes":{"LEVEL_MAPPER":{"before":{"sum":4},"after":{"sum":5}},"EMAIL_PORT":{"before":25,"after":587},' +
      '"USER_MIN_BALANCE":{"before":1e-9,"after":null}},"price":{"Sizes":{"amount":0.0000000000001}},"Config":{"cost":0.8}}';
    expect(read(text)).toEqual({
      LevelMapper: { cost: 2, total: 3 },
      configs: { USER_MIN_BALANCE: 500_000_000n, LEVEL_MAPPER: { balance: 1 } },
      changes: {
        LEVEL_MAPPER: { before: { sum: 4 }, after: { sum: 5 } },
        EMAIL_PORT: { before: 25, after: 587 },
        USER_MIN_BALANCE: { before: 1n, after: null },
      },
      price: { Sizes: { amount: 0.0000000000001 } },
      Config: { cost: 0.8 },
    });
  });

  test("a model may be called like a field, and like what every object has", () => {
    const text = '{"usage_summary":{"cost":{"cost":1},"__proto__":{"requests":2,"cost":3}}}';
    const { usage_summary } = read(text);
    expect(Object.entries(usage_summary)).toEqual([
      ["cost", { cost: 1_000_000_000n }],
      ["__proto__", { requests: 2, cost: 3_000_000_000n }],
    ]);
  });

  test("everything else is what it was", () => {
    const text = '{"requests":3,"name":"cost","cost":"0.5","ok":true,"none":null,"ms":0.25,"list":[1,"2"]}';
    expect(read(text)).toEqual(JSON.parse(text));
    expect(["1", '"cost"', "null", "[]"].map(read)).toEqual([1, "cost", null, []]);
  });

  test("what is no JSON is refused, and so is an amount with more than nine decimals", () => {
    expect(() => read("<html>")).toThrow(SyntaxError);
    expect(() => read('{"cost":0.0000000001234}')).toThrow(SyntaxError);
  });
});

test.each([
  ["8999999.999999998", 8_999_999_999_999_998n],
  ["8999999.999999999", 8_999_999_999_999_999n],
  ["900719925474099.123456789", 900_719_925_474_099_123_456_789n],
])("the source distinguishes %s from its neighbours, which are the same double", (text, amount) => {
  expect(readExact<{ minted: number }>(`{"minted":${text}}`).minted as bigint).toBe(amount);
});

describe("the body of a request", () => {
  test.each([
    [{ CreditGranted: toNanos(9_007_199_254_740_993n) }, '{"CreditGranted":9007199.254740993}'],
    [{ a: toNanos(1n), b: toNanos(-1n), c: toNanos(0n) }, '{"a":0.000000001,"b":-0.000000001,"c":0}'],
    [{ a: undefined, b: null, c: [1, undefined, "x"], d: {} }, '{"b":null,"c":[1,null,"x"],"d":{}}'],
    [{ 'a"b': "line\nbreak", ok: true }, '{"a\\"b":"line\\nbreak","ok":true}'],
    ["text", '"text"'],
  ])("%p", (body, text) => expect(writeExact(body)).toBe(text));

  test("is read again as it was written", () => {
    const amount = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
    fc.assert(
      fc.property(fc.record({ cost: amount, lines: fc.array(fc.record({ amount })) }), (body) => {
        expect(readExact<unknown>(writeExact(body))).toEqual(body);
      }),
    );
  });

  test("without amounts is what JSON has", () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => writeExact(body) === JSON.stringify(body)));
  });
});

test("types say what is read", () => {
  type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  const same = <A, B>(equal: Equal<A, B>): boolean => equal;
  type Ledger = Exact<Static<typeof LedgerSchema>>;
  type Explain = Exact<Static<typeof ExplainSchema>>;
  type Live = Exact<Static<typeof LiveSchema>>;
  type Info = Exact<Static<typeof InfoSchema>>;
  type Attention = Exact<Static<typeof AttentionSchema>>;
  const all = [
    same<Ledger["lines"][number]["amount"], Nanos>(true),
    same<Ledger["lines"][number]["prompt_tokens"], number | undefined>(true),
    same<Ledger["total"], number | null>(true),
    same<Ledger["sum"], Nanos | null | undefined>(true),
    same<Explain["limits"][number]["remaining"], Billionths>(true),
    same<NonNullable<Explain["request"]>["cost"], Nanos>(true),
    same<Live["windows"][number]["used"], Billionths>(true),
    same<Info["balance"]["total"], Nanos>(true),
    same<Info["user"]["factor"], number>(true),
    same<Attention["total"], number>(true),
    same<Attention["accounts"][number]["figure"], Billionths | null>(true),
  ];
  expect(all.every(Boolean)).toBe(true);
});

describe("the names of amounts", () => {
  /** A number of a schema: the field that has it, those above it, and what its description says. */
  interface Found {
    readonly where: string;
    readonly field: string;
    readonly above: readonly string[];
    readonly description: string;
    /** The object that has the field is paged. */
    readonly isPaged: boolean;
  }

  /** All numbers of a schema. Members of a list and of a map with free names have no name: the field above names them. */
  function numbersOf(schema: Json, where: string): Found[] {
    const found: Found[] = [];
    const walk = (one: Json, above: readonly string[], description: string, isPaged: boolean): void => {
      if (typeof one !== "object" || one === null) return;
      const said = one.description ?? description;
      if (one.type === "number" || one.type === "integer") {
        found.push({
          where,
          field: above.at(-1) ?? "",
          above: above.slice(0, -1),
          description: said,
          isPaged,
        });
      }
      for (const part of [...(one.anyOf ?? []), ...(one.allOf ?? [])]) walk(part, above, said, isPaged);
      const hasMore = one.properties?.has_more !== undefined;
      for (const [name, part] of Object.entries(one.properties ?? {}))
        walk(part, [...above, name], "", hasMore);
      // A number under a free name could be called like a field: it counts as a field of its own, `*`.
      for (const part of Object.values(one.patternProperties ?? {})) walk(part, [...above, "*"], "", false);
      if (typeof one.additionalProperties === "object") {
        walk(one.additionalProperties, [...above, "*"], said, false);
      }
      walk(one.items, [...above, "[]"], said, false);
    };
    walk(schema, [], "", false);
    return found;
  }

  const schemas = routesOf({} as AppParts).flatMap(({ method, path, hooks }) =>
    (["response", "body"] as const).flatMap((part): [string, TSchema][] => {
      const schema = hooks[part];
      return schema === undefined || path.startsWith("/v1/") !== path.startsWith("/v1/quote")
        ? []
        : [[`${method} ${path} ${part}`, schema]];
    }),
  );
  const numbers = schemas.flatMap(([where, schema]) => numbersOf(schema, where));
  const money = new Set<string>(MONEY_FIELDS);
  const figures = new Set<string>(FIGURE_FIELDS);
  const plain = new Set<string>(PLAIN_FIELDS);
  const isPlain = ({ above }: Found): boolean => above.some((name) => plain.has(name));
  const isDollars = ({ description }: Found): boolean => /US dollars/.test(description);
  const shown = (all: readonly Found[]): string[] =>
    [...new Set(all.map(({ field, above, where }) => `${where}: ${[...above, field].join(".")}`))].sort();

  test("are found in the schemas of answers and bodies", () => {
    expect(schemas.length).toBeGreaterThan(70);
    expect(numbers.filter(isDollars).length).toBeGreaterThan(100);
  });

  test("every number of US dollars is listed", () => {
    const wrong = numbers.filter(
      (one) => isDollars(one) && !isPlain(one) && !money.has(one.field) && !figures.has(one.field),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test("a listed number is nothing but US dollars", () => {
    const wrong = numbers.filter(
      (one) =>
        money.has(one.field) && !isPlain(one) && !isDollars(one) && !(one.field === "total" && one.isPaged),
    );
    expect(shown(wrong)).toEqual([]);
  });

  test("a number under a free name stands below a plain field", () => {
    expect(shown(numbers.filter((one) => one.field === "*" && !isPlain(one)))).toEqual([]);
  });

  test("below a plain field is no amount", () => {
    const wrong = numbers.filter((one) => isPlain(one) && money.has(one.field));
    expect(shown(wrong)).toEqual([]);
  });

  test("every listed name is one of a number, or of a value without a schema", () => {
    const settings = ["USER_MIN_BALANCE", "USER_API_BALANCE", "LEVEL_MAPPER", "SWITCH_OVER", "PRICING"];
    const used = new Set([
      ...numbers.map(({ field }) => field),
      ...numbers.flatMap(({ above }) => above),
      ...[...settings, "Config", "price"],
    ]);
    expect([...money, ...figures, ...plain].filter((name) => !used.has(name))).toEqual([]);
  });

  test("no name is listed twice", () => {
    const all = [...MONEY_FIELDS, ...FIGURE_FIELDS, ...PLAIN_FIELDS];
    expect(all.length).toBe(new Set(all).size);
  });

  test("figures are dollars by the name of their limit or the reason of their row", () => {
    expect(["balance", "hard_limit", "daily_limit", "low_balance", "expiring"].every(isDollarFigure)).toBe(
      true,
    );
    expect(["rpm", "tpd", "near_limit", "idle", "suspended"].some(isDollarFigure)).toBe(false);
  });
});
