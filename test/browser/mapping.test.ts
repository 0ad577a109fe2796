// My mapping: an entry is tried before it is saved, saved, and is what the service then says of a request; its deletion too.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Account } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("my mapping", () => {
  let world: World;
  let visitor: Visitor;
  let account: Account;
  beforeAll(async () => {
    world = await sharedWorld();
    const body = { Name: "Mapping Person", Email: "mapping@arborgate.example", CreditGranted: 5 };
    const { User } = (await world.call(world.tree.reseller.key, "POST", "/x-users", body)).body;
    account = { id: User.ID, key: User.SecretKey, name: body.Name };
    visitor = await openVisitor(world, "leaf", { key: account.key });
  }, START_MS);
  afterEach(() => visitor.expectClean());
  afterAll(() => visitor?.close());

  const map = () => visitor.page.getByLabel("ModelMapper");
  const save = () => visitor.page.getByRole("button", { name: "Save", exact: true }).click();
  const firstStep = async (model: string) => {
    const path = `/dashboard/explain?model=${encodeURIComponent(model)}`;
    const { steps } = (await world.call(account.key, "GET", path)).body;
    return steps[0];
  };

  test("an entry takes effect with its saving, and goes with its line", async () => {
    const { page } = visitor;
    await visitor.goto("/console/mapping?model=写作 ✍️", "My mapping");
    await map().fill("写作 ✍️=gpt-4o-mini,\nhouse-*=gpt-4o");
    expect(await page.locator("[data-after-saving]").getAttribute("data-after-saving")).toBe("gpt-4o-mini");
    expect(await page.locator('[data-change="added"]').count()).toBe(2);
    await save();
    await page.getByText("Saved.").waitFor();
    expect(await firstStep("写作 ✍️")).toMatchObject({
      out: "gpt-4o-mini",
      rule: "写作 ✍️=gpt-4o-mini",
    });

    // What each entry does is what the service says; the route of the tried name is the new one.
    const results = page.getByRole("region", { name: "What the entries do now" });
    await results
      .getByRole("row")
      .filter({ hasText: "house-*=gpt-4o" })
      .locator("[data-admitted=true]")
      .waitFor();
    await page.locator("[role=status][data-admitted=true]").getByText("gpt-4o-mini").waitFor();

    // After a reload the map is known from the operation log, with the entry that the Owner laid over it.
    await page.reload();
    await visitor.settled();
    expect(await map().inputValue()).toBe("cheap=deepseek-chat,\n写作 ✍️=gpt-4o-mini,\nhouse-*=gpt-4o");
    await map().fill("cheap=deepseek-chat,写作 ✍️=gpt-4.1");
    await save();
    await page.getByText("Saved.").waitFor();
    expect(await firstStep("写作 ✍️")).toMatchObject({ out: "gpt-4.1" });
    expect((await firstStep("house-model")).rule).toBeUndefined();
  });

  test("a map that the log does not tell is read from the service", async () => {
    const { page } = visitor;
    const long = Array.from({ length: 30 }, (_, nth) => `model-name-${nth}=gpt-4o`).join(",");
    await world.call(account.key, "PUT", `/x-users/${account.id}`, { ModelMapper: long });
    await visitor.goto("/console/mapping", "My mapping");
    expect(await map().inputValue()).toBe("");
    await page.getByRole("button", { name: "Read the map from the service" }).click();
    await page.getByText("As the service has just stated it.").waitFor();
    expect((await map().inputValue()).split(",\n")).toEqual(
      expect.arrayContaining(["cheap=deepseek-chat", ...long.split(",")]),
    );
    await visitor.settled();
  });
});
