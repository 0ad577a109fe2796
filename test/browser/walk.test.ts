// Every page of the console as every role that has it: it breaks no policy, complains of nothing, asks nobody else, and axe-core
// finds nothing serious. In the dark, where it can be read, and on a phone, where it is not wider than the screen, each role goes
// through the pages that no lesser one has, by links. What a page does is tested elsewhere.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { type PageRow, pagesNewTo, pagesOf, pagesWithoutRow, pathOf } from "./pages.ts";
import { clearScreenshots, makeContactSheet, takesScreenshots } from "./screenshots.ts";
import { type Look, openVisitor, type Visitor } from "./visit.ts";
import { ROLES, type Role, sharedWorld, type World } from "./world.ts";

/** A bound of waiting for the world and the browser. */
const START_MS = 60_000;

interface Walk extends Look {
  readonly title: string;
  /** What axe-core looks for. */
  readonly rules: "all" | "contrast" | "none";
  /** Whether each page is loaded by its address, as all of a role's are; otherwise links lead to those that are new to the role. */
  readonly byAddress: boolean;
}

const pagesIn = ({ byAddress }: Walk, role: Role): readonly PageRow[] =>
  byAddress ? pagesOf(role) : pagesNewTo(role);

const WALKS: readonly Walk[] = [
  { title: "at 1280 pixels", width: 1280, scheme: "light", rules: "all", byAddress: true },
  { title: "in the dark", width: 1280, scheme: "dark", rules: "contrast", byAddress: false },
  { title: "on a phone", width: 390, scheme: "light", rules: "none", byAddress: false },
];

/** Visits the pages of a role one after the other in one tab. */
function walk(role: Role, given: Walk): void {
  const { rules, byAddress } = given;
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, role, given);
    if (!byAddress) await visitor.goto("/console", "Home");
  }, START_MS);
  afterAll(() => visitor?.close());

  test.each(pagesIn(given, role).map((row) => [row.name, row] as const))("%s", async (_, row: PageRow) => {
    const path = pathOf(row, world, role);
    if (byAddress) {
      const answer = await visitor.goto(path, row.heading);
      expect(answer?.status()).toBe(200);
    } else await visitor.follow(path, row.heading);
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
