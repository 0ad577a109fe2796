// GET /x-users in other orders than that of ids, of another parent, and with what rows show beside the record: whose lists a caller
// may read, what comes first, that a month begins at 0, and that pages are parts of one list.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Json, type Owner, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { pageHeaders, properError } from "../proper.ts";

let owner: Owner;
let team: Account;
/** The children of the team; ada and bob have spent, and bob has a child. */
let child: Record<"ada" | "bob" | "cid" | "dan", Account>;

const bench = useBench();
const stranger = prepared(() => bench.owner());
beforeAll(async () => {
  owner = await bench.owner({ credit: 10_000 });
  team = await bench.subaccount(owner, {
    Name: "the-team",
    Email: "team@rank.example",
    CreditGranted: 1_000,
  });
  const add = (Name: string, CreditGranted: number) => bench.subaccount(team, { Name, CreditGranted });
  const [dan, bob] = [await add("dan-x", 30), await add("bob-x", 50)];
  child = { dan, bob, cid: await add("Cid-x", 30), ada: await add("ada-x", 40) };
  await bench.subaccount(bob, { CreditGranted: 2 });
  await bench.chat(child.ada.key, "[[prompt=1000 output=1000]]");
  await bench.chat(child.bob.key, "[[prompt=1000 output=2000]]");
  const costs = async () =>
    (await get(`/x-users?parent=${team.id}&with=month_cost`)).body.map((one: Json) => one.month_cost);
  await until(
    "lists show what was spent",
    async () => (await costs()).filter((cost: number) => cost > 0).length === 2,
  );
});

const get = (path: string, key = owner.key) => bench.call(key, "GET", path);
const names = (body: Json): string[] => body.map((one: Json) => one.Name);

describe("the children of another account", () => {
  test.each(["id", "name", "email"])("named by its %s", async (form) => {
    const named = { id: team.id, name: "THE-team", email: "team@rank.example" }[form]!;
    const answer = await get(`/x-users?parent=${named}`);
    expect(names(answer.body)).toEqual(["dan-x", "bob-x", "Cid-x", "ada-x"]);
    expect(pageHeaders(answer)).toEqual(["4", "1", "100", "1"]);
    expect(names((await get(`/x-users?parent=${named}`, bench.rootKey)).body)).toHaveLength(4);
  });

  test("may be the caller's own", async () => {
    const own = (await get("/x-users", team.key)).body;
    for (const named of [team.id, "the-team", "team@rank.example", ""]) {
      expect((await get(`/x-users?parent=${named}`, team.key)).body).toEqual(own);
    }
  });

  test("are found among them by an identifier and by filters", async () => {
    expect(names((await get(`/x-users/${child.bob.id}?parent=${team.id}`)).body)).toEqual(["bob-x"]);
    expectError(await get(`/x-users/${child.bob.id}`), 404, "user_not_found");
    expectError(await get(`/x-users/${child.bob.id}?parent=${owner.id}`), 404, "user_not_found");
    expect(names((await get(`/x-users?parent=${team.id}&name=A&sort=name`)).body)).toEqual([
      "ada-x",
      "dan-x",
    ]);
    expect(names((await get(`/x-users/L0?parent=${team.id}&sort=name`)).body)).toHaveLength(4);
  });

  test("of an account out of reach are none: 404", async () => {
    for (const [key, parent] of [
      [stranger.key, team.id],
      [stranger.key, "team@rank.example"],
      [team.key, owner.id],
      [child.bob.key, team.id],
      [child.bob.key, child.ada.id],
      [owner.key, 1],
      [owner.key, 999_999],
      [owner.key, "nobody"],
      [owner.key, "L0"],
      [owner.key, ".1."],
    ] as const) {
      properError(await get(`/x-users?parent=${parent}`, key), 404, "user_not_found");
    }
  });

  test("of an e-mail address that several have are refused", async () => {
    for (let i = 0; i < 2; i++) await bench.subaccount(stranger, { Email: "twice@rank.example" });
    const answer = await get("/x-users?parent=twice@rank.example", stranger.key);
    properError(answer, 400, "ambiguous_identifier");
  });

  test("are not shown to who may have no subaccounts", async () => {
    const above = await bench.subaccount(owner, { CreditGranted: 100 });
    const below = await bench.subaccount(above);
    await bench.call(owner.key, "PUT", `/x-users/${above.id}`, { UserLimit: 0 });
    expect((await get(`/x-users?parent=${above.id}&sort=balance`, above.key)).body).toEqual([]);
    expectError(await get(`/x-users?parent=${below.id}`, above.key), 404, "user_not_found");
  });
});

