// What can be done on the page of an account: its limits and lists, its state, its place, its end. What the page says is checked
// through the API.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { type Account, asking, type Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("the settings of an account in the console", () => {
  let world: World;
  let visitor: Visitor;
  let account: Account;

  /** Makes an account below another one. */
  const add = async (parent: Account, Name: string, CreditGranted = 20): Promise<Account> => {
    const body = { Name, Email: "settings@arborgate.example", CreditGranted, AllowModels: "gpt-*,o4-*" };
    const { User } = (await world.call(parent.key, "POST", "/x-users", body)).body;
    return { id: User.ID, key: User.SecretKey, name: Name };
  };
  const recordOf = async ({ id }: Account): Promise<Json> =>
    (await world.call(world.tree.root.key, "GET", `/x-dna?id=${id}`)).body[0];

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "reseller");
    account = await add(world.tree.reseller, "Settings Tried");
    await visitor.goto(`/console/accounts/${account.id}/settings`, "Settings Tried");
  }, START_MS);
  afterAll(() => visitor?.close());

  const section = (name: string): Locator => visitor.page.getByRole("region", { name });
  const save = async (part: Locator): Promise<void> => {
    await part.getByRole("button", { name: "Save" }).click();
    await part.getByText("Saved", { exact: true }).waitFor();
  };

  test("limits and lists are saved, and the list that results is the one that was shown", async () => {
    const limits = section("Limits").first();
    await limits.getByLabel("HardLimit").fill("12.000000001");
    await limits.getByLabel("RPM").fill("30");
    await save(limits);
    const access = section("Access");
    await access.getByLabel("AllowModels", { exact: true }).fill("claude-* -o4-*");
    await access.getByRole("button", { name: "Add to AllowModels" }).click();
    await access.getByText("Result: gpt-*, claude-*").waitFor();
    await access.getByLabel("AllowIPs", { exact: true }).fill("127.0.0.0/8");
    await access.getByLabel("AllowIPs", { exact: true }).press("Enter");
    await save(access);
    const { HardLimit, RPM, AllowModels, AllowIPs } = await recordOf(account);
    expect([HardLimit, RPM]).toEqual([12.000000001, 30]);
    expect([AllowModels, AllowIPs]).toEqual(["gpt-* claude-*", "127.0.0.0/8"]);
    visitor.expectClean();
  });

  test("a model gets limits and loses them; names are changed; the account is suspended and served again", async () => {
    const { page } = visitor;
    const models = section("Limits of models");
    await models.getByLabel("Model", { exact: true }).fill("gpt-4o");
    await models.getByLabel("RPM").fill("5");
    await models.getByRole("button", { name: "Save" }).click();
    await models.getByRole("cell", { name: "5", exact: true }).waitFor();
    expect((await recordOf(account)).ModelLimits["gpt-4o"].rpm).toBe(5);
    // The service merges figures, so an empty one would stay as it is.
    await models.getByRole("row", { name: "gpt-4o" }).getByRole("button", { name: "Change" }).click();
    await models.getByLabel("RPM").fill("");
    await models.getByLabel("TPM").fill("900");
    await models.getByText("RPM would stay as it is").waitFor();
    expect(await models.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await models.getByLabel("RPM").fill("0");
    await models.getByRole("button", { name: "Save" }).click();
    await models.getByRole("cell", { name: "900", exact: true }).waitFor();
    expect((await recordOf(account)).ModelLimits["gpt-4o"]).toEqual({ rpm: 0, tpm: 900 });
    await models.getByRole("row", { name: "gpt-4o" }).getByRole("button", { name: "Take away" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Take away" }).click();
    await models.getByText("No model has a limit here.").waitFor();

    const names = section("Names and e-mail");
    await names.getByLabel("Alias").fill("设置 🌱");
    await save(names);

    const state = section("State");
    await state.getByRole("button", { name: "Suspend" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
    await state.getByText("Requests and changes are refused").waitFor();
    const suspended = await recordOf(account);
    expect([suspended.Suspended, suspended.Alias, suspended.ModelLimits]).toEqual([true, "设置 🌱", {}]);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("End the suspension in Settings.").waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    await state.getByRole("button", { name: "End suspension" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End suspension" }).click();
    await state.getByText("Requests are served within its limits").waitFor();
    expect((await recordOf(account)).Suspended).toBe(false);
    visitor.expectClean();
  });

  test("a deletion says what it refunds, asks for the name, and takes all below along", async () => {
    const { page } = visitor;
    const child = await add(account, "Below Settings", 3);
    await page.reload();
    await section("Danger zone").getByRole("button", { name: "Delete account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Delete the 1 accounts below it too").click();
    const submit = dialog.getByRole("button", { name: "Delete for ever" });
    const name = dialog.getByLabel("Type its name to confirm");
    await name.fill("settings tried");
    expect(await submit.isDisabled()).toBe(true);
    await name.fill("Settings Tried");
    await submit.click();
    await page.getByRole("heading", { name: "Settings Tried is deleted" }).waitFor();
    const ledger = await world.call(world.tree.reseller.key, "GET", `/x-ledger?user=${account.id}`);
    const back = ledger.body.lines.filter(({ type }: Json) => type === "refund").at(0).amount;
    await page.getByText(`${(-back).toFixed(2)} USD went back`).waitFor();
    for (const one of [account, child]) {
      expect((await world.call(one.key, "GET", "/dashboard/status")).status).toBe(401);
    }
    // A figure of the account may have been asked for when it was gone already.
    visitor.expectClean(/404.*\/x-info/);
  });

  test("a limit that is reached stands on Home with the time of its reset, and on the page for those above", async () => {
    const { reseller } = world.tree;
    const limited = await add(reseller, "Limit Reached");
    const request = { ...asking("Hi [[prompt=900 output=40]]"), model: "gpt-4o-mini" };
    expect((await world.call(limited.key, "POST", "/v1/chat/completions", request)).status).toBe(200);
    const body = { DailyLimit: 0.000000001 };
    await world.call(reseller.key, "PUT", `/x-users/${limited.id}`, body);
    const own = await openVisitor(world, "leaf", { key: limited.key });
    await own.goto("/console", "Home");
    const banner = own.page.locator('[data-code="daily_limit_reached"]');
    await banner.getByText("DailyLimit, the limit of the day, is reached").waitFor();
    await banner.getByText("until 2027-03-19 00:00:00 UTC. Ask the account above to raise it.").waitFor();
    own.expectClean();
    await own.close();
    await visitor.goto(`/console/accounts/${limited.id}`, "Limit Reached");
    await visitor.page.getByText("Raise DailyLimit in Settings").waitFor();
    visitor.expectClean();
  });

  test("Root moves an account, and sees both places before", async () => {
    const { owner, reseller, team, root } = world.tree;
    const moved = await add(reseller, "Moves Away");
    const asRoot = await openVisitor(world, "root");
    await asRoot.goto(`/console/accounts/${moved.id}/settings`, "Moves Away");
    const { page } = asRoot;
    await page.getByLabel("Id of the new parent").fill(String(team.id));
    const place = `.1.${owner.id}.${reseller.id}.${team.id}.`;
    await page.getByText(`to ${place}, below Search Team`).waitFor();
    // Prices of the new place are higher: the service refuses what the page cannot know.
    await page.getByLabel("Rates").fill("1.3");
    await page.getByRole("region", { name: "Place and price" }).getByRole("button", { name: "Save" }).click();
    await page.getByRole("region", { name: "Place and price" }).getByText("Saved", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Move account" }).click();
    await page.getByText(`It is moved: its DNA is ${place}`).waitFor();
    expect((await recordOf(moved)).DNA).toBe(place);
    asRoot.expectClean();
    await asRoot.close();
    expect((await world.call(root.key, "DELETE", `/x-users/${moved.id}`)).status).toBe(200);
  });
});
