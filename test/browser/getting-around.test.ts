// Getting around in the console: back and forward, addresses that can be sent to somebody, the search, the keyboard alone, and
// pages that do not move for who asked for that.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { inBrowser } from "./browser.ts";
import { makeAccount } from "./states.ts";
import { openVisitor, type Visitor, type VisitorOptions } from "./visit.ts";
import { type Role, sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;

/** What has the focus, in words; `isSeen`: it is in the window and has an outline. */
const focusOf = (page: Page) =>
  page.evaluate(() => {
    const one = document.activeElement as HTMLElement;
    const { top, bottom, width } = one.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const isOutlined = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
    // Fields show the focus by the colour of their border.
    const isField = one.matches("input, textarea");
    return {
      text: (one.getAttribute("aria-label") ?? one.textContent ?? "").trim(),
      isDialog: one.closest('[role="dialog"]') !== null,
      isSeen: width > 0 && bottom > 0 && top < innerHeight && (isOutlined || isField),
    };
  });

inBrowser("getting around in the console", () => {
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

  const rowsOf = async (visitor: Visitor) => {
    await visitor.settled();
    return visitor.page.locator("main tbody tr").allTextContents();
  };

  test("filters and what is open are in the address: back, forward, and another tab", async () => {
    const visitor = await visit("leaf");
    const { page } = visitor;
    await visitor.goto("/console", "Home");
    await page.getByRole("link", { name: "Requests", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
    const all = await rowsOf(visitor);
    const model = page.getByLabel("Model", { exact: true });
    await model.fill("o4-mini");
    await model.press("Enter");
    await page.waitForURL(/model=o4-mini/);
    const some = await rowsOf(visitor);
    expect(some.length).toBeGreaterThan(0);
    expect(some.every((row) => row.includes("o4-mini"))).toBe(true);
    await page.locator("main tbody tr").first().press("Enter");
    await page.getByRole("dialog").waitFor();
    const address = page.url();
    await page.goBack();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.goBack();
    expect(await rowsOf(visitor)).toEqual(all);
    expect(await model.inputValue()).toBe("");
    await page.goForward();
    expect(await rowsOf(visitor)).toEqual(some);
    expect(await model.inputValue()).toBe("o4-mini");
    visitor.expectClean();
    const other = await visit("leaf");
    await other.page.goto(address);
    await other.page.getByRole("dialog").waitFor();
    expect(await rowsOf(other)).toEqual(some);
    other.expectClean();
  });

  test("a page that is opened begins at its top", async () => {
    const visitor = await visit("leaf", { width: 390 });
    const { page } = visitor;
    await page.setViewportSize({ width: 390, height: 300 });
    await visitor.goto("/console/requests", "Requests");
    await page.evaluate(() => scrollTo(0, 300));
    await visitor.follow("/console", "Home");
    const [top, height] = await page.evaluate(() => [scrollY, document.documentElement.scrollHeight]);
    expect(height).toBeGreaterThan(600);
    expect(top).toBe(0);
    visitor.expectClean();
  });

  describe("Ctrl-K", () => {
    const search = async (page: Page, text: string) => {
      await page.keyboard.press("Control+k");
      const field = page.getByRole("textbox", { name: "Search pages and accounts" });
      await field.waitFor();
      await field.fill(text);
    };

    test("finds pages by their names", async () => {
      const visitor = await visit("leaf");
      const { page } = visitor;
      await visitor.goto("/console", "Home");
      await search(page, "api k");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      visitor.expectClean();
    });

    test.each(["id", "name", "email"] as const)("finds accounts by %s", async (by) => {
      const account = await makeAccount(world, "reseller", { Name: `found-by-${by}` });
      const list = await world.call(world.tree.reseller.key, "GET", `/x-users?id=${account.id}&page=1`);
      const text = { id: String(account.id), name: account.name, email: list.body[0].Email as string }[by];
      const visitor = await visit("reseller");
      const { page } = visitor;
      await visitor.goto("/console", "Home");
      await search(page, text);
      await page.getByRole("dialog").getByText(account.name, { exact: true }).click();
      await page.waitForURL(new RegExp(`/console/accounts/${account.id}$`));
      visitor.expectClean();
    });
  });

  describe("by the keyboard alone", () => {
    test("one comes past the menu, to every link of it, and always sees where one is", async () => {
      const visitor = await visit("owner");
      const { page } = visitor;
      await visitor.goto("/console/keys", "API keys");
      await page.keyboard.press("Tab");
      expect(await focusOf(page)).toMatchObject({ text: "Skip to the page", isSeen: true });
      await page.keyboard.press("Enter");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("page");
      await page.keyboard.press("Tab");
      expect((await focusOf(page)).text).toBe("New key");
      // From the beginning again, through the header and the menu.
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      const links = await page.getByRole("navigation", { name: "Menu" }).getByRole("link").allTextContents();
      const met: string[] = [];
      while (met.length < links.length + 20 && met.at(-1) !== "New key") {
        await page.keyboard.press("Tab");
        const { text, isSeen } = await focusOf(page);
        expect([text, isSeen]).toEqual([text, true]);
        met.push(text);
      }
      const from = met.indexOf(links[0]!);
      expect(met.slice(from, from + links.length)).toEqual(links);
      expect(met.at(-1)).toBe("New key");
      visitor.expectClean();
    });

    test("a dialog keeps the focus, and gives it back", async () => {
      const visitor = await visit("leaf");
      const { page } = visitor;
      await visitor.goto("/console/keys", "API keys");
      await page.getByRole("button", { name: "New key" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await visitor.settled();
      for (let i = 0; i < 25; i++) {
        await page.keyboard.press(i % 5 === 4 ? "Shift+Tab" : "Tab");
        const { isDialog, text } = await focusOf(page);
        expect([i, text, isDialog]).toEqual([i, text, true]);
      }
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect((await focusOf(page)).text).toBe("New key");
      visitor.expectClean();
    });

    test("a row is opened, and its sheet gives the focus back", async () => {
      const visitor = await visit("leaf");
      const { page } = visitor;
      await visitor.goto("/console/requests", "Requests");
      const row = page.locator("main tbody tr").nth(1);
      await row.focus();
      expect((await focusOf(page)).isSeen).toBe(true);
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await visitor.settled();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await row.evaluate((one) => one === document.activeElement)).toBe(true);
      visitor.expectClean();
    });
  });

  test("nothing moves for who prefers that", async () => {
    const visitor = await visit("reseller");
    const { page } = visitor;
    const moving = () =>
      page.evaluate(() =>
        document
          .getAnimations()
          .filter(({ playState }) => playState === "running")
          .map((one) => ((one.effect as KeyframeEffect).target as Element).outerHTML.slice(0, 100)),
      );
    await visitor.goto("/console/keys", "API keys");
    expect(await moving()).toEqual([]);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await moving()).toEqual([]);
    await page.keyboard.press("Escape");
    await visitor.follow("/console/accounts/new", "New account");
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("nothing-moves");
    await page.getByLabel("E-mail").fill("still@arborgate.example");
    await page.getByLabel("CreditGranted").fill("2");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("Waiting for the first request", { exact: false }).waitFor();
    expect(await moving()).toEqual([]);
    visitor.expectClean();
  });
});
