// The lines of the operation log: one of every action of the specification, done and refused, with all its fields. Who sees
// them, by pages and filters, and the switch are in dashboard/logs.test.ts.

import { beforeAll, expect, test } from "bun:test";
import { type Account, type Answer, type Json, until } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { keyBody, userBody } from "./bodies.ts";

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

const provider = () => keyBody(bench.provider.url, { Level: 7 });

async function rotated(path: string, body: object, key: string): Promise<Answer> {
  const answer = await call("POST", path, body, key);
  user = { ...user, key: answer.body.rotate.key };
  return answer;
}

/** An action, of what it is, what `details` names, whom it is about (null: no number), and what brings it about. */
const ROWS: readonly (readonly [
  action: string,
  type: "user" | "key" | "config" | "news",
  says: string,
  target: (body: Json) => number | null,
  act: () => Promise<Answer>,
])[] = [
  [
    "add_user",
    "user",
    "CreditGranted: 3",
    (body) => body.User.ID,
    () => call("POST", "/x-users", userBody({ CreditGranted: 3 })),
  ],
  ["update_user", "user", "RPM: 0 → 7", () => user.id, () => call("PUT", `/x-users/${user.id}`, { RPM: 7 })],
  [
    "delete_user",
    "user",
    "RefundedBalance: 9.8",
    (body) => body.User.ID,
    async () => call("DELETE", `/x-users/${(await bench.subaccount(owner)).id}`),
  ],
  ["add_key", "key", "Level: 7", (body) => body.key.ID, () => call("POST", "/x-keys", provider())],
  ["update_key", "key", "renamed", () => keyId, () => call("PUT", `/x-keys/${keyId}`, { Name: "renamed" })],
  [
    "delete_key",
    "key",
    "Level",
    (body) => body.key.ID,
    async () => call("DELETE", `/x-keys/${(await call("POST", "/x-keys", provider())).body.key.ID}`),
  ],
  [
    "rotate_self",
    "user",
    "Name",
    () => user.id,
    () => rotated("/x-self", { confirm: `${today()}-ROTATE-SELF` }, user.key),
  ],
  [
    "rotate_root",
    "user",
    "public_key",
    () => user.id,
    () => rotated("/x-root", { name: user.name, confirm: `${today()}-ROTATE-ROOT` }, bench.rootKey),
  ],
  [
    "auto_config",
    "config",
    "DelKeys: true",
    () => owner.id,
    () => call("POST", "/x-conf", { DelKeys: true }),
  ],
  [
    "update_config",
    "config",
    "USER_MIN_BALANCE: 0 → 1",
    () => owner.id,
    () => call("PUT", "/x-config", { USER_MIN_BALANCE: 1 }),
  ],
  [
    "add_news",
    "news",
    'title: "hello"',
    (body) => body.news.id,
    () => call("POST", "/x-news", { title: "hello", content: "c" }),
  ],
  ["delete_news", "news", "deleted: 1", () => null, () => call("DELETE", "/x-news")],
];

test.each(ROWS)("%s", async (action, type, says, target, act) => {
  const answer = await act();
  expect(answer.status).toBe(200);
  const reader = action === "rotate_self" ? user.key : bench.rootKey;
  const line = await newest(`?action=${action}`, reader);
  const operator = { rotate_self: user.id, rotate_root: 1 }[action] ?? owner.id;
  expect(line).toEqual({
    id: expect.any(Number),
    action,
    operator_id: operator,
    target_id: target(answer.body),
    target_type: type,
    details: expect.stringContaining(says),
    ip_address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    status: "success",
  });
  expect(line.created_at.slice(0, 10)).toBe(today());
  expect(line.details).not.toMatch(/sk-[0-9A-Za-z]{20}|sk-of-a-provider/);
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
