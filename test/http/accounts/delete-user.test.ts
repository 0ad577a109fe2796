// DELETE /x-users/{identifier}: the answer, who may, where the credit goes and what the ledgers of both sides say, what is gone
// afterwards, and subtrees. Requests in flight are in e2e/closing.test.ts.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Account, fresh, type Json, nano, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 10_000 }));

const DAY_MS = 86_400_000;

const remove = (identifier: string | number, key = owner.key) =>
  bench.call(key, "DELETE", `/x-users/${identifier}`);

const put = (id: number, change: object, key = owner.key) => bench.call(key, "PUT", `/x-users/${id}`, change);
const linesOf = async (id: number): Promise<Json[]> =>
  (await bench.call(owner.key, "GET", `/x-ledger?user=${id}`)).body.lines
    .map(({ type, amount, balance_after }: Json) => ({ type, amount, balance_after }))
    .reverse();

describe("the answer", () => {
  /** Balance at deletion, what goes back, the fee. */
  test.each([
    [10, 9.8, 0.2],
    [2, 1.8, 0.2],
    [0.2, 0, 0.2],
    [0.05, 0, 0.05],
    [0, 0, 0],
  ])(
    "with %d on the account: %d goes back, the fee is %d",
    async (balance, RefundedBalance, TransactionFee) => {
      const user = await bench.subaccount(owner, { CreditGranted: 10 });
      if (balance < 10) {
        await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { CreditGranted: balance - 10 });
      }
      const before = nano(await bench.balance(owner.key));
      const answer = await remove(user.id);
      expect(answer.body).toEqual({
        Action: "delete",
        User: { ID: user.id, Name: user.name, RefundedBalance, TransactionFee },
        message: expect.stringContaining(user.name),
      });
      expect(nano(await bench.balance(owner.key)) - before).toBe(nano(RefundedBalance));
    },
  );

  test.each([
    ["name", (user: Account) => user.name],
    ["e-mail", (user: Account) => `${user.name}@bench.example`],
  ])("is given by %s too", async (_, identifier) => {
    const user = await bench.subaccount(owner);
    expect((await remove(identifier(user))).body.User.ID).toBe(user.id);
  });
});

test("a deleted account is gone: its key, its record, a second deletion; its name is free", async () => {
  const Name = `gone-${fresh()}`;
  const user = await bench.subaccount(owner, { Name });
  expect((await remove(user.id)).status).toBe(200);
  expect((await bench.call(user.key, "GET", "/dashboard/status")).body.error.code).toBe("invalid_api_key");
  expect((await bench.chat(user.key, "hi")).status).toBe(401);
  for (const [method, path] of [
    ["GET", "/x-users"],
    ["GET", "/x-dna"],
    ["PUT", "/x-users"],
    ["DELETE", "/x-users"],
  ] as const) {
    for (const identifier of [user.id, Name]) {
      const body = method === "PUT" ? { Alias: "x" } : undefined;
      properError(await bench.call(owner.key, method, `${path}/${identifier}`, body), 404, "user_not_found");
    }
  }
  const again = await bench.subaccount(owner, { Name });
  expect(again.id).not.toBe(user.id);
  expect((await bench.call(owner.key, "GET", `/x-users/${Name}`)).body[0].ID).toBe(again.id);
});

describe("subaccounts", () => {
  const family = async () => {
    const top = await bench.subaccount(owner, { CreditGranted: 100 });
    const middle = await bench.subaccount(top, { CreditGranted: 50 });
    const leaf = await bench.subaccount(middle, { CreditGranted: 20 });
    return { top, middle, leaf };
  };

  test.each(["", "?recursive=false"])("keep their parent from being deleted%s: 400", async (query) => {
    const { top, leaf } = await family();
    properError(await remove(`${top.id}${query}`), 400, "has_subaccounts");
    expect(await bench.balance(leaf.key)).toBe(20);
  });

  test("go with it when that is asked, and all that they had but three fees comes back", async () => {
    const { top, middle, leaf } = await family();
    const before = nano(await bench.balance(owner.key));
    const { body } = await remove(`${top.id}?recursive=true`);
    expect(body.User).toMatchObject({ RefundedBalance: 99.4, TransactionFee: 0.2 });
    expect(nano(await bench.balance(owner.key)) - before).toBe(nano(99.4));
    for (const one of [top, middle, leaf]) {
      expect((await bench.call(one.key, "GET", "/dashboard/status")).status).toBe(401);
      expect((await bench.call(owner.key, "GET", `/x-dna/${one.id}`)).status).toBe(404);
    }
  });

  test.each(["recursive=yes", "recursive=1", "recursive="])("?%s: 400", async (query) => {
    const { top } = await family();
    properError(await remove(`${top.id}?${query}`));
    expect((await bench.call(owner.key, "GET", `/x-users/${top.id}`)).status).toBe(200);
  });
});

