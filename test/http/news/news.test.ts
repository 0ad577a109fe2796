// News: who may publish for whom, whom each item reaches, until when, and who may take it back.

import { describe, expect, test } from "bun:test";
import { sweepNews } from "../../../src/admin/periodic-sweeps.ts";
import { type Account, type Json, startBench } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { userBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const DAY_MS = 86_400_000;

const bench = useBench();
/** The tree: owner > user > child, and another Owner beside. */
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));
const child = prepared(() => bench.subaccount(user, { CreditGranted: 2 }));
const other = prepared(() => bench.owner());

const publish = (key: string, target = "", more: object = {}) =>
  bench.call(key, "POST", `/x-news${target}`, { title: "a title", content: "what it says", ...more });
const news = async (key: string): Promise<Json> => (await bench.call(key, "GET", "/dashboard/news")).body;
const ids = (items: Json[]): number[] => items.map(({ id }) => id);

/** Which of root, owner, user, child and other see the item in this list. */
async function reached(list: "system_news" | "user_news" | "dna_news", id: number): Promise<string[]> {
  const keys = { root: bench.rootKey, owner: owner.key, user: user.key, child: child.key, other: other.key };
  const seen: string[] = [];
  for (const [name, key] of Object.entries(keys))
    if (ids((await news(key))[list]).includes(id)) seen.push(name);
  return seen;
}

describe("an item", () => {
  test("is answered as it will be shown, and shown with the three lists", async () => {
    const { status, body } = await publish(owner.key, "", { title: "t", content: "c" });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        Action: "add",
        news: {
          ...{ id: expect.any(Number), title: "t", content: "c", created_at: expect.any(String) },
          ...{ expires_at: expect.any(String) },
        },
      },
    ]);
    const shown = await news(user.key);
    expect(Object.keys(shown)).toEqual(["success", "system_news", "user_news", "dna_news"]);
    expect(shown.system_news[0]).toEqual(body.news);
    expect((await bench.call(user.key, "GET", "/dashboard/x-user-news")).body).toEqual(shown);
  });

  test("may have 100 and 1000 characters, and they come back as they were", async () => {
    const given = { title: "ü".repeat(100), content: `${"<b>&\u{1f389}".repeat(100)}\n` };
    expect((await publish(owner.key, "", given)).body.news).toMatchObject(given);
  });
});

describe("reach", () => {
  test("Root's system news: everybody", async () => {
    const { id } = (await publish(bench.rootKey)).body.news;
    expect(await reached("system_news", id)).toEqual(["root", "owner", "user", "child", "other"]);
  });

  test("an Owner's system news: its tree", async () => {
    const { id } = (await publish(owner.key)).body.news;
    expect(await reached("system_news", id)).toEqual(["owner", "user", "child"]);
  });

  test("system news of anybody else: 403 not_owner", async () => {
    properError(await publish(user.key), 403, "not_owner");
  });

  test.each([
    ["an id", () => String(child.id)],
    ["a name", () => child.name],
    ["an e-mail", () => `${child.name}@bench.example`],
  ])("news for an account, by %s: that account", async (_, target) => {
    const { id } = (await publish(owner.key, `/${target()}`)).body.news;
    expect(await reached("user_news", id)).toEqual(["child"]);
  });

  test("news for a DNA: those below it, from the account itself or from above", async () => {
    const place = `.1.${owner.id}.${user.id}.`;
    for (const key of [user.key, owner.key, bench.rootKey]) {
      const { id } = (await publish(key, `/${place}`)).body.news;
      expect(await reached("dna_news", id)).toEqual(["child"]);
    }
    const { id } = (await publish(owner.key, `/.1.${owner.id}.`)).body.news;
    expect(await reached("dna_news", id)).toEqual(["user", "child"]);
  });

  test("a DNA is read number by number", async () => {
    const { id } = (await publish(bench.rootKey, "/.1.")).body.news;
    expect(await reached("dna_news", id)).toEqual(["owner", "user", "child", "other"]);
    properError(await publish(bench.rootKey, `/.1.${owner.id}.${user.id}${child.id}.`), 404);
  });

  test.each<[string, () => [Account, string], number, string]>([
    ["oneself", () => [user, String(user.id)], 403, "not_ancestor"],
    ["an account above", () => [child, String(owner.id)], 403, "not_ancestor"],
    ["another tree", () => [other, String(user.id)], 404, "user_not_found"],
    ["nobody", () => [owner, "999999"], 404, "user_not_found"],
    ["the DNA of an account above", () => [child, `.1.${owner.id}.`], 403, "not_ancestor"],
    ["the DNA of another tree", () => [other, `.1.${owner.id}.`], 404, "user_not_found"],
    ["a DNA that is none", () => [owner, ".1.x."], 404, "user_not_found"],
    [
      "a DNA with another way to the account",
      () => [owner, `.1.${owner.id}.${child.id}.`],
      404,
      "user_not_found",
    ],
  ])("to %s is refused", async (_, given, status, code) => {
    const [caller, target] = given();
    properError(await publish(caller.key, `/${target}`), status, code);
  });
});

