// What an account sees of itself beyond its status: info, the live figures, the models it can call with its own prices, and
// the ledgers of those below it.

import { beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS } from "../../../actors/time.ts";
import { type Account, type Json, MODEL, nano, type Owner, startBench, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());

const get = (key: string, path: string) => bench.call(key, "GET", path);

const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("info", () => {
  test("has the fields of the specification, as they were set", async () => {
    const user = await bench.subaccount(owner, {
      ...{ Alias: "The User", Email: "user@b.example", Days: 10 },
      ...{ HardLimit: 50, SoftLimit: 40.5, AutoQuota: 3, RPM: 1, RPH: 2, RPD: 3, TPM: 4, TPH: 5, TPD: 6 },
      ...{
        AllowIPs: "127.0.0.1, 10.0.0.0/8",
        AllowModels: "gpt-* bench-*",
        Resources: "/v1/chat/completions",
      },
      ModelLimits: { [MODEL]: { rpm: 7 } },
    });
    const { body } = await get(user.key, "/dashboard/info");
    expect(body).toEqual({
      object: "user_info",
      user: {
        ...{ id: user.id, name: user.name, email: "user@b.example", alias: "The User" },
        ...{ level: 0, gear: 1, role: 0, tier: 0, factor: 1, rates: 1, dna: `.1.${owner.id}.` },
        ...{ created_at: TIMESTAMP, updated_at: TIMESTAMP },
      },
      balance: { total: 10, held: 0, credits: [{ amount: 10, expires_at: TIMESTAMP }] },
      limits: {
        ...{ hard_limit: 50, soft_limit: 40.5, auto_quota: 3, daily_limit: 0 },
        ...{ rpm: 1, rph: 2, rpd: 3, tpm: 4, tph: 5, tpd: 6 },
      },
      usage: { today: { requests: 0, tokens: 0, cost: 0 }, month: { requests: 0, tokens: 0, cost: 0 } },
      restrictions: {
        allow_ips: ["127.0.0.1", "10.0.0.0/8"],
        allow_models: ["gpt-*", "bench-*"],
        allow_levels: [],
        resources: ["/v1/chat/completions"],
      },
      model_limits: { [MODEL]: { rpm: 7 } },
    });
    const expiry = Date.parse(body.balance.credits[0].expires_at);
    expect(expiry - Date.parse(body.user.created_at)).toBeWithin(10 * DAY_MS - 5_000, 10 * DAY_MS + 5_000);
  });

  test("x-user-info answers the same", async () => {
    const user = await bench.subaccount(owner);
    const { body } = await get(user.key, "/dashboard/x-user-info");
    expect(body).toEqual((await get(user.key, "/dashboard/info")).body);
  });

  test("Root has no credit, and sees itself", async () => {
    const { body } = await get(bench.rootKey, "/dashboard/info");
    expect(body.balance).toEqual({ total: 0, held: 0, credits: [] });
    expect(body.user).toMatchObject({ id: 1, name: "root", gear: 0, dna: "." });
  });

  test("shows what a request under way holds, beside the balance that it has not left yet", async () => {
    const user = await bench.subaccount(owner);
    const running = bench.chat(user.key, "[[head_ms=600 prompt=10 output=10]]", { max_tokens: 100 });
    const held = async (): Promise<number> => (await get(user.key, "/dashboard/info")).body.balance.held;
    await until("it is held", async () => (await held()) > 0);
    expect((await get(user.key, "/dashboard/info")).body.balance.total).toBe(10);
    await running;
    expect((await get(user.key, "/dashboard/info")).body.balance).toMatchObject({ total: 9.99997, held: 0 });
  });

  test("counts up to the last finished request, at once", async () => {
    const user = await bench.subaccount(owner);
    let cost = 0;
    for (let i = 1; i <= 4; i++) {
      const { headers } = await bench.chat(user.key, `[[prompt=${i} output=10]]`);
      cost += nano(headers.get("x-arbor-cost")!);
      const { usage } = (await get(user.key, "/dashboard/info")).body;
      expect(usage.today).toEqual({ requests: i, tokens: (i * (i + 1)) / 2 + 10 * i, cost: cost / 1e9 });
      expect(usage.month).toEqual(usage.today);
    }
  });
});

