// The maps of an account as routing asks them: the same answers as one merged map would give, at the cost of the account's
// own words alone.

import { expect, test } from "bun:test";
import { type AncestorConfigs, effectiveMap, type MapSource } from "../../../actors/account/map-overrides.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { addCascade, type Cascade, NO_CASCADE } from "../../../actors/owner/cascade.ts";
import { DEFAULT_CONFIG } from "../../../actors/owner/config.ts";
import { pick } from "../../../actors/pattern.ts";
import { effectiveMaps } from "../../../src/gateway/account/effective-maps.ts";
import { simRandom } from "../../sim/random.ts";

const OWNER = 2 as AccountId;
const NAMES = ["gpt", "gpt-4", "gpt-4o", "gpt-4o-mini", "o-4", "constructor", "*"];
const PATTERNS = [...NAMES, "g*", "gpt-*", "*-4o", "*4o*", "gpt*o", "*o", "-*", "gpt-4*"];

const mapped = (given: Partial<MapSource>): MapSource => ({
  ...{ id: 7 as AccountId, parent: OWNER, dna: ".1.2.", modelMapper: {}, modelLimits: {} },
  ...given,
});
const above = (owner: Cascade<string>, root: Cascade<string>, version = 10): AncestorConfigs => {
  const laying = (modelMapper: Cascade<string>) => ({
    version,
    cascades: { ...DEFAULT_CONFIG.cascades, modelMapper },
  });
  return { owner: laying(owner), root: laying(root) };
};

test("finds and shows what one merged map would, whichever account set what when", () => {
  const random = simRandom(11);
  const cascade = (): Cascade<string> => {
    let made: Cascade<string> = NO_CASCADE;
    for (let at = random.below(4); at < 9; at += random.between(1, 5)) {
      const changes = Array.from({ length: random.below(6) }, () => ({
        pattern: random.pick(PATTERNS),
        value: random.pick([null, `laid-${at}`]),
      }));
      made = addCascade(made, { clear: random.chance(0.1), changes }, { at, root: random.below(9) });
    }
    return made;
  };
  for (let i = 0; i < 2_000; i++) {
    const some = () => PATTERNS.filter(() => random.chance(0.2));
    const seen = () => ({ owner: OWNER, config: random.below(9), root: random.below(9) });
    const profile = mapped({
      parent: random.pick([OWNER, 1 as AccountId]),
      modelMapper: Object.fromEntries(some().map((pattern) => [pattern, "own"])),
      stamps: { modelMapper: Object.fromEntries(some().map((one) => [one, seen()])), modelLimits: {} },
    });
    const configs = above(cascade(), cascade());
    const merged = effectiveMap(profile, configs, "modelMapper");
    const { modelMapper } = effectiveMaps(profile, configs);
    expect(modelMapper.all()).toEqual(
      Object.fromEntries(Object.entries(merged).map(([pattern, { value }]) => [pattern, value])),
    );
    for (const name of NAMES) {
      const hit = pick(merged, name);
      expect(modelMapper.find(name)).toEqual(hit && { pattern: hit.pattern, ...hit.value });
    }
  }
});

test("costs an account its own words, however much lies on it", () => {
  const changes = Array.from({ length: 1_000 }, (_, i) => ({ pattern: `laid-${i}*`, value: "model" }));
  const cascade = addCascade<string>(NO_CASCADE, { clear: false, changes }, { at: 1, root: 1 });
  let looks = 0;
  const entries = new Proxy(cascade.entries, {
    get: (target, pattern: string) => {
      looks++;
      return target[pattern];
    },
  });
  const configs = above({ ...cascade, entries }, NO_CASCADE);
  effectiveMaps(mapped({}), configs);
  expect(looks).toBeGreaterThanOrEqual(1_000);
  looks = 0;
  const stamps = { modelMapper: { own: { owner: OWNER, config: 2, root: 0 } }, modelLimits: {} };
  const { modelMapper } = effectiveMaps(mapped({ modelMapper: { own: "x" }, stamps }), configs);
  expect([modelMapper.find("own")?.value, modelMapper.find("laid-7-a")?.value]).toEqual(["x", "model"]);
  expect(looks).toBeLessThan(10);
});
