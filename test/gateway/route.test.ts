// Routing as a table: each step in its order with its trace, each refusal, and whose word counts for what.

import { describe, expect, test } from "bun:test";
import { NO_LIMITS, type Profile } from "../../actors/account/state.ts";
import { type AccountId, ancestorsOf, type KeyId, ownerOf } from "../../actors/ids.ts";
import type { LevelView } from "../../actors/level/view.ts";
import { type OwnerConfig, owner } from "../../actors/owner/owner.ts";
import { priceTable } from "../../actors/price-table.ts";
import type { Lineage, ProfileCopy } from "../../src/gateway/replicas.ts";
import { type NoRoute, type Route, route } from "../../src/gateway/route.ts";
import { profileOf } from "../actors/account-samples.ts";

const DEFAULTS = owner.empty("2").config;
const CHAT = "/v1/chat/completions";

const viewOf = (level: number, ...states: ("normal" | "disabled")[]): LevelView => ({
  id: `2.${level}`,
  version: 1,
  members: 1,
  health: [],
  switchedUntil: 0,
  keys: states.map((state, i) => ({
    id: (i + 1) as KeyId,
    level,
    provider: "https://api.example.com/v1",
    secret: { keyId: "k", box: "" },
    config: {},
    state,
  })),
});

interface Given {
  readonly path?: string;
  readonly model?: string;
  /** The account, then its ancestors up to the Owner. */
  readonly chain?: readonly Partial<Profile>[];
  readonly config?: Partial<OwnerConfig>;
  readonly levels?: readonly LevelView[];
}

function routed({
  path = CHAT,
  model = "gpt-4o",
  chain = [{}],
  config = {},
  levels = [viewOf(0, "normal")],
}: Given) {
  const copies = chain.map((over): ProfileCopy => {
    const profile = profileOf(over);
    return { profile, version: 1, closing: false, above: ancestorsOf(profile.dna), owner: ownerOf(profile) };
  });
  const full = { ...DEFAULTS, version: 7, ...config };
  const lineage: Lineage = {
    account: copies[0]!,
    ancestors: copies.slice(1),
    owner: 2 as AccountId,
    config: { config: full, prices: priceTable(full.pricing) },
  };
  return route({ path, model, lineage, level: (level) => levels.find(({ id }) => id === `2.${level}`) });
}

const found = (given: Given): Route => {
  const result = routed(given);
  if (result.ok !== true) throw new Error(JSON.stringify(result));
  return result;
};
const refusedWith = (given: Given): NoRoute["refusal"] => {
  const result = routed(given);
  if (result.ok !== false) throw new Error("not refused");
  return result.refusal;
};

describe("a route", () => {
  test("tells each step, with the rule that decided it", () => {
    const result = found({
      model: "mine",
      chain: [
        { modelMapper: { mine: "ours" }, modelLimits: { "gpt-4o": { rpm: 5 } }, factor: 2, rates: 1 },
        { rates: 3 },
      ],
      config: { modelMapper: { "ou*": "gpt-4o" }, levelMapper: { "gpt-*": 4 } },
      levels: [viewOf(4, "disabled", "normal")],
    });
    expect(result.steps).toEqual([
      { step: "user_mapper", in: "mine", out: "ours", rule: "mine=ours" },
      { step: "owner_mapper", in: "ours", out: "gpt-4o", rule: "ou*=gpt-4o" },
      { step: "allow_models", in: "gpt-4o", out: "allowed" },
      { step: "level", in: "gpt-4o", out: "4", rule: "gpt-*=4" },
      { step: "allow_levels", in: "4", out: "allowed" },
      { step: "price", in: "gpt-4o", out: "ChatPricing/gpt-4o" },
      { step: "limits", in: "gpt-4o", out: JSON.stringify({ ...NO_LIMITS, rpm: 5 }) },
    ]);
    expect(result).toMatchObject({
      model: "gpt-4o",
      level: 4,
      priceVersion: 7,
      multipliers: { rates: 3, factor: 2 },
      modelLimits: { ...NO_LIMITS, rpm: 5 },
    });
  });

  test("asks for a Level's view that is not at hand", () => {
    expect(routed({ levels: [] })).toEqual({ ok: "needs_level", level: 0 });
    expect(routed({ config: { levelMapper: { "*": -2 } } })).toEqual({ ok: "needs_level", level: -2 });
  });

  test("maps once per mapper: no loops, and the account's before the Owner's", () => {
    const loop = { a: "b", b: "a" };
    const config = { pricing: { ChatPricing: { "*": { InputText: 1 } } } };
    expect(found({ model: "a", chain: [{ modelMapper: loop }], config }).model).toBe("b");
    expect(
      found({ model: "a", chain: [{ modelMapper: loop }], config: { ...config, modelMapper: loop } }).model,
    ).toBe("a");
    const both = {
      chain: [{ modelMapper: { a: "x" } }],
      config: { ...config, modelMapper: { a: "y", x: "z" } },
    };
    expect(found({ model: "a", ...both }).model).toBe("z");
  });

  /** Contract section 4: the account's own mapper, then the Owner's, then the account's own Level. */
  test.each([
    ["the account's LevelMapper goes first", { levelMapper: { "gpt*": 1 }, level: 3 }, { "gpt-4o": 2 }, 1],
    ["then the Owner's", { level: 3 }, { "*": 2 }, 2],
    ["then the account's own Level", { level: 3 }, { "claude*": 2 }, 3],
    ["inside a mapper the exact pattern goes first", {}, { "*": 1, "gpt-*": 2, "gpt-4o": 3 }, 3],
    ["then the longest literal part", {}, { "*": 1, "gpt-*": 2 }, 2],
  ])("%s", (_rule, profile, levelMapper, level) => {
    const levels = [1, 2, 3].map((each) => viewOf(each, "normal"));
    expect(found({ chain: [profile], config: { levelMapper }, levels }).level).toBe(level);
  });

  test.each([
    ["nobody limits", {}, {}, null],
    ["the Owner's limits hold", {}, { "*": { rpm: 5, tpd: 7 } }, { rpm: 5, tpd: 7 }],
    [
      "the account's own go before, field by field",
      { "*": { rpm: 9 } },
      { "*": { rpm: 5, tpd: 7 } },
      { rpm: 9, tpd: 7 },
    ],
    ["a 0 of the account's own lifts the Owner's", { "gpt-4o": { rpm: 0 } }, { "*": { rpm: 5 } }, {}],
    ["the most fitting pattern speaks", {}, { "*": { rpm: 1 }, "gpt-*": { rph: 2 } }, { rph: 2 }],
    ["limits of other models do not matter", { "claude*": { rpm: 1 } }, {}, null],
  ])("model limits: %s", (_rule, modelLimits, ofOwner, expected) => {
    const { modelLimits: limits } = found({ chain: [{ modelLimits }], config: { modelLimits: ofOwner } });
    expect(limits).toEqual(expected === null ? null : { ...NO_LIMITS, ...expected });
  });

  test.each([
    [[1, 1, 1], 1],
    [[1, 3, 2], 3],
    [[4, 3, 2], 4],
  ])("effective Rates are the highest of the account's and its ancestors': %p", (rates, highest) => {
    expect(found({ chain: rates.map((each) => ({ rates: each })) }).multipliers.rates).toBe(highest);
  });
});

