// How soon the console shows something. This is the one test that judges elapsed time, because it is a promise to people who look at
// the page; a median of five and a second trial make it a judgement of the page and not of a busy machine. Sizes of files are
// tested with the build.

import { expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { firstContentfulPaints, medianOf } from "./states.ts";
import { sharedWorld } from "./world.ts";

const FIRST_PAINT_MS_MAX = 1_000;
const TRIALS = 2;

inBrowser("how soon Home shows something", () => {
  test("the median of five first contentful paints of Home is at most a second", async () => {
    const world = await sharedWorld();
    // The service is warm afterwards.
    await firstContentfulPaints(world, "leaf", "/console", 1);
    const medians: number[] = [];
    while (medians.length < TRIALS && !medians.some((median) => median <= FIRST_PAINT_MS_MAX)) {
      medians.push(medianOf(await firstContentfulPaints(world, "leaf", "/console", 5)));
    }
    console.log(`first contentful paint of Home, medians of five: ${medians.map(Math.round).join(", ")} ms`);
    expect(Math.min(...medians)).toBeLessThanOrEqual(FIRST_PAINT_MS_MAX);
  });
});
