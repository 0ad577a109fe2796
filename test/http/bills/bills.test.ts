// Bills over HTTP with real requests: whose they are, which account of a filter they mean, that every figure is the sum of
// what clients' answers cost and of what the ledger says, what they cost, and what is refused.

import { beforeAll, describe, expect, test } from "bun:test";
import { dayOf } from "../../../actors/time.ts";
import { httpError, refusalOf } from "../../../src/http/errors.ts";
import { StoreBusyError } from "../../../src/store/store-errors.ts";
import { type Account, charged, charges, type Json, MODEL, nano, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const MODELS = [MODEL, "gpt-4o-mini", "gpt-4o"];

/** What an answer reported of one request. */
interface ChargedRequest {
  readonly account: Account;
  readonly model: string;
  readonly cost: number;
  readonly prompt: number;
  readonly completion: number;
}

const chargedRequests: ChargedRequest[] = [];
const bench = useBench();
const owner = prepared(() => bench.owner());
const team = prepared(() =>
  bench.subaccount(owner, { CreditGranted: 100, Email: "shared@b.example", Alias: "The Team" }),
);
const member = prepared(() => bench.subaccount(team, { Email: "shared@b.example" }));
const single = prepared(() => bench.subaccount(owner));
beforeAll(async () => {
  await bench.subaccount(owner);
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const account = [owner, team, member, single, team][i % 5]!;
      const prompt = 1 + ((i * 37) % 101);
      const completion = (i * 53) % 97;
      const model = MODELS[i % 3]!;
      const answer = await bench.chat(account.key, `[[prompt=${prompt} output=${completion}]]`, { model });
      if (answer.status !== 200) throw new Error(answer.text);
      chargedRequests.push({
        account,
        model,
        prompt,
        completion,
        cost: nano(answer.headers.get("x-arbor-cost")!),
      });
    }),
  );
  await trailing();
});

