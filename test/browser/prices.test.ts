// The page Prices: a price is changed after its effect was seen, undone, imported, and put on top of what somebody else saved. What
// the service has of it is asked through the API.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readPricingText } from "../../console/pages/admin/prices/pricing-faults.ts";
import { type Json, type Owner, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const PRICING = {
  ChatPricing: { "gpt-4o": { OutputText: 12 }, "house-model": { InputText: 0.5, OutputText: 1.5 } },
};
/** A snapshot of the first one, which has no price of its own. */
const USED = ["gpt-4o", "gpt-4o-2026-02-03"];

inBrowser("the page of prices", () => {
  let world: World;
  /** An Owner that these tests alone change. */
  let owner: Owner;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    owner = await world.bench.owner({ pricing: PRICING });
    for (const model of USED) {
      await world.bench.chat(owner.key, "[[prompt=400000 output=9000]]", { model, max_tokens: 10_000 });
    }
    // Previews read the ledger, the list reads the totals behind it, and the service keeps what it found for a minute.
    await until("both charges are in the ledger and in totals", async () => {
      const { models } = await ask("POST", "/x-config/preview", { PRICING });
      const { groups } = await ask("GET", "/dashboard/bill?days=30&group=model");
      return models.length === USED.length && groups.length === USED.length;
    });
    visitor = await openVisitor(world, "owner", { key: owner.key });
    await visitor.goto("/console/admin/prices?q=gpt-4o", "Prices");
  }, START_MS);
  // A preview of a draft that changed meanwhile may still be made: the next one is refused, and asked again by the page.
  afterEach(() => visitor.expectClean(/status of 503.*\/x-config\/preview/));
  afterAll(() => visitor?.close());

  const ask = async (method: string, path: string, body?: object): Promise<Json> =>
    (await world.call(owner.key, method, path, body)).body;
  const pricing = async () => {
    const read = readPricingText((await ask("GET", "/x-config")).configs.PRICING);
    return read.ok ? read.pricing : read.faults;
  };
  const button = (name: string | RegExp) => visitor.page.getByRole("button", { name });
  const row = (name: RegExp) =>
    visitor.page.getByRole("region", { name: "Prices" }).getByRole("row", { name });
  const dialog = () => visitor.page.getByRole("dialog");
  const field = (name: string) => dialog().getByLabel(name, { exact: true });
  /** Types the output price of a model into the draft. */
  const draftOutput = async (name: RegExp, text: string) => {
    await row(name).click();
    await field("Output").fill(text);
    await button("See the effect").click();
    await dialog().waitFor({ state: "detached" });
  };
  const saved = (version: RegExp) => visitor.page.getByText(version).waitFor();

  test("a model that is used without a price of its own is marked with what it is charged as", async () => {
    const marked = row(/^gpt-4o-2026-02-03 used, no price of its own/);
    await marked.getByText("charged as gpt-4o").waitFor();
    expect(await row(/^gpt-4o in/).count()).toBe(1);
    expect(await row(/no price of its own/).count()).toBe(1);
  });

  test("the effect on the last 30 days is seen before a price is saved, and the save is undone", async () => {
    await draftOutput(/^gpt-4o in/, "20.5");
    const draft = { ChatPricing: { ...PRICING.ChatPricing, "gpt-4o": { OutputText: 20.5 } } };
    let preview: Json = {};
    // One preview of an Owner is made at once, and the page asks for its own.
    await until("the page's preview is made", async () => {
      preview = await ask("POST", "/x-config/preview", { PRICING: draft });
      return preview.success === true;
    });
    expect(preview.total.cost_preview).toBeGreaterThan(preview.total.cost_now);
    const effect = visitor.page.getByRole("region", { name: "The last 30 days with these prices" }).first();
    await effect.getByText(String(preview.total.cost_preview), { exact: true }).first().waitFor();
    expect(await pricing()).toEqual(PRICING);
    await visitor.expectAccessible();

    await button("Save prices").click();
    await saved(/Saved as version 2/);
    expect(await pricing()).toEqual(draft);
    await button(/^Undo/).click();
    await saved(/Undone: everything is as it was in version 1/);
    expect(await pricing()).toEqual(PRICING);
  });

  test("what equals the list price is not kept, and prices are imported after their faults are named", async () => {
    await row(/^gpt-4o in/).click();
    await field("Output").fill("10.00");
    await field("Cached input").fill("1,2");
    await dialog().getByText("Enter a price such as 2.5.").waitFor();
    await visitor.expectAccessible();
    await field("Cached input").fill("");
    await button("See the effect").click();
    await button("Save prices").click();
    await saved(/Saved as version 4/);
    const { "house-model": house } = PRICING.ChatPricing;
    expect(await pricing()).toEqual({ ChatPricing: { "house-model": house } });

    await button("Import").click();
    await field("PRICING").fill('{"ChatPricing":{"gpt-4o":{"OutputText":"8"}},"ImagePricing":{}}');
    await dialog().getByText('ChatPricing["gpt-4o"].OutputText').waitFor();
    await dialog().getByText("is no price group").waitFor();
    expect(await button("See the effect").isDisabled()).toBe(true);
    await field("PRICING").fill(JSON.stringify(PRICING));
    await button("See the effect").click();
    await button("Save prices").click();
    await saved(/Saved as version 5/);
    expect(await pricing()).toEqual(PRICING);
  });

  test("what somebody else saved meanwhile is shown first, and the draft goes on top of it", async () => {
    await draftOutput(/^gpt-4o in/, "14");
    const theirs = { ChatPricing: { ...PRICING.ChatPricing, "house-model": { InputText: 7 } } };
    await ask("PUT", "/x-config", { PRICING: theirs });
    await button("Save prices").click();
    const alert = visitor.page.getByRole("alert").filter({ hasText: "Version 6 was saved meanwhile" });
    await alert.getByText("PRICING › ChatPricing › house-model › InputText").waitFor();
    expect(await pricing()).toEqual(theirs);
    await button("Go on with version 6").click();
    await button("Save prices").click();
    await saved(/Saved as version 7/);
    expect(await pricing()).toEqual({
      ChatPricing: { "gpt-4o": { OutputText: 14 }, "house-model": { InputText: 7 } },
    });
  });
});
