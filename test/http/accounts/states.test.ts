// The states of an account: its flags, the balance rule and its credit, one test for each row of the specification.

import { describe, expect, test } from "bun:test";
import { type Json, nano } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";

const DAY_MS = 86_400_000;

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));
const user = preparedEach(() => bench.subaccount(owner, { CreditGranted: 10 }));

const set = async (change: object, { key = owner.key, id = user.id } = {}) =>
  expect((await bench.call(key, "PUT", `/x-users/${id}`, change)).status).toBe(200);
const code = async (answer: Promise<{ readonly status: number; readonly body: Json }>) => {
  const { status, body } = await answer;
  return status === 200 ? 200 : body.error.code;
};
const chat = (key = user.key) => bench.chat(key, "hi", { max_tokens: 5 });
const info = async (key = user.key): Promise<Json> =>
  (await bench.call(key, "GET", "/dashboard/info")).body.balance;

/** One endpoint of each family, and whether it writes. */
const ENDPOINTS: readonly (readonly [string, string, "gateway" | "write" | "read"])[] = [
  ["POST", "/v1/chat/completions", "gateway"],
  ["POST", "/v1/messages", "gateway"],
  ["POST", "/v1/quote", "gateway"],
  ["GET", "/v1/models", "gateway"],
  ["POST", "/x-users", "write"],
  ["PUT", "/x-users/1", "write"],
  ["DELETE", "/x-users/1", "write"],
  ["POST", "/x-news/1", "write"],
  ["DELETE", "/x-news/1", "write"],
  ["POST", "/x-self", "write"],
  ["GET", "/dashboard/status", "read"],
  ["GET", "/dashboard/x-user-status", "read"],
  ["GET", "/dashboard/info", "read"],
  ["GET", "/dashboard/live", "read"],
  ["GET", "/dashboard/models", "read"],
  ["GET", "/dashboard/logs", "read"],
  ["GET", "/dashboard/news", "read"],
  ["GET", "/dashboard/ledger", "read"],
  ["GET", "/dashboard/requests", "read"],
  ["GET", "/dashboard/bill", "read"],
  ["GET", "/x-users", "read"],
  ["GET", "/x-dna", "read"],
  ["GET", "/x-bill", "read"],
];
const ask = (method: string, path: string, key: string) =>
  bench.call(key, method, path, method === "POST" || method === "PUT" ? {} : undefined);

describe("Status false", () => {
  test.each(ENDPOINTS)("closes %s %s: 403 account_disabled", async (method, path) => {
    await set({ Status: false });
    expectError(await ask(method, path, user.key), 403, "account_disabled");
  });
});

describe("Suspended true", () => {
  test.each(ENDPOINTS)(
    "%s %s is refused with 403 account_suspended, unless it reads",
    async (method, path, kind) => {
      await set({ Suspended: true });
      const answer = await ask(method, path, user.key);
      const expected = kind === "read" ? [200, undefined] : [403, "account_suspended"];
      expect([answer.status, answer.body.error?.code]).toEqual(expected);
    },
  );
});

test.each([
  ["Status", false, "account_disabled"],
  ["Suspended", true, "account_suspended"],
])("%s %p is taken back, and the account is open again", async (flag, closed, refusal) => {
  await set({ [flag]: closed });
  expect(await code(chat())).toBe(refusal);
  await set({ [flag]: !closed });
  expect(await code(chat())).toBe(200);
});

/** What only an Owner may, each with what is otherwise right. */
const ADMINISTRATION: readonly (readonly [string, string, object?])[] = [
  ["GET", "/x-keys"],
  ["GET", "/x-conf"],
  ["GET", "/x-config"],
  ["GET", "/x-config/history"],
  ["POST", "/x-keys", { Level: 1, Provider: "https://1.1.1.1/v1", SecretKey: "x".repeat(20) }],
  ["PUT", "/x-keys/KEY", { Name: "changed" }],
  ["POST", "/x-keys/KEY", { Name: "changed" }],
  ["POST", "/x-keys/KEY/test", { model: "any" }],
  ["POST", "/x-keys/KEY/test"],
  ["DELETE", "/x-keys/KEY"],
  ["POST", "/x-conf", { ModelMapper: "a=b", DelKeys: true }],
  ["PUT", "/x-config", { MODEL_MAPPER: "a=b" }],
  ["POST", "/x-config", { MODEL_MAPPER: "a=b" }],
  ["DELETE", "/x-config", { keys: ["PRICING"] }],
  ["POST", "/x-config/revert", { version: 0 }],
];

test.each([
  ["Suspended", { Suspended: true }, { Suspended: false }, "account_suspended"],
  ["disabled", { Status: false }, { Status: true }, "account_disabled"],
] as const)("an Owner that is %s administers nothing, and nothing has changed afterwards", async (...row) => {
  const [, off, on, refusal] = row;
  const one = await bench.owner();
  const id = one.keys[0]!.id;
  const root = { key: bench.rootKey, id: one.id };
  const state = async () =>
    Promise.all(
      ["/x-keys", "/x-config/history"].map(async (path) => (await bench.call(one.key, "GET", path)).body),
    );
  const before = await state();
  await set(off, root);
  const called = bench.provider.calls().length;
  for (const [method, path, body] of ADMINISTRATION) {
    const found = await code(bench.call(one.key, method, path.replace("KEY", String(id)), body));
    const reads = method === "GET" && refusal === "account_suspended";
    expect([method, path, found]).toEqual([method, path, reads ? 200 : refusal]);
  }
  expect(bench.provider.calls()).toHaveLength(called);
  await set(on, root);
  expect(await state()).toEqual(before);
});

