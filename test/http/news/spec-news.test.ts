// The specification's table of news, its fields and its limits: one test for each row, through HTTP. Whom each audience
// reaches at length is in news.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { type Account, type Json, type Owner, startBench } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";

const DAY_MS = 86_400_000;

let owner: Owner;
let user: Account;
let child: Account;
const bench = useBench();
beforeEach(async () => {
  owner = await bench.owner();
  user = await bench.subaccount(owner, { CreditGranted: 10 });
  child = await bench.subaccount(user, { CreditGranted: 2 });
});

const post = (target: string | number = "", more: object = {}, key = owner.key) =>
  bench.call(key, "POST", target === "" ? "/x-news" : `/x-news/${encodeURIComponent(target)}`, {
    title: "title",
    content: "content",
    ...more,
  });
const remove = (target: string | number = "", body?: object, key = owner.key) =>
  bench.call(key, "DELETE", target === "" ? "/x-news" : `/x-news/${encodeURIComponent(target)}`, body);
const news = async (key = child.key): Promise<Json> => (await bench.call(key, "GET", "/dashboard/news")).body;
const code = ({ status, body }: { readonly status: number; readonly body: Json }) => [
  status,
  body.error?.code,
];
const daysOf = ({ created_at, expires_at }: Json) =>
  (Date.parse(expires_at) - Date.parse(created_at)) / DAY_MS;

test("POST /x-news response: success, Action, news {id, title, content, created_at, expires_at}", async () => {
  const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect((await post()).body).toEqual({
    success: true,
    Action: "add",
    news: {
      id: expect.any(Number),
      title: "title",
      content: "content",
      created_at: stamp,
      expires_at: stamp,
    },
  });
});

test("POST /x-news: Root or Owner only; else 403 not_owner", async () => {
  expect((await post("", {}, bench.rootKey)).status).toBe(200);
  expect(code(await post("", {}, user.key))).toEqual([403, "not_owner"]);
  await remove("", undefined, bench.rootKey);
});

describe("days", () => {
  test.each([
    ["system-wide: 7 by default", "", {}, 7],
    ["targeted: 32 by default", "child", {}, 32],
    ["system-wide as given", "", { days: 1 }, 1],
    ["targeted as given", "child", { days: 400 }, 400],
  ])("%s", async (_, target, more, days) => {
    expect(daysOf((await post(target && child.id, more)).body.news)).toBe(days);
  });
});

describe("limits", () => {
  test.each([
    [{ title: "t".repeat(100) }, 200],
    [{ title: "t".repeat(101) }, 400],
    [{ content: "c".repeat(1_000) }, 200],
    [{ content: "c".repeat(1_001) }, 400],
    [{ title: "" }, 400],
    [{ title: undefined }, 400],
    [{ content: undefined }, 400],
    [{ days: 0 }, 400],
    [{ days: 1.5 }, 400],
    [{ days: "7" }, 400],
    [{ colour: "red" }, 400],
  ])("%j: %d", async (more, status) => {
    expect((await post("", more)).status).toBe(status);
    expect((await post(child.id, more)).status).toBe(status);
  });
});

describe("POST /x-news/{target}", () => {
  test.each([
    ["user id", () => child.id],
    ["user name", () => child.name],
    ["e-mail", () => `${child.name}@bench.example`],
  ])("%s: that user's user_news alone", async (_, target) => {
    const { id } = (await post(target())).body.news;
    expect((await news()).user_news.map((one: Json) => one.id)).toEqual([id]);
    expect((await news(user.key)).user_news).toEqual([]);
  });

  test("a DNA path: dna_news of those whose DNA starts with it, not of the account itself", async () => {
    const { id } = (await post(`.1.${owner.id}.${user.id}.`)).body.news;
    expect((await news()).dna_news.map((one: Json) => one.id)).toEqual([id]);
    expect((await news(user.key)).dna_news).toEqual([]);
  });

  test("needs ancestor permission", async () => {
    expect((await post(child.id, {}, user.key)).status).toBe(200);
    expect((await post(child.id, {}, bench.rootKey)).status).toBe(200);
    expect(code(await post(user.id, {}, user.key))).toEqual([403, "not_ancestor"]);
    expect(code(await post(owner.id, {}, user.key))).toEqual([403, "not_ancestor"]);
    const stranger = await bench.owner();
    expect(code(await post(child.id, {}, stranger.key))).toEqual([404, "user_not_found"]);
    expect(code(await post(`.1.${owner.id}.`, {}, stranger.key))).toEqual([404, "user_not_found"]);
    expect(code(await post("nobody-here"))).toEqual([404, "user_not_found"]);
  });
});

