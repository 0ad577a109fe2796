// The last requests of an account: each of them stands there once, with what its client saw, whether it was charged, failed,
// refused, or cost nothing; and only those who may see it do.

import { beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Account, asking, fresh, type Json, MODEL, startBench, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());

const get = (key: string, path: string) => bench.call(key, "GET", path);
const listOf = async (key: string, query = ""): Promise<Json> =>
  (await get(key, `/dashboard/requests${query}`)).body;
const requestsOf = async (key: string): Promise<Json[]> => (await listOf(key)).requests;

/** The requests of an account, once there are so many. */
async function listed(key: string, count: number): Promise<Json[]> {
  await until(`${count} requests are listed`, async () => (await requestsOf(key)).length === count);
  return requestsOf(key);
}

const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("a request", () => {
  test("that was charged has what its ledger line and its answer say", async () => {
    const user = await bench.subaccount(owner);
    const answer = await bench.chat(user.key, "[[output=3]]", {}, { headers: { "x-request-id": "mine" } });
    const [line] = (await bench.ledger(user.key)).slice(-1);
    expect(await listOf(user.key)).toEqual({
      requests: [
        {
          ...{ id: line.id, at: line.created_at, request_id: "mine", path: "/v1/chat/completions" },
          ...{ model: MODEL, status: 200, code: null, ms: expect.any(Number), attempts: 1, api_key: 0 },
          cost: Number(answer.headers.get("x-arbor-cost")),
        },
      ],
      ...{ total: 1, page: 1, size: 100, has_more: false },
      ...{ volatile: true, since: TIMESTAMP, skipped: 0 },
    });
    expect(line).toMatchObject({ request_id: "mine", amount: -Number(answer.headers.get("x-arbor-cost")) });
  });

  test("that streamed is there when its last byte is", async () => {
    const user = await bench.subaccount(owner);
    await bench.chat(user.key, "[[output=3]]", { stream: true });
    expect(await requestsOf(user.key)).toMatchObject([{ status: 200, code: null, cost: 0.000012 }]);
  });

  test("that a provider failed has the error that its client got, and how often it was tried", async () => {
    const user = await bench.subaccount(owner);
    for (const stream of [false, true]) {
      const answer = await bench.chat(user.key, "[[fault=500]]", { stream });
      const id = answer.headers.get("x-request-id");
      const [request, ...others] = (await listed(user.key, stream ? 2 : 1)).filter(
        ({ request_id }) => request_id === id,
      );
      expect(others).toEqual([]);
      expect(request).toMatchObject({
        ...{ status: answer.status, code: answer.body.error.code, model: MODEL, cost: 0 },
        attempts: Number(answer.headers.get("x-arbor-attempts")),
      });
      expect(request.attempts).toBeGreaterThan(0);
    }
  });

  test("that a provider rejected has the provider's own status and code", async () => {
    const user = await bench.subaccount(owner);
    const { status, body } = await bench.chat(user.key, "[[fault=400]]");
    expect(await requestsOf(user.key)).toMatchObject([{ status, code: body.error.code, attempts: 1 }]);
    expect(status).toBe(400);
  });

  test.each([
    ["its rate limit", { RPM: 1 }, 429, "rpm_exceeded"],
    ["its HardLimit", { HardLimit: 0.000001 }, 429, "hard_limit_reached"],
    ["AllowModels", { AllowModels: "others" }, 403, "model_not_allowed"],
    ["AllowIPs", { AllowIPs: "192.0.2.1" }, 403, "ip_not_allowed"],
    ["Resources", { Resources: "/v1/embeddings" }, 403, "path_not_allowed"],
  ])("that %s refuses is there, with the model that it asked for", async (_, given, status, code) => {
    const user = await bench.subaccount(owner, given);
    for (let i = 0; i < 2; i++) await bench.chat(user.key, "[[output=1]]", { max_tokens: 1 });
    // An address that may not call may not look either.
    const [newest] = (await get(owner.key, `/x-requests?user=${user.id}`)).body.requests;
    expect(newest).toMatchObject({ status, code, model: MODEL, cost: 0, attempts: 0 });
  });

  test("that cannot be read has no model", async () => {
    const user = await bench.subaccount(owner);
    await bench.call(user.key, "POST", "/v1/chat/completions", { messages: [] });
    await bench.call(user.key, "POST", "/v1/chat/completions", "{");
    const found = await requestsOf(user.key);
    expect(found.map(({ status, code, model }: Json) => [status, code, model])).toEqual([
      [400, "invalid_json", null],
      [400, "missing_parameter", null],
    ]);
  });

  test("of a suspended account is there too", async () => {
    const user = await bench.subaccount(owner);
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { Suspended: true });
    await bench.chat(user.key, "[[output=1]]");
    expect(await requestsOf(user.key)).toMatchObject([{ status: 403, code: "account_suspended" }]);
  });

  test("that costs nothing is there: a count of tokens, and the repeat of a request", async () => {
    const user = await bench.subaccount(owner);
    const counted = await bench.call(user.key, "POST", "/v1/messages/count_tokens", asking("how many"));
    expect(counted.status).toBe(200);
    const free = { path: "/v1/messages/count_tokens", status: 200, code: null, cost: 0 };
    expect(await requestsOf(user.key)).toMatchObject([free]);
    const once = { headers: { "idempotency-key": fresh() } };
    for (let i = 0; i < 2; i++) await bench.chat(user.key, "[[output=1]]", {}, once);
    expect(await requestsOf(user.key)).toMatchObject([
      { status: 200, cost: 0, attempts: 0 },
      { status: 200, cost: 0.000008, attempts: 1 },
      free,
    ]);
  });

  test("whose client went away before anything came has no status", async () => {
    const user = await bench.subaccount(owner);
    const away = new AbortController();
    const asked = bench
      .chat(user.key, "[[head_ms=3000]]", { stream: true }, { signal: away.signal })
      .catch(() => null);
    await until("it is held", async () => (await get(user.key, "/dashboard/info")).body.balance.held > 0);
    away.abort();
    await asked;
    const [request] = await listed(user.key, 1);
    expect(request).toMatchObject({ status: null, code: "client_gone", cost: 0 });
  });

  test("for a stored response is there under the path with its id left out", async () => {
    const user = await bench.subaccount(owner);
    await bench.call(user.key, "GET", "/v1/responses/resp_nobody");
    expect(await requestsOf(user.key)).toMatchObject([
      { path: "/v1/responses/{id}", status: 404, code: "not_found", model: null },
    ]);
  });

  test("has the API key that asked, whether it was let in or not", async () => {
    const user = await bench.subaccount(owner);
    const made = await bench.call(user.key, "POST", "/dashboard/keys", { Name: "limited", RPM: 1 });
    const { key, secret } = made.body;
    for (let i = 0; i < 2; i++) await bench.chat(secret, "[[output=1]]", { max_tokens: 1 });
    await bench.chat(user.key, "[[output=1]]", { model: "" });
    const seen = async () =>
      (await requestsOf(user.key)).map(({ status, api_key }: Json) => [status, api_key]);
    expect(await seen()).toEqual([
      [400, 0],
      [429, key.id],
      [200, key.id],
    ]);
    expect((await bench.call(user.key, "DELETE", `/dashboard/keys/${key.id}`)).status).toBe(200);
    expect(await seen()).toEqual([
      [400, 0],
      [429, null],
      [200, key.id],
    ]);
  });

  test("with a key of nobody is in no list", async () => {
    const user = await bench.subaccount(owner);
    await bench.chat("sk-of-nobody", "[[output=1]]");
    expect(await requestsOf(user.key)).toEqual([]);
  });
});

