// The page of models: prices are those of the account, what is searched is found, and the code that a page shows answers when it is
// run with the key in its place.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import type { Json } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const ROOT = resolve(import.meta.dirname, "../..");

inBrowser("the page of models", () => {
  let world: World;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "leaf");
  }, START_MS);
  afterEach(() => visitor.expectClean());
  afterAll(() => visitor?.close());

  /** Runs code of the page with the key of the leaf, and returns what it says. */
  const run = async (command: readonly string[]): Promise<string> => {
    const child = Bun.spawn([...command], { cwd: ROOT, stdout: "pipe", stderr: "pipe" });
    const [said, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) throw new Error(complaint);
    return said;
  };
  const shownCode = async (): Promise<string> => {
    const { key } = world.tree.leaf;
    const code = await visitor.page.getByRole("region", { name: /^Code for / }).textContent();
    expect(code).not.toContain(key);
    return code!.replace(`${key.slice(0, 7)}...`, key);
  };
  const choose = (name: string) => visitor.page.getByText(name, { exact: true }).click();

  test("a model is searched, and its prices are the account's own", async () => {
    await visitor.goto("/console/models", "Models");
    await visitor.page.getByLabel("Search", { exact: true }).fill("4o-mini");
    const row = visitor.page
      .getByRole("row")
      .filter({ has: visitor.page.getByLabel("Open gpt-4o-mini", { exact: true }) });
    const { body } = await world.call(world.tree.leaf.key, "GET", "/dashboard/models");
    const { price } = body.models.find(({ id }: Json) => id === "gpt-4o-mini");
    const cells = await row.getByRole("cell").allTextContents();
    expect(cells.slice(1, 4)).toEqual([price.InputText, price.OutputText, price.CachedText].map(String));
    expect(await visitor.page.getByRole("row").count()).toBeLessThan(12);
    expect(new URL(visitor.page.url()).search).toBe("?q=4o-mini");
    await row.click();
    await visitor.page.getByRole("dialog").getByText(`${price.InputText} per million`).waitFor();
    await visitor.page.goBack();
    expect(new URL(visitor.page.url()).search).toBe("?q=4o-mini");
  });

  test("the code of its sheet answers, as a command and with both SDKs", async () => {
    await visitor.goto("/console/models?model=gpt-4o", "Models");
    const { choices } = JSON.parse(await run(["sh", "-c", (await shownCode()).replace("curl", "curl -s")]));
    expect(choices[0].message.content.length).toBeGreaterThan(3);
    await choose("TypeScript");
    const chat = await shownCode();
    expect(chat).toContain('from "openai"');
    await choose("Messages");
    const messages = await shownCode();
    expect(messages).toContain('from "@anthropic-ai/sdk"');
    const [said, blocks] = await Promise.all(
      [chat, messages].map((code) => run([process.execPath, "-e", code])),
    );
    expect(said!.trim().length).toBeGreaterThan(3);
    expect(blocks).toContain('type: "text"');
  });

  test("Start shows this address, the beginning of the key, and code of the model that is chosen", async () => {
    await visitor.goto("/console/start", "Start");
    await visitor.page.getByText(`${world.bench.url}/v1`, { exact: true }).waitFor();
    await visitor.page.getByLabel("Model", { exact: true }).first().fill("embedding-3-small");
    await visitor.page.getByRole("option", { name: "text-embedding-3-small", exact: true }).click();
    const code = await shownCode();
    expect(code).toContain(`${world.bench.url}/v1/embeddings`);
    const { data } = JSON.parse(await run(["sh", "-c", code.replace("curl", "curl -s")]));
    expect(data[0].object).toBe("embedding");
  });
});
