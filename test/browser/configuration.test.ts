// The pages Settings, Model limits and History: what is typed is saved as the differences alone, repeated safely, and gone back
// from. What the service has of it is asked through the API.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Json, Owner } from "../e2e/harness.ts";
import { inBrowser } from "./browser.ts";
import { failAfterDoing } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("the pages of the configuration", () => {
  let world: World;
  /** An Owner that these tests alone change. */
  let owner: Owner;
  let visitor: Visitor;
  beforeAll(async () => {
    world = await sharedWorld();
    owner = await world.bench.owner({
      config: {
        LEVEL_AFFINITY: "on",
        MODEL_LIMITS: { "gpt-4o": { rpm: 600, tpd: 9_000_000 }, "o4-*": { rph: 50 } },
      },
    });
    visitor = await openVisitor(world, "owner", { key: owner.key });
  }, START_MS);
  afterEach(() => visitor.expectClean(/503/));
  afterAll(() => visitor?.close());

  const ask = async (path: string): Promise<Json> => (await world.call(owner.key, "GET", path)).body;
  const configs = async () => (await ask("/x-config")).configs;
  const changes = async () => (await ask("/x-config/history")).versions[0].changes;
  const button = (name: string | RegExp) => visitor.page.getByRole("button", { name });
  const field = (name: string) => visitor.page.getByLabel(name, { exact: true });
  const saved = (version: number) =>
    visitor.page.getByText(`Saved as version ${version}.`, { exact: false }).waitFor();

  test("settings are saved as what differs, once also when the answer is lost", async () => {
    await visitor.goto("/console/admin/settings", "Settings");
    await field("Requests need more than").fill("1,5");
    await field("Paths that accounts may use").fill("/v1/chat/*, /v1/embeddings");
    await visitor.page.getByText("Enter an amount in US dollars").waitFor();
    await field("Requests need more than").fill("0.000000001");
    await field("A conversation keeps its key").click();
    await failAfterDoing(visitor.page, { method: "PUT", path: "/x-config" });
    await button("Save 3 changes").click();
    await visitor.page.getByRole("alert").filter({ hasText: "The outcome is unknown" }).waitFor();
    await button("Repeat safely").click();
    await saved(2);
    expect(await changes()).toEqual({
      LEVEL_AFFINITY: { before: "on", after: "off" },
      USER_API_BALANCE: { before: 0, after: 0.000000001 },
      RESOURCES: { before: {}, after: { "/v1/chat/*": {}, "/v1/embeddings": {} } },
    });

    await button("Reset USER_API_BALANCE").click();
    await button("Save").click();
    await saved(3);
    expect(Object.keys(await changes())).toEqual(["USER_API_BALANCE"]);
    expect((await configs()).USER_API_BALANCE).toBe(0);
  });

  test("a mail server is saved without showing its password, and a test mail says where it ended", async () => {
    await field("Sender of mails").fill("owner@arborgate.example");
    await field("Mail server").fill("127.0.0.1");
    await field("Port").fill("1");
    await field("Password").fill("correct horse");
    await button("Save 4 changes").click();
    await saved(4);
    expect(await configs()).toMatchObject({
      EMAIL_SMTP: "127.0.0.1",
      EMAIL_PORT: "1",
      EMAIL_PASS: "********",
    });
    expect(await field("Password").inputValue()).toBe("");
    await button("Send a test mail").click();
    await visitor.page.getByText(/The mail was not sent: it ended at/).waitFor();
  });

  test("limits of models are changed, added and removed in one version, and what holds is shown", async () => {
    await visitor.goto("/console/admin/model-limits?model=gpt-4o-mini", "Model limits");
    await field("RPM of gpt-4o").fill("1,200");
    await field("TPD of gpt-4o").fill("");
    await button("Remove the limits of o4-*").click();
    await field("Model or pattern, such as gpt-4o or gpt-*").fill("gpt-*");
    await button("Add").click();
    await field("TPM of gpt-*").fill("90000");
    const effective = visitor.page.getByRole("row", { name: /^Effective/ });
    await effective.getByText("90,000").waitFor();
    await button("Save 3 changes").click();
    await saved(5);
    expect((await configs()).MODEL_LIMITS).toEqual({ "gpt-4o": { rpm: 1_200 }, "gpt-*": { tpm: 90_000 } });
  });

  test("going back to a version shows what becomes different, and makes a new version", async () => {
    await visitor.goto("/console/admin/history", "History");
    await visitor.page
      .getByRole("row", { name: /^1 / })
      .getByRole("button", { name: "Go back to it" })
      .click();
    const dialog = visitor.page.getByRole("dialog");
    await dialog.getByText("MODEL_LIMITS › o4-* › rph").waitFor();
    expect(await dialog.getByText("EMAIL_PASS", { exact: false }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Go back to it" }).click();
    await saved(6);
    const { MODEL_LIMITS, RESOURCES, EMAIL_SMTP } = await configs();
    expect({ MODEL_LIMITS, RESOURCES, EMAIL_SMTP }).toEqual({
      MODEL_LIMITS: { "gpt-4o": { rpm: 600, tpd: 9_000_000 }, "o4-*": { rph: 50 } },
      RESOURCES: {},
      EMAIL_SMTP: "",
    });
  });
});