describe("live", () => {
  test("is everything of info, and usage by model today and this month", async () => {
    const user = await bench.subaccount(owner);
    const first = await bench.chat(user.key, "[[prompt=100 output=30 reasoning=12]]");
    const second = await bench.chat(user.key, "[[prompt=5 output=7]]", { model: "gpt-4o-mini" });
    const [one, two] = [first, second].map(({ headers }) => nano(headers.get("x-arbor-cost")!)) as [
      number,
      number,
    ];
    const { daily_usage, monthly_usage, windows, blocked, ...info } = (await get(user.key, "/dashboard/live"))
      .body;
    expect([windows, blocked]).toEqual([[], null]);
    expect(info).toEqual((await get(user.key, "/dashboard/info")).body);
    expect(daily_usage).toEqual({
      ...{ Requests: 2, Prompt: 105, Completion: 37, Reasoning: 12, CreditUsed: (one + two) / 1e9 },
      ModelUsage: {
        [MODEL]: { Requests: 1, Tokens: 130, CreditUsed: one / 1e9 },
        "gpt-4o-mini": { Requests: 1, Tokens: 12, CreditUsed: two / 1e9 },
      },
    });
    expect(monthly_usage).toEqual(daily_usage);
  });

  test("before the first request everything is 0", async () => {
    const user = await bench.subaccount(owner);
    const { daily_usage, monthly_usage } = (await get(user.key, "/dashboard/live")).body;
    const nothing = { Requests: 0, Prompt: 0, Completion: 0, Reasoning: 0, CreditUsed: 0, ModelUsage: {} };
    expect([daily_usage, monthly_usage]).toEqual([nothing, nothing]);
  });

  test("a day ends at midnight UTC and a month with its last day", async () => {
    const later = await startBench();
    try {
      const user = await later.subaccount(await later.owner());
      // The first of a month at noon, the second, and the first of the next.
      const now = new Date(later.now());
      later.moveClock(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 12) - later.now());
      const requests = async () => {
        const { body } = await later.call(user.key, "GET", "/dashboard/live");
        return [body.daily_usage.Requests, body.monthly_usage.Requests, body.usage.today.requests];
      };
      await later.chat(user.key, "[[output=1]]");
      expect(await requests()).toEqual([1, 1, 1]);
      later.moveClock(DAY_MS);
      expect(await requests()).toEqual([0, 1, 0]);
      await later.chat(user.key, "[[output=1]]");
      expect(await requests()).toEqual([1, 2, 1]);
      later.moveClock(31 * DAY_MS);
      expect(await requests()).toEqual([0, 0, 0]);
    } finally {
      await later.close();
    }
  });
});

