// Credit that is given and taken on the page of an account: what the page says beforehand is what both ledgers say afterwards, to
// the billionth, and however often it is asked it is done once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, type Json, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { failAfterDoing, failNext, holdNext } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("transfers of credit in the console", () => {
  let world: World;
  let visitor: Visitor;
  let account: Account;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "reseller");
    const body = { Name: "Credit Moves", Email: "moves@arborgate.example", CreditGranted: 10 };
    const { User } = (await world.call(world.tree.reseller.key, "POST", "/x-users", body)).body;
    account = { id: User.ID, key: User.SecretKey, name: body.Name };
    await visitor.goto(`/console/accounts/${account.id}`, "Credit Moves");
  }, START_MS);
  afterAll(() => visitor?.close());

  const dialog = () => visitor.page.getByRole("dialog");
  const linesOf = async (key: string): Promise<Json[]> =>
    (await world.call(key, "GET", "/dashboard/ledger?size=200")).body.lines;
  /** The newest line of each side. */
  const newest = async () => [(await linesOf(account.key))[0], (await linesOf(world.tree.reseller.key))[0]];
  /** What the dialog says of an account: before, change, after, and its line. */
  const planOf = async (name: string): Promise<string[]> => {
    const side = dialog().getByRole("region", { name });
    const amounts = await side.locator(".figure").allTextContents();
    return [...amounts, (await side.getByText("Line of its ledger").textContent()) ?? ""];
  };

  test("both sides stand there before and after, and a double click gives once", async () => {
    const { page } = visitor;
    await page.getByRole("button", { name: "Give or take credit" }).click();
    await dialog().getByLabel("Amount").fill("12.345678901");
    await dialog().getByLabel("Days").fill("10");
    const [before, change, after, line] = await planOf("Credit Moves");
    expect([before, change, after]).toEqual(["10.00", "+12.345678901", "22.345678901"]);
    expect(line).toBe("Line of its ledger: transfer_in, expires 2027-03-28");
    const [, taken, left] = await planOf("Lumen Reseller");
    expect(taken).toBe("-12.345678901");
    await dialog().getByRole("button", { name: "Give credit" }).dblclick();
    await dialog().getByText("The credit is given.").waitFor();
    const [child, parent] = await newest();
    expect([child.type, child.amount, child.balance_after]).toEqual([
      "transfer_in",
      12.345678901,
      22.345678901,
    ]);
    expect([parent.type, parent.amount]).toEqual(["transfer_out", -12.345678901]);
    expect(left).toBe(parent.balance_after.toLocaleString("en", { maximumFractionDigits: 9 }));
    expect((await linesOf(account.key)).length).toBe(2);
    visitor.expectClean();
  });

  test("an answer that was lost is asked for again, and the credit was given once", async () => {
    const { page } = visitor;
    await dialog().getByRole("button", { name: "Another" }).click();
    const met = await failAfterDoing(page, { method: "PUT", path: `/x-users/${account.id}` });
    await dialog().getByLabel("Amount").fill("3");
    await dialog().getByRole("button", { name: "Give credit" }).click();
    await dialog().getByText("The outcome is unknown").waitFor();
    const sent = page.waitForRequest((request) => request.method() === "PUT");
    await dialog().getByRole("button", { name: "Repeat safely" }).click();
    expect((await sent).headers()["idempotency-key"]).toBe(met.calls[0]!.idempotencyKey!);
    await dialog().getByText("The credit is given.").waitFor();
    const lines = await linesOf(account.key);
    expect([lines.length, lines[0].balance_after]).toEqual([3, 25.345678901]);
    visitor.expectClean(/503/);
  });

  test("a form that is opened again says that the same write is in doubt, and makes another one where it is asked to", async () => {
    const { page } = visitor;
    await dialog().getByRole("button", { name: "Another" }).click();
    await failAfterDoing(page, { method: "PUT", path: `/x-users/${account.id}` });
    await dialog().getByLabel("Amount").fill("4");
    await dialog().getByRole("button", { name: "Give credit" }).click();
    await dialog().getByText("The outcome is unknown").waitFor();
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Give or take credit" }).click();
    await dialog().getByLabel("Amount").fill("5");
    const notice = dialog().getByText("its outcome is unknown");
    expect(await notice.count()).toBe(0);
    await dialog().getByLabel("Amount").fill("4");
    await notice.waitFor();
    const before = (await linesOf(account.key)).length;
    await dialog().getByRole("button", { name: "Make it another one" }).click();
    await notice.waitFor({ state: "detached" });
    await dialog().getByRole("button", { name: "Give credit" }).click();
    await dialog().getByText("The credit is given.").waitFor();
    const lines = await linesOf(account.key);
    expect([lines.length, lines[0].balance_after]).toEqual([before + 1, 33.345678901]);
    visitor.expectClean(/503/);
  });

  test("what no request holds can be taken back, and more cannot be asked for", async () => {
    const { page } = visitor;
    await dialog().getByRole("button", { name: "Another" }).click();
    await dialog().getByText("Take back", { exact: true }).click();
    await dialog().getByLabel("Amount").fill("40");
    await dialog().getByText("This is more than there is.").waitFor();
    const take = dialog().getByRole("button", { name: "Take credit back" });
    expect(await take.isDisabled()).toBe(true);
    await dialog().getByRole("button", { name: "33.345678901" }).click();
    await take.click();
    await dialog().getByText("The credit is taken back.").waitFor();
    const [child, parent] = await newest();
    expect([child.type, child.amount, child.balance_after]).toEqual(["refund", -33.345678901, 0]);
    expect([parent.type, parent.amount]).toEqual(["refund", 33.345678901]);
    await dialog().getByRole("button", { name: "Close" }).last().click();
    await page.getByText("The balance does not suffice").waitFor();
    visitor.expectClean();
  });

  test("a dialog whose transfer runs stays until its outcome is there", async () => {
    const { page } = visitor;
    await visitor.goto(`/console/accounts/${account.id}`, "Credit Moves");
    await page.getByRole("button", { name: "Give or take credit" }).click();
    const path = `/x-users/${account.id}`;
    await failNext(page, { method: "PUT", path });
    const held = await holdNext(page, { method: "PUT", path });
    await dialog().getByLabel("Amount").fill("2.5");
    const give = dialog().getByRole("button", { name: "Give credit" });
    await give.click();
    await held.came;
    await until("the form shows that it runs", () => give.isDisabled());
    await page.keyboard.press("Escape");
    held.release();
    await dialog().getByText("The outcome is unknown").waitFor();
    await page.keyboard.press("Escape");
    await dialog().waitFor({ state: "detached" });
    visitor.expectClean(/503/);
  });
});
