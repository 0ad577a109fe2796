// Bills by model, API key, tag, account and hour over HTTP, with real requests: every grouping adds up to the same total, which is
// what clients' answers cost; what is shown in which shape, as a table too; and what is refused.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Json, MODEL, nano, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";

const HOUR_MS = 3_600_000;
const MODELS = [MODEL, "gpt-4o-mini"];
/** Values that a spreadsheet would run, or that break a careless table. */
const TEAMS = ["search", '"quoted"', "+1", "-2", "@SUM(A1)", "a;b c", "'"];

interface ChargedRequest {
  readonly account: Account;
  readonly model: string;
  readonly team: string | null;
  readonly cost: number;
  readonly at: number;
}

const chargedRequests: ChargedRequest[] = [];
const bench = useBench();
const owner = prepared(() => bench.owner());
const team = prepared(() => bench.subaccount(owner, { CreditGranted: 50, Name: "=team" }));
const member = prepared(() => bench.subaccount(team));
const single = prepared(() => bench.subaccount(owner));

async function send(i: number): Promise<void> {
  const account = [owner, team, member, single][i % 4]!;
  const model = MODELS[i % 3 === 0 ? 1 : 0]!;
  const value = i % 5 === 0 ? null : TEAMS[i % TEAMS.length]!;
  const headers: Record<string, string> = value === null ? {} : { "x-arbor-tags": `team=${value},n.o-t_e=x` };
  const words = `[[prompt=${1 + ((i * 37) % 101)} output=${(i * 53) % 97}]]`;
  const answer = await bench.chat(account.key, words, { model }, { headers });
  if (answer.status !== 200) throw new Error(answer.text);
  const cost = nano(answer.headers.get("x-arbor-cost")!);
  chargedRequests.push({ account, model, team: value, cost, at: bench.now() });
}

beforeAll(async () => {
  // The first requests are of three hours ago, in the middle of an hour, so that none of them falls on its border.
  const now = bench.now();
  bench.moveClock(2 * 24 * HOUR_MS + HOUR_MS / 2 - (now % HOUR_MS));
  for (let i = 0; i < 40; i++) await send(i);
  bench.moveClock(3 * HOUR_MS);
  for (let i = 40; i < 60; i++) await send(i);
  await until("the bills have every charge", async () => {
    const { body } = await bench.call(bench.rootKey, "GET", "/x-bill?group=tag:team&days=9");
    const hours = await bench.call(bench.rootKey, "GET", "/x-bill?group=tag:team&hours=4");
    const isGrouped = (groups: Json) =>
      groups.every(
        ({ id, requests }: Json) => id !== "(none)" || requests === of(({ team }) => team === null).length,
      );
    return [body, hours.body].every(
      (one) =>
        one.total_requests === chargedRequests.length &&
        isGrouped(one.groups) &&
        one.groups.length === TEAMS.length + 1,
    );
  });
});

