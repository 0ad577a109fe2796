// The specification's rows of DELETE /x-users/{identifier}: one test for each row, through HTTP, with what the ledgers of both
// sides say. Subtrees and identifiers at length are in users-delete.test.ts, requests in flight in e2e/closing.test.ts.

import { describe, expect, test } from "bun:test";
import { type Json, nano, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

const DAY_MS = 86_400_000;

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));

const remove = (id: number | string, key = owner.key) => bench.call(key, "DELETE", `/x-users/${id}`);
const put = (id: number, change: object, key = owner.key) => bench.call(key, "PUT", `/x-users/${id}`, change);
const linesOf = async (id: number): Promise<Json[]> =>
  (await bench.call(owner.key, "GET", `/x-ledger?user=${id}`)).body.lines
    .map(({ type, amount, balance_after }: Json) => ({ type, amount, balance_after }))
    .reverse();

test("DELETE /x-users response: Action, User {ID, Name, RefundedBalance, TransactionFee}, message", async () => {
  const user = await bench.subaccount(owner, { CreditGranted: 5.5 });
  const answer = await remove(user.id);
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      Action: "delete",
      User: { ID: user.id, Name: user.name, RefundedBalance: 5.3, TransactionFee: 0.2 },
      message: expect.any(String),
    },
  ]);
});

test("DELETE /x-users: the balance less a fee of 0.2 goes to the parent, valid for 180 days", async () => {
  const parent = await bench.subaccount(owner, { CreditGranted: 20 });
  const user = await bench.subaccount(parent, { CreditGranted: 10, Days: 3 });
  await remove(user.id);
  expect(await linesOf(user.id)).toEqual([
    { type: "transfer_in", amount: 10, balance_after: 10 },
    { type: "delete_fee", amount: -0.2, balance_after: 9.8 },
    { type: "refund", amount: -9.8, balance_after: 0 },
  ]);
  const { total, credits } = (await bench.call(parent.key, "GET", "/dashboard/info")).body.balance;
  expect([total, credits.at(-1).amount]).toEqual([19.8, 9.8]);
  expect((Date.parse(credits.at(-1).expires_at) - bench.now()) / DAY_MS).toBeWithin(179.9, 180.0001);
});

test("DELETE /x-users: the fee is at most what there is, and nothing goes back then", async () => {
  const user = await bench.subaccount(owner, { CreditGranted: 2 });
  await put(user.id, { CreditGranted: -1.9 });
  expect((await remove(user.id)).body.User).toMatchObject({ RefundedBalance: 0, TransactionFee: 0.1 });
  expect((await linesOf(user.id)).at(-1)).toEqual({ type: "delete_fee", amount: -0.1, balance_after: 0 });
});

test("DELETE /x-users: debt is a write_off; no fee, nothing goes back", async () => {
  const user = await bench.subaccount(owner, { CreditGranted: 2 });
  await put(user.id, { XCredit: 1 }, bench.rootKey);
  await put(user.id, { CreditGranted: -2 });
  await bench.chat(user.key, "[[output=1000]]", { max_tokens: 1_000 });
  const debt = await bench.balance(user.key);
  expect(debt).toBeLessThan(0);
  const parent = await bench.balance(owner.key);
  expect((await remove(user.id)).body.User).toMatchObject({ RefundedBalance: 0, TransactionFee: 0 });
  expect((await linesOf(user.id)).at(-1)).toEqual({ type: "write_off", amount: -debt, balance_after: 0 });
  expect(await bench.balance(owner.key)).toBe(parent);
});

test("DELETE /x-users of an Owner: what goes back to Root is no more; its tree's key is nobody's", async () => {
  const gone = await bench.owner({ credit: 50 });
  expect((await remove(gone.id, bench.rootKey)).body.User.RefundedBalance).toBe(49.8);
  expect(await bench.balance(bench.rootKey)).toBe(0);
  expect((await bench.call(gone.key, "GET", "/x-keys")).status).toBe(401);
});

test("DELETE /x-users by an e-mail that several in reach have: 400 ambiguous_identifier", async () => {
  const Email = "several@spec.example";
  const [first] = [await bench.subaccount(owner, { Email }), await bench.subaccount(owner, { Email })];
  const answer = await remove(Email);
  expect([answer.status, answer.body.error.code]).toEqual([400, "ambiguous_identifier"]);
  await remove(first!.id);
  expect((await remove(Email)).status).toBe(200);
});

