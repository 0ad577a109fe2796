// Listing models takes its time in slices: however long a name takes, others have their turn.

import { expect, test } from "bun:test";
import { MODELS } from "../../../actors/catalog/catalog.ts";
import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { ConfigCache } from "../../../src/gateway/account/config-cache.ts";
import { callableModels } from "../../../src/gateway/routing/callable-models.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { ANYWHERE } from "../request-samples.ts";

const VIEW: LevelView = {
  id: "2.0",
  version: 1,
  members: 1,
  keys: [
    {
      id: 1 as ProviderKeyId,
      level: 0,
      provider: "https://api.example.com/v1",
      secret: { keyId: "k", box: "" },
      config: {},
      state: "normal",
    },
  ],
  health: [],
  switchedUntil: 0,
};

const ACCOUNT_CONTEXT = accountContextOf();

/** Looking at a Level takes so long; every turn given away is noted with the time since the last one. */
function slow(lookMs: number) {
  let now = 0;
  let since = 0;
  const stretches: number[] = [];
  const clock: Clock = {
    wall: () => now,
    mono: () => now,
    after(_ms, fn) {
      stretches.push(now - since);
      since = now;
      queueMicrotask(fn);
      return () => {};
    },
    endOfTurn: queueMicrotask,
  };
  const configs = {
    accountContext: () => ACCOUNT_CONTEXT,
    level() {
      now += lookMs;
      return VIEW;
    },
  } as unknown as ConfigCache;
  return { parts: { clock, configs, upstream: ANYWHERE }, stretches };
}

test("slow names one by one, quick ones many at a time, and never more than a moment without a turn", async () => {
  const names: number[] = [];
  for (const lookMs of [5, 0.3]) {
    const { parts, stretches } = slow(lookMs);
    names.push((await callableModels(parts, 3 as AccountId)).length);
    expect(stretches.length).toBeGreaterThan(10);
    expect(Math.max(...stretches)).toBeLessThanOrEqual(2 + 2 * lookMs);
  }
  expect(names[0]).toBe(names[1]!);
  expect(names[0]).toBeWithin(50, MODELS.size + 1);
});

test("nothing is given away where it takes no time", async () => {
  const { parts, stretches } = slow(0);
  await callableModels(parts, 3 as AccountId);
  expect(stretches).toEqual([]);
});
