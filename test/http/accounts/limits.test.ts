// The limits and the whitelists of an account: one test for each row of the specification, with windows that pass by business
// time; and the order in which their refusals come.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Json, MODEL } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 1_000_000 }));
beforeAll(async () => {
  // Noon of the 10th of a month: no window below ends by itself.
  const now = new Date(bench.now());
  bench.moveClock(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 10, 12) - now.getTime());
});
const user = preparedEach(() => bench.subaccount(owner, { CreditGranted: 100 }));

const put = async (change: object, key = owner.key, id = user.id) =>
  expect((await bench.call(key, "PUT", `/x-users/${id}`, change)).body).toMatchObject({ Action: "update" });
const chat = (more: object = {}, key = user.key) => bench.chat(key, "hi", { max_tokens: 10, ...more });
const saying = (content: string) => ({ messages: [{ role: "user", content }] });
const code = async (answer: Promise<{ readonly status: number; readonly body: Json }>) => {
  const { status, body } = await answer;
  return status === 200 ? 200 : body.error.code;
};
const create = (more: object) => bench.call(owner.key, "POST", "/x-users", userBody(more));

test.each([
  [2, 200],
  [1.999999999, 400],
  [0, 400],
  [-2, 400],
  ["2", 400],
])("Minimum initial credit 2: %j is %d", async (CreditGranted, status) => {
  expect((await create({ CreditGranted })).status).toBe(status);
});

/** A limit of requests, and how long its window is. */
describe.each([
  ["RPM", "rpm_exceeded", MINUTE_MS],
  ["RPH", "rph_exceeded", HOUR_MS],
  ["RPD", "rpd_exceeded", DAY_MS],
])("%s", (field, refusal, windowMs) => {
  test("admits so many, refuses the next with 429 and retry-after, and admits again when the window has passed", async () => {
    await put({ [field]: 2 });
    expect([await code(chat()), await code(chat())]).toEqual([200, 200]);
    const refused = await chat();
    expect([refused.status, refused.body.error.code]).toEqual([429, refusal]);
    // Windows slide in steps of a sixtieth and err towards refusing.
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, (windowMs / 1_000) * 1.02 + 2);
    bench.moveClock(windowMs + MINUTE_MS);
    expect(await code(chat())).toBe(200);
  });

  test("0 is no limit", async () => {
    await put({ [field]: 1 });
    await put({ [field]: 0 });
    expect([await code(chat()), await code(chat())]).toEqual([200, 200]);
  });
});

/** A limit, and how much of it two of these requests use up. */
describe.each([
  ...[["RPM", 1] as const, ["RPH", 1] as const, ["RPD", 1] as const],
  ...[["TPM", 500] as const, ["TPH", 500] as const, ["TPD", 500] as const],
])("%s of %d", (field, limit) => {
  const many = () => chat({ max_tokens: 600, ...saying("[[output=600]]") });
  const refusal = `${field.toLowerCase()}_exceeded`;

  test.each([
    ["for the account", { [field]: limit }],
    ["per model, by ModelLimits", { ModelLimits: { [MODEL]: { [field.toLowerCase()]: limit } } }],
  ])("refuses once it is used up, %s", async (_, change) => {
    await put(change);
    expect([await code(many()), await code(many())]).toEqual([200, refusal]);
  });
});

describe("monthly HardLimit", () => {
  test("stops the service when it is reached, until the month ends (UTC)", async () => {
    await put({ HardLimit: 0.01 });
    const spend = () => chat({ max_tokens: 5_000, ...saying("[[output=5000]]") });
    expect(await code(spend())).toBe(200);
    const refused = await spend();
    expect([refused.status, refused.body.error.type]).toEqual([429, "insufficient_quota"]);
    expect(refused.body.error.code).toBe("hard_limit_reached");
    expect(refused.headers.get("x-should-retry")).toBe("false");
    bench.moveClock(DAY_MS);
    expect(await code(spend())).toBe("hard_limit_reached");
    const now = new Date(bench.now());
    bench.moveClock(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime());
    expect(await code(spend())).toBe(200);
    bench.moveClock(9.5 * DAY_MS);
  });

  test("acts on that account alone: neither those above nor those below count", async () => {
    const child = await bench.subaccount(user, { CreditGranted: 10 });
    await put({ HardLimit: 0.000000001 });
    expect(await code(chat())).toBe("hard_limit_reached");
    expect(await code(chat({}, child.key))).toBe(200);
  });
});

