// Who is signed in, and for how long: where the key is kept and where it never is, what ends a session, and which pages a role has.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { inBrowser } from "./browser.ts";
import { PAGES, pagesOf, pathOf } from "./pages.ts";
import { failNext, makeAccount, makeEndingKey } from "./states.ts";
import { KEY_STORAGE_NAME, openVisitor, type Visitor } from "./visit.ts";
import { type Role, sharedWorld, sharedWorldWithAdminPort, type World } from "./world.ts";

const START_MS = 60_000;
const IDLE_MS = 3_600_000;
/** How often the page looks at whether it is idle. */
const IDLE_CHECK_MS = 30_000;

/** What is in the two storages of a tab. */
const stored = (page: Page) =>
  page.evaluate((name) => [sessionStorage.getItem(name), localStorage.getItem(name)], KEY_STORAGE_NAME);

async function signIn(page: Page, key: string, remember = false): Promise<void> {
  await page.getByLabel("API key").fill(key);
  if (remember) await page.getByLabel("Remember on this device").check();
  await page.getByRole("button", { name: "Sign in" }).click();
}

const home = (page: Page) => page.getByRole("heading", { level: 1, name: "Home" });
const signInPage = (page: Page) => page.getByRole("heading", { level: 1, name: "Sign in" });
const signOut = (page: Page) => page.getByRole("button", { name: "Sign out" }).click();