test("POST /x-news/{e-mail} that several in reach have: 400 ambiguous_identifier", async () => {
  const Email = `${owner.name}@shared.example`;
  await bench.subaccount(owner, { Email });
  await bench.subaccount(owner, { Email });
  expect(code(await post(Email))).toEqual([400, "ambiguous_identifier"]);
});

test("many items at once: each has an id of its own, and all are there, in the operation log too", async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => post()));
  const ids = answers.map(({ body }) => body.news.id).sort((a, b) => a - b);
  expect(new Set(ids).size).toBe(30);
  expect((await news()).system_news.map(({ id }: Json) => id).sort((a: number, b: number) => a - b)).toEqual(
    ids,
  );
  const { total } = (await bench.call(owner.key, "GET", "/dashboard/logs?action=add_news")).body;
  expect(total).toBe(30);
});

test("system_news: an Owner's reaches its own tree and itself, Root's everybody", async () => {
  const other = await bench.owner();
  const own = (await post()).body.news.id;
  const all = (await post("", {}, bench.rootKey)).body.news.id;
  const seen = async (key: string) => (await news(key)).system_news.map(({ id }: Json) => id);
  for (const { key } of [owner, user, child]) expect(await seen(key)).toEqual([all, own]);
  expect(await seen(other.key)).toEqual([all]);
  await remove("", undefined, bench.rootKey);
});

describe("DELETE", () => {
  test("/x-news without a body: all system news of the caller, and nothing else", async () => {
    await post();
    await post();
    await post(child.id);
    expect((await remove()).body).toEqual({ success: true, Action: "delete", deleted: 2 });
    const { system_news, user_news } = await news();
    expect([system_news.length, user_news.length]).toEqual([0, 1]);
  });

  test("/x-news with {id}: that item", async () => {
    const first = (await post()).body.news;
    const second = (await post()).body.news;
    expect((await remove("", { id: first.id })).body).toMatchObject({
      success: true,
      Action: "delete",
      news: first,
    });
    expect((await news()).system_news).toEqual([second]);
    expect(code(await remove("", { id: first.id }))).toEqual([404, "not_found"]);
  });

  test("/x-news/{target}: all news for that target", async () => {
    await post(child.id);
    await post(child.name);
    await post(user.id);
    expect((await remove(child.id)).body).toEqual({ success: true, Action: "delete", deleted: 2 });
    expect((await news(user.key)).user_news).toHaveLength(1);
    const stranger = await bench.owner();
    expect(code(await remove(user.id, undefined, stranger.key))).toEqual([404, "user_not_found"]);
  });
});

test("an item is visible until expires_at, then no longer", async () => {
  await post(child.id, { days: 2 });
  bench.moveClock(2 * DAY_MS - 5_000);
  expect((await news()).user_news).toHaveLength(1);
  bench.moveClock(5_001);
  expect((await news()).user_news).toEqual([]);
});

test("with an administration address news are written, and Root's rotation asked for, only there", async () => {
  const apart = await startBench({ settings: { ADMIN_PORT: "0" } });
  try {
    // Not by the bench: what a public address leaves out, its document does not promise.
    const ask = (url: string | null, method: string, path: string, body?: object) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${apart.rootKey}` },
        ...(body && { body: JSON.stringify(body) }),
      });
    const { adminUrl } = apart.service;
    const item = { title: "t", content: "c" };
    for (const [method, path] of [
      ["POST", "/x-news"],
      ["DELETE", "/x-news"],
      ["POST", "/x-root"],
    ] as const) {
      expect((await ask(apart.url, method, path, item)).status).toBe(404);
    }
    // News for one account or its descendants is its ancestors' business, so both addresses take it.
    const acme = { Name: "acme", Email: "owner@acme.example", CreditGranted: 2 };
    expect((await ask(apart.url, "POST", "/x-users", acme)).status).toBe(200);
    for (const url of [apart.url, adminUrl]) {
      expect((await ask(url, "POST", "/x-news/acme", item)).status).toBe(200);
      expect((await ask(url, "DELETE", "/x-news/acme")).status).toBe(200);
    }
    expect((await ask(adminUrl, "POST", "/x-news", item)).status).toBe(200);
    expect((await ask(adminUrl, "POST", "/x-root", { confirm: "no" })).status).toBe(400);
    const shown = await apart.call(apart.rootKey, "GET", "/dashboard/news");
    expect(shown.body.system_news).toHaveLength(1);
    expect(await (await ask(adminUrl, "GET", "/dashboard/news")).json()).toEqual(shown.body);
  } finally {
    await apart.close();
  }
});