const of = (is: (one: ChargedRequest) => boolean): ChargedRequest[] => chargedRequests.filter(is);
const costOf = (list: readonly ChargedRequest[]): number => list.reduce((sum, { cost }) => sum + cost, 0);
const get = (key: string, path: string) => bench.call(key, "GET", path);
const found = async (key: string, path: string): Promise<Json> => {
  const answer = await get(key, path);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const rowsOf = (groups: Json): Record<string, number[]> =>
  Object.fromEntries(groups.map(({ id, requests, cost }: Json) => [String(id), [requests, nano(cost)]]));
const expectedRows = (list: readonly ChargedRequest[], groupOf: (one: ChargedRequest) => string) =>
  Object.fromEntries(
    [...Map.groupBy(list, groupOf)].map(([group, some]) => [group, [some.length, costOf(some)]]),
  );

const GROUPS: readonly (readonly [group: string, of: (one: ChargedRequest) => string])[] = [
  ["model", ({ model }) => model],
  ["api_key", () => "0"],
  ["account", ({ account }) => String(account.id)],
  ["tag:team", ({ team: value }) => value ?? "(none)"],
  ["tag:n.o-t_e", ({ team: value }) => (value === null ? "(none)" : "x")],
  ["tag:unused", () => "(none)"],
];

describe("groups are the sums of what clients' answers cost, to the nano-dollar", () => {
  test.each(GROUPS)("of one's own, by %s", async (group, groupOf) => {
    for (const account of [owner, team, member, single]) {
      const own = of((one) => one.account.id === account.id);
      for (const object of ["bill_info", "list"]) {
        const bill = await found(account.key, `/dashboard/bill?days=9&object=${object}&group=${group}`);
        expect([group, bill.object, rowsOf(bill.groups)]).toEqual([
          group,
          object,
          expectedRows(own, groupOf),
        ]);
        expect(Object.keys(bill)).not.toContain("hourly");
        expect(bill.groups.every((one: Json) => !("account" in one))).toBe(true);
        const total = object === "list" ? bill.total_usage.cost : bill.total_credit_used;
        expect(nano(total)).toBe(costOf(own));
      }
    }
  });

  test.each(GROUPS.filter(([group]) => group !== "api_key"))(
    "of descendants, by %s",
    async (group, groupOf) => {
      const bill = await found(owner.key, `/x-bill?days=9&group=${group}`);
      const below = of(({ account }) => account.id !== owner.id);
      expect(rowsOf(bill.groups)).toEqual(expectedRows(below, groupOf));
      const costs = bill.groups.map((one: Json) => (one.id === "(none)" ? -1 : one.cost));
      expect(costs).toEqual(costs.toSorted((a: number, b: number) => b - a));
      const plain = await found(owner.key, "/x-bill?days=9");
      const { groups: _, ...rest } = bill;
      expect(rest).toEqual(plain);
    },
  );

  test("of descendants by API key, each with its account", async () => {
    const { groups } = await found(owner.key, "/x-bill?days=9&group=api_key");
    const main = groups.map(({ id, name, account, cost }: Json) => [id, name, account, nano(cost)]);
    const expected = [team, member, single].map(({ id }) => {
      return [0, "main", id, costOf(of(({ account }) => account.id === id))];
    });
    expect(main.toSorted()).toEqual(expected.toSorted());
  });

  test("of accounts have their names", async () => {
    const { groups } = await found(owner.key, `/x-bill?days=9&group=account&user=${team.id}`);
    expect(groups).toMatchObject([{ id: team.id, name: "=team" }]);
  });

  test.each(GROUPS.filter(([group]) => group !== "api_key"))("by hour and %s", async (group, groupOf) => {
    const hourOf = ({ at }: ChargedRequest) => new Date(at - (at % HOUR_MS)).toISOString();
    const below = of(({ account }) => account.id !== owner.id);
    for (const [hours, last] of [
      [4, below],
      [3, below.filter(({ at }) => at > bench.now() - 3 * HOUR_MS)],
    ] as const) {
      const bill = await found(owner.key, `/x-bill?hours=${hours}&group=${group}`);
      expect(bill.hourly).toHaveLength(hours);
      expect(rowsOf(bill.groups)).toEqual(expectedRows(last, groupOf));
      for (const { hour, groups } of bill.hourly) {
        const own = last.filter((one) => hourOf(one) === hour);
        expect([hour, rowsOf(groups)]).toEqual([hour, expectedRows(own, groupOf)]);
      }
      expect([bill.total_requests, nano(bill.total_credit_used)]).toEqual([last.length, costOf(last)]);
      expect(bill.usage_users.map(({ id }: Json) => id).toSorted()).toEqual(
        [...new Set(last.map(({ account }) => account.id))].toSorted(),
      );
    }
  });

  test("hours without a group have one of everything", async () => {
    const bill = await found(team.key, "/dashboard/bill?hours=48");
    const own = of(({ account }) => account.id === team.id);
    expect(bill.groups).toMatchObject([{ id: "(all)", name: "(all)", requests: own.length }]);
    expect([nano(bill.groups[0].cost), nano(bill.total_credit_used)]).toEqual([costOf(own), costOf(own)]);
    expect(bill.hourly).toHaveLength(48);
    expect(bill.hourly.at(-1).hour).toBe(new Date(bench.now() - (bench.now() % HOUR_MS)).toISOString());
    expect(bill.query_fee).toBe(0);
  });

  test("an account that was moved keeps its days where they were charged, in every grouping", async () => {
    const [from, into] = [await bench.owner(), await bench.owner()];
    const mover = await bench.subaccount(from, { CreditGranted: 5 });
    const headers = { "x-arbor-tags": "team=moved" };
    await bench.chat(mover.key, "[[output=9]]", {}, { headers });
    const { body } = await bench.call(bench.rootKey, "PUT", `/x-users/${mover.id}`, { ParentID: into.id });
    expect(body.Action).toBe("update");
    await bench.chat(mover.key, "[[output=9]]", {}, { headers });
    for (const group of ["model", "account", "api_key", "tag:team"]) {
      await until(`the bill by ${group} has the moved account`, async () => {
        const [old, now] = [
          await found(from.key, `/x-bill?group=${group}`),
          await found(into.key, `/x-bill?group=${group}`),
        ];
        const costs = (bill: Json) => bill.groups.reduce((sum: number, one: Json) => sum + nano(one.cost), 0);
        expect([costs(old), costs(now)]).toEqual([nano(old.total_credit_used), nano(now.total_credit_used)]);
        return old.total_requests === 0 && now.total_requests === 2 && now.groups.length === 1;
      });
    }
  });
});

describe("named API keys", () => {
  test("are groups of their own, and their tags are the default of their requests", async () => {
    const parent = await bench.owner();
    const user = await bench.subaccount(parent, { CreditGranted: 5 });
    const made = await bench.call(user.key, "POST", "/dashboard/keys", {
      Name: "=night",
      Tags: "team=night,env=test",
    });
    expect(made.status).toBe(200);
    const { key, secret } = made.body;
    await bench.chat(secret, "[[output=9]]");
    await bench.chat(secret, "[[output=9]]", {}, { headers: { "x-arbor-tags": "team=day" } });
    await bench.chat(user.key, "[[output=9]]");
    const groups = async (query: string): Promise<Json> => {
      const bill = await found(user.key, `/dashboard/bill?${query}`);
      return bill.groups.map(({ id, name, requests }: Json) => [id, name, requests]);
    };
    for (const time of ["days=1", "hours=2"]) {
      await until(`the bill of ${time} has all requests by key`, async () => {
        const rows = await groups(`${time}&group=api_key`);
        return rows.length === 2 && rows[0][2] + rows[1][2] === 3;
      });
      expect((await groups(`${time}&group=api_key`)).toSorted()).toEqual([
        [0, "main", 1],
        [key.id, "=night", 2],
      ]);
      expect((await groups(`${time}&group=tag:env`)).toSorted()).toEqual([
        ["(none)", "(none)", 1],
        ["test", "test", 2],
      ]);
      expect((await groups(`${time}&group=tag:team`)).toSorted()).toEqual([
        ["(none)", "(none)", 1],
        ["day", "day", 1],
        ["night", "night", 1],
      ]);
    }
    const { text } = await get(parent.key, `/x-bill?user=${user.id}&group=api_key&format=csv`);
    expect(tableOf(text).map(([id, name]) => [id, name])).toContainEqual([`${user.id}/${key.id}`, "'=night"]);
  });
});

/** The cells of a table, read as spreadsheets read them. */
const tableOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? plain! : quoted.replaceAll('""', '"'),
      ),
    );