inBrowser("the session of the console", () => {
  let world: World;
  const open: Visitor[] = [];
  const visit = async (...options: Parameters<typeof openVisitor>) => {
    const visitor = await openVisitor(...options);
    open.push(visitor);
    return visitor;
  };
  beforeAll(async () => {
    world = await sharedWorld();
  }, START_MS);
  afterAll(() => Promise.all(open.map((visitor) => visitor.close())));

  describe("a key", () => {
    test("that the service refuses is not kept", async () => {
      const visitor = await visit(world, "leaf", { key: null });
      const { page } = visitor;
      await page.goto("/console/keys");
      await signIn(page, "sk-of-nobody");
      await page.getByRole("alert").getByText("invalid_api_key").waitFor();
      expect(await stored(page)).toEqual([null, null]);
      visitor.expectClean(/401/);
    });

    test("is kept for its tab, sent in a header, in no address, and forgotten at the end", async () => {
      const visitor = await visit(world, "leaf", { key: null });
      const { page } = visitor;
      const { key } = world.account("leaf");
      const asked: string[] = [];
      const senders = new Set<string>();
      page.on("request", (request) => {
        asked.push(request.url());
        const header = request.headers().authorization;
        if (header === `Bearer ${key}`) senders.add(new URL(request.url()).pathname);
      });
      await page.goto("/console/keys?page=1");
      await signIn(page, ` ${key}\n`);
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await visitor.settled();
      expect(await stored(page)).toEqual([key, null]);
      expect([...senders].sort()).toEqual(["/dashboard/keys", "/dashboard/status"]);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await visitor.settled();
      await signOut(page);
      await signInPage(page).waitFor();
      expect(await stored(page)).toEqual([null, null]);
      await page.getByText("You signed out. The key is forgotten.").waitFor();
      await page.reload();
      await signInPage(page).waitFor();
      expect([...asked, page.url()].filter((url) => url.includes(key))).toEqual([]);
      visitor.expectClean();
    });

    test("is remembered for new tabs where that is asked for, until any of them signs out", async () => {
      const visitor = await visit(world, "leaf", { key: null });
      const { page, context } = visitor;
      const { key } = world.account("leaf");
      await page.goto("/console");
      await signIn(page, key, true);
      await home(page).waitFor();
      expect(await stored(page)).toEqual([null, key]);
      const second = await context.newPage();
      await second.goto("/console");
      await home(second).waitFor();
      await signOut(second);
      await signInPage(page).waitFor();
      expect(await stored(page)).toEqual([null, null]);
      visitor.expectClean();
    });

    test("is forgotten after an hour without use, and not before", async () => {
      const visitor = await visit(world, "leaf");
      const { page } = visitor;
      await page.clock.install();
      await page.goto("/console/keys");
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await visitor.settled();
      await page.clock.fastForward(IDLE_MS - 2 * IDLE_CHECK_MS);
      await page.clock.runFor(IDLE_CHECK_MS);
      expect((await stored(page))[0]).not.toBeNull();
      await page.keyboard.press("Shift");
      await page.clock.fastForward(IDLE_MS - 2 * IDLE_CHECK_MS);
      await page.clock.runFor(IDLE_CHECK_MS);
      expect((await stored(page))[0]).not.toBeNull();
      await page.clock.runFor(2 * IDLE_CHECK_MS);
      await page.getByText("An hour passed without use, so the key was forgotten.").waitFor();
      expect(await stored(page)).toEqual([null, null]);
      visitor.expectClean();
    });

    test("is forgotten by the first press after an hour in which no timer ran", async () => {
      const visitor = await visit(world, "leaf");
      const { page } = visitor;
      await page.clock.install();
      await visitor.goto("/console/keys", "API keys");
      // The time goes on and no timer is due, as when a computer wakes.
      await page.clock.setSystemTime((await page.evaluate(() => Date.now())) + IDLE_MS);
      await page.keyboard.press("Shift");
      await page.getByText("An hour passed without use, so the key was forgotten.").waitFor();
      expect(await stored(page)).toEqual([null, null]);
      visitor.expectClean();
    });

    test("that may not even ask who it is can be signed out", async () => {
      const visitor = await visit(world, "leaf");
      const { page } = visitor;
      const error = {
        message: "The account is disabled.",
        type: "permission_error",
        code: "account_disabled",
      };
      await failNext(page, { path: "/dashboard/status" }, { status: 403, body: { error } });
      await page.goto("/console/keys");
      await page.getByRole("alert").getByText("account_disabled").waitFor();
      await visitor.expectAccessible();
      await signOut(page);
      await signInPage(page).waitFor();
      expect(await stored(page)).toEqual([null, null]);
      visitor.expectClean(/403/);
    });

    test("does not take the place of another that has signed in while it was made", async () => {
      const account = await makeAccount(world, "reseller");
      const other = world.account("leaf").key;
      const visitor = await visit(world, "leaf", { key: account.key });
      const { page } = visitor;
      await visitor.goto("/console/keys", "API keys");
      const reached = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      await page.route("**/x-self", async (route) => {
        reached.resolve();
        await held.promise;
        await route.continue();
      });
      await page.getByRole("button", { name: "Open main" }).click();
      await page.getByRole("button", { name: "Rotate the main key" }).click();
      const dialog = page.getByRole("dialog", { name: "Rotate the main key" });
      await dialog.getByRole("button", { name: "Rotate the main key" }).click();
      await reached.promise;
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await signOut(page);
      await signIn(page, other);
      await home(page).waitFor();
      const answered = page.waitForResponse("**/x-self");
      held.resolve();
      expect((await answered).status()).toBe(200);
      await visitor.settled();
      expect(await stored(page)).toEqual([other, null]);
      visitor.expectClean();
    });

    test("that ends while its page is open signs out, and the page says why", async () => {
      const ending = await makeEndingKey(world, "reseller");
      const visitor = await visit(world, "reseller", { key: ending.secret });
      const { page } = visitor;
      await visitor.goto("/console/keys", "API keys");
      await ending.end();
      await page.getByRole("link", { name: "Requests" }).click();
      await page.getByText("The key is not valid any more").waitFor();
      expect(await stored(page)).toEqual([null, null]);
      await visitor.settled();
      visitor.expectClean(/401/);
    });
  });

  test.each<Role>(["leaf", "reseller", "owner"])("%s has no page of another role", async (role) => {
    const visitor = await visit(world, role);
    await visitor.goto("/console", "Home");
    const known = pagesOf(role);
    const foreign = PAGES.filter((row) => !known.includes(row) && !row.roles.includes(role));
    expect(foreign.length).toBeGreaterThan(0);
    const headings = await visitor.page.evaluate(
      async (paths) => {
        const found: [string, string | undefined][] = [];
        for (const path of paths) {
          history.pushState(null, "", path);
          await new Promise((resolve) => requestAnimationFrame(resolve));
          found.push([path, document.querySelector("h1")?.textContent]);
        }
        return found;
      },
      foreign.map((row) => pathOf(row, world, role)),
    );
    expect(headings.filter(([, heading]) => heading !== "There is no such page")).toEqual([]);
    // Nothing was asked that the service refuses.
    visitor.expectClean();
  });

  describe("where administration has an address of its own", () => {
    let split: World;
    beforeAll(async () => {
      split = await sharedWorldWithAdminPort();
    }, START_MS);

    test("its pages are not at the other one, which leads there", async () => {
      const visitor = await visit(split, "owner");
      await visitor.goto("/console", "Home");
      const { page } = visitor;
      const menu = page.getByRole("navigation", { name: "Menu" });
      const paths = await menu
        .getByRole("link")
        .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).pathname));
      expect(paths.filter((path) => path.startsWith("/console/admin"))).toEqual([]);
      const { body } = await split.call(split.account("owner").key, "GET", "/dashboard/status");
      const leads = menu.getByRole("link", { name: "Open administration" });
      expect(await leads.getAttribute("href")).toBe(`${body.admin_url}/console/`);
      await visitor.follow("/console/admin/integrity", "There is no such page");
      const there = page.locator("main").getByRole("link", { name: "Open administration" });
      expect(await there.getAttribute("href")).toBe(`${body.admin_url}/console/admin/integrity`);
      visitor.expectClean();
      expect((await page.goto("/console/admin/integrity"))?.status()).toBe(404);
      visitor.expectClean(/404/);
    });

    test("its pages are there, with all others", async () => {
      const visitor = await visit(split, "owner", { atAdminPort: true });
      await visitor.goto("/console/admin/integrity", "Integrity");
      await visitor.goto("/console", "Home");
      expect(await visitor.page.getByRole("link", { name: "Integrity" }).count()).toBe(1);
      expect(await visitor.page.getByRole("link", { name: "Open administration" }).count()).toBe(0);
      visitor.expectClean();
    });
  });
});
