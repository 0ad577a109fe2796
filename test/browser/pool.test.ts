// The pool as an Owner uses it: from an empty pool to a key that is tested, and what is done with a key that sleeps.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, asking, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { giveProviderKey, makeAccount } from "./own-owner.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("the pool", () => {
  let world: World;
  let owner: Account;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    owner = await makeAccount(world, world.account("root"), "Pool Owner");
    visitor = await openVisitor(world, "owner", { key: owner.key });
  }, START_MS);
  afterAll(() => visitor?.close());

  const keysOf = async () => (await world.call(owner.key, "GET", "/x-keys")).body.keys;

  test("a provider key is added and tested, and its secret is never shown", async () => {
    const { page } = visitor;
    const secret = `sk-standin-typed-by-hand-${owner.id}-7001`;
    await visitor.goto("/console/admin/pool", "Pool");
    await page.getByText("There is no provider key").waitFor();
    await page.getByRole("link", { name: "Add a key" }).click();
    await page.getByLabel("Address of the API").fill(world.bench.provider.url);
    await page.getByLabel("Name", { exact: true }).fill("typed by hand");
    await page.getByLabel("Secret").fill(secret);
    await page.getByRole("button", { name: "Add the key" }).click();
    await page.getByText("LEVEL_MAPPER gained nothing").waitFor();
    await page.getByLabel("Model").fill("gpt-4o-mini");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText(/^Works: gpt-4o-mini/).waitFor();
    const [key] = await keysOf();
    expect(key).toMatchObject({ Name: "typed by hand", Level: 1, State: "normal" });
    await page.getByRole("link", { name: "Open this key" }).click();
    await page.getByText(`Secret: ${key.SecretKey}`).waitFor();
    expect(await page.content()).not.toContain(secret);
    visitor.expectClean();
  });

  test("a known provider fills in its address, and a refused address is said at its field", async () => {
    const { page } = visitor;
    await visitor.goto("/console/admin/pool/new?level=4", /key/);
    await page.getByRole("combobox", { name: "Known provider" }).click();
    await page.getByRole("option", { name: "Mistral" }).click();
    expect(await page.getByLabel("Address of the API").inputValue()).toBe("https://api.mistral.ai/v1");
    await page.getByLabel("Address of the API").fill("https://10.0.0.1/v1");
    await page.getByLabel("Secret").fill("sk-that-goes-nowhere-0001");
    await page.getByRole("button", { name: "Add the key" }).click();
    await page.getByText(/public https address/).waitFor();
    expect(await page.getByLabel("Address of the API").getAttribute("aria-invalid")).toBe("true");
    expect((await keysOf()).map(({ Level }: { Level: number }) => Level)).not.toContain(4);
    visitor.expectClean(/400/);
  });

  test("a key that sleeps says why and for how long; it is woken, and taken out of use", async () => {
    const { page } = visitor;
    const { id, secret } = await giveProviderKey(world, owner, "sleeper");
    // Requests of the Level go to this one alone.
    for (const { ID } of (await keysOf()).filter(({ ID }: { ID: number }) => ID !== id)) {
      await world.call(owner.key, "PUT", `/x-keys/${ID}`, { Status: false });
    }
    world.bench.provider.behave(secret, "fault=401");
    await world.call(owner.key, "POST", "/v1/chat/completions", {
      ...asking("Hello"),
      model: "gpt-4o-mini",
    });
    const stateOf = async () => (await keysOf()).find(({ ID }: { ID: number }) => ID === id).State;
    expect(await stateOf()).toBe("sleeping");
    await visitor.goto("/console/admin/pool", "Pool");
    const card = page.getByRole("article", { name: "sleeper" });
    await card.getByText("the provider does not take the key").waitFor();
    expect(await card.getByRole("timer").textContent()).toMatch(/^\d+:\d\d$/);
    await card.getByRole("button", { name: "Wake" }).click();
    await until("the key is woken", async () => (await stateOf()) !== "sleeping");
    await card.getByRole("button", { name: "Disable" }).click();
    await until("the key is disabled", async () => (await stateOf()) === "disabled");
    await card.getByRole("button", { name: "Enable" }).waitFor();
    visitor.expectClean();
  });
});