test("a repeat whose first answer was lost answers as the first did, and only to the same key", async () => {
  const user = await bench.subaccount(owner);
  const path = `/x-users/${user.id}`;
  const sending = (name: string) => ({ headers: { "idempotency-key": name } });
  const first = await bench.call(owner.key, "DELETE", path, undefined, sending("gone"));
  expect(first.status).toBe(200);
  // As after a crash between the deletion and the keeping of its answer.
  const db = new Database(join(bench.directory, "bench.db"));
  db.run("DELETE FROM answers");
  db.close();
  const again = await bench.call(owner.key, "DELETE", path, undefined, sending("gone"));
  expect([again.status, again.body]).toEqual([200, first.body]);
  properError(await bench.call(owner.key, "DELETE", path, undefined, sending("another")), 404);
});

describe("a refund that its parent cannot hold", () => {
  test("is refused before anything is deleted, naming the parent and the bound", async () => {
    const full = await bench.owner({ credit: 100 });
    const user = await bench.subaccount(full, { CreditGranted: 50 });
    const grant = (CreditGranted: number) =>
      bench.call(bench.rootKey, "PUT", `/x-users/${full.id}`, { CreditGranted });
    for (const amount of [9_000_000, 7_100]) expect((await grant(amount)).status).toBe(200);
    for (const path of [`/x-users/${user.id}`, `/x-users/${user.id}?recursive=true`]) {
      const answer = await bench.call(full.key, "DELETE", path);
      properError(answer);
      const { code, message } = answer.body.error;
      expect([answer.status, code]).toEqual([400, "invalid_parameter"]);
      expect(message).toContain(
        `Account ${full.id} cannot take 49.8 USD: a balance is at most 9007199.254740991 USD`,
      );
    }
    expect(await bench.balance(user.key)).toBe(50);
    expect((await grant(-1)).status).toBe(200);
    expect((await remove(user.id, full.key)).body.User.RefundedBalance).toBe(49.8);
  });
});

test("the balance less a fee of 0.2 goes to the parent, valid for 180 days", async () => {
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

test("debt is a write_off; no fee, nothing goes back", async () => {
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

test("of an Owner: what goes back to Root is no more; its tree's key is nobody's", async () => {
  const gone = await bench.owner({ credit: 50 });
  expect((await remove(gone.id, bench.rootKey)).body.User.RefundedBalance).toBe(49.8);
  expect(await bench.balance(bench.rootKey)).toBe(0);
  expect((await bench.call(gone.key, "GET", "/x-keys")).status).toBe(401);
});

describe("who may", () => {
  test.each(["parent", "grandparent", "Owner", "Root"])("%s", async (who) => {
    const above = await bench.subaccount(owner, { CreditGranted: 30 });
    const parent = await bench.subaccount(above, { CreditGranted: 20 });
    const user = await bench.subaccount(parent, { CreditGranted: 5 });
    const keys = { parent: parent.key, grandparent: above.key, Owner: owner.key, Root: bench.rootKey };
    expect((await remove(user.id, keys[who as keyof typeof keys])).status).toBe(200);
    // The direct parent has the credit, whichever account deletes.
    expect(await bench.balance(parent.key)).toBe(19.8);
  });
});

test("is not recoverable: nothing finds, changes or pays the account any more", async () => {
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

test("the bill, the ledger and the log stay with the ancestors", async () => {
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
