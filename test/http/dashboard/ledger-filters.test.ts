// GET /dashboard/ledger and /x-ledger by filters: which lines pass, what is counted, what a download has, and what is refused.

import { beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, dayOf } from "../../../actors/time.ts";
import { type Answer, type Json, MODEL, nano, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const OTHER = "gpt-4o-mini";
const bench = useBench();
const owner = prepared(() => bench.owner({ config: { USER_MIN_BALANCE: 0 } }));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 50 }));

/** A request id that a spreadsheet would run, with what ends a cell. */
const FORMULA = '=cmd|" /c calc"!A1,x';
const TICKET = "ticket-4711";
/** All lines of the account, oldest first. */
let lines: Json[];
/** Between the first and the second half of the charges. */
let middle: string;

const get = (query: string, key = user.key, path = "/dashboard/ledger"): Promise<Answer> =>
  bench.call(key, "GET", `${path}?${query}`);
async function page(query: string): Promise<Json> {
  const { status, body, text } = await get(query);
  if (status !== 200) throw new Error(text);
  return body;
}
const amounts = (some: readonly Json[]): number => some.reduce((sum, { amount }) => sum + nano(amount), 0);

beforeAll(async () => {
  for (let i = 0; i < 24; i++) {
    if (i === 12) {
      await Bun.sleep(5);
      middle = new Date(bench.now()).toISOString();
      await Bun.sleep(5);
    }
    const headers: Record<string, string> =
      i % 6 === 0 ? { "x-request-id": TICKET } : i === 13 ? { "x-request-id": FORMULA } : {};
    const said = `[[prompt=${10 + i} output=${3 + i}]]`;
    const answer = await bench.chat(user.key, said, { model: i % 3 === 0 ? OTHER : MODEL }, { headers });
    if (answer.status !== 200) throw new Error(answer.text);
  }
  await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { CreditGranted: -5 });
  expect((await get("days=40", user.key, "/dashboard/bill")).status).toBe(200);
  lines = await bench.ledger(user.key);
  // Lines are found by filters two seconds later; the rest is for a slow machine.
  await until(
    "all lines are found",
    async () => (await page("from=2000-01-01&totals=true")).count === lines.length,
  );
  // The fee of the bill is the last line, and lines come in order.
  await until("the last line is found", async () => (await page("type=query_fee")).lines.length === 1);
});

/** Filters, with the lines that pass by what the whole ledger shows. */
const FILTERS: readonly (readonly [string, () => string, (line: Json) => boolean])[] = [
  ["a type", () => "type=charge", ({ type }) => type === "charge"],
  ["refunds, whatever the ledger calls them", () => "type=refund", ({ type }) => type === "refund"],
  ["a type that it does not have", () => "type=write_off", () => false],
  ["a model", () => `model=${OTHER}`, ({ model }) => model === OTHER],
  ["a model of others", () => "model=nobody-has-this", () => false],
  ["the main key", () => "api_key=0", ({ api_key }) => api_key === 0],
  ["another key", () => "api_key=7", () => false],
  ["a tag that no request has", () => "tag=team:search:x", () => false],
  ["a client's request id", () => `request=${TICKET}`, ({ request_id }) => request_id === TICKET],
  ["the service's id", () => `request=${lines[3]!.id}`, ({ id }) => id === lines[3]!.id],
  ["a beginning", () => `from=${middle}`, ({ created_at }) => created_at >= middle],
  ["an end", () => `to=${middle}`, ({ created_at }) => created_at <= middle],
  ["the time of one line", () => `from=${lines[5]!.created_at}&to=${lines[5]!.created_at}`, sameTime],
  [
    "days that are whole",
    () => `from=${dayOf(bench.now() - DAY_MS)}&to=${dayOf(bench.now() + DAY_MS)}`,
    () => true,
  ],
  ["days before it", () => `to=${dayOf(bench.now() - 2 * DAY_MS)}`, () => false],
  [
    "several of them",
    () => `type=charge&model=${MODEL}&api_key=0&from=${middle}`,
    ({ model, created_at }) => model === MODEL && created_at >= middle,
  ],
  ["a request and a model", () => `request=${TICKET}&model=${MODEL}`, () => false],
];

