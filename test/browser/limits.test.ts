// Limits and access in the console: gauges that move while requests are made, and a tester that says what the service would decide.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { asking, type Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const TITLE = "Limits and access";

inBrowser("limits in the console", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "leaf");
  }, START_MS);
  afterAll(() => visitor?.close());

  test("the tester says what would be decided, and why not", async () => {
    const { page } = visitor;
    const decide = async (model: string): Promise<Json> =>
      (await world.call(world.tree.leaf.key, "GET", `/dashboard/explain?model=${model}`)).body.decision;
    const model = () => page.getByRole("combobox", { name: "Model" });
    await visitor.goto("/console/limits", TITLE);
    await model().fill("claude-opus-4-1");
    await page.getByRole("button", { name: "Test" }).click();
    const refused = page.locator('[data-admitted="false"]');
    const { refusal } = await decide("claude-opus-4-1");
    expect(refusal.code).toBe("model_not_allowed");
    expect(await refused.textContent()).toContain(`${refusal.code}${refusal.message}`);
    await refused.getByText("have this one added to AllowModels", { exact: false }).waitFor();
    await model().fill("gpt-4o-mini");
    await model().press("Enter");
    await page.locator('[data-admitted="true"]').waitFor();
    const decided = await decide("gpt-4o-mini");
    expect(await page.locator('[data-admitted="true"]').textContent()).toContain(
      `${decided.model} on Level ${decided.level}`,
    );
    expect(new URL(page.url()).search).toBe("?model=gpt-4o-mini");
    visitor.expectClean();
  });

  test("a gauge moves when a request is made", async () => {
    const { call, tree } = world;
    const body = { Name: "Three A Minute", Email: "three@arborgate.example", CreditGranted: 3, RPM: 3 };
    const { User } = (await call(tree.reseller.key, "POST", "/x-users", body)).body;
    const other = await openVisitor(world, "leaf", { key: User.SecretKey });
    await other.goto("/console/limits", TITLE);
    await other.page.getByText("0 of 3", { exact: true }).waitFor();
    const { status } = await call(User.SecretKey, "POST", "/v1/chat/completions", {
      ...asking("Hello [[prompt=20 output=5]]"),
      model: "gpt-4o-mini",
    });
    expect(status).toBe(200);
    await other.page.getByText("1 of 3", { exact: true }).waitFor();
    other.expectClean();
    await other.close();
  });
});
