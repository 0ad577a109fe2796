// Every page of the console as every role that has it: it breaks no policy, complains of nothing, asks nobody else, and axe-core
// finds nothing serious; on a phone it is not wider than the screen, and in the dark it can be read. What a page does is tested
// elsewhere.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { type PageRow, pagesOf, pathOf } from "./pages.ts";
import { makeContactSheet, takesScreenshots } from "./screenshots.ts";
import { type Look, openVisitor, type Visitor } from "./visit.ts";
import { ROLES, type Role, sharedWorld, type World } from "./world.ts";

/** A bound of waiting for the world and the browser. */
const START_MS = 60_000;

const LOOKS: readonly (readonly [string, Look])[] = [
  ["at 1280 pixels", { width: 1280, scheme: "light" }],
  ["on a phone", { width: 390, scheme: "light" }],
  ["in the dark", { width: 1280, scheme: "dark" }],
];

/** Visits the pages of a role one after the other in one tab. */
function walk(role: Role, look: Look): void {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, role, look);
  }, START_MS);
  afterAll(() => visitor.close());

  test.each(pagesOf(role).map((row) => [row.name, row] as const))("%s", async (_, row: PageRow) => {
    const answer = await visitor.goto(pathOf(row, world, role));
    expect(answer?.status()).toBe(200);
    await visitor.heading(row.heading);
    visitor.expectClean();
    await visitor.expectNoOverflow();
    if (takesScreenshots) await visitor.screenshot(row.name);
    await visitor.expectAccessible();
  });
}

inBrowser("the pages of the console", () => {
  describe.each(LOOKS)("%s", (_, look) => {
    describe.each(ROLES.filter((role) => pagesOf(role).length > 0))("as %s", (role) => walk(role, look));
  });

  afterAll(async () => {
    if (takesScreenshots) await makeContactSheet();
  });
});