describe("models", () => {
  const CHAT = { InputText: 0.15, OutputText: 0.6, Rates: 1.5 };
  let priced: Owner;
  beforeAll(async () => {
    priced = await bench.owner({
      pricing: { ChatPricing: { [MODEL]: CHAT, unserved: CHAT } },
      config: { LEVEL_MAPPER: "bench-*=1,gpt-4o-mini=1" },
    });
  });
  const models = async (user: Account): Promise<Json[]> =>
    (await get(user.key, "/dashboard/models")).body.models;

  test("are those that the account can call, in order of name", async () => {
    const found = await models(await bench.subaccount(priced));
    expect(found.map(({ id }) => id)).toEqual([MODEL, "gpt-4o-mini"]);
    expect(found[0]).toEqual({
      ...{ id: MODEL, provider: "", context_window: 0, max_output_tokens: 0 },
      price: { InputText: 0.225, OutputText: 0.9 },
    });
    expect(found[1]).toMatchObject({ context_window: 128_000, max_output_tokens: 16_384 });
    expect(found[1].provider).toBeString();
  });

  test("only those of its white list", async () => {
    const found = await models(await bench.subaccount(priced, { AllowModels: "gpt-*" }));
    expect(found.map(({ id }) => id)).toEqual(["gpt-4o-mini"]);
  });

  test("cost what the account pays: times the model's Rates and the highest of its own and its ancestors', exactly", async () => {
    const parent = await bench.subaccount(priced, { CreditGranted: 50, Rates: 3 });
    const child = await bench.subaccount(parent);
    // 0.15 × 1.5 × 3, where numbers would make it 0.6749999999999999.
    expect((await models(child))[0].price).toEqual({ InputText: 0.675, OutputText: 2.7 });
    const { headers } = await bench.chat(child.key, "[[prompt=1000 output=0]]");
    expect(nano(headers.get("x-arbor-cost")!)).toBe(675_000);
  });
});

describe("ledgers of those below", () => {
  let team: Account;
  let member: Account;
  beforeAll(async () => {
    team = await bench.subaccount(owner, { CreditGranted: 100 });
    member = await bench.subaccount(team, { Email: "member@ledger.example" });
    for (let i = 0; i < 5; i++) await bench.chat(member.key, `[[prompt=${i + 1}]]`);
  });

  test("are what the account itself sees, page by page, by id, name and e-mail", async () => {
    for (const page of ["", "&size=2", "&size=2&page=3", "&page=9"]) {
      const own = await get(member.key, `/dashboard/ledger?${page}`);
      for (const key of [team.key, owner.key, bench.rootKey]) {
        for (const user of [member.id, member.name]) {
          expect((await get(key, `/x-ledger?user=${user}${page}`)).body).toEqual(own.body);
        }
      }
    }
    await until("the e-mail is listed", async () => {
      return (await get(team.key, "/x-ledger?user=member@ledger.example")).status === 200;
    });
  });

  test("who is out of reach is not there", async () => {
    const stranger = await bench.owner();
    for (const [caller, user] of [
      [stranger, member.id],
      [stranger, member.name],
      [member, team.id],
      [team, 99_999_999],
    ] as const) {
      properError(await get(caller.key, `/x-ledger?user=${user}`), 404, "user_not_found");
    }
  });

  test.each([
    ["", "missing_parameter"],
    ["?user=", "invalid_parameter"],
    ["?user=1&page=0", "user_not_found"],
    ["?user=1&page=-1", "invalid_parameter"],
    ["?user=1&u=1", "unknown_field"],
  ])("%j is refused: %s", async (query, code) => {
    const answer = await get(owner.key, `/x-ledger${query}`);
    properError(answer, [400, 404]);
    expect(answer.body.error.code).toBe(code);
  });

  test("a deleted account's stays with its former ancestors, by its id", async () => {
    const gone = await bench.subaccount(team);
    await bench.chat(gone.key, "[[prompt=11]]");
    const before = await bench.ledger(gone.key);
    expect((await bench.call(owner.key, "DELETE", `/x-users/${gone.id}`)).status).toBe(200);
    for (const key of [team.key, owner.key, bench.rootKey]) {
      const { lines } = (await get(key, `/x-ledger?user=${gone.id}`)).body;
      expect(lines.map(({ type }: Json) => type)).toEqual(["refund", "delete_fee", "charge", "transfer_in"]);
      expect(lines.slice(-before.length).reverse()).toEqual(before);
      expect(lines[0].balance_after).toBe(0);
    }
    for (const [key, user] of [
      [member.key, gone.id],
      [team.key, gone.name],
    ] as const) {
      properError(await get(key, `/x-ledger?user=${user}`), 404);
    }
  });
});

test("nothing of all this was a failure of the service", () => {
  expect(bench.log.filter((line) => line.level === "error")).toEqual([]);
});
