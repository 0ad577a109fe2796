// Contexts of accounts that route every model alike have one scope, so that one route serves them all, and no others do.

import { describe, expect, test } from "bun:test";
import type { Profile } from "../../../actors/account/state.ts";
import { type AccountId, ancestorsOf, ownerOf } from "../../../actors/ids.ts";
import { DEFAULT_CONFIG, type OwnerConfig } from "../../../actors/owner/config.ts";
import { priceTable } from "../../../actors/pricing/price-table.ts";
import { type AccountContext, AccountContexts } from "../../../src/gateway/account/account-context.ts";
import { findEndpoint } from "../../../src/gateway/endpoints.ts";
import { route } from "../../../src/gateway/routing/route.ts";
import { profileOf } from "../../actors/account-samples.ts";
import { viewOf } from "../level-samples.ts";

const CONFIG: OwnerConfig = {
  ...DEFAULT_CONFIG,
  version: 1,
  pricing: { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } },
  levelMapper: { "fast-*": 2 },
} as OwnerConfig;

const copyOf = (over: Partial<Profile>) => {
  const profile = profileOf(over);
  return { profile, version: 1, closing: false, above: ancestorsOf(profile.dna), owner: ownerOf(profile) };
};

/** Makes contexts of accounts below one parent. */
function rig() {
  const contexts = new AccountContexts();
  let last = 100;
  const owner = copyOf({ id: 2 as AccountId, parent: 1 as AccountId, dna: ".1." });
  const kept = { config: CONFIG, prices: priceTable(CONFIG.pricing) };
  const root = { config: DEFAULT_CONFIG, prices: priceTable(null) };
  const below = {
    ancestors: [owner],
    config: kept,
    root,
  };
  const contextOf = (over: Partial<Profile> = {}, parts: Partial<typeof below> = {}): AccountContext => {
    const { ancestors, config, root } = { ...below, ...parts };
    return contexts.of(copyOf({ id: ++last as AccountId, ...over }), ancestors, config, root);
  };
  return { contextOf, owner, kept, root };
}

const OWN: readonly Partial<Profile>[] = [
  { level: 3 },
  { factor: 2 },
  { rates: 2 },
  { allowModels: ["fast-*"] },
  { allowLevels: [0] },
  { resources: ["/v1/chat/completions"] },
  { levelMapper: { "*": 1 } },
  { modelMapper: { a: "b" } },
  { modelLimits: { "*": { rpm: 1 } } },
  { stamps: { modelMapper: { a: { owner: 2 as AccountId, config: 1, root: 1 } }, modelLimits: {} } },
];

describe("the scope of a context", () => {
  test("is that of its siblings, whatever does not decide about routes", () => {
    const { contextOf } = rig();
    const { scope } = contextOf();
    expect(
      contextOf({ gear: 7, tier: 2, role: 3, allowIps: ["10.0.0.1"], limits: { rpm: 3 } as never }).scope,
    ).toBe(scope);
    expect(contextOf({ level: 4 }).scope).toBe(contextOf({ level: 4 }).scope);
    expect(contextOf({ stamps: { modelMapper: {}, modelLimits: {} } }).scope).toBe(scope);
  });

  test.each(OWN)("is another where %p is an account's own", (own) => {
    const { contextOf } = rig();
    const plain = contextOf().scope;
    const other = contextOf(own).scope;
    expect(other).not.toBe(plain);
    expect(contextOf().scope).toBe(plain);
    const isByNumbers = ["level", "factor", "rates"].some((name) => name in own);
    if (isByNumbers) expect(contextOf(own).scope).toBe(other);
    else expect(contextOf(own).scope).not.toBe(other);
  });

  test("is another when an ancestor, the Owner's configuration or Root's has changed, and then again shared", () => {
    const { contextOf, owner, kept, root } = rig();
    const before = contextOf().scope;
    const changes = [
      { ancestors: [{ ...owner, profile: profileOf({ ...owner.profile, allowModels: ["a"] }), version: 2 }] },
      { ancestors: [{ ...owner, version: 2 }] },
      { config: { ...kept, config: { ...CONFIG, version: 2 } } },
      { config: { ...kept, prices: priceTable(null) } },
      { root: { ...root, config: { ...DEFAULT_CONFIG, version: 2 } } },
      { ancestors: [copyOf({ id: 9 as AccountId, dna: ".1.2." }), owner] },
    ];
    for (const change of changes) {
      const after = contextOf({}, change).scope;
      expect(after).not.toBe(before);
      expect(contextOf({}, change).scope).toBe(after);
      expect(contextOf().scope).toBe(before);
    }
  });

  test("is kept for a number of kinds of siblings", () => {
    const { contextOf } = rig();
    const first = contextOf({ level: 0 }).scope;
    for (let level = 1; level < 16; level++) contextOf({ level });
    expect(contextOf({ level: 0 }).scope).toBe(first);
    contextOf({ level: 16 });
    expect(contextOf({ level: 0 }).scope).not.toBe(first);
  });

  test("is another for an Owner than for the accounts below it", () => {
    const { contextOf } = rig();
    const ofOwner = contextOf({ id: 2 as AccountId, parent: 1 as AccountId, dna: ".1." }, { ancestors: [] });
    expect(contextOf().scope).not.toBe(ofOwner.scope);
  });

  test("stands for the same routes of every model", () => {
    const { contextOf, kept } = rig();
    const routesOf = (accountContext: AccountContext) =>
      ["a", "fast-1", "b"].map((model) => {
        const { meter, path } = findEndpoint("/v1/chat/completions");
        return route({ path, meter, model, accountContext, level: (level) => viewOf(level, [1]) });
      });
    const config = { ...kept, config: { ...CONFIG, modelMapper: { b: "fast-2" } } };
    const contexts = [{}, { gear: 2 }, { level: 1 }, { factor: 3 }, { rates: 2 }, {}, { level: 1 }].map(
      (own) => contextOf(own, { config }),
    );
    for (const one of contexts) {
      for (const other of contexts.filter(({ scope }) => scope === one.scope)) {
        expect(routesOf(other)).toEqual(routesOf(one));
      }
    }
    expect(new Set(contexts.map(({ scope }) => scope)).size).toBe(4);
  });
});