describe("a refusal", () => {
  const OTHER = { resources: ["/v1/embeddings"] };

  test.each([
    ["path", { chain: [OTHER] }, "path_not_allowed"],
    ["path, by an ancestor", { chain: [{}, {}, OTHER] }, "path_not_allowed"],
    ["path, by the Owner's RESOURCES", { config: OTHER }, "path_not_allowed"],
    ["model", { chain: [{ allowModels: ["claude*"] }] }, "model_not_allowed"],
    [
      "model, by an ancestor",
      { chain: [{ allowModels: ["*"] }, { allowModels: ["claude*"] }] },
      "model_not_allowed",
    ],
    ["no Level", { levels: [viewOf(0)] }, "model_not_found"],
    [
      "no Level, though the mapper names one",
      { config: { levelMapper: { "*": 9 } }, levels: [viewOf(9)] },
      "model_not_found",
    ],
    ["Level", { chain: [{ allowLevels: [1, 2] }] }, "level_not_allowed"],
    ["Level, by an ancestor", { chain: [{ allowLevels: [0] }, { allowLevels: [1] }] }, "level_not_allowed"],
    ["no price", { model: "nobody-knows-it" }, "model_not_priced"],
  ])("%s", (_what, given: Given, code) => {
    expect(refusedWith(given).code).toBe(code);
  });

  test("comes in the contract's order: path, model, Level, price", () => {
    const spoilt: Given[] = [
      { model: "nobody-knows-it" },
      { chain: [{ allowLevels: [1] }] },
      { levels: [viewOf(0)] },
      { chain: [{ allowLevels: [1], allowModels: ["x"] }] },
      { chain: [{ allowLevels: [1], allowModels: ["x"], ...OTHER }] },
    ];
    const codes = [
      "model_not_priced",
      "level_not_allowed",
      "model_not_found",
      "model_not_allowed",
      "path_not_allowed",
    ];
    for (let i = 0; i < spoilt.length; i++) {
      expect(refusedWith(Object.assign({}, ...spoilt.slice(0, i + 1))).code).toBe(codes[i]!);
    }
  });

  test("AllowModels is about the model after mapping", () => {
    const chain = [{ modelMapper: { mine: "gpt-4o" }, allowModels: ["gpt-*"] }];
    expect(found({ model: "mine", chain }).model).toBe("gpt-4o");
    expect(
      refusedWith({ model: "gpt-9", chain: [{ modelMapper: { "gpt-9": "o1" }, allowModels: ["gpt-*"] }] })
        .code,
    ).toBe("model_not_allowed");
  });

  test("is none of routing's when a Level's keys are all disabled: another one may stand in for it", () => {
    expect(found({ levels: [viewOf(0, "disabled", "disabled")] }).level).toBe(0);
  });

  test("says whose list it was, in the trace, and stops there", () => {
    const own = routed({
      chain: [{ id: 7 as AccountId, allowModels: ["x"] }, { id: 2 as AccountId }],
    }) as NoRoute;
    expect(own.steps.at(-1)).toEqual({
      step: "allow_models",
      in: "gpt-4o",
      out: "refused",
      note: "by this account's list",
    });
    const above = routed({
      chain: [{ id: 7 as AccountId }, { id: 2 as AccountId, allowLevels: [9] }],
    }) as NoRoute;
    expect(above.steps.at(-1)).toEqual({
      step: "allow_levels",
      in: "0",
      out: "refused",
      note: "by an ancestor's list",
    });
  });

  test("for want of a price shows the PRICING line that would set it", () => {
    const model = 'odd "name"';
    const { message } = refusedWith({ model });
    const line = message.slice(message.indexOf("{"), message.lastIndexOf("}}}}") + 4);
    const { PRICING } = JSON.parse(line);
    expect(found({ model, config: { pricing: PRICING } }).priced.name).toBe(model);
  });

  test('a price for "*" opens every model', () => {
    const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 2 } } };
    expect(found({ model: "nobody-knows-it", config: { pricing } }).priced.name).toBe("*");
  });
});
