// GET /x-money: each term of the equation after what it counts, who may see it, and that a young statement is answered again.

import { describe, expect, test } from "bun:test";
import { type Account, type Json, nano } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const DAY_MS = 86_400_000;
const FRESH_MS = 60_000;

const CAME_IN = ["minted", "moved_in", "adjusted", "written_off"];
const WENT = ["balances", "under_way", "charges", "fees", "expired", "returned", "moved_out"];

const sum = (body: Json, names: readonly string[]): number =>
  names.reduce((total, name) => total + nano(body[name]), 0);

/** A statement that was computed after the call; it adds up. */
async function statement(key: string): Promise<Json> {
  bench.moveClock(FRESH_MS);
  const { status, body } = await bench.call(key, "GET", "/x-money");
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(["at", ...CAME_IN, ...WENT, "difference", "held"]);
  expect(body.difference).toBe(0);
  expect(sum(body, CAME_IN)).toBe(sum(body, WENT));
  return body;
}

const set = async (user: Account, fields: object): Promise<void> => {
  const { status, text } = await bench.call(bench.rootKey, "PUT", `/x-users/${user.id}`, fields);
  expect([status, text]).toEqual([200, expect.any(String)]);
};

const ended = async (user: Account): Promise<void> => {
  expect((await bench.call(bench.rootKey, "DELETE", `/x-users/${user.id}`)).status).toBe(200);
};

describe("the tree of an Owner", () => {
  const owner = prepared(() => bench.owner({ credit: 100 }));
  const user = prepared(() => bench.subaccount(owner, { CreditGranted: 20 }));

  test("has what Root gave, and what requests cost", async () => {
    expect(await statement(owner.key)).toMatchObject({ minted: 100, balances: 100, charges: 0, held: 0 });
    const { headers } = await bench.chat(user.key, "[[prompt=1000 output=1000]]");
    const cost = Number(headers.get("x-arbor-cost"));
    expect(cost).toBeGreaterThan(0);
    const { charges, balances } = await statement(owner.key);
    expect(charges).toBe(cost);
    expect(nano(balances)).toBe(nano(100) - nano(cost));
  });

  test("counts what goes back to Root, and only what leaves the tree", async () => {
    await set(user, { CreditGranted: 5 });
    expect(await statement(owner.key)).toMatchObject({ minted: 105, returned: 0 });
    const back = await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { CreditGranted: -3 });
    expect(back.status).toBe(200);
    expect(await statement(owner.key)).toMatchObject({ minted: 105, returned: 0 });
    await set(owner, { CreditGranted: -4 });
    expect(await statement(owner.key)).toMatchObject({ minted: 105, returned: 4 });
  });

  test("counts the fee of a deletion, the fee of a bill, and a debt that is written off", async () => {
    const child = await bench.subaccount(owner, { CreditGranted: 2 });
    await ended(child);
    const { fees } = await statement(owner.key);
    expect(fees).toBe(0.2);
    const from = new Date(bench.now() - 40 * DAY_MS).toISOString().slice(0, 10);
    expect((await bench.call(user.key, "GET", `/dashboard/bill?start=${from}`)).status).toBe(200);
    expect((await statement(owner.key)).fees).toBe(0.21);

    const debtor = await bench.subaccount(owner, { CreditGranted: 2 });
    await set(debtor, { XCredit: 1, CreditGranted: -2 });
    await bench.chat(debtor.key, "[[prompt=1000 output=1000]]");
    const before = await statement(owner.key);
    await ended(debtor);
    const after = await statement(owner.key);
    const debt = nano(after.balances) - nano(before.balances);
    expect(debt).toBeGreaterThan(0);
    expect(before.written_off).toBe(0);
    expect(nano(after.written_off)).toBe(debt);
  });

  test("lines that Root sets by hand carry no credit", async () => {
    const before = await statement(owner.key);
    await set(user, { CreditUsed: 7, ChargeAmount: 9, XCredit: 1 });
    const after = await statement(owner.key);
    expect(after).toEqual({ ...before, at: after.at });
  });

  test("an account that is moved takes its balance along, and leaves what it has cost", async () => {
    const other = await bench.owner({ credit: 50 });
    const child = await bench.subaccount(owner, { CreditGranted: 6 });
    await bench.chat(child.key, "[[prompt=1000 output=1000]]");
    const before = await statement(owner.key);
    const balance = await bench.balance(child.key);
    await set(child, { ParentID: other.id });
    const after = await statement(owner.key);
    expect(after).toMatchObject({ charges: before.charges, moved_out: balance, moved_in: 0 });
    expect(await statement(other.key)).toMatchObject({
      minted: 50,
      moved_in: balance,
      moved_out: 0,
      charges: 0,
    });
    await bench.call(other.key, "PUT", `/x-users/${child.id}`, { CreditGranted: 2 });
    expect(await statement(other.key)).toMatchObject({ minted: 50, moved_in: balance });
    await set(child, { ParentID: owner.id });
    const back = await statement(owner.key);
    expect(nano(back.moved_in)).toBe(nano(balance) + nano(2));
    expect(await statement(bench.rootKey)).toMatchObject({ moved_in: 0, moved_out: 0, difference: 0 });
  });

  test("Root's is of all accounts, with its own requests", async () => {
    const before = await statement(bench.rootKey);
    const again = await bench.owner({ credit: 12 });
    const after = await statement(bench.rootKey);
    expect(nano(after.minted) - nano(before.minted)).toBe(nano(12));
    expect((await statement(again.key)).minted).toBe(12);
  });

  test("credit that expires", async () => {
    const child = await bench.subaccount(owner, { CreditGranted: 3, Days: 1 });
    await set(child, { CreditGranted: 2, Days: 90 });
    const before = await statement(owner.key);
    bench.moveClock(2 * DAY_MS);
    expect((await bench.chat(child.key, "[[output=1]]")).status).toBe(200);
    const after = await statement(owner.key);
    expect(nano(after.expired) - nano(before.expired)).toBe(nano(3));
  });
});

