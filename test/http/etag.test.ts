// Entity tags: which answers have one, what it depends on, and that nothing but a key that may read the answer gets a 304.

import { describe, expect, test } from "bun:test";
import { type AppParts, routesOf } from "../../src/http/app.ts";
import { namesTag, taggedAnswer } from "../../src/http/etag.ts";
import { streamOf } from "../../src/http/json-stream.ts";
import type { Answer } from "../e2e/harness.ts";
import { expectError, prepared, useBench } from "../e2e/use-bench.ts";
import { ENDPOINTS, hostOf } from "./endpoints.ts";
import { keyOf } from "./well-called.ts";

const bench = useBench();
const owner = prepared(() => hostOf(bench));
const user = prepared(() => bench.subaccount(owner));

const ask = (key: string | null, path: string, tag?: string, method = "GET"): Promise<Answer> =>
  bench.call(key, method, path, undefined, tag === undefined ? {} : { headers: { "if-none-match": tag } });
const tagOf = ({ headers }: Pick<Answer, "headers">): string => headers.get("etag") ?? "none";

const TAGGED = routesOf({} as AppParts)
  .filter(({ hooks }) => hooks.detail?.["x-access"]?.hasEtag === true)
  .map(({ method, path }) => `${method} ${path}`);

/** Its gauges change from one moment to the next. */
const OF_THE_MOMENT = ["GET /x-cluster"];

test("the endpoints that pages ask for again and again have tags", () => {
  expect(TAGGED).toEqual(
    expect.arrayContaining([
      ...[
        "GET /dashboard/ledger",
        "GET /x-ledger",
        "GET /dashboard/bill",
        "GET /x-bill",
        "GET /dashboard/live",
      ],
      ...["GET /x-users", "GET /x-keys", "GET /x-conf", "GET /x-cluster", "GET /dashboard/logs"],
      ...["GET /dashboard/explain", "GET /x-explain", "GET /x-attention", "GET /x-money"],
    ]),
  );
  expect(TAGGED.filter((name) => !name.startsWith("GET "))).toEqual([]);
});

describe.each(TAGGED)("%s", (name) => {
  const { path, as, good = "" } = ENDPOINTS[name]!;
  const keyed = () => keyOf({ bench, owner, user }, as);

  test("is tagged, and is 304 without a body as long as it stays", async () => {
    const answer = await ask(keyed(), path + good);
    expect(answer.status).toBe(200);
    expect(tagOf(answer)).toMatch(/^"[\w-]{22}"$/);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
    expect(answer.headers.get("vary")).toContain("Authorization");
    const again = await ask(keyed(), path + good, OF_THE_MOMENT.includes(name) ? "*" : tagOf(answer));
    expect([again.status, again.text]).toEqual([304, ""]);
    expect(again.headers.get("x-request-id")).toBeString();
    expect(again.headers.get("cache-control")).toBe("private, no-cache");
    expect(again.headers.get("vary")).toContain("Authorization");
    if (!OF_THE_MOMENT.includes(name)) expect(tagOf(again)).toBe(tagOf(answer));
  });

  test("is refused without a key, whatever tag is sent", async () => {
    expectError(await ask(null, path + good, "*"), 401, "missing_api_key");
  });

  test("is an error as before where the query is wrong", async () => {
    const refused = await ask(keyed(), `${path}${good === "" ? "?" : `${good}&`}nonsense=1`, "*");
    expectError(refused, 400, "unknown_field");
    expect(tagOf(refused)).toBe("none");
  });
});

test("the tag is that of the body: another account and another page have others, and so has a changed figure", async () => {
  const key = user.key;
  const before = await ask(key, "/dashboard/live");
  expect((await ask(owner.key, "/dashboard/live", tagOf(before))).status).toBe(200);
  expect((await bench.chat(key, "[[output=3]]")).status).toBe(200);
  const after = await ask(key, "/dashboard/live", tagOf(before));
  expect(after.status).toBe(200);
  expect(tagOf(after)).not.toBe(tagOf(before));
  expect(after.body.usage.today.requests).toBe(before.body.usage.today.requests + 1);
  const [first, second] = [
    await ask(key, "/dashboard/ledger?size=1"),
    await ask(key, "/dashboard/ledger?size=1&page=2"),
  ];
  expect(tagOf(first)).not.toBe(tagOf(second));
});

