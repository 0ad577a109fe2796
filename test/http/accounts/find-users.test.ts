// GET /x-users and /x-dna: whom each identifier and each filter names, the order, the pages and their headers, lists without
// pages, and that what an administrator was answered is in every list at once.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, fresh, type Json, type Owner, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { pageHeaders, properError } from "../proper.ts";

let owner: Owner;
/** a and b are the Owner's; aa, ab are a's; aaa is aa's. */
let tree: Record<"a" | "b" | "aa" | "ab" | "aaa", Account>;
const SHARED = "shared@list.example";

const bench = useBench();
const other = prepared(() => bench.owner());
const stranger = prepared(() => bench.subaccount(other, { Email: SHARED }));
beforeAll(async () => {
  // So that the ids below have several digits.
  for (let i = 0; i < 10; i++) await bench.subaccount(other);
  owner = await bench.owner({ credit: 100_000 });
  const add = (parent: Account, Name: string, more: object = {}) =>
    bench.subaccount(parent, { Name, CreditGranted: 100, ...more });
  const a = await add(owner, "Alpha Team", { Email: SHARED, CreditGranted: 1_000 });
  const b = await add(owner, "beta team", { Email: SHARED });
  const aa = await add(a, "alpha-one", { CreditGranted: 500 });
  const ab = await add(a, "Alpha_Two", { Email: SHARED });
  const aaa = await add(aa, "omega%10", { CreditGranted: 2 });
  tree = { a, b, aa, ab, aaa };
  const set = async (account: Account, change: object) => {
    const answer = await bench.call(owner.key, "PUT", `/x-users/${account.id}`, change);
    if (answer.status !== 200) throw new Error(answer.text);
  };
  await set(a, { Level: 2, Gear: 3, Role: 4, Tier: 5, Factor: 1.5 });
  await set(b, { Level: -2, Gear: 3, Factor: 15 });
  await set(aaa, { Level: 2, Tier: 5, Factor: 1.5 });
});

type Branch = keyof typeof tree;

const namesIn = (body: Json): string[] =>
  (body as { ID: number }[]).map(
    ({ ID }) => (Object.keys(tree) as Branch[]).find((name) => tree[name].id === ID) ?? `#${ID}`,
  );
const get = (path: string, key = owner.key) => bench.call(key, "GET", path);

describe("whom a path means", () => {
  /** Identifier (a branch's name stands for its id), among the children, among the descendants. */
  test.each([
    ["", ["a", "b"], ["a", "b", "aa", "ab", "aaa"]],
    ["a", ["a"], ["a"]],
    ["aaa", null, ["aaa"]],
    ["Alpha Team", ["a"], ["a"]],
    ["ALPHA team", ["a"], ["a"]],
    ["alpha-one", null, ["aa"]],
    ["omega%10", null, ["aaa"]],
    ["Alpha", null, null],
    [SHARED, ["a", "b"], ["a", "b", "ab"]],
    ["nobody@list.example", null, null],
    ["L2", ["a"], ["a", "aaa"]],
    ["L0", [], ["aa", "ab"]],
    ["L7", [], []],
    ["G3", ["a", "b"], ["a", "b"]],
    ["R4", ["a"], ["a"]],
    ["T5", ["a"], ["a", "aaa"]],
    ["F1.5", ["a"], ["a", "aaa"]],
    ["F15", ["b"], ["b"]],
    ["F1", [], ["aa", "ab"]],
    ["L1.5", [], []],
    ["F1..5", [], []],
    [".1.", ["a", "b"], ["a", "b", "aa", "ab", "aaa"]],
    [".9", [], []],
    ["999999999", null, null],
    ["9".repeat(40), null, null],
  ] as const)("%j", async (identifier, children, descendants) => {
    const id = identifier in tree ? String(tree[identifier as Branch].id) : identifier;
    for (const [path, expected] of [
      ["/x-users", children],
      ["/x-dna", descendants],
    ] as const) {
      const answer = await get(identifier === "" ? path : `${path}/${encodeURIComponent(id)}`);
      if (expected === null) {
        properError(answer, 404, "user_not_found");
      } else {
        expect(namesIn(answer.body)).toEqual([...expected]);
        expect(answer.headers.get("x-total-count")).toBe(String(expected.length));
      }
    }
  });

  test("a DNA means those whose DNA begins with it, number by number", async () => {
    const at = (dna: string) => get(`/x-dna/${dna}`).then(({ body }) => namesIn(body));
    const below = `.1.${owner.id}.${tree.a.id}.`;
    expect(await at(below)).toEqual(["aa", "ab", "aaa"]);
    expect(await at(below.slice(0, -1))).toEqual(["aa", "ab", "aaa"]);
    expect(await at(below.slice(0, -2))).toEqual([]);
    expect(await at(`${below}${tree.aa.id}.`)).toEqual(["aaa"]);
    expect(namesIn((await get(`/x-users/${below}`)).body)).toEqual([]);
    expect(namesIn((await get(`/x-users/.1.${owner.id}.`)).body)).toEqual(["a", "b"]);
  });

  test("Root's children are the Owners, and all the others its descendants", async () => {
    const owners = (await get("/x-users", bench.rootKey)).body;
    expect(owners.every((one: Json) => one.isOwner && one.ParentID === 1)).toBe(true);
    expect(owners.map((one: Json) => one.ID)).toContain(owner.id);
    const all = (await get("/x-dna", bench.rootKey)).body.map((one: Json) => one.ID);
    expect(all).toContain(stranger.id);
    expect(all).toContain(tree.aaa.id);
    expect(all).not.toContain(1);
  });
});