describe("DELETE /x-users who may", () => {
  test.each(["parent", "grandparent", "Owner", "Root"])("%s", async (who) => {
    const above = await bench.subaccount(owner, { CreditGranted: 30 });
    const parent = await bench.subaccount(above, { CreditGranted: 20 });
    const user = await bench.subaccount(parent, { CreditGranted: 5 });
    const keys = { parent: parent.key, grandparent: above.key, Owner: owner.key, Root: bench.rootKey };
    expect((await remove(user.id, keys[who as keyof typeof keys])).status).toBe(200);
    // Whoever does it, the direct parent has the credit.
    expect(await bench.balance(parent.key)).toBe(19.8);
  });

  test("not oneself, not an ancestor: 403 not_ancestor; not a stranger: 404", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 5 });
    const other = await bench.owner();
    const codes = await Promise.all([
      remove(user.id, user.key),
      remove(owner.id, user.key),
      remove(1, user.key),
      remove(1, bench.rootKey),
      remove(user.id, other.key),
    ]);
    expect(codes.map(({ status, body }) => [status, body.error.code])).toEqual([
      [403, "not_ancestor"],
      [403, "not_ancestor"],
      [403, "not_ancestor"],
      [403, "not_ancestor"],
      [404, "user_not_found"],
    ]);
    expect(await bench.balance(user.key)).toBe(5);
  });
});

test("DELETE /x-users of an account with subaccounts: 400 has_subaccounts; ?recursive=true takes all", async () => {
  const top = await bench.subaccount(owner, { CreditGranted: 20 });
  const leaf = await bench.subaccount(top, { CreditGranted: 5 });
  const answer = await remove(top.id);
  expect([answer.status, answer.body.error.code]).toEqual([400, "has_subaccounts"]);
  expect((await remove(`${top.id}?recursive=true`)).body.User.RefundedBalance).toBe(19.6);
  expect((await bench.call(leaf.key, "GET", "/dashboard/status")).status).toBe(401);
});

test("DELETE /x-users is not recoverable: nothing finds, changes or pays the account any more", async () => {
  const user = await bench.subaccount(owner);
  await remove(user.id);
  const tries = [
    remove(user.id),
    put(user.id, { Status: true }),
    put(user.id, { CreditGranted: 5 }, bench.rootKey),
    bench.call(owner.key, "GET", `/x-dna/${user.id}`),
    bench.call(owner.key, "POST", `/x-news/${user.id}`, { title: "t", content: "c" }),
    bench.call(owner.key, "GET", `/x-explain?user=${user.id}&model=x`),
    bench.call(bench.rootKey, "POST", "/x-root", {
      name: user.name,
      confirm: `${new Date(bench.now()).toISOString().slice(0, 10)}-ROTATE-ROOT`,
    }),
  ];
  const codes = (await Promise.all(tries)).map(({ status, body }) => [status, body.error?.code]);
  expect(codes).toEqual(tries.map(() => [404, "user_not_found"]));
});

test("DELETE /x-users: the bill, the ledger and the log stay with the ancestors", async () => {
  const user = await bench.subaccount(owner);
  await bench.chat(user.key, "hi", { max_tokens: 5 });
  await bench.nothingHeld(user.key);
  await remove(user.id);
  expect((await linesOf(user.id)).at(-1)?.type).toBe("refund");
  const logs = (await bench.call(owner.key, "GET", `/dashboard/logs?target_id=${user.id}`)).body.logs;
  expect(logs.map(({ action }: Json) => action)).toEqual(["delete_user", "add_user"]);
});

test("DELETE and recharges of the same account at once: no credit is made or lost", async () => {
  const before = nano(await bench.balance(owner.key));
  const users = await Promise.all([1, 2, 3, 4].map(() => bench.subaccount(owner, { CreditGranted: 3 })));
  const answers = await Promise.all(
    users.flatMap(({ id }) => [
      put(id, { CreditGranted: 1 }),
      remove(id),
      put(id, { CreditGranted: 1 }),
      remove(id),
    ]),
  );
  expect(answers.every(({ status }) => [200, 400, 404].includes(status))).toBe(true);
  const deleted = answers.filter(({ body }) => body.Action === "delete").map(({ body }) => body.User.ID);
  expect(new Set(deleted)).toEqual(new Set(users.map(({ id }) => id)));
  // Each paid one fee, and all else is back with the Owner.
  const rest = before - 4 * nano(0.2);
  const isBack = async () => nano(await bench.balance(owner.key)) === rest;
  await until("all else is back", isBack).catch(() => {});
  expect(nano(await bench.balance(owner.key))).toBe(rest);
});
