// Reading a view: may this key be used for this model now, and if not, why and until when?

import { describe, expect, test } from "bun:test";
import { type KeyHealth, type LevelKey, usability } from "../../../actors/level/view.ts";
import { keyId, NOON } from "../level-samples.ts";

const KEY: LevelKey = {
  id: keyId(1),
  level: 4,
  provider: "https://api.example.com/v1",
  secret: { keyId: "k", box: "" },
  config: {},
  state: "normal",
};
const healthOf = (over: Partial<KeyHealth>): KeyHealth => ({
  key: keyId(1),
  failures: 0,
  sleepTimes: 0,
  sleepsUntil: 0,
  restsUntil: 0,
  reason: "why",
  waking: false,
  passedOver: [],
  ...over,
});
const LATER = NOON + 1;
const passedOver = (model: string, until = LATER) => ({ passedOver: [{ model, until }] });
const EVERYTHING = { sleepsUntil: LATER, restsUntil: LATER + 1, waking: true, ...passedOver("m") };

describe("a key", () => {
  test("without health is normal", () => {
    expect(usability(KEY, undefined, "m", NOON)).toEqual({ state: "normal" });
  });

  test.each<[string, Partial<KeyHealth>, ReturnType<typeof usability>]>([
    ["with failures alone is normal", { failures: 2, sleepTimes: 3 }, { state: "normal" }],
    [
      "sleeps before its deadline",
      { sleepsUntil: LATER, waking: true },
      { state: "sleeping", until: LATER, reason: "why" },
    ],
    ["wakes at its deadline", { sleepsUntil: NOON, waking: true }, { state: "waking" }],
    ["rests before its deadline", { restsUntil: LATER }, { state: "resting", until: LATER, reason: "why" }],
    ["has rested at its deadline", { restsUntil: NOON }, { state: "normal" }],
    [
      "rests although it is waking",
      { restsUntil: LATER, waking: true },
      { state: "resting", until: LATER, reason: "why" },
    ],
    [
      "is passed over for the model it lacks",
      passedOver("m"),
      { state: "passed_over", until: LATER, reason: "model_unavailable" },
    ],
    ["is not passed over for another model", passedOver("other"), { state: "normal" }],
    ["is tried for that model again at the deadline", passedOver("m", NOON), { state: "normal" }],
    ["sleeps before all else", EVERYTHING, { state: "sleeping", until: LATER, reason: "why" }],
    [
      "rests before it is passed over",
      { ...EVERYTHING, sleepsUntil: 0 },
      { state: "resting", until: LATER + 1, reason: "why" },
    ],
    [
      "is passed over before it is probed",
      { waking: true, ...passedOver("m") },
      { state: "passed_over", until: LATER, reason: "model_unavailable" },
    ],
  ])("%s", (_what, health, expected) => {
    expect(usability(KEY, healthOf(health), "m", NOON)).toEqual(expected);
  });

  test("that is disabled is so whatever its health, until somebody enables it", () => {
    const disabled: LevelKey = { ...KEY, state: "disabled" };
    for (const health of [undefined, healthOf(EVERYTHING)]) {
      expect(usability(disabled, health, "m", NOON)).toEqual({
        state: "disabled",
        until: 0,
        reason: "Status is false",
      });
    }
  });
});
