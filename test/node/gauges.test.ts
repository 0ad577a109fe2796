// The gauges of a node: every figure from the start on, each from where it is known.

import { expect, test } from "bun:test";
import { createGauges, watermarkAge } from "../../src/node/gauges.ts";
import { manualClock } from "../runtime/manual-clock.ts";

test("a figure is zero until it is set, and then what was set", () => {
  const figures = createGauges();
  let late = 3;
  figures.register("lateCharges", () => late);
  expect(figures.all()).toMatchObject({ lateCharges: 3, claimsSwept: 0, tableVersion: 0 });
  late = 4;
  expect(figures.all().lateCharges).toBe(4);
});

test("the watermark's age counts from the newest one, and from the start before there is one", async () => {
  const clock = manualClock();
  const age = watermarkAge(clock);
  await clock.advance(5_000);
  expect(age.ms()).toBe(5_000);
  age.saved(clock.wall() - 1_000);
  expect(age.ms()).toBe(1_000);
  age.saved(clock.wall() - 3_000);
  expect(age.ms()).toBe(1_000);
});