describe("filters", () => {
  test.each([
    ["id={a}", ["a"]],
    ["id={aaa}", ["aaa"]],
    ["id=999999999", []],
    ["id=beta%20team", ["b"]],
    [`id=${SHARED}`, ["a", "b", "ab"]],
    ["id=L2", ["a", "aaa"]],
    ["id=T5", ["a", "aaa"]],
    ["id=G3", ["a", "b"]],
    ["id=R4", ["a"]],
    ["id=F1.5", ["a", "aaa"]],
    ["id=.1.{owner}.{a}.", ["aa", "ab", "aaa"]],
    ["name=team", ["a", "b"]],
    ["name=ALPHA", ["a", "aa", "ab"]],
    ["name=%25", ["aaa"]],
    ["name=a_t", ["ab"]],
    ["name=*", []],
    [`email=${SHARED}`, ["a", "b", "ab"]],
    ["email=shared", []],
    ["level=2", ["a", "aaa"]],
    ["level=L2", ["a", "aaa"]],
    ["level=-2", ["b"]],
    ["level=G3", ["a", "b"]],
    ["level=F1.5", ["a", "aaa"]],
    ["dna=.1.{owner}.{a}.", ["aa", "ab", "aaa"]],
    ["name=alpha&level=2", ["a"]],
    ["name=alpha&level=7", []],
    ["name=&level=", ["a", "b", "aa", "ab", "aaa"]],
  ])("?%s", async (query, expected) => {
    const filled = query.replace(/\{(\w+)\}/g, (_, name) =>
      String(name === "owner" ? owner.id : tree[name as Branch].id),
    );
    const answer = await get(`/x-dna?${filled}`);
    expect(namesIn(answer.body)).toEqual(expected);
    const direct = expected.filter((name) => name === "a" || name === "b");
    expect(namesIn((await get(`/x-users?${filled}`)).body)).toEqual(direct);
  });

  test("of one account by its id leave it or not", async () => {
    expect(namesIn((await get(`/x-users/${tree.a.id}?level=2`)).body)).toEqual(["a"]);
    const none = await get(`/x-users/${tree.a.id}?level=3`);
    expect([none.status, none.body, none.headers.get("x-total-count")]).toEqual([200, [], "0"]);
  });

  test.each(["level=x", "level=1.5", "level=L", "dna=1.2", "dna=.a.", "page=-1", "size=x", "size=1.5"])(
    "?%s: 400 invalid_parameter",
    async (query) => {
      for (const path of ["/x-users", "/x-dna"]) {
        properError(await get(`${path}?${query}`), 400, "invalid_parameter");
      }
    },
  );
});

describe("pages", () => {
  test.each([
    ["", ["a", "b", "aa", "ab", "aaa"], ["5", "1", "100", "1"]],
    ["?page=1&size=2", ["a", "b"], ["5", "1", "2", "3"]],
    ["?page=2&size=2", ["aa", "ab"], ["5", "2", "2", "3"]],
    ["?page=3&size=2", ["aaa"], ["5", "3", "2", "3"]],
    ["?page=4&size=2", [], ["5", "4", "2", "3"]],
    ["?page=999999999&size=1000", [], ["5", "999999999", "1000", "1"]],
    ["?size=5000", ["a", "b", "aa", "ab", "aaa"], ["5", "1", "1000", "1"]],
    ["?page=0", ["a", "b", "aa", "ab", "aaa"], ["5", null, null, null]],
    ["?size=0", ["a", "b", "aa", "ab", "aaa"], ["5", null, null, null]],
    ["?page=0&level=2", ["a", "aaa"], ["2", null, null, null]],
    ["?page=0&level=9", [], ["0", null, null, null]],
    ["/L2?size=1&page=2", ["aaa"], ["2", "2", "1", "2"]],
    ["/alpha-one", ["aa"], ["1", "1", "100", "1"]],
    ["/alpha-one?page=2", [], ["1", "2", "100", "1"]],
    ["/alpha-one?page=0", ["aa"], ["1", null, null, null]],
  ])("/x-dna%s", async (path, expected, headers) => {
    const answer = await get(`/x-dna${path}`);
    expect(namesIn(answer.body)).toEqual(expected);
    expect(pageHeaders(answer)).toEqual(headers);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
  });

  test("hold the same record in a list, alone, and without pages", async () => {
    const [alone] = (await get(`/x-dna/${tree.aa.id}`)).body;
    for (const path of ["/x-dna", "/x-dna?page=0", `/x-dna?id=${tree.aa.id}`]) {
      const records: Json[] = (await get(path)).body;
      expect(records.find((one) => one.ID === tree.aa.id)).toEqual(alone);
    }
  });
});