test("who is moved by: a parent or any ancestor, neither oneself nor a stranger", async () => {
  const child = await bench.subaccount(user, { CreditGranted: 2 });
  for (const key of [user.key, owner.key, bench.rootKey]) await set({ Status: true }, { key, id: child.id });
  const change = (key: string) => bench.call(key, "PUT", `/x-users/${child.id}`, { Suspended: false });
  expect(await code(change(child.key))).toBe("field_not_settable");
  expect(await code(change((await bench.owner()).key))).toBe("user_not_found");
});

test("flags act on that account alone: those below go on", async () => {
  const child = await bench.subaccount(user, { CreditGranted: 2 });
  await set({ Status: false, Suspended: true });
  expect(await code(chat(child.key))).toBe(200);
  expect((await bench.call(child.key, "GET", "/dashboard/status")).status).toBe(200);
});

test("nothing changes them automatically: not an empty balance, not a limit that is reached", async () => {
  await set({ HardLimit: 0.000001, CreditGranted: -10 });
  expect(await code(chat())).toBe("insufficient_balance");
  const [record] = (await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body;
  expect([record.Status, record.Suspended]).toEqual([true, false]);
});

test("balance rule: enabled only while Balance + XCredit is greater than user_api_balance", async () => {
  const strict = await bench.owner({ config: { USER_API_BALANCE: 3 } });
  const one = await bench.subaccount(strict, { CreditGranted: 3 });
  const key = bench.rootKey;
  expect((await bench.call(one.key, "GET", "/dashboard/status")).body.user_api_balance).toBe(3);
  expect(await code(chat(one.key))).toBe("insufficient_balance");
  await set({ CreditGranted: 0.000000001 }, { key, id: one.id });
  expect(await code(chat(one.key))).toBe(200);
  expect(await code(chat(one.key))).toBe("insufficient_balance");
  await set({ XCredit: 1 }, { key, id: one.id });
  expect(await code(chat(one.key))).toBe(200);
});

test("XCredit lets spending go below 0, to −XCredit; beyond that nothing begins", async () => {
  await set({ XCredit: 0.01 }, { key: bench.rootKey });
  await set({ CreditGranted: -10 });
  const spend = () => bench.chat(user.key, "[[output=2000]]", { max_tokens: 2_000 });
  let answered = 0;
  while ((await spend()).status === 200 && answered < 10) answered++;
  expect(answered).toBe(3);
  const line = (await bench.ledger(user.key)).at(-1);
  // The last one began within −XCredit, alone, and is all that may pass it.
  expect(line.balance_after - line.amount).toBeGreaterThan(-0.01);
  expect(await code(chat())).toBe("insufficient_balance");
});

describe("credit", () => {
  test("entry valid → expired: after Days, 180 by default", async () => {
    await set({ CreditGranted: 5, Days: 10 });
    const { credits } = await info();
    expect(credits.map(({ amount }: Json) => amount)).toEqual([5, 10]);
    const ends = credits.map(({ expires_at }: Json) => (Date.parse(expires_at) - bench.now()) / DAY_MS);
    expect(ends[0]).toBeWithin(9.99, 10.0001);
    expect(ends[1]).toBeWithin(179.99, 180.0001);
  });

  test("that is due has left everything that is read, and is a line expire", async () => {
    await set({ CreditGranted: 5, Days: 10 });
    bench.moveClock(10 * DAY_MS + 1);
    expect((await info()).total).toBe(10);
    expect(await bench.balance(user.key)).toBe(10);
    const find = async (path: string) => (await bench.call(owner.key, "GET", path)).body[0].Balance;
    expect([await find(`/x-users/${user.id}`), await find(`/x-users?id=${user.id}`)]).toEqual([10, 10]);
    await set({ CreditGranted: -1 });
    const lines = (await bench.ledger(user.key)).map(({ type, amount }) => [type, amount]);
    expect(lines).toEqual([
      ["transfer_in", 10],
      ["transfer_in", 5],
      ["expire", -5],
      ["refund", -1],
    ]);
  });

  test("that is due cannot be refunded, given or spent", async () => {
    const poor = await bench.subaccount(owner, { CreditGranted: 2, Days: 1 });
    bench.moveClock(DAY_MS + 1);
    expect(await code(chat(poor.key))).toBe("insufficient_balance");
    const back = bench.call(owner.key, "PUT", `/x-users/${poor.id}`, { CreditGranted: -1 });
    expect(await code(back)).toBe("insufficient_balance");
    const born = userBody({ Name: `born-of-${poor.name}` });
    expect(await code(bench.call(poor.key, "POST", "/x-users", born))).toBe("insufficient_parent_balance");
  });

  test("spending takes the entry that expires first", async () => {
    await set({ CreditGranted: 5, Days: 10 });
    await chat();
    const { credits, total } = await info();
    expect(credits[1].amount).toBe(10);
    expect(credits[0].amount).toBeLessThan(5);
    expect(nano(total)).toBe(nano(credits[0].amount) + nano(credits[1].amount));
  });

  test("CreditUsed and ChargeAmount are lifetime totals", async () => {
    await set({ CreditGranted: 5 });
    await set({ CreditGranted: -3 });
    await chat();
    const used = -(await bench.ledger(user.key)).at(-1).amount;
    const [record] = (await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body;
    expect([record.CreditUsed, record.ChargeAmount]).toEqual([used, 15]);
  });
});
