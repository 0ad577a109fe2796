// Traffic shows the figures of the service: attempts of the last hour, sleeps and switch-overs, refusals of one account.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("traffic", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "owner");
  }, START_MS);
  afterAll(() => visitor?.close());

  test("the keys that failed most come first, and the time line has who slept and what was switched over", async () => {
    const { page } = visitor;
    await visitor.goto("/console/admin/traffic", "Traffic");
    const { keys } = (await world.call(world.tree.owner.key, "GET", "/x-keys")).body;
    const failed = keys.map(({ LastHour }: Json) => LastHour.failures);
    const table = page.getByRole("region", { name: /^Keys, last hour/ }).last();
    const first = table.locator("tbody tr").first().locator("td");
    expect(await first.nth(3).textContent()).toBe(String(Math.max(...failed)));
    const line = page.getByRole("figure", { name: /^Sleeps of keys/ });
    const rows = await line.getByRole("img").evaluateAll((all) => all.map((one) => one.ariaLabel));
    expect(rows[0]).toMatch(/^Level 2: switch-over from 2027-03-16 .* the provider is overloaded$/);
    expect(rows.join("\n")).toMatch(/anthropic main: .*sleep since .* the provider does not take the key$/m);
    visitor.expectClean();
  });

  test("an account's refusals are counted by code, with what to do about each", async () => {
    const { page } = visitor;
    const { leaf, owner } = world.tree;
    const { requests } = (await world.call(owner.key, "GET", `/x-requests?user=${leaf.id}&size=200`)).body;
    const counts = Map.groupBy(
      requests.filter(({ code, status }: Json) => code !== null && status !== null && status >= 400),
      ({ status, code }: Json) => `${status} ${code}`,
    );
    await page.getByLabel("Account", { exact: true }).fill(String(leaf.id));
    await page.getByLabel("Account", { exact: true }).press("Enter");
    await page.getByText("Use an allowed model, or have this one added to AllowModels.").waitFor();
    const rows = page.getByRole("region", { name: "Refusals of one account" }).last().locator("tbody tr");
    const shown = await rows.evaluateAll((all) =>
      all.map((row) => [row.querySelector("p")!.textContent, row.children[1]!.textContent]),
    );
    expect(new Map(shown as [string, string][])).toEqual(
      new Map([...counts].map(([code, all]) => [code as string, String(all.length)])),
    );
    visitor.expectClean();
  });

  test("days that are none in the address are the default", async () => {
    await visitor.goto("/console/admin/traffic?days=abc", "Traffic");
    await visitor.page.getByRole("figure", { name: /^Sleeps of keys/ }).waitFor();
    expect(await visitor.page.getByRole("radio", { name: "7 d", exact: true }).isChecked()).toBe(true);
    visitor.expectClean();
  });

  test("a tab that is hidden asks for no events", async () => {
    const hidden = await openVisitor(world, "owner");
    const { page } = hidden;
    await page.clock.install();
    await hidden.goto("/console/admin/traffic", "Traffic");
    let asked = 0;
    page.on("request", (request) => {
      if (new URL(request.url()).pathname === "/x-events") asked++;
    });
    const show = (state: DocumentVisibilityState) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "visibilityState", { get: () => value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
      }, state);
    const passMinutes = async () => {
      await page.clock.runFor(2 * 60_000);
      await hidden.settled();
    };
    await show("hidden");
    await hidden.settled();
    asked = 0;
    await passMinutes();
    expect(asked).toBe(0);
    await show("visible");
    await passMinutes();
    expect(asked).toBeGreaterThan(0);
    hidden.expectClean();
    await hidden.close();
  });
});