test("DailyLimit stops the service until the day ends (UTC)", async () => {
  await put({ DailyLimit: 0.01 });
  const spend = () => chat({ max_tokens: 5_000, ...saying("[[output=5000]]") });
  expect(await code(spend())).toBe(200);
  expect(await code(spend())).toBe("daily_limit_reached");
  const now = bench.now();
  bench.moveClock(DAY_MS - (now % DAY_MS));
  expect(await code(spend())).toBe(200);
  bench.moveClock(12 * HOUR_MS);
});

test("SoftLimit stops nothing", async () => {
  await put({ SoftLimit: 0.000001 });
  expect([await code(chat()), await code(chat())]).toEqual([200, 200]);
});

describe("whitelists", () => {
  /** A field, a list that lets the request pass, one that does not, and the refusal. */
  test.each([
    ["AllowIPs", "127.0.0.0/8 ::1", "10.0.0.0/8", "ip_not_allowed"],
    ["AllowModels", "bench-*", "gpt-*", "model_not_allowed"],
    ["AllowLevels", "1 2", "2", "level_not_allowed"],
    ["Resources", "/v1/chat/*", "/v1/messages", "path_not_allowed"],
  ])("%s: empty allows all, a list what it names, else 403", async (field, open, closed, refusal) => {
    expect(await code(chat())).toBe(200);
    await put({ [field]: open });
    expect(await code(chat())).toBe(200);
    if (field === "AllowModels") await put({ AllowModels: "*" });
    await put({ [field]: closed });
    const refused = await chat();
    expect([refused.status, refused.body.error.code]).toEqual([403, refusal]);
  });

  test("AllowIPs act on that account alone, on every authenticated endpoint", async () => {
    const child = await bench.subaccount(user, { CreditGranted: 10 });
    await put({ AllowIPs: "10.0.0.1" });
    expect(await code(chat({}, child.key))).toBe(200);
    for (const path of ["/dashboard/status", "/x-users", "/x-bill", "/x-gkey", "/v1/models"]) {
      expect(await code(bench.call(user.key, "GET", path))).toBe("ip_not_allowed");
    }
  });
});

test("refusals in order: key, flags, IP, path, model, level, rate limits, quota", async () => {
  // Everything is wrong at once; mended one by one, each refusal gives way to the next.
  const mends: readonly (readonly [string, object])[] = [
    ["account_disabled", { Status: true }],
    ["account_suspended", { Suspended: false }],
    ["ip_not_allowed", { AllowIPs: "" }],
    ["path_not_allowed", { Resources: "" }],
    ["model_not_allowed", { AllowModels: "*" }],
    ["level_not_allowed", { AllowLevels: "" }],
    ["rpm_exceeded", { RPM: 0 }],
    ["insufficient_balance", { CreditGranted: 5 }],
    ["hard_limit_reached", { HardLimit: 0 }],
    ["daily_limit_reached", { DailyLimit: 0 }],
  ];
  await chat();
  await put({
    ...{ Status: false, Suspended: true, AllowIPs: "10.0.0.1", Resources: "/v1/messages" },
    ...{ AllowModels: "gpt-*", AllowLevels: "9", RPM: 1, HardLimit: 0.000001, DailyLimit: 0.000001 },
  });
  const { Balance } = (await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body[0];
  await put({ CreditGranted: -Balance });
  expect(await code(chat({}, "sk-nobody"))).toBe("invalid_api_key");
  for (const [refusal, mend] of mends) {
    expect(await code(chat())).toBe(refusal);
    await put(mend);
  }
  expect(await code(chat())).toBe(200);
});
