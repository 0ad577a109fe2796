// What an account sees of itself: status, its short form, and the ledger page by page. Free of balance and gateway limits.

import { beforeAll, describe, expect, test } from "bun:test";
import type { Account } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { keyBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench({ settings: { API_RPM: "120" } });
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner, { Alias: "The User", Email: "user@b.example" }));

const get = (key: string, path: string) => bench.call(key, "GET", path);

describe("status", () => {
  test("has the fields of the specification, for a subaccount", async () => {
    const { body } = await get(user.key, "/dashboard/status");
    const hash = new Bun.CryptoHasher("sha256").update(user.key).digest("hex");
    expect(body).toEqual({
      ...{ object: "user_status", id: user.id, dna: `.1.${owner.id}.`, name: user.name },
      ...{ email: "user@b.example", alias: "The User", public_key: `pk-${hash.slice(0, 16)}` },
      ...{
        balance: 10,
        scopes: ["invoke", "read", "manage"],
        user_api_balance: 0,
        manage: true,
        admin: false,
      },
    });
  });

  test.each([
    ["an Owner", () => owner.key, { admin: true, manage: true, dna: ".1." }],
    ["Root", () => bench.rootKey, { admin: true, manage: true, dna: ".", id: 1, name: "root", balance: 0 }],
  ])("%s may open the administration console", async (_, key, expected) => {
    expect((await get(key(), "/dashboard/status")).body).toMatchObject(expected);
  });

  test("the short form has five fields", async () => {
    expect((await get(user.key, "/dashboard/x-user-status")).body).toEqual({
      ...{ id: user.id, name: user.name, email: "user@b.example", balance: 10, dna: `.1.${owner.id}.` },
    });
  });

  test("manage is false for an account that may have no subaccounts", async () => {
    const lone = await bench.subaccount(owner);
    await bench.call(owner.key, "PUT", `/x-users/${lone.id}`, { UserLimit: 0 });
    expect((await get(lone.key, "/dashboard/status")).body.manage).toBe(false);
  });

  test("shows the state up to the last finished request, at once", async () => {
    const child = await bench.subaccount(owner);
    let balance = 10_000_000_000;
    for (let i = 1; i <= 5; i++) {
      const { headers } = await bench.chat(child.key, `[[prompt=${i} output=${i}]]`);
      balance -= Math.round(Number(headers.get("x-arbor-cost")) * 1e9);
      expect((await get(child.key, "/dashboard/status")).body.balance).toBe(balance / 1e9);
    }
  });

  test("is there for an account without a dollar", async () => {
    const child = await bench.subaccount(owner, { CreditGranted: 2 });
    await bench.subaccount(child, { CreditGranted: 2 });
    expect((await get(child.key, "/dashboard/status")).body.balance).toBe(0);
    expectError(await bench.chat(child.key, "hi"), 429, "insufficient_balance");
  });
});