describe("a list", () => {
  test("has the newest first, by pages", async () => {
    const user = await bench.subaccount(owner, { AllowModels: "others" });
    for (let i = 0; i < 5; i++) {
      await bench.chat(user.key, "no", {}, { headers: { "x-request-id": `r${i}` } });
    }
    const idsOf = async (query: string) => {
      const { requests, total, page, size, has_more } = await listOf(user.key, query);
      return [requests.map(({ request_id }: Json) => request_id), total, page, size, has_more];
    };
    expect(await idsOf("")).toEqual([["r4", "r3", "r2", "r1", "r0"], 5, 1, 100, false]);
    expect(await idsOf("?size=2")).toEqual([["r4", "r3"], 5, 1, 2, true]);
    expect(await idsOf("?size=2&page=3")).toEqual([["r0"], 5, 3, 2, false]);
    expect(await idsOf("?size=5000&page=2")).toEqual([[], 5, 2, 1_000, false]);
  });

  test("has at most a hundred a second of those without a charge, and says how many it left out", async () => {
    const user = await bench.subaccount(owner, { AllowModels: "others" });
    const asked = 260;
    let answered = 0;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        while (answered < asked) {
          answered++;
          await bench.chat(user.key, "no");
        }
      }),
    );
    const { total, skipped } = await listOf(user.key);
    // A slow machine may need more than a second for them; the oldest above 200 are gone.
    expect(total + skipped).toBeLessThanOrEqual(asked);
    expect(total).toBeWithin(100, 201);
    if (total < 200) expect(total + skipped).toBe(asked);
  });

  test.each([
    ["?page=0", "invalid_parameter"],
    ["?size=0", "invalid_parameter"],
    ["?page=-1", "invalid_parameter"],
    ["?size=1.5", "invalid_parameter"],
    ["?pages=1", "unknown_field"],
    ["?page=1&page=2", "invalid_parameter"],
  ])("%s is refused: %s", async (query, code) => {
    properError(await get(owner.key, `/dashboard/requests${query}`), 400, code);
  });
});

