// Virtual time passes with every wait that is set, however short it is.

import { expect, test } from "bun:test";
import { createTimeline } from "./clock.ts";

test.each([
  ["none", 0, false],
  ["what is left of a wait after rounding", 1e-14, true],
  ["a thousandth of a microsecond", 1e-6, true],
])("a wait of %s", (_what, ms, passes) => {
  const time = createTimeline();
  const clock = time.process();
  time.run(8_203);
  const before = clock.mono();
  const passed: boolean[] = [];
  clock.after(ms, () => passed.push(clock.mono() > before));
  time.run(8_204);
  expect(passed).toEqual([passes]);
});