describe("ledger", () => {
  let child: Account;
  beforeAll(async () => {
    child = await bench.subaccount(owner);
    for (let i = 0; i < 6; i++) await bench.chat(child.key, `[[prompt=${i + 1} output=0]]`);
  });
  const page = async (query: string) => (await get(child.key, `/dashboard/ledger${query}`)).body;

  test("is newest first, 24 a page, each line with the balance after it", async () => {
    const { lines, ...rest } = await page("");
    expect(rest).toEqual({ total: 7, page: 1, size: 24, has_more: false });
    expect(lines.map((line: { type: string }) => line.type)).toEqual([
      ...Array(6).fill("charge"),
      "transfer_in",
    ]);
    expect(lines.map((line: { prompt_tokens?: number }) => line.prompt_tokens)).toEqual([
      6,
      5,
      4,
      3,
      2,
      1,
      undefined,
    ]);
    expect(lines[0].balance_after).toBe((await get(child.key, "/dashboard/status")).body.balance);
    expect(lines[0]).toEqual({
      id: expect.any(String),
      type: "charge",
      amount: -0.000006,
      balance_after: 9.999979,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      ...{ request_id: expect.any(String), model: "bench-model", level: 1, basis: "provider" },
      ...{ prompt_tokens: 6, completion_tokens: 0, path: "/v1/chat/completions", stream: false },
      ...{ cached: 0, reasoning: 0, ms: expect.any(Number), attempts: 1, tags: {} },
      ...{ api_key: 0, api_key_name: "main" },
    });
  });

  test.each([
    ["?size=3", 3, true],
    ["?size=3&page=2", 3, true],
    ["?size=3&page=3", 1, false],
    ["?size=3&page=4", 0, false],
    ["?size=7", 7, false],
    ["?size=99999", 7, false],
    ["?page=999999999", 0, false],
  ])("%s has %d lines; more: %p", async (query, count, more) => {
    const body = await page(query);
    expect([body.lines.length, body.has_more, body.total]).toEqual([count, more, 7]);
  });

  test("page by page it is the same as at once", async () => {
    const all = (await page("?size=1000")).lines;
    const pages = [];
    for (let i = 1; i <= 4; i++) pages.push(...(await page(`?size=2&page=${i}`)).lines);
    expect(pages).toEqual(all);
  });

  test.each(["?page=0", "?size=0"])("%s is 400: a ledger is always paged", async (query) => {
    properError(await get(child.key, `/dashboard/ledger${query}`));
  });

  test("is one's own alone: a parent's calls do not stand in a child's", async () => {
    const own = await bench.ledger(owner.key);
    expect(own.map((line) => line.type)).not.toContain("charge");
  });

  test("Root's own calls: a charge with a matching grant line, and the balance stays 0", async () => {
    await bench.call(bench.rootKey, "POST", "/x-keys", keyBody(bench.provider.url));
    await bench.call(bench.rootKey, "PUT", "/x-config", { LEVEL_MAPPER: "*=1" });
    const { status, headers } = await bench.chat(bench.rootKey, "[[prompt=1000]]", { model: "gpt-4o-mini" });
    expect(status).toBe(200);
    const [grant, charge] = (await bench.ledger(bench.rootKey)).slice(-2);
    expect([grant.type, charge.type]).toEqual(["grant", "charge"]);
    expect(grant.amount + charge.amount).toBe(0);
    expect(charge.amount).toBe(-Number(headers.get("x-arbor-cost")));
    expect((await get(bench.rootKey, "/dashboard/status")).body.balance).toBe(0);
  });
});

test.each(
  "status info live models logs news ledger bill x-user-status x-user-info x-user-logs x-user-news".split(
    " ",
  ),
)("/dashboard/%s is any valid user's", async (name) => {
  for (const key of [bench.rootKey, owner.key, user.key]) {
    expect((await get(key, `/dashboard/${name}`)).status).toBe(200);
  }
});

describe("the API's own limit", () => {
  test("API_RPM calls a minute, then 429 rpm_exceeded that says whose limit it is; the gateway goes on, Root is exempt", async () => {
    const child = await bench.subaccount(owner);
    const answers = await Promise.all(
      Array.from({ length: 250 }, () => get(child.key, "/dashboard/x-user-status")),
    );
    const passed = answers.filter((answer) => answer.status === 200).length;
    // The minute may turn while this runs.
    expect(passed === 120 || passed === 240 || (passed > 120 && passed < 250)).toBe(true);
    const refused = answers.find((answer) => answer.status !== 200)!;
    expect(refused.body.error).toMatchObject({
      code: "rpm_exceeded",
      type: "rate_limit_error",
      message: expect.stringContaining("API's own"),
    });
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
    expect((await bench.chat(child.key, "[[output=1]]")).status).toBe(200);
    const root = await Promise.all(
      Array.from({ length: 150 }, () => get(bench.rootKey, "/dashboard/x-user-status")),
    );
    expect(root.every((answer) => answer.status === 200)).toBe(true);
  });
});