test("a key that is no more is 401, never 304", async () => {
  const leaving = await bench.subaccount(owner);
  const path = "/dashboard/live";
  const tag = tagOf(await ask(leaving.key, path));
  expect((await ask(leaving.key, path, tag)).status).toBe(304);
  await bench.call(owner.key, "PUT", `/x-users/${leaving.id}`, { AllowIPs: "192.0.2.1" });
  expectError(await ask(leaving.key, path, tag), 403, "ip_not_allowed");
  await bench.call(owner.key, "PUT", `/x-users/${leaving.id}`, { AllowIPs: "", Status: false });
  expectError(await ask(leaving.key, path, tag), 403, "account_disabled");
  await bench.call(owner.key, "DELETE", `/x-users/${leaving.id}`);
  expectError(await ask(leaving.key, path, tag), 401, "invalid_api_key");
});

test("tables and lists that are not paged have none", async () => {
  for (const path of [
    "/dashboard/bill?format=csv",
    "/x-bill?format=csv",
    "/x-users?page=0",
    "/x-keys?size=0",
  ]) {
    const answer = await ask(owner.key, path, "*");
    expect([path, answer.status, tagOf(answer)]).toEqual([path, 200, "none"]);
  }
});

test("HEAD has the tag of GET, and its 304", async () => {
  const tag = tagOf(await ask(user.key, "/dashboard/logs"));
  expect(tagOf(await ask(user.key, "/dashboard/logs", undefined, "HEAD"))).toBe(tag);
  expect((await ask(user.key, "/dashboard/logs", tag, "HEAD")).status).toBe(304);
});

describe("If-None-Match", () => {
  test.each([
    '"a"',
    'W/"a"',
    '"b", "a"',
    '"b","a"',
    '"b",W/"a" ,',
    ', "a"',
    '"x,y", "a"',
    '"b" , "a"',
    "*",
    " * ",
  ])("%s names the tag", (value) => expect(namesTag(value, '"a"')).toBe(true));

  test.each([
    null,
    "",
    "a",
    '"b"',
    '"a',
    'a"',
    '"b,"a"',
    '"x, "a", y"',
    'w/"a"',
    '"*"',
    '"A"',
    "* , *",
    '"a" "b"',
    ",",
  ])("%j does not", (value) => expect(namesTag(value, '"a"')).toBe(false));

  test("a long list of anything is read in one pass", () => {
    expect(namesTag(`${'"'.repeat(50_001)}`, '"a"')).toBe(false);
    expect(namesTag(`${",".repeat(50_000)}"a"`, '"a"')).toBe(true);
    expect(namesTag(`${'"b" '.repeat(10_000)}`, '"a"')).toBe(false);
  });
});

describe("an answer that is sent while it is made", () => {
  const request = (tag?: string) =>
    new Request("http://localhost/", tag === undefined ? {} : { headers: { "if-none-match": tag } });
  const answer = (pieces: number) =>
    new Response(
      streamOf(
        (async function* text() {
          for (let i = 0; i < pieces; i++) yield "x".repeat(10_000);
        })(),
      ),
      { headers: { "content-type": "application/json" } },
    );

  test.each([0, 1, 52])("of %d pieces is tagged", async (pieces) => {
    const tagged = (await taggedAnswer(request(), answer(pieces), {}))!;
    expect(await tagged.text()).toBe("x".repeat(pieces * 10_000));
    const again = (await taggedAnswer(request(tagOf(tagged)), answer(pieces), {}))!;
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("has no tag beyond the bound, and is whole", async () => {
    const whole = (await taggedAnswer(request("*"), answer(100), {}))!;
    expect([whole.status, tagOf(whole)]).toEqual([200, "none"]);
    expect(await whole.text()).toBe("x".repeat(1_000_000));
    expect(whole.headers.get("cache-control")).toBe("private, no-cache");
  });

  test("is tagged beyond that bound when it is a page", async () => {
    const page = { "X-Total-Count": "5000", "X-Page": "1" };
    const tagged = (await taggedAnswer(request(), answer(100), page))!;
    expect(await tagged.text()).toBe("x".repeat(1_000_000));
    expect((await taggedAnswer(request(tagOf(tagged)), answer(100), page))!.status).toBe(304);
    const huge = (await taggedAnswer(request("*"), answer(1_000), page))!;
    expect([huge.status, tagOf(huge), (await huge.text()).length]).toEqual([200, "none", 10_000_000]);
  });
});
