// What Root alone does: the money map, moving an account, replacing a key, a cascade to everybody.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { makeAccount } from "./own-owner.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("the pages of Root", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "root");
  }, START_MS);
  afterAll(() => visitor?.close());

  const asRoot = async (method: string, path: string, body?: object) =>
    (await world.call(world.account("root").key, method, path, body)).body;

  test("the money map ends in nothing unaccounted for", async () => {
    const { page } = visitor;
    await visitor.goto("/console/admin/integrity", "Integrity");
    const proof = page.locator("[data-difference]");
    expect(await proof.getAttribute("data-difference")).toBe("0");
    expect(await proof.textContent()).toContain("= 0.000000000 ✓");
    const { minted } = await asRoot("GET", "/x-money");
    const row = page.locator("tr", { hasText: "Minted by Root" });
    expect(Number((await row.locator("td").last().textContent())!.replaceAll(",", ""))).toBe(minted);
    visitor.expectClean();
  });

  test("an account is moved below another Owner", async () => {
    const { page } = visitor;
    const [from, to] = [
      await makeAccount(world, world.account("root"), "Former Owner"),
      await makeAccount(world, world.account("root"), "Later Owner"),
    ];
    const moved = await makeAccount(world, from, "Moved Account");
    await visitor.goto("/console/admin/owners", "Owners");
    const form = page.getByRole("region", { name: "Move an account" });
    await form.getByLabel("Account").fill(moved.name);
    await form.getByLabel("New parent's id").fill(String(to.id));
    await form.getByRole("button", { name: "Move", exact: true }).click();
    await form.getByText(`${moved.name} is now below ${to.id}.`).waitFor();
    const [found] = await asRoot("GET", `/x-dna?id=${moved.id}`);
    expect(found.DNA).toBe(`.1.${to.id}.`);
    visitor.expectClean();
  });

  test("an account's key is replaced, after the confirmation", async () => {
    const { page } = visitor;
    const account = await makeAccount(world, world.account("root"), "Rotated Owner");
    await visitor.goto("/console/admin/rotation", "Rotation");
    await page.getByLabel("Account").fill(account.name);
    const submit = page.getByRole("button", { name: "Replace the key" });
    expect(await submit.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Fill in" }).click();
    await submit.click();
    await page.getByText(`The key of ${account.name} is replaced.`).waitFor();
    const key = (await page.locator(".secret").textContent())!;
    const statusOf = async (secret: string) => (await world.call(secret, "GET", "/dashboard/status")).status;
    expect(await statusOf(key)).toBe(200);
    await until("the former key is dead", async () => (await statusOf(account.key)) === 401);
    visitor.expectClean();
  });

  test("a cascade reaches every Owner once its word is typed", async () => {
    const { page } = visitor;
    const owner = await makeAccount(world, world.account("root"), "Cascade Owner");
    const targetOf = async (model: string) =>
      (await world.call(owner.key, "GET", `/dashboard/explain?model=${model}`)).body.decision.model;
    await visitor.goto("/console/admin/cascades", "Cascades");
    const apply = page.getByRole("button", { name: "Apply to everybody" });
    const typeAndApply = async (text: string) => {
      await page.getByLabel("ModelMapper").fill(text);
      expect(await apply.isDisabled()).toBe(true);
      await page.getByLabel(/Type ALL to confirm/).fill("ALL");
      await apply.click();
      await until(
        "the fields are empty",
        async () => (await page.getByLabel("ModelMapper").inputValue()) === "",
      );
    };
    await typeAndApply("cascaded-name=gpt-4o-mini");
    expect(await targetOf("cascaded-name")).toBe("gpt-4o-mini");
    await typeAndApply("-cascaded-name");
    expect(await targetOf("cascaded-name")).toBe("cascaded-name");
    visitor.expectClean();
  });
});