describe("a statement", () => {
  const owner = prepared(() => bench.owner({ credit: 30 }));
  const user = prepared(() => bench.subaccount(owner));

  test("is answered again for a minute, with its time", async () => {
    const first = await statement(owner.key);
    await set(owner, { CreditGranted: 1 });
    expect((await bench.call(owner.key, "GET", "/x-money")).body).toEqual(first);
    expect((await statement(owner.key)).minted).toBe(31);
  });

  test("shows what running requests reserve", async () => {
    const cut = new AbortController();
    const calls = bench.provider.totals().calls;
    const hanging = bench.chat(user.key, "[[fault=hang]]", { max_tokens: 1_000 }, { signal: cut.signal });
    hanging.catch(() => undefined);
    while (bench.provider.totals().calls === calls) await Bun.sleep(5);
    expect((await statement(owner.key)).held).toBeGreaterThan(0.001);
    cut.abort();
  });

  test("adds up while many requests are charged", async () => {
    const users = await Promise.all(
      Array.from({ length: 5 }, () => bench.subaccount(owner, { CreditGranted: 2 })),
    );
    const busy = users.map(async (one) => {
      for (let i = 0; i < 12; i++) await bench.chat(one.key, "[[prompt=50 output=50]]");
    });
    const moving = users.map(async (one) => {
      for (let i = 0; i < 12; i++) await set(one, { CreditGranted: i % 2 === 0 ? 0.01 : -0.01 });
    });
    let done = false;
    const all = Promise.all([...busy, ...moving]).then(() => {
      done = true;
    });
    while (!done) {
      await statement(owner.key);
      await statement(bench.rootKey);
      await Bun.sleep(1);
    }
    await all;
  });

  test.each<[string, () => string | null, number]>([
    ["nobody", () => null, 401],
    ["a subaccount", () => user.key, 403],
  ])("is refused to %s", async (_, key, status) => {
    properError(await bench.call(key(), "GET", "/x-money"), status);
  });

  test("takes no query", async () => {
    properError(await bench.call(owner.key, "GET", "/x-money?user=2"), 400);
  });
});
