// Attention: the rows are those of the service, each leads to where its next step is taken, and to news for the account.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("attention", () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "reseller");
  }, START_MS);
  afterAll(() => visitor?.close());

  test("every account that needs somebody has a row with the reason, the figure and the next step", async () => {
    const { page } = visitor;
    const { tree } = world;
    await visitor.goto("/console/attention", "Attention");
    const { accounts } = (await world.call(tree.reseller.key, "GET", "/x-attention")).body;
    const shown = await page.locator("tbody tr").evaluateAll((rows) =>
      rows.map((row) => ({
        name: row.querySelector("td a")?.textContent,
        reason: row.querySelector("[data-reason]")?.getAttribute("data-reason"),
      })),
    );
    expect(shown).toEqual(accounts.map(({ name, reason }: Json) => ({ name, reason })));

    const row = page.locator("tbody tr").filter({ has: page.locator("[data-reason=near_limit]") });
    const near = accounts.find(({ reason }: Json) => reason === "near_limit");
    expect(await row.locator(".attention-why .figure").textContent()).toBe(`${near.figure} % used`);
    const step = row.getByRole("link", { name: "Raise HardLimit or DailyLimit" });
    expect(await step.getAttribute("href")).toBe(`/console/accounts/${tree.nearLimit.id}/settings`);

    await row.getByRole("link", { name: "Write to it" }).click();
    await page.getByRole("heading", { level: 1, name: /news/i }).waitFor();
    await visitor.settled();
    expect(await page.getByRole("combobox", { name: "Account" }).inputValue()).toBe(tree.nearLimit.name);
    visitor.expectClean();
  });
});
