// The first day of an installation: a person who has Root's key and no documentation creates an Owner, adds a provider key, tests
// it, creates an account for a team, hands over its key, sees its first request arrive, finds out what it cost and why, and sees
// that nothing is unaccounted for. All through pages; the provider is the tests' stand-in.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { consoleUpdate } from "../../src/cli/console-build.ts";
import { type Account, type Bench, startBench } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { report } from "./world.ts";

const START_MS = 60_000;

inBrowser("the first day", () => {
  let bench: Bench;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    bench = await startBench({ console: consoleUpdate(report) });
    const nobody = (): Account => ({ id: 1, key: bench.rootKey, name: "root" });
    const { adminUrl } = bench.service;
    visitor = await openVisitor({ bench, adminUrl, aheadMs: 0, account: nobody }, "root", { key: null });
    page = visitor.page;
  }, START_MS);
  afterAll(async () => {
    await visitor?.close();
    await bench?.close();
  });

  const heading = (name: string | RegExp) =>
    page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  const field = (name: string): Locator => page.getByRole("textbox", { name, exact: true });
  const click = (role: "link" | "button", name: string | RegExp): Promise<void> =>
    page.getByRole(role, { name, exact: true }).first().click();

  async function signIn(key: string): Promise<void> {
    await page.getByLabel("API key").fill(key);
    await click("button", "Sign in");
    await heading("Home");
    await visitor.settled();
  }

  /** Fills the form of a new account; returns the key that its card shows. */
  async function create(name: string, email: string, credit: string): Promise<string> {
    await heading("New account");
    await field("Name").fill(name);
    await field("E-mail").fill(email);
    await page.getByRole("textbox", { name: "CreditGranted" }).fill(credit);
    await click("button", "Create account");
    await heading(new RegExp(name));
    await visitor.settled();
    return (await page.locator("pre.secret").first().textContent()) ?? "";
  }

  /** Root signs in and creates an Owner, whose key the card shows. */
  async function createOwner(): Promise<string> {
    await page.goto("/console");
    await signIn(bench.rootKey);
    await click("link", "Create an Owner");
    const owner = await create("Northwind", "owner@arborgate.example", "100");
    await page.getByText("sign in with the new key and open Pool", { exact: false }).waitFor();
    await click("button", "Sign out");
    return owner;
  }

  /** The Owner adds a provider key, leads models to it as the page says, and tests it. */
  async function addProviderKey(): Promise<void> {
    await click("link", "Add a provider key and test it");
    await heading("New provider key");
    await field("Address of the API").fill(bench.provider.url);
    await field("Name").fill("stand-in");
    await field("Secret").fill("sk-stand-in-of-the-first-day");
    await click("button", "Add the key");
    await page.getByText("Add an entry on the page Routing", { exact: false }).waitFor();
    await click("link", "Open Routing");
    await heading("Routing");
    await page.getByRole("region", { name: "LEVEL_MAPPER" }).getByRole("button", { name: "Edit" }).click();
    await click("button", "Add an entry");
    await field("Model or pattern, entry 1").fill("*");
    await field("Level, entry 1").fill("1");
    await click("button", "Save");
    await click("link", "Pool");
    await heading("Pool");
    await click("link", "stand-in");
    await heading("Provider key stand-in");
    // A provider that is not known by its address says none of its models.
    await field("Model").fill("gpt-4o-mini");
    await page.getByRole("button", { name: "Test", exact: true }).last().click();
    await page.getByText(/^Works: /).waitFor();
  }

  /** The team sends its first request, by the line of its card; returns what the service says that it cost. */
  async function sendFirstRequest(team: string): Promise<string> {
    const line = (await page.locator(".code-block").first().textContent()) ?? "";
    const [, path] = /^curl '([^']+)'/.exec(line)!;
    const [, key] = /-H 'Authorization: Bearer ([^']+)'/.exec(line)!;
    const [, body] = /-d '([^']+)'/.exec(line)!;
    expect([path, key]).toEqual([`${bench.url}/v1/chat/completions`, team]);
    await page.getByText("Waiting for the first request", { exact: false }).waitFor();
    const answer = await bench.call(key!, "POST", "/v1/chat/completions", body);
    expect([answer.status, answer.text]).toEqual([200, answer.text]);
    await page.getByText("The first request arrived", { exact: false }).waitFor();
    return Number(answer.headers.get("x-arbor-cost")).toFixed(9);
  }

  /** The amount on the card leads to the equation behind it, which is true to the nano-dollar. */
  async function findOutWhy(cost: string): Promise<void> {
    const amount = page.locator(".first-request a");
    expect(await amount.locator("[title]").getAttribute("title")).toBe(`${cost} USD`);
    await amount.click();
    const sheet = page.getByRole("dialog");
    const equation = sheet.locator("[data-equation]");
    expect(await equation.getAttribute("data-equation")).toBe("true");
    expect(await equation.textContent()).toContain(cost);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
  }

  /** Integrity says that nothing is unaccounted for, as the API does. */
  async function seeAllAccountedFor(key: string, cost: string): Promise<void> {
    await click("link", "Integrity");
    await heading("Integrity");
    await page.getByText("Nothing is unaccounted for").waitFor();
    await page.getByText("= 0.000000000 ✓").waitFor();
    const { body } = await bench.call(key, "GET", "/x-money");
    expect([body.difference, body.charges]).toEqual([0, Number(cost)]);
  }

  test("goes from Root's key to a charge that is explained, without documentation", async () => {
    const owner = await createOwner();
    expect(owner).toMatch(/^sk-/);
    await signIn(owner);
    await addProviderKey();
    await click("link", "Home");
    await heading("Home");
    await click("link", "Create an account for a team");
    const team = await create("team-blue", "blue@arborgate.example", "10");
    const cost = await sendFirstRequest(team);
    await findOutWhy(cost);
    await seeAllAccountedFor(owner, cost);
    await click("button", "Sign out");
    await signIn(bench.rootKey);
    await seeAllAccountedFor(bench.rootKey, cost);
    visitor.expectClean();
  });

  test("Root replaces its own key, sees the new one, and goes on with it", async () => {
    const account = (): Account => ({ id: 1, key: bench.rootKey, name: "root" });
    const root = await openVisitor({ bench, adminUrl: bench.service.adminUrl, aheadMs: 0, account }, "root");
    await root.goto("/console/admin/rotation", "Rotation");
    await root.page.getByRole("button", { name: "Fill in" }).click();
    await root.page.getByRole("button", { name: "Replace the key" }).click();
    await root.page.getByText("The key of root is replaced.").waitFor();
    const fresh = (await root.page.locator("pre.secret").textContent()) ?? "";
    expect((await bench.call(fresh, "GET", "/dashboard/status")).status).toBe(200);
    expect((await bench.call(bench.rootKey, "GET", "/dashboard/status")).status).toBe(401);
    await root.follow("/console/admin/owners", "Owners");
    // A poll with the former key may have been under way.
    root.expectClean(/401/);
    await root.close();
  });
});
