// How soon the console shows Home to who is signed in: the first contentful paint in a browser with an empty cache, on a warm service
// with the accounts of the browser tests. It judges nothing, and needs Chromium.

import { openBrowser } from "../test/browser/browser.ts";
import { openVisitor } from "../test/browser/visit.ts";
import { sharedWorld, type World } from "../test/browser/world.ts";
import { closeShared } from "../test/shared.ts";
import { median, range } from "./figures.ts";
import type { Measure } from "./measure.ts";

const SAMPLES = 5;

/** Milliseconds from the beginning of a navigation. */
interface Paint {
  /** The first text or picture. */
  readonly first: number;
  /** The heading and the figures of Home. */
  readonly complete: number;
}

export const consolePaint: Measure = {
  name: "console",
  about: "first contentful paint of Home in headless Chromium, empty cache",
  isLong: true,
  run: async () => {
    try {
      const world = await sharedWorld();
      await openBrowser();
      // The service is warm afterwards.
      await paintHome(world);
      const paints: Paint[] = [];
      while (paints.length < SAMPLES) paints.push(await paintHome(world));
      const rowOf = (what: string, figures: readonly number[], target: string) => ({
        ...{ what, service: `${median(figures).toFixed(0)} ms`, passThrough: "" },
        ...{ result: `${range(figures, 0)} ms`, target },
      });
      return {
        rows: [
          rowOf(
            `First contentful paint of Home, median of ${SAMPLES}`,
            paints.map(({ first }) => first),
            "≤ 1 s",
          ),
          rowOf(
            "The same, until the figures of Home are there",
            paints.map(({ complete }) => complete),
            "",
          ),
        ],
        notes: [],
      };
    } finally {
      await closeShared();
    }
  },
};

/** Opens Home in a new profile. */
async function paintHome(world: World): Promise<Paint> {
  const visitor = await openVisitor(world, "leaf");
  const { page } = visitor;
  await page.addInitScript(() => {
    const marks = globalThis as unknown as { completeMs?: number };
    new MutationObserver(() => {
      if (marks.completeMs === undefined && document.querySelector("main .stat") !== null)
        requestAnimationFrame(() => {
          marks.completeMs = performance.now();
        });
    }).observe(document, { childList: true, subtree: true });
  });
  await visitor.goto("/console", "Home");
  const [first, complete] = await page.evaluate(() => [
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
    (globalThis as unknown as { completeMs?: number }).completeMs,
  ]);
  await visitor.close();
  return { first: first ?? Number.NaN, complete: complete ?? Number.NaN };
}
