// DELETE /x-users/{identifier}: the answer, where the credit goes, what is gone afterwards, and subtrees.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Account, fresh, nano } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 10_000 }));

const remove = (identifier: string | number, key = owner.key) =>
  bench.call(key, "DELETE", `/x-users/${identifier}`);

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

  test("an ancestor may delete what is not its own child", async () => {
    const { top, leaf } = await family();
    expect((await remove(leaf.id, top.key)).body.User.RefundedBalance).toBe(19.8);
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
