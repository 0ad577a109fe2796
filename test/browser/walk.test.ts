// Every page of the console as every role that has it: it breaks no policy, complains of nothing, asks nobody else, and axe-core
// finds nothing serious; on a phone it is not wider than the screen, and in the dark it can be read. What a page does is tested
// elsewhere.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { type PageRow, pagesOf, pagesWithoutRow, pathOf } from "./pages.ts";
import { clearScreenshots, makeContactSheet, takesScreenshots } from "./screenshots.ts";
import { type Look, openVisitor, type Visitor } from "./visit.ts";
import { ROLES, type Role, sharedWorld, type World } from "./world.ts";

/** A bound of waiting for the world and the browser. */
const START_MS = 60_000;

interface Walk extends Look {
  readonly title: string;
  /** What axe-core looks for. */
  readonly rules: "all" | "contrast" | "none";
}

const WALKS: readonly Walk[] = [
  { title: "at 1280 pixels", width: 1280, scheme: "light", rules: "all" },
  { title: "in the dark", width: 1280, scheme: "dark", rules: "contrast" },
  { title: "on a phone", width: 390, scheme: "light", rules: "none" },
];

/** Visits the pages of a role one after the other in one tab. */
function walk(role: Role, { rules, ...look }: Walk): void {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, role, look);
  }, START_MS);
  afterAll(() => visitor?.close());

  test.each(pagesOf(role).map((row) => [row.name, row] as const))("%s", async (_, row: PageRow) => {
    const answer = await visitor.goto(pathOf(row, world, role), row.heading);
    expect(answer?.status()).toBe(200);
    visitor.expectClean();
    await visitor.expectNoOverflow();
    if (takesScreenshots) await visitor.screenshot(row.name);
    if (rules !== "none") await visitor.expectAccessible(rules);
  });
}

inBrowser("the pages of the console", () => {
  if (takesScreenshots) beforeAll(clearScreenshots);
  afterAll(async () => {
    if (takesScreenshots) await makeContactSheet();
  }, START_MS);

  describe.each(WALKS.map((one) => [one.title, one] as const))("%s", (_, one) => {
    describe.each(ROLES.filter((role) => pagesOf(role).length > 0))("as %s", (role) => walk(role, one));
  });

  test("every page of the console has a row in the table", () => expect(pagesWithoutRow()).toEqual([]));

  test.each(ROLES)("the menu of %s leads to its pages and to no others", async (role) => {
    const world = await sharedWorld();
    const visitor = await openVisitor(world, role);
    await visitor.goto("/console", "Home");
    const links = visitor.page.getByRole("navigation").getByRole("link");
    const paths = await links.evaluateAll((all) =>
      all.map((one) => new URL((one as HTMLAnchorElement).href).pathname),
    );
    const known = pagesOf(role).map((row) => pathOf(row, world, role));
    expect(paths.map((path) => path.replace(/\/$/, "")).filter((path) => !known.includes(path))).toEqual([]);
    await visitor.close();
  });
});
