// States of an account, of the service and of the network, as pages show them: no balance, suspended, an outcome that is unknown,
// no network, files of an older version, names of every kind.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { pagesOf } from "./pages.ts";
import {
  breakAfterDoing,
  dropNext,
  failAfterDoing,
  failNext,
  goOffline,
  loseNextFile,
  type Met,
  makeAccount,
} from "./states.ts";
import { openVisitor, type Visitor, type VisitorOptions } from "./visit.ts";
import { type Role, sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

inBrowser("states of the console", () => {
  let world: World;
  const open: Visitor[] = [];
  const visit = async (role: Role, options: VisitorOptions = {}) => {
    const visitor = await openVisitor(world, role, options);
    open.push(visitor);
    return visitor;
  };
  beforeAll(async () => {
    world = await sharedWorld();
  }, START_MS);
  afterEach(() => Promise.all(open.splice(0).map((visitor) => visitor.close())));

  describe("Home says what stands against requests, as the API does:", () => {
    const blockedOf = async (key: string) =>
      (await world.call(key, "GET", "/dashboard/live")).body.blocked?.code ?? null;

    test("a balance of 0", async () => {
      const account = await makeAccount(world, "reseller");
      await world.call(world.tree.reseller.key, "PUT", `/x-users/${account.id}`, { CreditGranted: -5 });
      const visitor = await visit("leaf", { key: account.key });
      await visitor.goto("/console", "Home");
      const { page } = visitor;
      const code = await blockedOf(account.key);
      expect(code).toBe("insufficient_balance");
      const banner = page.locator(`main [data-code="${code}"]`);
      expect(await banner.textContent()).toContain("Requests are refused");
      expect(await page.getByRole("banner").getByText("0.00", { exact: true }).count()).toBe(1);
      await visitor.expectAccessible();
      visitor.expectClean();
    });

    test("a suspension, which leaves what may be read", async () => {
      const { key } = world.tree.suspended;
      const visitor = await visit("leaf", { key });
      await visitor.goto("/console", "Home");
      expect(await blockedOf(key)).toBe("account_suspended");
      expect(await visitor.page.locator('main [data-code="account_suspended"]').count()).toBe(1);
      await visitor.follow("/console/requests", "Requests");
      visitor.expectClean();
      // What it may not do says why.
      await visitor.follow("/console/keys", "API keys");
      await makeKey(visitor, "never");
      const alert = visitor.page.getByRole("dialog").getByRole("alert");
      await alert.getByText("account_suspended").waitFor();
      visitor.expectClean(/403/);
    });
  });

  /** Opens the form of a new key on the page of keys, and sends it. */
  async function makeKey({ page }: Visitor, name: string): Promise<void> {
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    await dialog.getByRole("button", { name: "New key" }).click();
  }

  describe("a write whose outcome is unknown is repeated safely:", () => {
    const post = { method: "POST", path: "/dashboard/keys" };

    test.each<[string, (visitor: Visitor) => Promise<Met>, RegExp]>([
      ["503, and nothing was done", ({ page }) => failNext(page, post), /503/],
      ["503, and it was done", ({ page }) => failAfterDoing(page, post), /503/],
      ["the answer broke off", ({ page }) => breakAfterDoing(page, post), /nothing/],
      ["the connection was lost", ({ page }) => dropNext(page, post), /DISCONNECTED/],
    ])("%s", async (_, fail, noise) => {
      const account = await makeAccount(world, "reseller");
      const visitor = await visit("leaf", { key: account.key });
      await visitor.goto("/console/keys", "API keys");
      const first = await fail(visitor);
      await makeKey(visitor, "sent-twice");
      const dialog = visitor.page.getByRole("dialog");
      await dialog.getByRole("alert").getByText("The outcome is unknown").waitFor();
      await visitor.expectAccessible();
      const sent = visitor.page.waitForRequest(
        (request) => request.method() === "POST" && request.url().endsWith(post.path),
      );
      await dialog.getByRole("button", { name: "Repeat safely" }).click();
      const again = await (await sent).headerValue("idempotency-key");
      expect(again).toBe(first.calls[0]!.idempotencyKey);
      expect(again).toMatch(/^[0-9a-f]{32}$/);
      await visitor.page.getByText("This key is shown only now.").waitFor();
      const { body } = await world.call(account.key, "GET", "/dashboard/keys");
      expect(body.keys.map(({ name }: { name: string }) => name)).toEqual(["main", "sent-twice"]);
      visitor.expectClean(noise);
    });

    test("also when its form was closed and opened again", async () => {
      const account = await makeAccount(world, "reseller");
      const visitor = await visit("leaf", { key: account.key });
      await visitor.goto("/console/keys", "API keys");
      const dialog = visitor.page.getByRole("dialog");
      const first = await failAfterDoing(visitor.page, post);
      await makeKey(visitor, "sent-twice");
      await dialog.getByRole("alert").getByText("The outcome is unknown").waitFor();
      await visitor.page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      const sent = visitor.page.waitForRequest((request) => request.url().endsWith(post.path));
      await makeKey(visitor, "sent-twice");
      expect(await (await sent).headerValue("idempotency-key")).toBe(first.calls[0]!.idempotencyKey);
      await visitor.page.getByText("This key is shown only now.").waitFor();
      visitor.expectClean(/503/);
    });

    test("but not where a repeat would be another act: the page says what to do", async () => {
      const account = await makeAccount(world, "reseller");
      const visitor = await visit("leaf", { key: account.key });
      const { page } = visitor;
      await visitor.goto("/console/keys", "API keys");
      const met = await failNext(page, { method: "POST", path: "/x-self" });
      await page.getByText("main", { exact: true }).first().click();
      await page.getByRole("button", { name: "Rotate the main key" }).click();
      const dialog = page.getByRole("dialog", { name: "Rotate the main key" });
      await dialog.getByRole("button", { name: "Rotate the main key" }).click();
      await dialog.getByText("a repeat would be another act", { exact: false }).waitFor();
      expect(await dialog.getByRole("button", { name: "Repeat safely" }).count()).toBe(0);
      expect(met.calls[0]!.idempotencyKey).toBeNull();
      visitor.expectClean(/503/);
    });
  });

  describe("without a network", () => {
    test("a page keeps its last answers, says so, and goes on by itself", async () => {
      const visitor = await visit("leaf");
      await visitor.goto("/console", "Home");
      const { page } = visitor;
      const network = await goOffline(visitor);
      const notice = page.getByText("What you see is the last answer", { exact: false });
      await notice.first().waitFor();
      expect(await page.getByText("Balance", { exact: true }).count()).toBe(1);
      await network.back();
      await notice.first().waitFor({ state: "detached" });
      visitor.expectClean(/DISCONNECTED/);
    });

    test("a page that was not loaded yet says so, and comes when it is tried again", async () => {
      const visitor = await visit("leaf");
      await visitor.goto("/console", "Home");
      const { page } = visitor;
      const network = await goOffline(visitor);
      await page.getByRole("link", { name: "API keys" }).click();
      await page.getByRole("alert").getByText("The service cannot be reached").waitFor();
      await network.back();
      await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      visitor.expectClean(/DISCONNECTED/, /unreachable/);
    });
  });

  describe("after an upgrade", () => {
    const KEYS_CHUNK = /^\/console\/files\/keys-.*\.js$/;

    test("a page whose file is gone is loaded anew, once", async () => {
      const visitor = await visit("leaf");
      await visitor.goto("/console", "Home");
      let loads = 0;
      visitor.page.on("load", () => loads++);
      await loseNextFile(visitor.page, KEYS_CHUNK);
      await visitor.page.getByRole("link", { name: "API keys" }).click();
      await visitor.page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      expect(loads).toBe(1);
      visitor.expectClean(/404/);
    });

    test("one whose file stays away is loaded anew no second time, and the others go on", async () => {
      const visitor = await visit("leaf");
      await visitor.goto("/console", "Home");
      const { page } = visitor;
      let loads = 0;
      page.on("load", () => loads++);
      await page.route(
        (url) => KEYS_CHUNK.test(url.pathname),
        (route) => route.fulfill({ status: 404, body: "" }),
      );
      await page.getByRole("link", { name: "API keys" }).click();
      await page.getByRole("alert").getByText("This page could not be shown").waitFor();
      await page.getByRole("link", { name: "Requests" }).click();
      await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
      await page.getByRole("link", { name: "API keys" }).click();
      await page.getByRole("alert").getByText("This page could not be shown").waitFor();
      expect(loads).toBe(1);
      visitor.expectClean(/404/, /dynamically imported/);
    });
  });

  describe("names", () => {
    test.each([1280, 390])("of 64 emoji and of Chinese fit into %d pixels, and are found", async (width) => {
      const { emoji, design } = world.tree;
      const visitor = await visit("reseller", { width });
      await visitor.goto("/console/accounts", "Accounts");
      const { page } = visitor;
      for (const { name } of [emoji, design]) {
        expect(await page.getByRole("link", { name, exact: true }).count()).toBe(1);
      }
      await visitor.expectNoOverflow();
      await page.getByRole("searchbox").fill("设计");
      await page.getByRole("link", { name: emoji.name, exact: true }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: design.name, exact: true }).waitFor();
      visitor.expectClean();
    });

    test("of the signed-in account fit into the header", async () => {
      const visitor = await visit("leaf", { key: world.tree.emoji.key });
      await visitor.goto("/console", "Home");
      await visitor.expectNoOverflow();
      await visitor.expectAccessible("contrast");
      visitor.expectClean();
    });

    test("of 63 letters without a space make no page wider than a phone", async () => {
      const named = (letter: string) => ({ Name: letter.repeat(63), Alias: letter.repeat(64) });
      const account = await makeAccount(world, "reseller", { ...named("W"), CreditGranted: 20 });
      const { body } = await world.call(account.key, "POST", "/x-users", {
        ...{ ...named("M"), Email: "m@arborgate.example", CreditGranted: 2 },
      });
      const visitor = await visit("reseller", { key: account.key, width: 390 });
      await visitor.goto("/console", "Home");
      const wide: string[] = [];
      for (const row of pagesOf("reseller")) {
        const isBelow = row.path.includes("{leaf}");
        const heading = isBelow ? body.User.Updates.Name : row.heading;
        await visitor.follow(row.path.replace("{leaf}", body.User.ID), heading);
        await visitor.expectNoOverflow().catch((error: Error) => wide.push(error.message));
      }
      expect(wide).toEqual([]);
      visitor.expectClean();
    });
  });

  test("what people write is text, whatever it looks like", async () => {
    const markup = '<img src=x onerror="document.title=1"><b>bold</b>';
    const account = await makeAccount(world, "reseller", { Alias: markup });
    const news = { title: markup, content: `${markup}\n<script>document.title = 1</script>` };
    const sent = await world.call(world.tree.reseller.key, "POST", `/x-news/${account.id}`, news);
    expect(sent.status).toBe(200);
    const visitor = await visit("leaf", { key: account.key });
    await visitor.goto("/console", "Home");
    expect(await visitor.page.locator("article").first().textContent()).toContain(markup);
    expect(await visitor.page.locator("main img, main b, main script").count()).toBe(0);
    visitor.expectClean();
  });

  test("the pages are in Chinese where the browser is, or where that is chosen", async () => {
    const visitor = await visit("reseller", { language: "zh" });
    const { page } = visitor;
    await visitor.goto("/console", "首页");
    expect(await page.locator("html").getAttribute("lang")).toBe("zh");
    await visitor.expectAccessible("contrast");
    await page.getByRole("button", { name: "English" }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.getByRole("button", { name: "中文" }).click();
    await page.getByRole("heading", { level: 1, name: "首页" }).waitFor();
    visitor.expectClean();
  });

  describe("a text is copied", () => {
    /** What a page at a plain http address of another host has, where there is no Clipboard API. */
    const withoutApi = () => void Reflect.deleteProperty(Navigator.prototype, "clipboard");
    const refusedByApi = () => {
      Clipboard.prototype.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
    };
    const openStart = async (...scripts: (() => void)[]): Promise<Visitor> => {
      const visitor = await visit("leaf");
      for (const script of scripts) await visitor.context.addInitScript(script);
      await visitor.goto("/console/start", "Start");
      return visitor;
    };

    test.each([
      ["where there is no Clipboard API", withoutApi],
      ["where the Clipboard API refuses it", refusedByApi],
    ])("%s", async (_, script) => {
      const visitor = await openStart(script);
      const { page } = visitor;
      const copy = page.getByRole("button", { name: "Copy", exact: true }).first();
      await copy.focus();
      await page.keyboard.press("Enter");
      const copied = page.getByRole("button", { name: "Copied", exact: true });
      await copied.waitFor();
      expect(await copied.evaluate((button) => document.activeElement === button)).toBe(true);
      await page.evaluate(() => document.body.appendChild(document.createElement("textarea")).focus());
      await page.keyboard.press("ControlOrMeta+V");
      expect(await page.locator("textarea").inputValue()).toBe(`${new URL(page.url()).origin}/v1`);
      visitor.expectClean();
    });

    test("by hand where the browser allows no other way: it is selected", async () => {
      const visitor = await openStart(refusedByApi, () => {
        document.execCommand = () => false;
      });
      const { page } = visitor;
      await page.getByRole("button", { name: "Copy", exact: true }).first().click();
      await page.getByRole("status").getByText("Press Ctrl+C").waitFor();
      expect(await page.evaluate(() => String(getSelection()))).toBe(`${new URL(page.url()).origin}/v1`);
      await visitor.expectAccessible();
      visitor.expectClean();
    });
  });
});
