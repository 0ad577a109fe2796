// The bench of the browser tests itself: what no page may do is noticed, states are those of the service, and the world is what it
// says. The page here is the test's own, under the policy of the console.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inBrowser } from "./browser.ts";
import { dropNext, failAfterDoing, failNext, loseNextFile, makeEndingKey } from "./states.ts";
import { openVisitor, type Visitor } from "./visit.ts";
import { NOW, sharedWorld, type World } from "./world.ts";

const START_MS = 60_000;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'";

inBrowser("the bench of the browser tests", () => {
  let world: World;
  let visitor: Visitor;

  beforeAll(async () => {
    world = await sharedWorld();
    visitor = await openVisitor(world, "reseller");
    await visitor.page.route("**/blank", (route) =>
      route.fulfill({
        contentType: "text/html",
        headers: { "content-security-policy": POLICY },
        body: "<!doctype html><html lang=en><title>Blank</title><main><h1>Blank</h1></main></html>",
      }),
    );
    await visitor.goto("/blank", "Blank");
  }, START_MS);
  afterAll(() => visitor?.close());

  /** Calls the API from the page, as the console does. */
  const ask = (path: string, method = "GET", body?: object) =>
    visitor.page.evaluate(
      async ([to, how, what]) => {
        const key = sessionStorage.getItem("arborgate.key");
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const answer = await fetch(to, { method: how, headers, ...(what === null ? {} : { body: what }) });
        return {
          status: answer.status,
          total: answer.headers.get("x-total-count"),
          json: await answer.json(),
        };
      },
      [path, method, body === undefined ? null : JSON.stringify(body)] as const,
    );

  describe("of a page it notices", () => {
    test.each([
      [
        "a style that the policy forbids",
        /policy: style-src-elem forbids inline/,
        "document.head.append(document.createElement('style')); document.head.lastChild.textContent = 'a{}'",
      ],
      [
        "a request to another host",
        /another host: http:\/\/127\.0\.0\.2/,
        "new Image().src = 'http://127.0.0.2:9/a.png'",
      ],
      ["a complaint on the console", /console: something is wrong/, "console.error('something is wrong')"],
      ["an exception", /thrown: Error: lost/, "setTimeout(() => { throw new Error('lost'); })"],
      ["a file that is not there", /console: .*404/, "fetch('/not-there')"],
    ])("%s", async (_, line, script) => {
      await visitor.page.evaluate(script);
      await visitor.settled();
      expect(() => visitor.expectClean()).toThrow(line);
      visitor.expectClean();
    });

    test("what is wider than a phone", async () => {
      const phone = await openVisitor(world, "leaf", { width: 390 });
      await phone.page.setContent("<meta name=viewport content='width=device-width'><p id=wide>wide</p>");
      await phone.expectNoOverflow();
      await phone.page.locator("#wide").evaluate((one) => one.style.setProperty("width", "500px"));
      await expect(phone.expectNoOverflow()).rejects.toThrow(/id="wide"/);
      await phone.close();
    });

    test("what axe-core finds", async () => {
      await visitor.expectAccessible();
      await visitor.page.evaluate(() =>
        document.querySelector("main")?.append(document.createElement("button")),
      );
      await expect(visitor.expectAccessible()).rejects.toThrow(/button-name/);
      await visitor.goto("/blank", "Blank");
    });
  });

  test("a tab is signed in, and lives in business time", async () => {
    const [key, now] = await visitor.page.evaluate(() => [
      sessionStorage.getItem("arborgate.key"),
      Date.now(),
    ]);
    expect(key).toBe(world.tree.reseller.key);
    expect(Math.floor(Number(now) / 3_600_000)).toBe(Math.floor(NOW / 3_600_000));
    const { json } = await ask("/dashboard/status");
    expect(json.name).toBe("Lumen Reseller");
  });

  describe("a state", () => {
    const body = { Name: "Made Twice", Email: "twice@arborgate.example", CreditGranted: 2 };
    const countOf = async () => Number((await ask("/x-users?name=Made Twice&page=1")).total);

    test("a call that fails does nothing", async () => {
      const met = await failNext(visitor.page, { method: "POST", path: "/x-users" });
      const { status, json } = await ask("/x-users", "POST", body);
      expect([status, json.error.code]).toEqual([503, "service_unavailable"]);
      expect([met.calls.length, await countOf()]).toEqual([1, 0]);
      visitor.expectClean(/503/);
    });

    test("a call that fails after it was done has done it", async () => {
      await failAfterDoing(visitor.page, { method: "POST", path: "/x-users" });
      expect((await ask("/x-users", "POST", body)).status).toBe(503);
      expect(await countOf()).toBe(1);
      visitor.expectClean(/503/);
    });

    test("no network, and a file of an older version, are met once", async () => {
      await dropNext(visitor.page, { path: "/dashboard/status" });
      await expect(ask("/dashboard/status")).rejects.toThrow("Failed to fetch");
      await visitor.settled();
      expect((await ask("/dashboard/status")).status).toBe(200);
      await loseNextFile(visitor.page, /^\/healthz$/);
      const statusOf = () => visitor.page.evaluate(async () => (await fetch("/healthz")).status);
      expect([await statusOf(), await statusOf()]).toEqual([404, 200]);
      visitor.expectClean(/DISCONNECTED/, /404/);
    });

    test.each(["leaf", "reseller", "owner", "root"] as const)("a key of %s ends", async (role) => {
      const key = await makeEndingKey(world, role);
      const statusOf = async () => (await world.call(key.secret, "GET", "/dashboard/live")).status;
      expect(await statusOf()).toBe(200);
      await key.end();
      expect(await statusOf()).toBe(401);
    });
  });

  test("the world is what its tree says", async () => {
    const { tree, call } = world;
    const [bill, before, events, attention, news] = await Promise.all([
      call(tree.leaf.key, "GET", "/dashboard/bill?days=30"),
      call(tree.leaf.key, "GET", "/dashboard/bill?start=2027-01-18&end=2027-02-16"),
      call(tree.owner.key, "GET", "/x-events"),
      call(tree.owner.key, "GET", "/x-attention"),
      call(tree.leaf.key, "GET", "/dashboard/news"),
    ]);
    expect(bill.body.daily_costs.length).toBe(13);
    expect(before.body.total_requests).toBeGreaterThan(5);
    const types = new Set(events.body.events.map(({ type }: { type: string }) => type));
    expect([...types].sort()).toEqual(["sleep", "switch_over", "wake"]);
    const reasons = new Set(attention.body.accounts.map(({ reason }: { reason: string }) => reason));
    expect([...reasons].sort()).toEqual([
      "disabled",
      "expiring",
      "idle",
      "low_balance",
      "near_limit",
      "suspended",
    ]);
    const { system_news, user_news, dna_news } = news.body;
    expect([system_news.length, user_news.length, dna_news.length]).toEqual([2, 1, 1]);
  });
});
