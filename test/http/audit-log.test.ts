// The lines of the operation log: one of every action of the specification, done and refused, with all its fields. Who sees
// them, by pages and filters, and the switch are in dashboard/logs.test.ts.

import { beforeAll, expect, test } from "bun:test";
import { type Account, type Answer, fresh, type Json, until } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { userBody } from "./bodies.ts";

let user: Account;
let keyId: number;
const bench = useBench();
const owner = prepared(() => bench.owner());
beforeAll(async () => {
  user = await bench.subaccount(owner, { CreditGranted: 5 });
  keyId = (await bench.level(owner, 7, 1))[0]!.id;
});

const newest = async (query = "", key = owner.key): Promise<Json> =>
  (await bench.call(key, "GET", `/dashboard/logs${query}`)).body.logs[0];
const call = (method: string, path: string, body?: object, key = owner.key) =>
  bench.call(key, method, path, body);
const today = () => new Date(bench.now()).toISOString().slice(0, 10);

interface Row {
  readonly action: string;
  readonly type: "user" | "key" | "config" | "news";
  /** Whom it is about, of the answer; null: what there is no number of. */
  readonly target: (answer: Answer) => number | null;
  readonly does: () => Promise<Answer>;
  /** What `details` names. */
  readonly says: string;
}

const provider = () => ({
  Level: 7,
  Provider: bench.provider.url,
  SecretKey: `sk-another-secret-of-${fresh()}`,
});

const ROWS: readonly Row[] = [
  {
    action: "add_user",
    type: "user",
    target: ({ body }) => body.User.ID,
    does: () => call("POST", "/x-users", userBody({ CreditGranted: 3 })),
    says: "CreditGranted: 3",
  },
  {
    action: "update_user",
    type: "user",
    target: () => user.id,
    does: () => call("PUT", `/x-users/${user.id}`, { RPM: 7 }),
    says: "RPM: 0 → 7",
  },
  {
    action: "delete_user",
    type: "user",
    target: ({ body }) => body.User.ID,
    does: async () => call("DELETE", `/x-users/${(await bench.subaccount(owner)).id}`),
    says: "RefundedBalance: 9.8",
  },
  {
    action: "add_key",
    type: "key",
    target: ({ body }) => body.key.ID,
    does: () => call("POST", "/x-keys", provider()),
    says: "Level: 7",
  },
  {
    action: "update_key",
    type: "key",
    target: () => keyId,
    does: () => call("PUT", `/x-keys/${keyId}`, { Name: "renamed" }),
    says: "renamed",
  },
  {
    action: "delete_key",
    type: "key",
    target: ({ body }) => body.key.ID,
    does: async () => call("DELETE", `/x-keys/${(await call("POST", "/x-keys", provider())).body.key.ID}`),
    says: "Level",
  },
  {
    action: "rotate_self",
    type: "user",
    target: () => user.id,
    does: async () => {
      const answer = await call("POST", "/x-self", { confirm: `${today()}-ROTATE-SELF` }, user.key);
      user = { ...user, key: answer.body.rotate.key };
      return answer;
    },
    says: "Name",
  },
  {
    action: "rotate_root",
    type: "user",
    target: () => user.id,
    does: async () => {
      const body = { name: user.name, confirm: `${today()}-ROTATE-ROOT` };
      const answer = await call("POST", "/x-root", body, bench.rootKey);
      user = { ...user, key: answer.body.rotate.key };
      return answer;
    },
    says: "public_key",
  },
  {
    action: "auto_config",
    type: "config",
    target: () => owner.id,
    does: () => call("POST", "/x-conf", { DelKeys: true }),
    says: "DelKeys: true",
  },
  {
    action: "update_config",
    type: "config",
    target: () => owner.id,
    does: () => call("PUT", "/x-config", { USER_MIN_BALANCE: 1 }),
    says: "USER_MIN_BALANCE: 0 → 1",
  },
  {
    action: "add_news",
    type: "news",
    target: ({ body }) => body.news.id,
    does: () => call("POST", "/x-news", { title: "hello", content: "c" }),
    says: 'title: "hello"',
  },
  {
    action: "delete_news",
    type: "news",
    target: () => null,
    does: () => call("DELETE", "/x-news"),
    says: "deleted: 1",
  },
];

test.each(ROWS.map((row) => [row.action, row] as const))("%s", async (action, row) => {
  const answer = await row.does();
  expect(answer.status).toBe(200);
  const reader = action === "rotate_self" ? user.key : bench.rootKey;
  const line = await newest(`?action=${action}`, reader);
  const operator = { rotate_self: user.id, rotate_root: 1 }[action] ?? owner.id;
  expect(line).toEqual({
    id: expect.any(Number),
    action,
    operator_id: operator,
    target_id: row.target(answer),
    target_type: row.type,
    details: expect.stringContaining(row.says),
    ip_address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    status: "success",
  });
  expect(line.created_at.slice(0, 10)).toBe(today());
  expect(line.details).not.toMatch(/sk-[0-9A-Za-z]{20}|sk-another-secret/);
});

test("auto_quota: the account's own line, seen above", async () => {
  const low = await bench.owner();
  const poor = await bench.subaccount(low, { CreditGranted: 2, AutoQuota: 4 });
  const spend = () => bench.chat(poor.key, "[[output=500000]]", { max_tokens: 600_000 });
  await Promise.all([spend(), spend()]);
  await until("it is written", async () => (await newest("?action=auto_quota", low.key)) !== undefined);
  const line = await newest("?action=auto_quota", low.key);
  expect(line).toMatchObject({ target_id: poor.id, target_type: "user", status: "success" });
  expect(line.details).toContain("4");
});

/** A refused write of each kind: what it answers stands in its line. */
test.each([
  ["add_user", "POST", "/x-users", { Name: "x" }, "missing_parameter"],
  ["update_user", "PUT", "/x-users/1", { Alias: "x" }, "not_ancestor"],
  ["delete_user", "DELETE", "/x-users/1", undefined, "not_ancestor"],
  ["add_key", "POST", "/x-keys", {}, "missing_parameter"],
  ["update_key", "PUT", "/x-keys/999999", { Name: "x" }, "key_not_found"],
  ["delete_key", "DELETE", "/x-keys/999999", undefined, "key_not_found"],
  ["rotate_self", "POST", "/x-self", { confirm: "no" }, "confirm_mismatch"],
  ["rotate_root", "POST", "/x-root", { confirm: "no" }, "not_root"],
  ["auto_config", "POST", "/x-conf", { LogEnable: false }, "not_root"],
  ["update_config", "PUT", "/x-config", { NOTHING: 1 }, "unknown_field"],
  ["add_news", "POST", "/x-news", { title: "x" }, "missing_parameter"],
  ["delete_news", "DELETE", "/x-news", { id: 999_999 }, "not_found"],
])("%s refused: status failed, with its code", async (action, method, path, body, why) => {
  const answer = await call(method, path, body);
  expect(answer.body.error.code).toBe(why);
  expect(await newest("?status=failed")).toMatchObject({
    ...{ action, operator_id: owner.id, status: "failed" },
    details: expect.stringMatching(new RegExp(`^${why}: `)),
  });
});
