// The playground: the quote before, the answer as it comes, the charge after and inside its quote; an answer that is stopped is
// charged for what had come; a refusal says what to do. Charges are compared with the ledger.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Json, until } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { takesScreenshots } from "./screenshots.ts";
import { dropNext } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("the playground", () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "leaf");
  }, START_MS);
  afterEach(() => visitor.expectClean(/DISCONNECTED/));
  afterAll(() => visitor?.close());

  const field = (name: string) => visitor.page.getByLabel(name, { exact: true });
  const open = async (model: string) => {
    await visitor.goto(`/console/playground?model=${model}`, "Playground");
  };
  const send = async (text: string) => {
    await field("Message").fill(text);
    await visitor.page.locator(".quote[data-current=true]").waitFor();
    await visitor.page.getByRole("button", { name: "Send" }).click();
  };
  /** The ledger's charge of the latest request of the page, in US dollars. */
  const chargeOf = async (exchange: number): Promise<Json> => {
    const href = await visitor.page
      .getByRole("link", { name: "Why this much" })
      .nth(exchange)
      .getAttribute("href");
    const id = new URL(href!, world.adminUrl).searchParams.get("open");
    let line: Json;
    await until("the charge is in the ledger", async () => {
      const { body } = await world.call(world.tree.leaf.key, "GET", `/dashboard/ledger?request=${id}`);
      line = body.lines.find(({ basis }: Json) => basis !== undefined);
      return line !== undefined;
    });
    return line;
  };
  const truth = () => visitor.page.locator(".truth").last();

  test("a quote, then its charge, which is the ledger's and inside the quote", async () => {
    await open("gpt-4o-mini");
    await field("Longest answer").fill("200");
    await send("What is a hold? <b>In short</b> [[output=60 first_ms=150]]");
    await truth().waitFor();
    expect(await truth().getAttribute("data-verdict")).toBe("inside");
    const line = await chargeOf(0);
    expect(line).toMatchObject({
      model: "gpt-4o-mini",
      stream: true,
      basis: "provider",
      completion_tokens: 60,
    });
    const shown = await truth().locator("a.mantine-Anchor-root .figure").first().getAttribute("title");
    expect(shown).toBe(`${(-line.amount).toFixed(9)} USD`);
    // What was said is text, never markup.
    expect(await visitor.page.locator(".asked").textContent()).toContain("<b>In short</b>");
    expect((await visitor.page.locator(".answer").textContent())!.length).toBeGreaterThan(40);

    await send("And a second question [[output=5]]");
    await visitor.page.locator(".truth").nth(1).waitFor();
    expect(await visitor.page.locator("article[data-state=done]").count()).toBe(2);
    await visitor.expectAccessible();
    if (takesScreenshots) await visitor.screenshot("playground-charged");
  });

  test("an answer that is stopped is charged for what had come", async () => {
    await open("gpt-4o-mini");
    await send("A long story [[output=900 chunk_ms=200]]");
    await visitor.page.locator("article[data-state=answering] .answer").waitFor();
    await visitor.page.getByRole("button", { name: "Stop" }).click();
    await visitor.page.locator("article[data-state=stopped]").waitFor();
    await truth().waitFor();
    expect(await chargeOf(0)).toMatchObject({ basis: "partial" });
  });

  test("a refusal stands in the quote, with what to do", async () => {
    const { key } = world.tree.leaf;
    const capped = { Name: "capped", Scopes: ["invoke"], HardLimit: 0.000000001 };
    const made = await world.call(key, "POST", "/dashboard/keys", capped);
    const other = await openVisitor(world, "leaf", { key: made.body.secret });
    await other.goto("/console/playground?model=gpt-4o-mini", "Playground");
    await other.page.getByLabel("Message", { exact: true }).fill("Too much");
    const alert = other.page.getByRole("alert").filter({ hasText: "hard_limit_reached" });
    await alert.getByText("Ask for a higher HardLimit").waitFor();
    other.expectClean();
    await other.close();
  });

  test("a request whose connection is lost is repeated under its own id, and charged once", async () => {
    await open("gpt-4o-mini");
    const met = await dropNext(visitor.page, { method: "POST", path: "/v1/chat/completions" });
    await send("Say hello [[output=4]]");
    await visitor.page.getByRole("button", { name: "Repeat safely" }).click();
    await truth().waitFor();
    const line = await chargeOf(0);
    expect(line).toMatchObject({ completion_tokens: 4, request_id: met.calls[0]!.idempotencyKey });
    expect(await visitor.page.getByRole("article").count()).toBe(1);
  });

  test("an answer that breaks off says why, and what of it was charged", async () => {
    await open("gpt-4o-mini");
    await send("Tell me [[output=60 fault=cut after=9]]");
    await visitor.page.getByRole("alert").filter({ hasText: "upstream_failed" }).waitFor();
    await truth().waitFor();
    expect(await chargeOf(0)).toMatchObject({ basis: "partial" });
  });
});