describe("as a table", () => {
  const FIGURES =
    "requests,prompt_tokens,cached_tokens,cache_write_tokens,completion_tokens,reasoning_tokens,cost";

  test("has a row for each group, and its totals", async () => {
    const { text, headers } = await get(team.key, "/dashboard/bill?days=9&group=tag:team&format=csv");
    expect(headers.get("content-type")).toStartWith("text/csv");
    const [head, ...rows] = tableOf(text);
    expect(head!.join(",")).toBe(`id,name,${FIGURES}`);
    const { groups } = await found(team.key, "/dashboard/bill?days=9&group=tag:team");
    const guarded = (value: string) => (/^[=+\-@]/.test(value) ? `'${value}` : value);
    expect(
      rows.slice(0, -1).map(([id, name, requests, ...rest]) => [id, name, requests, nano(rest.at(-1)!)]),
    ).toEqual(
      groups.map(({ id, requests, cost }: Json) => [guarded(id), guarded(id), String(requests), nano(cost)]),
    );
    expect(rows.map(([id]) => id)).toContain("'@SUM(A1)");
    const own = of(({ account }) => account.id === team.id);
    expect([rows.at(-1)![0], rows.at(-1)![2], nano(rows.at(-1)!.at(-1)!)]).toEqual([
      "total",
      String(own.length),
      costOf(own),
    ]);
    for (const cells of [head, ...rows]) expect(cells).toHaveLength(9);
  });

  test("of hours has the hour before each group", async () => {
    const { text } = await get(owner.key, "/x-bill?hours=4&group=account&format=csv");
    const [head, ...rows] = tableOf(text);
    expect(head!.join(",")).toBe(`hour,id,name,${FIGURES}`);
    const { hourly } = await found(owner.key, "/x-bill?hours=4&group=account");
    const shown = hourly.flatMap(({ hour, groups }: Json) =>
      groups.map(({ id, name }: Json) => [hour, String(id), name === "=team" ? "'=team" : name]),
    );
    expect(rows.slice(0, -1).map((cells) => cells.slice(0, 3))).toEqual(shown);
    expect(rows.at(-1)!.slice(0, 3)).toEqual(["total", "", ""]);
    expect(nano(rows.at(-1)!.at(-1)!)).toBe(costOf(of(({ account }) => account.id !== owner.id)));
  });

  test("of API keys of several accounts names the account", async () => {
    const { text } = await get(owner.key, "/x-bill?days=9&group=api_key&format=csv");
    const ids = tableOf(text)
      .slice(1, -1)
      .map(([id]) => id!);
    expect(ids.toSorted()).toEqual([team, member, single].map(({ id }) => `${id}/0`).toSorted());
  });

  test("of nothing has its totals", async () => {
    const nobody = await bench.subaccount(owner);
    for (const query of ["group=tag:x", "hours=2", "hours=2&group=model"]) {
      const { text } = await get(nobody.key, `/dashboard/bill?${query}&format=csv`);
      expect(tableOf(text).map(([first]) => first)).toEqual([
        query.includes("hours") ? "hour" : "id",
        "total",
      ]);
      expect((await found(nobody.key, `/dashboard/bill?${query}`)).groups).toEqual([]);
    }
    expect((await found(owner.key, "/x-bill?user=L77&hours=2")).hourly).toHaveLength(2);
  });
});