describe("a descendant's", () => {
  let team: Account;
  let member: Account;
  beforeAll(async () => {
    team = await bench.subaccount(owner, { CreditGranted: 100 });
    member = await bench.subaccount(team);
    await bench.chat(member.key, "[[output=1]]");
  });

  test.each(["/x-requests", "/x-info"])(
    "is what the account itself sees, by id and name: %s",
    async (path) => {
      const own = path === "/x-info" ? "/dashboard/live" : "/dashboard/requests";
      const { body } = await get(member.key, own);
      for (const key of [team.key, owner.key, bench.rootKey]) {
        for (const user of [member.id, member.name]) {
          expect((await get(key, `${path}?user=${user}`)).body).toEqual(body);
        }
      }
    },
  );

  test.each(["/x-requests", "/x-info"])("is not there for those who are not above it: %s", async (path) => {
    const [stranger, sibling] = await Promise.all([bench.owner(), bench.subaccount(team)]);
    for (const [key, user, status, code] of [
      [stranger.key, member.id, 404, "user_not_found"],
      [stranger.key, member.name, 404, "user_not_found"],
      [sibling.key, member.id, 404, "user_not_found"],
      [team.key, 99_999_999, 404, "user_not_found"],
      [owner.key, "L1", 404, "user_not_found"],
      [team.key, "", 400, "invalid_parameter"],
    ] as const) {
      properError(await get(key, `${path}?user=${user}`), status, code);
    }
    for (const [key, user] of [
      [member.key, team.id],
      [member.key, member.id],
    ] as const) {
      const answer = await get(key, `${path}?user=${user}`);
      expect([403, 404]).toContain(answer.status);
    }
    properError(await get(team.key, path), 400, "missing_parameter");
    properError(await get(team.key, `${path}?user=${member.id}&u=1`), 400, "unknown_field");
  });

  test.each(["/x-requests", "/x-info"])("is gone with the account: %s", async (path) => {
    const gone = await bench.subaccount(team);
    await bench.chat(gone.key, "[[output=1]]");
    expect((await bench.call(owner.key, "DELETE", `/x-users/${gone.id}`)).status).toBe(200);
    properError(await get(owner.key, `${path}?user=${gone.id}`), 404, "user_not_found");
  });
});

test("after a restart it begins anew, and says so", async () => {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-requests-"));
  const settings = { STORE_URL: `sqlite:${join(directory, "kept.db")}` };
  const first = await startBench({ settings });
  const early = await first.owner();
  await first.chat(early.key, "[[output=1]]");
  const before = (await first.call(early.key, "GET", "/dashboard/requests")).body;
  expect(before.total).toBe(1);
  expect(before.since <= before.requests[0].at).toBe(true);
  await first.close();
  const second = await startBench({ settings });
  const after = (await second.call(early.key, "GET", "/dashboard/requests")).body;
  expect([after.requests, after.since > before.requests[0].at]).toEqual([[], true]);
  await second.close();
  rmSync(directory, { recursive: true, force: true });
});

test("nothing of all this was a failure of the service", () => {
  expect(bench.log.filter((line) => line.level === "error")).toEqual([]);
});