function sameTime({ created_at }: Json): boolean {
  return created_at === lines[5]!.created_at;
}

describe("filters", () => {
  test.each(FILTERS)("by %s: the lines, their count and their sum", async (_what, query, passes) => {
    const wanted = lines.filter(passes).toReversed();
    const { total, count, sum, ...found } = await page(`${query()}&size=1000&totals=true`);
    expect(found).toEqual({ lines: wanted, page: 1, size: 1_000, has_more: false });
    expect([total, count, nano(sum)]).toEqual([wanted.length, wanted.length, amounts(wanted)]);
    const without = await page(`${query()}&size=1000`);
    expect([without.total, "count" in without, "sum" in without]).toEqual([null, false, false]);
  });

  test.each(FILTERS)("by %s: page by page, and as a table", async (_what, query, passes) => {
    const wanted = lines.filter(passes).toReversed();
    for (const size of [1, 5]) {
      const seen: Json[] = [];
      for (let number = 1; ; number++) {
        const { lines: some, has_more } = await page(`${query()}&size=${size}&page=${number}`);
        seen.push(...some);
        if (!has_more) break;
      }
      expect(seen).toEqual(wanted);
    }
    const far = await page(`${query()}&size=3&page=3`);
    expect(far.lines).toEqual(wanted.slice(6, 9));
    const table = await get(`${query()}&format=csv`);
    expect(table.text.split("\n").length - 2).toBe(wanted.length);
  });

  test("an ancestor filters a descendant's ledger, and its deleted ones'", async () => {
    const own = await page(`model=${OTHER}&totals=true`);
    const seen = await get(`user=${user.id}&model=${OTHER}&totals=true`, owner.key, "/x-ledger");
    expect(seen.body).toEqual(own);
    expectError(await get(`user=${owner.id}&model=${OTHER}`, user.key, "/x-ledger"), 404, "user_not_found");
    const gone = await bench.subaccount(owner, { CreditGranted: 2 });
    await bench.call(owner.key, "DELETE", `/x-users/${gone.id}`);
    await until("its lines are found", async () => {
      const { body } = await get(`user=${gone.id}&type=delete_fee&totals=true`, owner.key, "/x-ledger");
      return body.count === 1 && nano(body.sum) === amounts(body.lines);
    });
  });

  test("totals without filters are those of the whole ledger", async () => {
    const { total, count, sum } = await page("totals=true&size=1");
    expect([total, count, nano(sum)]).toEqual([lines.length, lines.length, amounts(lines)]);
    expect((await page("size=1")).total).toBe(lines.length);
    const root = await bench.ledger(bench.rootKey);
    const { body } = await get("totals=true&size=1", bench.rootKey);
    expect(nano(body.sum)).toBe(amounts(root.slice(0, body.count)));
  });
});

describe("a line", () => {
  test("of a request says how long it took, in how many attempts, what was cached, tags and key", () => {
    for (const line of lines.filter(({ type }) => type === "charge")) {
      expect(line).toMatchObject({
        ...{ attempts: 1, cached: 0, reasoning: 0 },
        ...{ tags: {}, api_key: 0, api_key_name: "main" },
      });
      expect(line.ms).toBeWithin(0, 60_000);
    }
  });

  test("of a fee says the key, and a transfer has none", () => {
    const of = (wanted: string) => lines.find(({ type }) => type === wanted)!;
    expect(of("query_fee")).toMatchObject({ api_key: 0, api_key_name: "main" });
    expect(Object.keys(of("transfer_in"))).not.toContain("api_key");
  });
});

