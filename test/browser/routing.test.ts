// Routing as an Owner uses it: a map is changed and taken back, and the X-ray shows what the explanation of the service says.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, type Json, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { giveProviderKey, makeAccount } from "./own-owner.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("routing", () => {
  let world: World;
  let owner: Account;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    owner = await makeAccount(world, world.account("root"), "Routing Owner");
    await giveProviderKey(world, owner, "the one key");
    visitor = await openVisitor(world, "owner", { key: owner.key });
  }, START_MS);
  afterAll(() => visitor?.close());

  const confOf = async () => (await world.call(owner.key, "GET", "/x-conf")).body;

  test("a map is edited as rows and as text, its problems are marked, and the change is undone", async () => {
    const { page } = visitor;
    await visitor.goto("/console/admin/routing", "Routing");
    const map = page.getByRole("region", { name: "LEVEL_MAPPER", exact: true }).first();
    await map.getByRole("button", { name: "Edit" }).click();
    await map.getByRole("button", { name: "Add an entry" }).click();
    await map.getByLabel("Model or pattern, entry 2").fill("claude-*");
    await map.getByLabel("Level, entry 2").fill("7");
    await map.getByText("Level 7 has no keys.").waitFor();
    await map.getByText("Text", { exact: true }).click();
    const text = map.getByLabel("LEVEL_MAPPER as text");
    expect(await text.inputValue()).toBe("*=1,\nclaude-*=7");
    await text.fill("*=1, claude-*=1, -gpt-*");
    await map.getByText(/deletes, but here the whole map is replaced/).waitFor();
    expect(await map.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await text.fill("*=1, claude-*=1");
    expect(await map.getByRole("list", { name: "What changes" }).textContent()).toContain("+ claude-*= 1");
    await map.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: /Undo/ }).waitFor();
    expect((await confOf()).LevelMapper).toEqual({ "*": 1, "claude-*": 1 });
    await page.getByRole("button", { name: /Undo/ }).click();
    await until("the change is undone", async () => !("claude-*" in (await confOf()).LevelMapper));
    await map.getByText("claude-*").waitFor({ state: "detached" });
    visitor.expectClean();
  });

  test("the X-ray shows every step and key of the explanation, with a countdown where a key sleeps", async () => {
    const { tree, call } = world;
    const asOwner = await openVisitor(world, "owner");
    const { page } = asOwner;
    const query = `user=${tree.leaf.id}&model=claude-sonnet-4-5`;
    const { body } = await call(tree.owner.key, "GET", `/x-explain?${query}`);
    await asOwner.goto("/console/admin/routing?view=xray", "Routing");
    await page.getByLabel("Account", { exact: true }).fill(String(tree.leaf.id));
    await page.getByLabel("Account", { exact: true }).press("Enter");
    await page.getByLabel("Model").fill("claude-sonnet-4-5");
    await page.getByLabel("Model").press("Enter");
    await page.getByText("It would be admitted now").waitFor();
    expect(await page.locator("[data-step]").count()).toBe(body.steps.length);
    const places = page.locator("[data-place]");
    const shown = await places.evaluateAll((all) =>
      all.map((one) => [one.getAttribute("data-place"), one.getAttribute("data-role")]),
    );
    expect(shown).toEqual([
      ["claude-sonnet-4-5 2", "first"],
      ["claude-sonnet-4-5 3", "backup"],
    ]);
    const taking = body.candidates.filter(({ state }: Json) => state === "normal");
    expect(await places.locator('[data-takes="true"]').count()).toBe(taking.length);
    const sleeping = places.locator("li", { hasText: "anthropic main" });
    expect(await sleeping.getByRole("timer").textContent()).toMatch(/^\d+:\d\d$/);
    // The question is in the address, so that it can be sent to somebody.
    expect(page.url()).toContain(query);
    asOwner.expectClean();
    await asOwner.close();
  });
});