const get = (key: string, path: string) => bench.call(key, "GET", path);
const bill = async (account: Account, query = ""): Promise<Json> => {
  const answer = await get(account.key, `/dashboard/bill${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const descendants = async (key: string, query = ""): Promise<Json> => {
  const answer = await get(key, `/x-bill${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};

/** Bills may trail what was charged by two seconds; the rest is for a slow machine. */
const trailing = () =>
  until(
    "the bills have every charge",
    async () => (await descendants(bench.rootKey)).total_requests === chargedRequests.length,
  );

const of = (...accounts: Account[]): ChargedRequest[] =>
  chargedRequests.filter(({ account }) => accounts.includes(account));
const sum = (list: readonly ChargedRequest[], what: "cost" | "prompt" | "completion"): number =>
  list.reduce((total, one) => total + one[what], 0);
const everybody = () => [owner, team, member, single];

function expectFigures(found: Json, list: readonly ChargedRequest[]): void {
  expect(found.total_requests).toBe(list.length);
  expect(found.total_prompt).toBe(sum(list, "prompt"));
  expect(found.total_completion).toBe(sum(list, "completion"));
  expect(nano(found.total_credit_used)).toBe(sum(list, "cost"));
}

describe("every figure is the sum of what clients' answers reported, to the nano-dollar", () => {
  test("one's own bill, and it is what the ledger says", async () => {
    for (const account of everybody()) {
      const found = await bill(account);
      expectFigures(found, of(account));
      const lines = await bench.ledger(account.key);
      expect(nano(found.total_credit_used)).toBe(charged(lines));
      expect(found.total_requests).toBe(charges(lines).length);
    }
  });

  test("by model, on the one day that there is", async () => {
    const found = await bill(team);
    expect(found.daily_costs).toHaveLength(1);
    expect(found.daily_costs[0].date).toBe(dayOf(bench.now()));
    const items = found.daily_costs[0].line_items;
    expect(items.map(({ name }: Json) => name)).toEqual([...MODELS].sort());
    for (const { name, cost, usage } of items) {
      const own = of(team).filter(({ model }) => model === name);
      expect([nano(cost), nano(usage.cost), usage.requests]).toEqual([
        sum(own, "cost"),
        sum(own, "cost"),
        own.length,
      ]);
      expect(found.usage_summary[name]).toEqual(usage);
    }
  });

  test("the bill over descendants, account by account, the dearest first", async () => {
    const found = await descendants(owner.key);
    const below = [team, member, single];
    expectFigures(found, of(...below));
    expect(found.query_fee).toBe(0);
    const dearest = below.toSorted((a, b) => sum(of(b), "cost") - sum(of(a), "cost"));
    expect(found.usage_users.map(({ id }: Json) => id)).toEqual(dearest.map(({ id }) => id));
    for (const one of found.usage_users) {
      const own = chargedRequests.filter(({ account }) => account.id === one.id);
      expectFigures(one, own);
      const share = (part: number, all: number) => Math.round((part * 10_000) / all) / 100;
      expect(one.usage_analysis).toEqual({
        request_percentage: share(own.length, of(...below).length),
        cost_percentage: share(sum(own, "cost"), sum(of(...below), "cost")),
      });
    }
  });

  test("Root's is over everybody but Root", async () => {
    expectFigures(await descendants(bench.rootKey), chargedRequests);
  });

  test("structure A has the same figures", async () => {
    const [a, b] = [await descendants(owner.key, "?object=list"), await descendants(owner.key)];
    expect(a.object).toBe("list");
    expect(a.total_usage).toEqual({
      ...{ requests: b.total_requests, prompt_tokens: b.total_prompt },
      ...{ completion_tokens: b.total_completion, cached_tokens: b.token_summary.input_cached_total },
      ...{ cost: b.total_credit_used },
    });
    expect(a.data[0].aggregation_timestamp * 1_000).toBe(Date.parse(b.daily_costs[0].date));
    expect(Object.keys(a.data[0].usage_details)).toEqual(Object.keys(b.usage_summary));
    expect(a.usage_users).toEqual(
      b.usage_users.map(({ id, name, email, total_requests, total_credit_used, usage_analysis }: Json) => {
        return { id, name, email, total_requests, total_cost: total_credit_used, usage_analysis };
      }),
    );
    expect((await bill(team, "?object=list")).total_usage.requests).toBe(of(team).length);
  });

  test("so have the tables that are downloaded", async () => {
    for (const [key, path, list, columns] of [
      [team.key, "/dashboard/bill", of(team), ["date", "model"]],
      [owner.key, "/x-bill", of(team, member, single), ["date", "id", "name", "model"]],
    ] as const) {
      const answer = await get(key, `${path}?format=csv&days=2`);
      const today = dayOf(bench.now());
      expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(answer.headers.get("content-disposition")).toMatch(
        new RegExp(`^attachment; filename="bill-....-..-..-${today}\\.csv"$`),
      );
      expect(answer.headers.get("x-request-id")).toBeString();
      const [head, ...rows] = answer.text
        .trimEnd()
        .split("\n")
        .map((line) => line.split(","));
      expect(head!.slice(0, columns.length)).toEqual([...columns]);
      const total = rows.pop()!;
      expect([total[0], Number(total[columns.length]), nano(total.at(-1)!)]).toEqual([
        "total",
        list.length,
        sum(list, "cost"),
      ]);
      expect(rows.reduce((all, row) => all + nano(row.at(-1)!), 0)).toBe(sum(list, "cost"));
      expect(rows).toHaveLength(new Set(list.map(({ account, model }) => `${account.id} ${model}`)).size);
    }
  });
});

describe("whom /x-bill is about", () => {
  const ids = async (key: string, user: string): Promise<number[]> =>
    (await descendants(key, `?user=${encodeURIComponent(user)}`)).usage_users
      .map(({ id }: Json) => id)
      .sort();
  const below = () => [team.id, member.id, single.id].sort();

  test.each<[form: string, user: () => string, means: () => number[]]>([
    ["an id", () => String(member.id), () => [member.id]],
    ["a name", () => team.name, () => [team.id]],
    ["a name without regard to case", () => team.name.toUpperCase(), () => [team.id]],
    ["an e-mail: all who have it", () => "shared@b.example", () => [team.id, member.id].sort()],
    ["a Level", () => "L0", below],
    ["a Level that nobody has", () => "L77", () => []],
    ["a Gear", () => "G1", below],
    ["a Role", () => "R0", below],
    ["a Tier", () => "T0", below],
    ["a Factor", () => "F1", below],
    ["a Factor with a fraction", () => "F1.5", () => []],
    ["a DNA", () => `.1.${owner.id}.${team.id}.`, () => [member.id]],
    ["a DNA above: as far as one reaches", () => ".1.", below],
    ["a DNA of others", () => ".1.999999.", () => []],
  ])("%s", async (_, user, means) => {
    expect(await ids(owner.key, user())).toEqual(means());
  });

  test("u is user", async () => {
    expectFigures(await descendants(owner.key, `?u=${single.id}`), of(single));
  });

  test("without it all descendants, never the caller", async () => {
    expectFigures(await descendants(team.key), of(member));
    expectFigures(await descendants(single.key), []);
  });

  test("who is out of reach is not there: strangers, ancestors, oneself", async () => {
    const stranger = await bench.owner();
    for (const [caller, user] of [
      [stranger, team.id],
      [stranger, team.name],
      [stranger, "shared@b.example"],
      [team, single.id],
      [team, owner.id],
      [team, team.id],
      [team, team.name],
      [team, 99_999_999],
      [team, "9".repeat(40)],
      [team, "nobody"],
    ] as const) {
      properError(await get(caller.key, `/x-bill?user=${user}`), 404, "user_not_found");
    }
  });
});

describe("the fee", () => {
  const DEAR = "?days=400";
  const LONG = "?days=31";

  test("is a line of the ledger, once for each answer, and reported", async () => {
    const account = await bench.subaccount(owner);
    for (const [query, fee] of [
      ["?days=30", 0],
      [LONG, 0.01],
      [`${LONG}&object=list`, 0.01],
      [DEAR, 0.05],
    ] as const) {
      const before = await bench.balance(account.key);
      expect((await bill(account, query)).query_fee).toBe(fee);
      expect(nano(before) - nano(await bench.balance(account.key))).toBe(nano(fee));
    }
    await get(account.key, `/dashboard/bill${LONG}&format=csv`);
    const fees = (await bench.ledger(account.key)).filter(({ type }) => type === "query_fee");
    expect(fees.map(({ amount }) => amount)).toEqual([-0.01, -0.01, -0.05, -0.01]);
    // It is no usage: the bill itself stays as it was.
    expect((await bill(account)).total_credit_used).toBe(0);
  });

  test("who cannot pay gets 429 and no bill, and keeps what he has", async () => {
    const account = await bench.subaccount(owner, { CreditGranted: 2 });
    await bench.subaccount(account, { CreditGranted: 2 });
    const answer = await get(account.key, `/dashboard/bill${LONG}`);
    expect([answer.status, answer.body.error.type, answer.body.error.code]).toEqual([
      429,
      "insufficient_quota",
      "insufficient_balance",
    ]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(await bench.ledger(account.key)).toHaveLength(2);
    expect((await bill(account, "?days=30")).query_fee).toBe(0);
  });

  test("an error costs nothing", async () => {
    const account = await bench.subaccount(owner);
    for (const query of [
      `${LONG}&date=2026-01-01`,
      `${DEAR}&object=x`,
      `${DEAR}&unknown=1`,
      "?start=2020-01-01&days=9",
    ]) {
      properError(await get(account.key, `/dashboard/bill${query}`));
    }
    expect(await bench.balance(account.key)).toBe(10);
  });

  test("HEAD, which gets no bill, costs nothing", async () => {
    const account = await bench.subaccount(owner);
    expect((await bench.call(account.key, "HEAD", `/dashboard/bill${DEAR}`)).status).toBe(200);
    expect(await bench.balance(account.key)).toBe(10);
  });

  test("Root pays none", async () => {
    const before = await bench.ledger(bench.rootKey);
    const root = { id: 1, key: bench.rootKey, name: "root" };
    expect((await bill(root, DEAR)).query_fee).toBe(0);
    expect(await bench.ledger(bench.rootKey)).toEqual(before);
  });

  test("/x-bill is free", async () => {
    const before = await bench.balance(owner.key);
    expect((await descendants(owner.key, DEAR)).query_fee).toBe(0);
    expect(await bench.balance(owner.key)).toBe(before);
  });
});

describe("refused", () => {
  test.each([
    ["?date=2026-02-30", "invalid_parameter"],
    ["?date=yesterday", "invalid_parameter"],
    ["?d=2026-1-1", "invalid_parameter"],
    ["?date=", "invalid_parameter"],
    ["?start=2026-01-02&end=2026-01-01", "invalid_parameter"],
    ["?start=9999-01-01", "invalid_parameter"],
    ["?end=2026-01-01", "missing_parameter"],
    ["?date=2026-01-01&days=1", "invalid_parameter"],
    ["?days=0", "invalid_parameter"],
    ["?days=-1", "invalid_parameter"],
    ["?days=1.5", "invalid_parameter"],
    ["?days=1e1", "invalid_parameter"],
    ["?days=", "invalid_parameter"],
    ["?object=bill", "invalid_parameter"],
    ["?format=xml", "invalid_parameter"],
    ["?Date=2026-01-01", "unknown_field"],
  ])("%s: 400 %s, of oneself and of descendants", async (query, code) => {
    for (const path of ["/dashboard/bill", "/x-bill"]) {
      const answer = await get(owner.key, path + query);
      properError(answer);
      expect([path, answer.body.error.code]).toEqual([path, code]);
    }
  });

  test("a store that has too much to add up already: 503, to be asked again; a client that is gone: no failure", () => {
    const busy = httpError(refusalOf(new StoreBusyError("64 wait for their turn already"))!);
    expect([busy.status, busy.code, busy.headers["retry-after"]]).toEqual([503, "service_unavailable", "1"]);
    expect(refusalOf(AbortSignal.abort().reason)).not.toBeNull();
    expect(refusalOf(new Error("a bug"))).toBeNull();
  });

  test("user and u at once, an empty one, and user where nobody is asked about", async () => {
    for (const path of [`/x-bill?user=${team.id}&u=${team.id}`, "/x-bill?user=", "/dashboard/bill?user=1"]) {
      properError(await get(owner.key, path));
    }
  });

  test("who may not have subaccounts: 403 not_manager", async () => {
    const account = await bench.subaccount(owner);
    expect((await bench.call(owner.key, "PUT", `/x-users/${account.id}`, { UserLimit: 0 })).status).toBe(200);
    expectError(await get(account.key, "/x-bill"), 403, "not_manager");
    expect((await bill(account)).total_requests).toBe(0);
  });
});

describe("an account that is gone", () => {
  test("stays in its former ancestors' bills, by its id too, and in no stranger's", async () => {
    const gone = await bench.subaccount(team);
    const { headers } = await bench.chat(gone.key, "[[prompt=11 output=7]]");
    const list: ChargedRequest[] = [
      { account: gone, model: MODEL, prompt: 11, completion: 7, cost: nano(headers.get("x-arbor-cost")!) },
    ];
    expect((await bench.call(team.key, "DELETE", `/x-users/${gone.id}`)).status).toBe(200);
    await until("the charge is billed", async () => {
      return (await descendants(team.key, `?user=${gone.id}`)).total_requests === 1;
    });
    for (const key of [team.key, owner.key, bench.rootKey]) {
      const found = await descendants(key, `?user=${gone.id}`);
      expectFigures(found, list);
      expect(found.usage_users).toMatchObject([{ id: gone.id, name: gone.name }]);
    }
    expectFigures(await descendants(team.key), [...of(member), ...list]);
    for (const [key, user] of [
      [single.key, gone.id],
      [member.key, gone.id],
      [team.key, gone.name],
    ] as const) {
      properError(await get(key, `/x-bill?user=${user}`), 404);
    }
  });
});

test("nothing of all this was a failure of the service", () => {
  expect(bench.log.filter((line) => line.level === "error")).toEqual([]);
});