describe("taking back", () => {
  const remove = (key: string, path = "", body?: object) => bench.call(key, "DELETE", `/x-news${path}`, body);

  test("without a body: all system news of the caller, and of nobody else", async () => {
    const [roots, targeted] = [
      (await publish(bench.rootKey)).body.news.id,
      (await publish(owner.key, `/${user.id}`)).body.news.id,
    ];
    await remove(owner.key);
    await publish(owner.key);
    await publish(owner.key);
    expect((await remove(owner.key)).body).toEqual({ success: true, Action: "delete", deleted: 2 });
    const left = await news(user.key);
    expect(ids(left.system_news)).toContain(roots);
    expect(ids(left.user_news)).toContain(targeted);
  });

  test("with an id: that item", async () => {
    const keep = (await publish(owner.key)).body.news.id;
    const gone = (await publish(owner.key)).body.news;
    expect((await remove(owner.key, "", { id: gone.id })).body).toMatchObject({ success: true, news: gone });
    const left = ids((await news(owner.key)).system_news);
    expect([left.includes(keep), left.includes(gone.id)]).toEqual([true, false]);
    properError(await remove(owner.key, "", { id: gone.id }), 404);
  });

  test.each([{}, { id: "1" }, { id: 0 }, { id: 1, more: 1 }])("with %j: 400, and all stays", async (body) => {
    const before = await news(owner.key);
    properError(await remove(owner.key, "", body));
    expect(await news(owner.key)).toEqual(before);
  });

  test("an item of another tree is not there: 404; one of an account below may go", async () => {
    const below = (await publish(user.key, `/${child.id}`)).body.news.id;
    properError(await remove(other.key, "", { id: below }), 404);
    expect((await remove(owner.key, "", { id: below })).status).toBe(200);
    const roots = (await publish(bench.rootKey)).body.news.id;
    properError(await remove(owner.key, "", { id: roots }), 404);
  });

  test("for a target: all of that target, but what somebody above published", async () => {
    await remove(bench.rootKey, `/${child.id}`);
    const above = (await publish(bench.rootKey, `/${child.id}`)).body.news.id;
    await publish(user.key, `/${child.id}`);
    await publish(owner.key, `/${child.id}`);
    const place = `/.1.${owner.id}.${user.id}.`;
    const inDna = (await publish(owner.key, place)).body.news.id;
    expect((await remove(owner.key, `/${child.id}`)).body).toEqual({
      success: true,
      Action: "delete",
      deleted: 2,
    });
    properError(await remove(other.key, `/${child.id}`), 404, "user_not_found");
    const left = await news(child.key);
    expect(ids(left.user_news)).toEqual([above]);
    expect(ids(left.dna_news)).toContain(inDna);
    await remove(owner.key, place);
    expect(ids((await news(child.key)).dna_news)).not.toContain(inDna);
  });
});

describe("days that an item lives", () => {
  test.each([
    ["system-wide: 7 by default", "", {}, 7],
    ["targeted: 32 by default", "child", {}, 32],
    ["system-wide as given", "", { days: 1 }, 1],
    ["targeted as given", "child", { days: 400 }, 400],
  ])("%s", async (_, target, more, days) => {
    const item = (await publish(owner.key, target && `/${child.id}`, more)).body.news;
    expect(Date.parse(item.expires_at) - Date.parse(item.created_at)).toBe(days * DAY_MS);
  });
});

describe("limits of an item", () => {
  test.each([
    [{ title: "t".repeat(100) }, 200],
    [{ title: "t".repeat(101) }, 400],
    [{ content: "c".repeat(1_000) }, 200],
    [{ content: "c".repeat(1_001) }, 400],
    [{ title: "" }, 400],
    [{ title: " " }, 400],
    [{ title: undefined }, 400],
    [{ content: undefined }, 400],
    [{ days: 0 }, 400],
    [{ days: 1.5 }, 400],
    [{ days: "7" }, 400],
    [{ colour: "red" }, 400],
  ])("%j: %d", async (more, status) => {
    expect((await publish(owner.key, "", more)).status).toBe(status);
    expect((await publish(owner.key, `/${child.id}`, more)).status).toBe(status);
  });
});

test("POST /x-news/{e-mail} that several in reach have: 400 ambiguous_identifier", async () => {
  const Email = `${owner.name}@shared.example`;
  await bench.subaccount(owner, { Email });
  await bench.subaccount(owner, { Email });
  properError(await publish(owner.key, `/${Email}`), 400, "ambiguous_identifier");
});

test("many items at once: each has an id of its own, and all are there, in the operation log too", async () => {
  const { key } = await bench.owner();
  const answers = await Promise.all(Array.from({ length: 30 }, () => publish(key)));
  const published = new Set(answers.map(({ body }) => body.news.id));
  expect(published.size).toBe(30);
  expect(published.difference(new Set(ids((await news(key)).system_news))).size).toBe(0);
  const { total } = (await bench.call(key, "GET", "/dashboard/logs?action=add_news")).body;
  expect(total).toBe(30);
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
    const acme = userBody({ Name: "acme" });
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

test("expired news are shown no longer, and the sweep drops them", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const item = (id: number, inMs: number) =>
    ({ table: "news", id: String(id), body: { id, until: clock.wall() + inMs } }) as const;
  await store.putRecords([item(1, 0), item(2, -1), item(3, 1)]);
  expect(await sweepNews({ store, clock })).toBe(2);
  expect((await store.find({ table: "news", where: [], order: "id" })).map(({ id }) => id)).toEqual([3]);

  const { id } = (await publish(other.key, "", { days: 1 })).body.news;
  bench.moveClock(DAY_MS - 60_000);
  expect(ids((await news(other.key)).system_news)).toContain(id);
  bench.moveClock(60_000);
  expect(ids((await news(other.key)).system_news)).not.toContain(id);
});