describe("is refused", () => {
  test.each([
    ["group=", "group"],
    ["group=key", "group"],
    ["group=tag", "group"],
    ["group=tag:", "group"],
    ["group=tag:Team", "group"],
    [`group=tag:${"a".repeat(33)}`, "group"],
    ["group=tag:a%20b", "group"],
    ["group=model&group=account", "group"],
    ["hours=0", "hours"],
    ["hours=49", "hours"],
    ["hours=-1", "hours"],
    ["hours=1.5", "hours"],
    ["hours=", "hours"],
    ["hours=2&days=1", "days"],
    ["hours=2&date=2026-01-01", "date"],
    ["hours=2&d=2026-01-01", "d"],
    ["hours=2&start=2026-01-01", "start"],
    ["hours=2&s=2026-01-01&e=2026-01-02", "s"],
    ["hours=2&end=2026-01-01", "end"],
    ["hours=2&e=2026-01-01", "e"],
  ])("%s", async (query, name) => {
    for (const [key, path] of [
      [team.key, "/dashboard/bill"],
      [owner.key, "/x-bill"],
    ] as const) {
      const answer = await get(key, `${path}?${query}`);
      expectError(answer, 400, "invalid_parameter");
      expect(answer.body.error.message).toContain(`"${name}"`);
    }
  });

  test("a long bill by groups takes its fee once, and a HEAD none", async () => {
    const before = nano(await bench.balance(team.key));
    await bench.call(team.key, "HEAD", "/dashboard/bill?days=31&group=model");
    expect((await found(team.key, "/dashboard/bill?days=31&group=model")).query_fee).toBe(0.01);
    expect(before - nano(await bench.balance(team.key))).toBe(10_000_000);
  });
});