describe("as CSV", () => {
  const table = async (query: string) => {
    const answer = await get(`format=csv&${query}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="ledger-${user.id}.csv"`);
    expect(answer.headers.get("etag")).toBeNull();
    return answer.text.trimEnd().split("\n");
  };

  test("all lines are there, with exact amounts", async () => {
    const [head, ...rows] = await table("");
    expect(head).toStartWith("id,type,amount,balance_after,created_at,request_id,model");
    expect(head).toEndWith(",api_key,api_key_name,operation_id,to,from,why,by,tags");
    const cells = rows.map((row) => row.split(","));
    const newest = lines.toReversed();
    expect(cells.map(([id, type]) => [id, type])).toEqual(newest.map(({ id, type }) => [id, type]));
    expect(cells.map(([, , amount]) => nano(amount!))).toEqual(newest.map(({ amount }) => nano(amount)));
  });

  test("of a page, where one is asked for", async () => {
    const [, ...rows] = await table("size=4&page=2");
    expect(rows.map((row) => row.split(",")[0])).toEqual(
      lines
        .toReversed()
        .slice(4, 8)
        .map(({ id }) => id),
    );
  });

  test("no text becomes a formula", async () => {
    const rows = await table(`model=${MODEL}`);
    expect(rows.filter((row) => row.includes("cmd|"))).toEqual([
      expect.stringContaining(`,"'=cmd|"" /c calc""!A1,x",`),
    ]);
  });
});

describe("what nothing can pass is refused", () => {
  test.each([
    ..."from= to= from=now from=2026-02-30 from=2026-13-01 from=2026-1-1 to=2026-01-01T25:00 from=1700000000".split(
      " ",
    ),
    ...[
      "from=2026-01-02&to=2026-01-01",
      "from=2026-01-01T00:00:00%2B99:00",
      "from=-000001-01-01",
      "to=2026-01-01T00:00:00+02:00",
    ],
    ...["type=", "type=CHARGE", "type=charge,refund", "type=returned", "model=", `model=${"x".repeat(257)}`],
    ...["api_key=", "api_key=-1", "api_key=1.5", "api_key=main", `api_key=${"9".repeat(16)}`, "api_key=0x1"],
    ...[
      "tag=",
      "tag=team",
      "tag=:x",
      "tag=team:",
      "tag=TEAM:x",
      "tag=team:a,b=c",
      "tag=team:a=b",
      "tag=a=b:c",
    ],
    ...[
      `tag=team:${"x".repeat(65)}`,
      "tag=team:(none)",
      "tag=team:%C3%A9",
      "tag=team:%00",
      "request=",
      `request=${"x".repeat(129)}`,
    ],
    ...[
      "format=xml",
      "format=",
      "totals=yes",
      "totals=",
      "totals=1",
      "page=0",
      "size=0",
      "page=-1",
      "page=1.5",
    ],
    ...["model=a&model=b", "tag=a:b&tag=c:d", "type[]=charge"],
  ])("%s", async (query) => {
    properError(await get(query));
    properError(await get(`user=${user.id}&${query}`, owner.key, "/x-ledger"));
  });

  test.each([
    ...[
      "model=%00",
      "model='%3B%20DROP%20TABLE%20lines",
      "model=%7B%22%24gt%22%3A%22%22%7D",
      "model=%25",
      "model=%ED%A0%80",
    ],
    ...[
      "request=%00",
      "request=../..",
      "request=%F0%9F%92%A9",
      "tag=__proto__:x",
      "tag=constructor:%25",
      "tag=a:%5B",
    ],
    ...[
      "api_key=999999999999999",
      "from=0000-01-01",
      "to=9999-12-31",
      "from=9999-12-31",
      "to=0000-01-01",
      "from=1969-12-31T23:59:59.999999999Z",
    ],
    ...[
      "from=2026-01-01T00:00",
      "to=2026-01-01T00:00:00-23:59",
      "model=x&page=999999999999",
      "model=x&page=1000000&size=1000",
    ],
  ])("%s is a filter like any other", async (query) => {
    const { status, body } = await get(`${query}&totals=true`);
    expect([status, body.lines.length <= 24, body.count <= lines.length]).toEqual([200, true, true]);
    expect((await get(`${query}&format=csv`)).status).toBe(200);
  });
});
