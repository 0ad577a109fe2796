// How soon the console shows something. This is the one test that judges elapsed time, because it is a promise to people who look at
// the page; a median of five and a second trial make it a judgement of the page and not of a busy machine. Sizes of files are
// tested with the build.

import { expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { openVisitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const FIRST_PAINT_MS_MAX = 1_000;
const TRIALS = 2;
const SAMPLES = 5;

/** Opens Home in a new profile, whose cache is empty; returns the milliseconds until its first text or picture. */
async function firstContentfulPaint(world: World): Promise<number> {
  const visitor = await openVisitor(world, "leaf");
  await visitor.goto("/console", "Home");
  const paint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  const ms = await visitor.page.evaluate(paint);
  await visitor.close();
  return ms ?? Number.POSITIVE_INFINITY;
}

/** The middle one of `SAMPLES` paints. */
async function medianPaint(world: World): Promise<number> {
  const paints: number[] = [];
  while (paints.length < SAMPLES) paints.push(await firstContentfulPaint(world));
  return paints.sort((one, other) => one - other)[SAMPLES >> 1]!;
}

inBrowser("how soon Home shows something", () => {
  test("the median of five first contentful paints of Home is at most a second", async () => {
    const world = await sharedWorld();
    // The service is warm afterwards.
    await firstContentfulPaint(world);
    const medians: number[] = [];
    while (medians.length < TRIALS && !medians.some((median) => median <= FIRST_PAINT_MS_MAX)) {
      medians.push(await medianPaint(world));
    }
    console.log(`first contentful paint of Home, medians of five: ${medians.map(Math.round).join(", ")} ms`);
    expect(Math.min(...medians)).toBeLessThanOrEqual(FIRST_PAINT_MS_MAX);
  });
});
