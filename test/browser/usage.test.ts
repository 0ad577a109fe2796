// Usage in the console: a cell of a bill opens the lines that it is made of, and they add up to it; what has a fee is asked for when
// somebody says so, and once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Account, Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("usage in the console", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "leaf");
  }, START_MS);
  afterAll(() => visitor?.close());

  const ask = async (key: string, path: string): Promise<Json> => (await world.call(key, "GET", path)).body;

  test("a cell opens its lines, which add up to it, and the way back keeps period and group", async () => {
    const { page } = visitor;
    const { key } = world.tree.leaf;
    const bill = await ask(key, "/dashboard/bill?days=7&group=api_key");
    const group = bill.groups.find(({ name }: Json) => name === "notebook");
    await visitor.goto("/console/usage?period=7", "Usage");
    await page.getByText("API key", { exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: "notebook" });
    await row.getByRole("link").click();
    await page.locator('[data-proof="true"]').waitFor();
    const shown = await page.locator(".sum-of-lines").textContent();
    expect(shown).toContain(`${group.requests} lines = ${group.cost.toFixed(9)} USD`);
    await page.goBack();
    await row.waitFor();
    expect(new URL(page.url()).search).toBe("?period=7&group=api_key");
    visitor.expectClean();
  });

  test("of an account below, too: a day opens its lines there", async () => {
    const { id } = world.tree.leaf;
    const { daily_costs } = await ask(world.tree.reseller.key, `/x-bill?user=${id}&days=7`);
    const { date, total_credit_used: cost, total_requests: count } = daily_costs[0];
    const above = await openVisitor(world, "reseller");
    await above.goto(`/console/accounts/${id}/usage?period=7&group=time`, /Mira/);
    await above.page.getByRole("row").filter({ hasText: date }).getByRole("link").click();
    await above.page.locator('[data-proof="true"]').waitFor();
    const shown = await above.page.locator(".sum-of-lines").textContent();
    expect(shown).toContain(`${count} lines = ${cost.toFixed(9)} USD`);
    expect(new URL(above.page.url()).pathname).toBe(`/console/accounts/${id}/ledger`);
    above.expectClean();
    await above.close();
  });

  test("the totals row and the download are the service's", async () => {
    const { page } = visitor;
    const bill = await ask(world.tree.leaf.key, "/dashboard/bill?days=30&group=model");
    await visitor.goto("/console/usage", "Usage");
    const total = await page.locator("tfoot td").allInnerTexts();
    expect(total.at(-1)).toBe(String(bill.total_credit_used));
    expect(total[1]).toBe(String(bill.total_requests));
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    const last = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n")
      .at(-1);
    expect(last).toEndWith(`,${bill.total_credit_used}`);
    visitor.expectClean();
  });

  test("a bill with a fee is asked for once, by a button that says the fee; without usage it says so", async () => {
    const { call, tree } = world;
    const body = { Name: "No Usage Yet", Email: "no-usage@arborgate.example", CreditGranted: 3 };
    const { User } = (await call(tree.reseller.key, "POST", "/x-users", body)).body;
    const account: Account = { id: User.ID, key: User.SecretKey, name: body.Name };
    // Lists without a filter have every line that was written.
    const fees = async (): Promise<Json[]> =>
      (await ask(account.key, "/dashboard/ledger")).lines.filter(({ type }: Json) => type === "query_fee");
    const other = await openVisitor(world, "leaf", { key: account.key });
    await other.goto("/console/usage?period=90", "Usage");
    await other.page.getByText("This bill costs 0.01 USD").waitFor();
    expect(await fees()).toEqual([]);
    await other.page.getByRole("button", { name: "Ask for it (0.01 USD)" }).click();
    await other.page.getByText("Nothing was charged in this period.", { exact: false }).waitFor();
    await other.page.getByText("0.01 USD was taken for this answer.").waitFor();
    expect((await fees()).map(({ amount }) => amount)).toEqual([-0.01]);
    other.expectClean();
    await other.close();
  });
});
