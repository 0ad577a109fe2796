// A list of a hundred thousand accounts: it pages, sorts and is searched as one of two hundred, by as many requests and with as many
// rows in the page. The service answers from a store that has them.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { inBrowser } from "./browser.ts";
import { type ManyAccounts, makeManyAccounts } from "./many-accounts.ts";
import { openVisitor, type Visitor } from "./visit.ts";

const START_MS = 120_000;
/** Pages of the list are of 50; of so many none is visited twice. */
const FEW = 200;
const MANY = 100_000;

/** What a visit of the list took. */
interface Taken {
  readonly rows: readonly number[];
  readonly elements: readonly number[];
  readonly lists: readonly string[];
}

inBrowser("a list of 100,000 accounts", () => {
  let few: ManyAccounts;
  let many: ManyAccounts;
  let visitors: Visitor[] = [];
  beforeAll(async () => {
    few = await makeManyAccounts(FEW);
    many = await makeManyAccounts(MANY);
    visitors = await Promise.all([few, many].map((service) => openVisitor(service, "owner")));
  }, START_MS);
  afterAll(async () => {
    await Promise.all(visitors.map((visitor) => visitor.close()));
    await few?.close();
    await many?.close();
  });

  const names = (page: Page) =>
    page
      .locator("main tbody tr")
      .getByRole("link", { name: /^account-\d+$/ })
      .allTextContents();

  /** Pages forth and back, sorts, goes to the last page, scrolls, and searches. */
  async function use(visitor: Visitor, count: number): Promise<Taken> {
    const { page } = visitor;
    const lists: string[] = [];
    page.on("request", (request) => {
      const { pathname, search } = new URL(request.url());
      if (/^\/x-(users|dna)$/.test(pathname)) lists.push(`${pathname}${search}`);
    });
    const rows: number[] = [];
    const elements: number[] = [];
    const look = async () => {
      await visitor.settled();
      rows.push(await page.locator("main tbody tr").count());
      elements.push(await page.locator("*").count());
    };
    await visitor.goto("/console/accounts", "Accounts");
    await look();
    expect((await names(page))[0]).toBe("account-1");
    await page.getByRole("button", { name: "Next page" }).click();
    await page.getByRole("link", { name: "account-51", exact: true }).waitFor();
    await look();
    await page.getByRole("button", { name: "Sort by Balance" }).click();
    await page.waitForURL(/sort=balance/);
    await look();
    await visitor.follow(`/console/accounts?page=${count / 50}`, "Accounts");
    await page.getByRole("link", { name: `account-${count}`, exact: true }).waitFor();
    await look();
    expect(await page.getByRole("button", { name: "Next page" }).isDisabled()).toBe(true);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.getByRole("searchbox").fill(`account-${count}`);
    await page.getByText("1 found", { exact: true }).waitFor();
    await visitor.settled();
    expect(await names(page)).toEqual([`account-${count}`]);
    visitor.expectClean();
    return { rows, elements, lists };
  }

  test("takes the same requests and rows as one of a few", async () => {
    const [small, large] = [await use(visitors[0]!, FEW), await use(visitors[1]!, MANY)];
    expect(large.rows).toEqual([50, 50, 50, 50]);
    expect(small.rows).toEqual(large.rows);
    expect(large.lists.length).toBe(small.lists.length);
    for (const [at, elements] of large.elements.entries()) {
      expect(elements).toBeLessThanOrEqual(small.elements[at]! + 10);
    }
  });
});
