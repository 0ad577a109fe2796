// Routing as a table: each step in its order with its trace, each refusal, and whose word counts for what.

import { describe, expect, test } from "bun:test";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { addCascade, type Cascade, NO_CASCADE } from "../../../actors/owner/cascade.ts";
import type { OwnerConfig } from "../../../actors/owner/config.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import type { MeterKind } from "../../../src/gateway/metering/meter-kinds.ts";
import { type NoRoute, type Route, route } from "../../../src/gateway/routing/route.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { CHAT } from "../request-samples.ts";

const viewOf = (level: number, ...states: ("normal" | "disabled")[]): LevelView => ({
  id: `2.${level}`,
  version: 1,
  members: 1,
  health: [],
  switchedUntil: 0,
  keys: states.map((state, i) => ({
    id: (i + 1) as ProviderKeyId,
    level,
    provider: "https://api.example.com/v1",
    secret: { keyId: "k", box: "" },
    config: {},
    state,
  })),
});

interface Given {
  readonly path?: string;
  readonly meter?: MeterKind;
  readonly model?: string;
  /** The account, then its ancestors up to the Owner. */
  readonly chain?: readonly Partial<Profile>[];
  readonly config?: Partial<OwnerConfig>;
  readonly root?: Partial<OwnerConfig>;
  readonly levels?: readonly LevelView[];
}

function routed({
  path = CHAT.path,
  meter = CHAT.meter,
  model = "gpt-4o",
  chain = [{}],
  config = {},
  root = {},
  levels = [viewOf(0, "normal")],
}: Given) {
  const accountContext = accountContextOf({ chain, root, config: { version: 7, ...config } });
  return route({
    path,
    meter,
    model,
    accountContext,
    level: (level) => levels.find(({ id }) => id === `2.${level}`),
  });
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
  test("lists each step, with the rule that decided it", () => {
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

/** A configuration that lays one entry of a map on everybody below. */
const laying = (edits: { mapper?: [string, string]; limits?: [string, Partial<RateLimits>] }) => {
  const one = <T>(entry: [string, T] | undefined): Cascade<T> => {
    if (entry === undefined) return NO_CASCADE;
    const [pattern, value] = entry;
    return addCascade(NO_CASCADE, { clear: false, changes: [{ pattern, value }] }, { at: 1, root: 1 });
  };
  return { version: 1, cascades: { modelMapper: one(edits.mapper), modelLimits: one(edits.limits) } };
};

describe("a cascade", () => {
  test("of the Owner maps in step 1, as the trace says, and the Owner's own map is passed over then", () => {
    const config = { ...laying({ mapper: ["mine", "gpt-4o"] }), modelMapper: { "gpt-4o": "gpt-4o-mini" } };
    expect(found({ model: "mine", config }).steps.slice(0, 2)).toEqual([
      { step: "user_mapper", in: "mine", out: "gpt-4o", rule: "mine=gpt-4o", note: "laid by the Owner" },
      {
        step: "owner_mapper",
        in: "gpt-4o",
        out: "gpt-4o",
        note: "passed over: a cascade has named the model",
      },
    ]);
  });

  test("of Root likewise", () => {
    const root = laying({ mapper: ["mine", "gpt-4o"] });
    const { model, steps } = found({
      model: "mine",
      root,
      config: { modelMapper: { "gpt-4o": "gpt-4o-mini" } },
    });
    expect([model, steps[0]?.note, steps[1]?.rule]).toEqual(["gpt-4o", "laid by Root", undefined]);
  });

  test("does not keep the Owner's own map from names that it did not produce", () => {
    const config = { ...laying({ mapper: ["other", "gpt-4o"] }), modelMapper: { mine: "gpt-4o-mini" } };
    expect(found({ model: "mine", config }).model).toBe("gpt-4o-mini");
  });

  test("and the account's own entries are one map: the exact pattern goes first, whichever account set it", () => {
    const config = laying({ mapper: ["my*", "gpt-4o-mini"] });
    const chain = [{ modelMapper: { mine: "gpt-4o" } }];
    expect(found({ model: "mine", config, chain }).model).toBe("gpt-4o");
    expect(found({ model: "myself", config, chain }).model).toBe("gpt-4o-mini");
  });

  test("does not lie on the Owner itself, whose own map maps in step 2; Root's does", () => {
    const chain = [{ id: 2 as AccountId, parent: 1 as AccountId, dna: ".1." }];
    const config = { ...laying({ mapper: ["mine", "gpt-4o"] }), modelMapper: { mine: "gpt-4o-mini" } };
    expect(found({ model: "mine", chain, config }).model).toBe("gpt-4o-mini");
    const root = laying({ mapper: ["mine", "gpt-4.1"] });
    expect(found({ model: "mine", chain, config, root }).model).toBe("gpt-4.1");
  });

  // biome-ignore format: a table
  test.each<[string, Given, Partial<RateLimits>]>([
    ["what the Owner has laid on the account goes before its MODEL_LIMITS, figure by figure", { config: { ...laying({ limits: ["gpt-4o", { rpm: 1 }] }), modelLimits: { "gpt-4o": { rpm: 3, rph: 4 } } } }, { rpm: 1, rph: 4 }],
    ["what Root has laid on it likewise", { root: laying({ limits: ["gpt-4o", { rpm: 1 }] }), config: { modelLimits: { "gpt-4o": { rpm: 3, rph: 4 } } } }, { rpm: 1, rph: 4 }],
    ["an older own entry gives way as a whole", { chain: [{ modelLimits: { "gpt-4o": { tpm: 2 } } }], config: laying({ limits: ["gpt-4o", { rpm: 1 }] }) }, { rpm: 1 }],
    ["the limits are those of the model that it was mapped to", { model: "mine", config: { ...laying({ mapper: ["mine", "gpt-4o"], limits: ["gpt-4o", { rpm: 1 }] }), modelLimits: { mine: { rph: 2 } } } }, { rpm: 1 }],
  ])("of limits: %s", (_rule, given, limits) => {
    expect(found(given).modelLimits).toEqual({ ...NO_LIMITS, ...limits });
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
    expect(refusedWith(given).code).toBe<string>(code);
  });

  test("names the Level without a key, and what leads there", () => {
    expect(refusedWith({ levels: [viewOf(0)] }).message).toBe(
      "No Level serves the model gpt-4o. Map it in LEVEL_MAPPER, or add a provider key to Level 0.",
    );
    const config = { levelMapper: { "gpt-*": 9 } };
    expect(refusedWith({ config, levels: [viewOf(9)] }).message).toBe(
      "No Level serves the model gpt-4o: gpt-*=9 leads it to Level 9, which has no provider key. Add one there, or map the model to another Level.",
    );
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
      expect(refusedWith(Object.assign({}, ...spoilt.slice(0, i + 1))).code).toBe<string>(codes[i]!);
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
