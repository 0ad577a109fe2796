// News: written for a group with Chinese and pictographs, read by its accounts as text, withdrawn by who published them; and the
// operation log, which lists both.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, type Json, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { holdNext } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const TITLE = `维护 <b>通知</b> ${"🌸".repeat(60)}`;
const TEXT = "周日中午，一小时。\n<img src=x onerror=alert(1)> https://example.org";

inBrowser("news", () => {
  let world: World;
  let writer: Visitor;
  let manager: Account;
  let readers: readonly Account[];
  beforeAll(async () => {
    world = await sharedWorld();
    const add = async (parent: Account, Name: string, CreditGranted: number): Promise<Account> => {
      const body = { Name, Email: `news-${Name.length}@arborgate.example`, CreditGranted };
      const { User } = (await world.call(parent.key, "POST", "/x-users", body)).body;
      return { id: User.ID, key: User.SecretKey, name: Name };
    };
    manager = await add(world.tree.reseller, "News Publisher", 12);
    readers = [await add(manager, `读者 ${"🌸".repeat(60)}`, 2), await add(manager, "Second Reader", 2)];
    writer = await openVisitor(world, "reseller", { key: manager.key });
  }, START_MS);
  afterAll(() => writer?.close());

  const newsOf = async ({ key }: Account): Promise<Json> =>
    (await world.call(key, "GET", "/dashboard/news")).body;
  const field = (name: string) => writer.page.getByLabel(name, { exact: true });
  const publish = async () => {
    await writer.page.getByRole("button", { name: "Publish" }).click();
    await writer.page.getByText(/Published as item/).waitFor();
  };

  test("an item for a group reaches its accounts as it was typed, and is gone when it is withdrawn", async () => {
    const { page } = writer;
    await writer.goto("/console/compose?for=group", /news/i);
    await page.getByText("Reaches 2 accounts.").waitFor();
    await field("Title").fill(TITLE);
    await page.getByText("73 of 100 characters").waitFor();
    await field("Text").fill(TEXT);
    await field("Days").fill("3");
    await publish();
    const [item] = (await newsOf(readers[0]!)).dna_news;
    expect(item).toMatchObject({ title: TITLE, content: TEXT });
    expect(Date.parse(item.expires_at) - Date.parse(item.created_at)).toBe(3 * 86_400_000);

    const reader = await openVisitor(world, "leaf", { key: readers[0]!.key, width: 390 });
    await reader.goto("/console/news?kind=group", "News");
    const article = reader.page.locator(`[data-news="${item.id}"]`);
    const paragraphs = await article.locator("p").allTextContents();
    expect(paragraphs.slice(0, 2)).toEqual([TITLE, TEXT]);
    expect(await article.locator("a, b, img").count()).toBe(0);
    await reader.expectNoOverflow();
    reader.expectClean();
    await reader.close();

    await page.getByRole("button", { name: "Withdraw" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click();
    await page.getByText("Withdrawn: 1").waitFor();
    const left = (await newsOf(readers[0]!)).dna_news.map(({ id }: Json) => id);
    expect(left).not.toContain(item.id);
    await page.getByText("You have published nothing").waitFor();
    writer.expectClean();
  });

  test("an item for one account reaches that one, which is searched by name", async () => {
    const { page } = writer;
    await writer.goto("/console/compose", /news/i);
    await page.getByRole("combobox", { name: "Account" }).fill("读者");
    await page.getByRole("option", { name: readers[0]!.name }).click();
    await page.getByText("Reaches this account.").waitFor();
    expect(new URL(page.url()).searchParams.get("to")).toBe(String(readers[0]!.id));
    await field("Title").fill("For you");
    await field("Text").fill("And for nobody else.");
    await publish();
    const [one, other] = await Promise.all(readers.map(newsOf));
    expect([one!.user_news.length, other!.user_news.length]).toEqual([1, 0]);
    await page.getByRole("cell", { name: readers[0]!.name }).waitFor();
    writer.expectClean();
  });

  test("an item for another group is published once its place is known, and there alone", async () => {
    const { page } = writer;
    await writer.goto(`/console/compose?for=group&to=${readers[0]!.id}`, /news/i);
    await field("Title").fill("For one group");
    await field("Text").fill("The second one.");
    const publishButton = page.getByRole("button", { name: "Publish" });
    await until("it could be published", () => publishButton.isEnabled());
    const second = await holdNext(page, { path: "/x-dna", query: { id: String(readers[1]!.id) } });
    await page.getByRole("combobox", { name: "Account" }).click();
    await page.getByRole("option", { name: readers[1]!.name }).click();
    await second.came;
    expect(await publishButton.isDisabled()).toBe(true);
    second.release();
    const post = page.waitForRequest((request) => request.method() === "POST");
    await publish();
    const place = (await world.call(manager.key, "GET", `/x-dna?id=${readers[1]!.id}`)).body[0].DNA;
    expect(decodeURIComponent(new URL((await post).url()).pathname)).toBe(
      `/x-news/${place}${readers[1]!.id}.`,
    );
    writer.expectClean();
  });

  test("the operation log is filtered in the address, and says what changed", async () => {
    const { page } = writer;
    const change = { Alias: "新别名 🌸", RPM: 60 };
    await world.call(manager.key, "PUT", `/x-users/${readers[1]!.id}`, change);
    await world.call(manager.key, "PUT", `/x-users/${readers[1]!.id}`, { Rates: 0.1 });
    await writer.goto(`/console/activity?target=${readers[1]!.id}&action=update_user`, "Activity");
    const rows = page.locator("tbody tr");
    expect(await rows.count()).toBe(2);
    await page.getByRole("combobox", { name: "Status" }).click();
    await page.getByRole("option", { name: "done" }).click();
    await page.waitForURL(/status=success/);
    await writer.settled();
    expect(await rows.count()).toBe(1);
    await rows.first().click();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("link", { name: "Second Reader" }).waitFor();
    const cells = (await sheet.locator("tbody tr").allTextContents()).toSorted();
    expect(cells).toEqual(["AliasSecond Reader新别名 🌸", "RPM060"]);

    await page.goto(`/console/activity?target=${readers[1]!.id}&status=failed`);
    await writer.settled();
    await rows.first().click();
    await sheet.getByText("Refused: rate_below_parent").waitFor();

    // As a tab of the account it has the lines about that account alone.
    await writer.goto(`/console/accounts/${readers[1]!.id}/activity`, "Second Reader");
    const logs = (await world.call(manager.key, "GET", `/dashboard/logs?target_id=${readers[1]!.id}`)).body
      .logs;
    const ofAccount = logs.filter((line: Json) => line.target_type === "user");
    expect(ofAccount.length).toBeGreaterThanOrEqual(3);
    expect(await rows.count()).toBe(ofAccount.length);
    writer.expectClean();
  });
});
