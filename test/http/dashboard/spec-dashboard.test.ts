// The specification's table of the dashboard: one test for each row, through HTTP: the fields of each answer, their types, and
// both families of paths. The figures at length are in dashboard-info.test.ts.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Json, MODEL } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() =>
  bench.subaccount(owner, {
    CreditGranted: 10,
    HardLimit: 9,
    SoftLimit: 8,
    RPM: 100,
    AllowIPs: "127.0.0.1 ::1",
    AllowModels: "bench-*",
    Resources: "/v1/*",
    ModelLimits: { [MODEL]: { rpm: 50 } },
  }),
);
beforeAll(async () => {
  await bench.chat(user.key, "hi [[output=10]]", { max_tokens: 10 });
});

const get = (path: string, key = user.key) => bench.call(key, "GET", path);
const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const cost = async () => -(await bench.ledger(user.key)).at(-1).amount;

test("GET /dashboard/status: the eleven fields", async () => {
  expect((await get("/dashboard/status")).body).toEqual({
    object: "user_status",
    id: user.id,
    dna: `.1.${owner.id}.`,
    name: user.name,
    email: `${user.name}@bench.example`,
    alias: user.name,
    public_key: `pk-${new Bun.CryptoHasher("sha256").update(user.key).digest("hex").slice(0, 16)}`,
    balance: 10 - (await cost()),
    user_api_balance: 0,
    manage: true,
    admin: false,
  });
});

test("GET /dashboard/status admin: an Owner's and Root's alone", async () => {
  const admin = async (key: string) => (await get("/dashboard/status", key)).body.admin;
  expect([await admin(bench.rootKey), await admin(owner.key), await admin(user.key)]).toEqual([
    true,
    true,
    false,
  ]);
});

test("GET /dashboard/status manage: false for an account with UserLimit 0", async () => {
  const lone = await bench.subaccount(owner);
  await bench.call(owner.key, "PUT", `/x-users/${lone.id}`, { UserLimit: 0 });
  expect((await get("/dashboard/status", lone.key)).body.manage).toBe(false);
});

test("GET /dashboard/x-user-status: id, name, email, balance, dna", async () => {
  const { id, name, email, balance, dna } = (await get("/dashboard/status")).body;
  expect((await get("/dashboard/x-user-status")).body).toEqual({ id, name, email, balance, dna });
});

test("GET /dashboard/info: user, balance, limits, usage, restrictions, model_limits", async () => {
  const usage = { requests: 1, tokens: expect.any(Number), cost: await cost() };
  const total = 10 - (await cost());
  expect((await get("/dashboard/info")).body).toEqual({
    object: "user_info",
    user: {
      ...{ id: user.id, name: user.name, email: `${user.name}@bench.example`, alias: user.name },
      ...{ level: 0, gear: 1, role: 0, tier: 0, factor: 1, rates: 1, dna: `.1.${owner.id}.` },
      created_at: stamp,
      updated_at: stamp,
    },
    balance: { total, held: 0, credits: [{ amount: total, expires_at: stamp }] },
    limits: {
      ...{ hard_limit: 9, soft_limit: 8, auto_quota: 0, daily_limit: 0 },
      ...{ rpm: 100, rph: 0, rpd: 0, tpm: 0, tph: 0, tpd: 0 },
    },
    usage: { today: usage, month: usage },
    restrictions: {
      ...{
        allow_ips: ["127.0.0.1", "::1"],
        allow_models: ["bench-*"],
        allow_levels: [],
        resources: ["/v1/*"],
      },
    },
    model_limits: { [MODEL]: { rpm: 50 } },
  });
});

test("GET /dashboard/live: all of info, and daily_usage and monthly_usage", async () => {
  const { daily_usage, monthly_usage, ...rest } = (await get("/dashboard/live")).body;
  expect(rest).toEqual((await get("/dashboard/info")).body);
  const used = daily_usage.Prompt + daily_usage.Completion;
  expect(daily_usage).toEqual({
    ...{ Requests: 1, Prompt: expect.any(Number), Completion: 10, Reasoning: 0, CreditUsed: await cost() },
    ModelUsage: { [MODEL]: { Requests: 1, Tokens: used, CreditUsed: await cost() } },
  });
  expect(monthly_usage).toEqual(daily_usage);
});

