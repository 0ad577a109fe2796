// Credits and ledger in the console: credit in the order in which it is spent, with the days on which it expires; lines with the
// balance after each, and the equation behind a charge.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { failNext } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const TITLE = "Credits and ledger";

inBrowser("the ledger in the console", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "leaf");
  }, START_MS);
  afterAll(() => visitor?.close());

  const ask = async (path: string): Promise<Json> =>
    (await world.call(world.tree.leaf.key, "GET", path)).body;

  test("each entry of credit stands in spending order, and its day is marked on the calendar", async () => {
    const { page } = visitor;
    const { balance } = await ask("/dashboard/info");
    await visitor.goto("/console/ledger", TITLE);
    const coins = page.locator("[data-coin]");
    expect(await coins.evaluateAll((all) => all.map((one) => one.getAttribute("data-coin")))).toEqual(
      balance.credits.map(({ expires_at }: Json) => expires_at),
    );
    expect(await coins.last().textContent()).toContain("120.00 USD expires on 12 September unless used");
    const days = await page
      .locator("[data-expires]")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-expires")));
    expect(days).toEqual(balance.credits.map(({ expires_at }: Json) => expires_at.slice(0, 10)));
    visitor.expectClean();
  });

  test("a charge opens the equation behind it, which the page has computed itself", async () => {
    const { page } = visitor;
    const { lines } = await ask("/dashboard/ledger?type=charge&model=o4-mini&size=1");
    await visitor.goto("/console/ledger?type=charge&model=o4-mini", TITLE);
    const row = page.locator("tbody tr").first();
    const [amount, balance] = (await row.locator("td").allTextContents()).slice(-2);
    expect([amount, balance]).toEqual([String(lines[0].amount), String(lines[0].balance_after)]);
    await row.locator("td").first().click();
    await page.locator('[data-equation="true"]').waitFor();
    expect(new URL(page.url()).searchParams.get("open")).toBe(lines[0].id);
    visitor.expectClean();
  });

  test("a charge that could not be asked for is not said to be unknown, and is asked for again", async () => {
    const { page } = visitor;
    const { lines } = await ask("/dashboard/ledger?type=charge&model=o4-mini&size=1");
    const request = lines[0].id;
    for (const question of ["explain", "ledger"]) {
      await failNext(page, { path: `/dashboard/${question}`, query: { request } });
    }
    await failNext(page, { path: "/dashboard/requests" });
    await visitor.goto(`/console/ledger?type=charge&model=o4-mini&open=${request}`, TITLE);
    const sheet = page.getByRole("dialog");
    const notice = sheet.getByRole("alert");
    await notice.getByText("The service cannot answer now").waitFor();
    expect(await notice.count()).toBe(1);
    expect(await sheet.getByText("No attempt and no charge").count()).toBe(0);
    await notice.getByRole("button", { name: "Try again" }).click();
    await sheet.locator('[data-equation="true"]').waitFor();
    await notice.waitFor({ state: "detached" });

    // Half of what is known is shown, and that the rest could not be asked for.
    await failNext(page, { path: "/dashboard/explain", query: { request } });
    await page.reload();
    await notice.getByRole("button", { name: "Try again" }).click();
    await sheet.locator('[data-equation="true"]').waitFor();

    await visitor.goto("/console/ledger?open=00000000000000000000000000", TITLE);
    await sheet.getByText("No attempt and no charge").waitFor();
    expect(await notice.count()).toBe(0);
    visitor.expectClean(/503/, /404/);
  });

  test("filters are in the address, and a transfer opens what is known of it", async () => {
    const { page } = visitor;
    const { lines } = await ask("/dashboard/ledger?type=transfer_in");
    await visitor.goto("/console/ledger", TITLE);
    await page.getByRole("combobox", { name: "Type" }).click();
    await page.getByRole("option", { name: "transfer in", exact: true }).click();
    await page.waitForURL("**/ledger?type=transfer_in");
    await page.getByText(`from account ${world.tree.reseller.id}`).first().waitFor();
    expect(await page.locator("tbody tr").count()).toBe(lines.length);
    await page.getByRole("button", { name: "Count and add up" }).click();
    await page.getByText(`${lines.length} lines = 220.000000000 USD`).waitFor();
    await page.locator("tbody tr").first().locator("td").first().click();
    await page.getByRole("dialog").getByText(lines[0].operation_id).waitFor();
    visitor.expectClean();
  });
});