/** The team's children in each order. */
const ORDERS = [
  ["id", ["dan-x", "bob-x", "Cid-x", "ada-x"]],
  ["name", ["ada-x", "bob-x", "Cid-x", "dan-x"]],
  ["balance", ["dan-x", "Cid-x", "ada-x", "bob-x"]],
  ["month_cost", ["dan-x", "Cid-x", "ada-x", "bob-x"]],
] as const;

describe.each(ORDERS)("sort=%s", (sort, expected) => {
  test.each(["asc", "desc"])("%s, in pages and without", async (order) => {
    const whole = order === "desc" ? expected.toReversed() : [...expected];
    const list = `/x-users?parent=${team.id}&sort=${sort}&order=${order}`;
    expect(names((await get(list)).body)).toEqual(whole);
    for (const unpaged of ["page=0", "size=0"]) {
      const answer = await get(`${list}&${unpaged}`);
      expect([names(answer.body), pageHeaders(answer)]).toEqual([whole, ["4", null, null, null]]);
    }
    for (const [page, rows] of [whole.slice(0, 3), whole.slice(3), [], []].entries()) {
      const answer = await get(`${list}&size=3&page=${page + 1}&with=children`);
      expect(names(answer.body)).toEqual(rows);
      expect(pageHeaders(answer)).toEqual(["4", String(page + 1), "3", "2"]);
    }
    expect(names((await get(`${list}&page=999999999&size=1000`)).body)).toEqual([]);
  });

  test("a row is the record that it is elsewhere", async () => {
    for (const record of (await get(`/x-users?parent=${team.id}&sort=${sort}`)).body) {
      expect((await get(`/x-dna/${record.ID}`)).body).toEqual([record]);
    }
  });
});

describe("with", () => {
  const shown = (rows: Json[]) => rows.map(({ children, month_cost }) => [children, month_cost]);

  test("children and month_cost: of each row, in a list and alone", async () => {
    const both = "with=children,month_cost";
    const { body } = await get(`/x-users?parent=${team.id}&${both}`);
    expect(shown(body)).toEqual([
      [0, 0],
      [1, 0.005],
      [0, 0],
      [0, 0.003],
    ]);
    expect((await get(`/x-users?parent=${team.id}&page=0&${both}`)).body).toEqual(body);
    expect((await get(`/x-users?parent=${team.id}&id=${child.bob.id}&${both}`)).body).toEqual([body[1]]);
    expect((await get(`/x-users/${child.bob.id}?parent=${team.id}&${both}`)).body).toEqual([body[1]]);
    expect(shown((await get(`/x-users?with=month_cost,children&name=the-team`)).body)).toEqual([[4, 0]]);
  });

  test("one alone, and nothing where it is not asked for", async () => {
    const of = async (query: string) => shown((await get(`/x-users?parent=${team.id}&${query}`)).body)[1]!;
    expect(await of("with=children")).toEqual([1, undefined]);
    expect(await of("with=month_cost")).toEqual([undefined, 0.005]);
    expect(await of("with=")).toEqual([undefined, undefined]);
    expect(await of("sort=balance")).toEqual([undefined, undefined]);
  });
});

test.each([
  "sort=Balance",
  "sort=email",
  "order=up",
  "with=all",
  "with=children,",
  "with=,",
  "sort=",
  "order=",
])("?%s: 400 invalid_parameter", async (query) => {
  properError(await get(`/x-users?${query}`), 400, "invalid_parameter");
});

test("descendants have one order", async () => {
  for (const query of ["parent=1", "sort=id", "order=asc", "with=children"]) {
    properError(await get(`/x-dna?${query}`), 400, "unknown_field");
  }
});

test("a month begins at 0 for all; who spends in it comes first", async () => {
  const now = new Date(Date.now());
  bench.moveClock(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 1) - now.getTime());
  const list = `/x-users?parent=${team.id}&sort=month_cost&order=desc&with=month_cost`;
  const costs = async () => (await get(list)).body.map((one: Json) => [one.Name, one.month_cost]);
  expect(await costs()).toEqual([
    ["ada-x", 0],
    ["Cid-x", 0],
    ["bob-x", 0],
    ["dan-x", 0],
  ]);
  expect((await get(`/x-users/${child.bob.id}?parent=${team.id}&with=month_cost`)).body[0].month_cost).toBe(
    0,
  );
  await bench.chat(child.dan.key, "[[prompt=1000 output=0]]");
  await until("the list shows it", async () => (await costs())[0][1] > 0);
  expect(await costs()).toEqual([
    ["dan-x", 0.001],
    ["ada-x", 0],
    ["Cid-x", 0],
    ["bob-x", 0],
  ]);
});