test("lists show each change that was answered, at once", async () => {
  const listed = async (id: number): Promise<Json> =>
    (await get(`/x-dna?id=${id}`)).body.find((one: Json) => one.ID === id);
  for (let i = 0; i < 20; i++) {
    const name = `at-once-${fresh()}`;
    const { id } = await bench.subaccount(owner, { Name: name, CreditGranted: 3 });
    expect(await listed(id)).toMatchObject({ Name: name, Balance: 3 });
    await bench.call(owner.key, "PUT", `/x-users/${id}`, { CreditGranted: 2, Alias: name, Level: i });
    expect(await listed(id)).toMatchObject({ Balance: 5, Alias: name, Level: i });
    await bench.call(owner.key, "PUT", `/x-users/${id}`, { CreditGranted: -1 });
    await bench.call(bench.rootKey, "PUT", `/x-users/${id}`, { XCredit: 1, CreditUsed: i });
    expect(await listed(id)).toMatchObject({ Balance: 4, XCredit: 1, CreditUsed: i });
    await bench.call(owner.key, "DELETE", `/x-users/${id}`);
    expect(await listed(id)).toBeUndefined();
  }
});

test("a single answer shows the last request at once, a list in a moment", async () => {
  const user = await bench.subaccount(owner, { CreditGranted: 10 });
  await bench.chat(user.key, "[[prompt=1000 output=1000]]");
  const [alone] = (await get(`/x-users/${user.id}`)).body;
  expect([alone.Balance, alone.CreditUsed]).toEqual([9.997, 0.003]);
  const listed = async () => (await get(`/x-users?id=${user.id}`)).body[0].CreditUsed === 0.003;
  await until("the list shows it too", listed);
  await bench.call(owner.key, "DELETE", `/x-users/${user.id}`);
});

test("a list without pages goes on for as long as there is something, and stops when nobody reads", async () => {
  const parent = await bench.subaccount(owner, { CreditGranted: 2_000 });
  const many = 700;
  for (let i = 0; i < many; i += 50) {
    await Promise.all(Array.from({ length: 50 }, () => bench.subaccount(parent, { CreditGranted: 2 })));
  }
  const answer = await get("/x-users?page=0", parent.key);
  const ids = answer.body.map((one: Json) => one.ID);
  expect(ids).toHaveLength(many);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  const pages = await Promise.all(
    [1, 2, 3].map(async (page) => (await get(`/x-users?page=${page}&size=300`, parent.key)).body),
  );
  expect(pages.flat()).toEqual(answer.body);
  const response = await fetch(`${bench.url}/x-users?page=0`, {
    headers: { authorization: `Bearer ${parent.key}` },
  });
  await response.body!.cancel();
  expect((await get("/x-users?size=1", parent.key)).status).toBe(200);
  expect(bench.log.filter((line) => line.level === "error")).toEqual([]);
}, 90_000);

test("UpdatedAt follows a change, CreatedAt stays", async () => {
  const before = (await get(`/x-users/${tree.b.id}`)).body[0];
  bench.moveClock(1_000);
  await bench.call(owner.key, "PUT", `/x-users/${tree.b.id}`, { Alias: "later" });
  const after = (await get(`/x-users/${tree.b.id}`)).body[0];
  expect(after.CreatedAt).toBe(before.CreatedAt);
  expect(Date.parse(after.UpdatedAt)).toBeGreaterThan(Date.parse(before.UpdatedAt));
});

test("who is out of reach is as if it did not exist: 404 user_not_found; a filter leaves []", async () => {
  for (const id of [tree.a.id, tree.a.name, `${tree.aa.name}@bench.example`, other.id, 1]) {
    expectError(await get(`/x-dna/${encodeURIComponent(id)}`, other.key), 404, "user_not_found");
  }
  expect((await get("/x-dna/L2", other.key)).body).toEqual([]);
  expect((await get(`/x-dna?dna=.1.${owner.id}.`, other.key)).body).toEqual([]);
});
