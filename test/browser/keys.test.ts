// The page of API keys: a key is made, narrowed, rotated, disabled and deleted, and the main key is rotated after a spare one was
// made. What the service has of it is asked through the API.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type Account, type Json, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { failNext, holdNext } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("the page of API keys", () => {
  let world: World;
  /** An account that these tests alone change. */
  let account: Account;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    const body = { Name: "Keys Of My Own", Email: "keys@arborgate.example", CreditGranted: 9 };
    const { User } = (await world.call(world.tree.reseller.key, "POST", "/x-users", body)).body;
    account = { id: User.ID, key: User.SecretKey, name: body.Name };
    visitor = await openVisitor(world, "leaf", { key: account.key });
    await visitor.goto("/console/keys", /keys/i);
  }, START_MS);
  afterEach(() => visitor.expectClean(/503/));
  afterAll(() => visitor?.close());

  const button = (name: string | RegExp) => visitor.page.getByRole("button", { name, exact: true });
  const field = (name: string) => visitor.page.getByRole("dialog").getByLabel(name, { exact: true });
  const inDialog = (name: string | RegExp) =>
    visitor.page.getByRole("dialog").last().getByRole("button", { name });
  /** Reads the secret that is shown once, and leaves it. */
  const takeSecret = async (): Promise<string> => {
    const secret = await visitor.page.locator(".secret").textContent();
    await button("Done").click();
    await visitor.page.locator(".secret").waitFor({ state: "detached" });
    return secret!;
  };
  const keyNamed = async (name: string): Promise<Json> => {
    const { body } = await world.call(account.key, "GET", "/dashboard/keys");
    return body.keys.find((row: Json) => row.name === name);
  };
  const statusWith = async (secret: string) => (await world.call(secret, "GET", "/dashboard/status")).status;

  test("a key is made with its caps, and its secret works", async () => {
    await visitor.page.getByText("There is no named key yet").waitFor();
    await button("New key").click();
    await field("Name").fill("build server");
    await field("DailyLimit").fill("2.5");
    await field("RPM").fill("1,5");
    expect(await inDialog("New key").isDisabled()).toBe(true);
    await field("RPM").fill("15");
    await field("AllowModels").fill("gpt-4o-mini house-*");
    await field("Tags").fill("team=build");
    await inDialog("New key").click();
    const download = visitor.page.waitForEvent("download");
    await visitor.page.getByRole("button", { name: "Save as file" }).click();
    const file = await download;
    // Its address is one of this tab alone, without the key.
    expect(file.url()).toStartWith("blob:");
    expect(file.suggestedFilename()).toBe("build server.key.txt");
    const saved = readFileSync(await file.path(), "utf8");
    const secret = await takeSecret();
    expect(saved).toBe(`${secret}\n`);
    expect(await keyNamed("build server")).toMatchObject({
      ...{ scopes: ["invoke"], daily_limit: 2.5, rpm: 15, allow_models: ["gpt-4o-mini", "house-*"] },
      tags: { team: "build" },
    });
    expect(await statusWith(secret)).toBe(200);
  });

  test("it is narrowed, disabled, enabled, rotated with an overlap, and deleted", async () => {
    const open = () => button("Open build server").click();
    await open();
    await field("AllowModels").fill("gpt-4o-mini");
    await field("HardLimit").fill("10");
    await button("Save").click();
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await keyNamed("build server")).toMatchObject({ allow_models: ["gpt-4o-mini"], hard_limit: 10 });

    await open();
    await button("Disable").click();
    await inDialog("Disable").click();
    await button("Enable").click();
    expect(await keyNamed("build server")).toMatchObject({ status: false });
    await inDialog("Enable").click();
    await button("Rotate").click();
    await inDialog("Rotate").click();
    const second = await takeSecret();
    await visitor.page.getByText(/former secret until/).waitFor();
    expect(await statusWith(second)).toBe(200);

    await open();
    await button("Delete build server").click();
    expect(await inDialog("Delete").isDisabled()).toBe(true);
    await field("Type build server to confirm").fill("build server");
    await inDialog("Delete").click();
    await visitor.page.getByText("There is no named key yet").waitFor();
    expect(await statusWith(second)).toBe(401);
  });

  test("the main key is rotated after a spare key was made, and the tab goes on with it", async () => {
    const former = account.key;
    await button("Open main").click();
    await button("Rotate the main key").click();
    await button("Make one first").click();
    await inDialog("New key").click();
    await takeSecret();
    expect(await keyNamed("spare-key")).toMatchObject({ scopes: ["read", "manage"] });

    await button("Open main").click();
    await button("Rotate the main key").click();
    expect(await field("Confirmation").inputValue()).toBe("2027-03-18-ROTATE-SELF");
    await failNext(visitor.page, { method: "POST", path: "/x-self" });
    await inDialog("Rotate the main key").click();
    const unknown = visitor.page.getByRole("alert").filter({ hasText: "The outcome is unknown" });
    await unknown.getByText("a repeat would be another act").waitFor();
    expect(await unknown.getByRole("button").count()).toBe(0);
    await inDialog("Rotate the main key").click();
    account = { ...account, key: await takeSecret() };
    expect([await statusWith(former), await statusWith(account.key)]).toEqual([401, 200]);
    await visitor.page.reload();
    await button("Open main").waitFor();
    expect(await visitor.page.getByText("signed in", { exact: true }).count()).toBe(1);
  });

  test("an account above makes a key for it, in the tab of its page", async () => {
    const above = await openVisitor(world, "reseller");
    await above.goto(`/console/accounts/${account.id}/keys`, account.name);
    await above.page.getByRole("button", { name: "New key", exact: true }).click();
    const sheet = above.page.getByRole("dialog");
    await sheet.getByLabel("Name", { exact: true }).fill("from above");
    await sheet.getByLabel(/^read:/).check();
    await sheet.getByRole("button", { name: "New key" }).click();
    const secret = await above.page.locator(".secret").textContent();
    expect(await statusWith(secret!)).toBe(200);
    expect(await keyNamed("from above")).toMatchObject({
      scopes: ["invoke", "read"],
      created_by: world.tree.reseller.id,
    });
    await above.page.getByRole("button", { name: "Done" }).click();
    // The main key of another account is not changed from here.
    await above.page.getByRole("button", { name: "Open main", exact: true }).click();
    await sheet.getByText("The main key is rotated by signing in with it").waitFor();
    expect(await sheet.getByRole("button", { name: /Rotate|Delete/ }).count()).toBe(0);
    above.expectClean();
    await above.close();
  });

  test("the form of a key follows what others change until something is typed, and sends what was typed alone", async () => {
    const made = { Name: "shared", Scopes: ["invoke"], DailyLimit: 5, AllowModels: "gpt-4o gpt-4o-mini" };
    const { key } = (await world.call(account.key, "POST", "/dashboard/keys", made)).body;
    await visitor.page.reload();
    await button("Open shared").click();
    expect(await field("DailyLimit").inputValue()).toBe("5");
    const narrower = { DailyLimit: 1, AllowModels: "-gpt-4o" };
    await world.call(account.key, "PUT", `/dashboard/keys/${key.id}`, narrower);
    await until("the page knows of it", async () => {
      await visitor.page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));
      return /1\.00.*day/.test((await visitor.page.getByRole("dialog").textContent())!);
    });
    expect(await button("Save").isDisabled()).toBe(true);
    expect(await field("DailyLimit").inputValue()).toBe("1");
    await field("Name").fill("shared by two");
    const put = visitor.page.waitForRequest((request) => request.method() === "PUT");
    await button("Save").click();
    expect((await put).postDataJSON()).toEqual({ Name: "shared by two" });
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await keyNamed("shared by two")).toMatchObject({ daily_limit: 1, allow_models: ["gpt-4o-mini"] });
  });

  test("a date without its time neither makes a key that never expires nor takes an expiry away", async () => {
    await button("New key").click();
    const expires = visitor.page.getByRole("dialog").locator('input[type="datetime-local"]');
    await field("Name").fill("until december");
    await expires.focus();
    await visitor.page.keyboard.type("12122027");
    expect(await expires.evaluate((input: HTMLInputElement) => input.validity.badInput)).toBe(true);
    await visitor.page.getByText("The date and the time are both needed").waitFor();
    expect(await inDialog("New key").isDisabled()).toBe(true);
    // The part of the year would take further digits.
    await visitor.page.keyboard.press("ArrowRight");
    await visitor.page.keyboard.type("1030AM");
    await inDialog("New key").click();
    await takeSecret();
    expect((await keyNamed("until december")).expires_at).toBe("2027-12-12T10:30:00.000Z");

    await button("Open until december").click();
    await expires.focus();
    for (let part = 0; part < 3; part++) await visitor.page.keyboard.press("ArrowRight");
    await visitor.page.keyboard.press("Backspace");
    expect(await expires.evaluate((input: HTMLInputElement) => input.validity.badInput)).toBe(true);
    await visitor.page.getByText("The date and the time are both needed").waitFor();
    expect(await button("Save").isDisabled()).toBe(true);
    await visitor.page.keyboard.type("11");
    await button("Save").click();
    await visitor.page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await keyNamed("until december")).expires_at).toBe("2027-12-12T11:30:00.000Z");
  });

  test("what is asked about first stays until its outcome is there", async () => {
    const { page } = visitor;
    await world.call(account.key, "POST", "/dashboard/keys", { Name: "kept in view", Scopes: ["invoke"] });
    await page.reload();
    await button("Open kept in view").click();
    const { id } = await keyNamed("kept in view");
    await failNext(page, { method: "PUT", path: `/dashboard/keys/${id}` });
    const held = await holdNext(page, { method: "PUT", path: `/dashboard/keys/${id}` });
    await button("Disable").click();
    await inDialog("Disable").click();
    await held.came;
    await until("the form shows that it runs", () => inDialog("Disable").isDisabled());
    await page.keyboard.press("Escape");
    held.release();
    await page.getByText("The outcome is unknown").waitFor();
    const dialogs = () => page.getByRole("dialog").count();
    await page.keyboard.press("Escape");
    await until("the sheet alone is open", async () => (await dialogs()) === 1);
    await page.keyboard.press("Escape");
    await until("nothing is open", async () => (await dialogs()) === 0);
    visitor.expectClean(/503/);
  });
});