test("GET /dashboard/models: id, provider, context_window, max_output_tokens, price", async () => {
  const { models } = (await get("/dashboard/models", owner.key)).body;
  const known = models.find(({ id }: Json) => id === "gpt-4o-mini");
  expect(known).toEqual({
    id: "gpt-4o-mini",
    provider: expect.any(String),
    context_window: 128_000,
    max_output_tokens: 16_384,
    price: expect.objectContaining({ InputText: 0.15, OutputText: 0.6 }),
  });
});

describe("GET /dashboard/logs", () => {
  const logs = async (query = "", key = owner.key) => (await get(`/dashboard/logs${query}`, key)).body;

  test("response: logs, total, page, size (24), has_more", async () => {
    const answer = await logs();
    expect(Object.keys(answer).sort()).toEqual(["has_more", "logs", "page", "size", "total"]);
    expect([answer.page, answer.size, answer.has_more]).toEqual([1, 24, false]);
  });

  test("size: at most 100", async () => {
    expect((await logs("?size=101")).size).toBe(100);
  });

  test.each([
    ["action", "action=add_user"],
    ["target_id", () => `target_id=${user.id}`],
    ["status", "status=success"],
  ])("filter %s", async (_, query) => {
    const text = typeof query === "string" ? query : query();
    const [name, value] = text.split("=");
    const { logs: found, total } = await logs(`?${text}`);
    expect(total).toBeGreaterThan(0);
    expect(found.every((line: Json) => String(line[name!]) === value)).toBe(true);
    expect((await logs(`?${name}=${name === "status" ? "failed" : "777"}`)).total).toBe(0);
  });

  test("limited to the caller's own scope", async () => {
    const stranger = await bench.owner();
    expect((await logs(`?target_id=${user.id}`, stranger.key)).total).toBe(0);
    expect((await logs(`?target_id=${user.id}`, user.key)).total).toBe(1);
  });
});

test("GET /dashboard/news: success, system_news, user_news, dna_news", async () => {
  expect((await get("/dashboard/news")).body).toEqual({
    success: true,
    system_news: [],
    user_news: [],
    dna_news: [],
  });
});

test.each(["info", "logs", "news"])("/dashboard/x-user-%s answers as /dashboard/%s", async (name) => {
  expect((await get(`/dashboard/x-user-${name}`)).body).toEqual((await get(`/dashboard/${name}`)).body);
});

test.each([
  "status",
  "x-user-status",
  "info",
  "x-user-info",
  "live",
  "models",
  "logs",
  "x-user-logs",
  "news",
  "x-user-news",
  "ledger",
  "bill",
])("/dashboard/%s is GET only, any valid user's, and knows no other parameter", async (name) => {
  const path = `/dashboard/${name}`;
  for (const key of [bench.rootKey, owner.key, user.key]) expect((await get(path, key)).status).toBe(200);
  const post = await bench.call(user.key, "POST", path, {});
  expect([post.status, post.headers.get("allow")]).toEqual([405, "GET"]);
  expect((await get(`${path}?other=1`)).body.error.code).toBe("unknown_field");
  expect((await bench.call(null, "GET", path)).body.error.code).toBe("missing_api_key");
});

test("the dashboard of nobody: 401 invalid_api_key", async () => {
  const answer = await get("/dashboard/info", "sk-nobody");
  expect([answer.status, answer.body.error.code]).toEqual([401, "invalid_api_key"]);
});

test("GET /dashboard/ledger: lines newest first, total, page, size, has_more; a line's fields", async () => {
  const { lines, ...page } = (await get("/dashboard/ledger?size=1")).body;
  expect(page).toEqual({ total: 2, page: 1, size: 1, has_more: true });
  expect(lines[0]).toMatchObject({
    ...{
      id: expect.any(String),
      type: "charge",
      amount: -(await cost()),
      balance_after: 10 - (await cost()),
    },
    ...{ created_at: stamp, request_id: expect.any(String), model: MODEL, basis: "provider" },
  });
});
