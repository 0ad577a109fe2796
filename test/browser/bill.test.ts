// The bill of everything below an account: what its levels, its rankings and its statements say is what the service answers, to the
// billionth.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { failNext } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const DAYS = "start=2027-03-01&end=2027-03-17";

inBrowser("bills in the console", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "reseller");
  }, START_MS);
  afterAll(() => visitor?.close());

  const billOf = async (user = ""): Promise<Json> =>
    (await world.call(world.tree.reseller.key, "GET", `/x-bill?${DAYS}${user && `&user=${user}`}`)).body;
  /** An amount as the pages write it. */
  const shown = (amount: number): string =>
    amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 9 });
  const cellsOf = (name: string): Promise<string[]> =>
    visitor.page
      .getByRole("row")
      .filter({ has: visitor.page.getByRole("link", { name, exact: true }) })
      .getByRole("cell")
      .allInnerTexts();

  test("a branch is an account with all below it; its level and its lines are a click away", async () => {
    const { reseller, team, teamMembers, owner, leaf } = world.tree;
    await visitor.goto(`/console/bill?period=custom&${DAYS}`, "Subtree bill");
    const { page } = visitor;
    const [all, below] = await Promise.all([billOf(), billOf(`.1.${owner.id}.${reseller.id}.${team.id}.`)]);
    const [, own, under, , , together] = await cellsOf("Search Team");
    expect([own, under, together]).toEqual([
      "0.00",
      shown(below.total_credit_used),
      shown(below.total_credit_used),
    ]);
    const cells = await page.locator("tfoot td").allInnerTexts();
    expect(cells).toContain(shown(all.total_credit_used));
    await page.getByRole("link", { name: "2 below" }).click();
    await page.getByRole("link", { name: teamMembers[1]!.name, exact: true }).waitFor();
    await visitor.settled();
    expect(await page.locator("tfoot td").allInnerTexts()).toContain(shown(below.total_credit_used));
    await page.goBack();
    const cost = all.usage_users.find(({ id }: Json) => id === leaf.id).total_credit_used;
    const lines = page.getByRole("link", { name: shown(cost), exact: true }).first();
    const address = new URL((await lines.getAttribute("href"))!, page.url());
    expect(address.pathname).toBe(`/console/accounts/${leaf.id}/ledger`);
    const { from, to, proves } = Object.fromEntries(address.searchParams);
    expect([from, to, Number(proves)]).toEqual(["2027-03-01", "2027-03-17", cost]);
    visitor.expectClean();
  });

  test("accounts are ranked by cost with the service's shares, and can be downloaded", async () => {
    const { page } = visitor;
    await page.getByText("By account", { exact: true }).click();
    await page.getByRole("columnheader", { name: "Dearest model" }).waitFor();
    const { usage_users: users } = await billOf();
    const [first] = users;
    const cells = await cellsOf(first.name);
    expect([cells[0], cells.at(-2)]).toEqual(["1", shown(first.total_credit_used)]);
    expect(cells.at(-3)).toBe(`${first.usage_analysis.cost_percentage.toFixed(1)}%`);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download CSV" }).click();
    expect((await download).suggestedFilename()).toBe("bill-all-2027-03-01-2027-03-17.csv");
    visitor.expectClean();
  });

  test("a statement has the account's totals and those below it, and is printed without the frame", async () => {
    const { team, reseller, owner } = world.tree;
    const { page } = visitor;
    await visitor.goto(`/console/bill/${team.id}?period=custom&${DAYS}`, "Search Team");
    const below = await billOf(`.1.${owner.id}.${reseller.id}.${team.id}.`);
    const accounts = page.getByRole("region", { name: "Accounts below it" }).first();
    expect(await accounts.locator("tfoot td").last().textContent()).toBe(shown(below.total_credit_used));
    expect(await page.getByText("The account itself was charged nothing").count()).toBe(1);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("navigation", { name: "Menu" }).isVisible()).toBe(false);
    expect(await page.getByRole("button", { name: "Download CSV" }).isVisible()).toBe(false);
    expect(await accounts.isVisible()).toBe(true);
    await page.emulateMedia({ media: "screen" });
    visitor.expectClean();
  });

  test("a level and a statement say when what is below an account could not be asked for, and ask again", async () => {
    const { team, reseller, owner } = world.tree;
    const { page } = visitor;
    const place = `.1.${owner.id}.${reseller.id}.${team.id}.`;
    const below = shown((await billOf(place)).total_credit_used);
    const notice = page.getByRole("alert");
    const askAgain = async (): Promise<void> => {
      await notice.getByText("The service cannot answer now").waitFor();
      expect(await notice.count()).toBe(1);
      await notice.getByRole("button", { name: "Try again" }).click();
      await notice.waitFor({ state: "detached" });
    };
    await failNext(page, { path: "/x-bill", query: { user: place } });
    await visitor.goto(`/console/bill/${team.id}?period=custom&${DAYS}`, "Search Team");
    await askAgain();
    const accounts = page.getByRole("region", { name: "Accounts below it" }).first();
    expect(await accounts.locator("tfoot td").last().textContent()).toBe(below);

    await failNext(page, { path: "/x-bill", query: { user: place } });
    await visitor.goto(`/console/bill?period=custom&${DAYS}`, "Subtree bill");
    await askAgain();
    expect((await cellsOf("Search Team"))[2]).toBe(below);
    visitor.expectClean(/503/);
  });
});
