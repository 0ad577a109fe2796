// /dashboard/keys: the records, what may be set on them and what not, their names and bounds, and what the operation log says.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";
import { makeKey, recordOf, tryKey } from "./key-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = preparedEach(() => bench.subaccount(owner, { CreditGranted: 10 }));

const list = async (key: string, query = "") => bench.call(key, "GET", `/dashboard/keys${query}`);
const put = (key: string, id: number, body: object, query = "") =>
  bench.call(key, "PUT", `/dashboard/keys/${id}${query}`, body);
const status = async (key: string) => (await bench.call(key, "GET", "/dashboard/status")).status;

const NOTHING_SET = {
  allow_models: [],
  allow_ips: [],
  resources: [],
  hard_limit: 0,
  daily_limit: 0,
  rpm: 0,
  tpm: 0,
  tags: {},
  expires_at: null,
  status: true,
  overlap_until: null,
  last_used_at: null,
  cost_today: 0,
  cost_month: 0,
  cost_total: 0,
};

describe("the main key", () => {
  test("is the row with id 0 and name main, first in the list", async () => {
    const { body } = await list(user.key);
    const hash = new Bun.CryptoHasher("sha256").update(user.key).digest("hex");
    expect(body).toEqual({
      keys: [
        {
          ...NOTHING_SET,
          id: 0,
          name: "main",
          public_key: `pk-${hash.slice(0, 16)}`,
          scopes: ["invoke", "read", "manage"],
          created_at: expect.any(String),
          created_by: null,
        },
      ],
      total: 1,
      page: 1,
      size: 100,
      has_more: false,
    });
  });

  test.each(["PUT", "DELETE", "POST"])(
    "is never changed here: %s is 403 field_not_settable",
    async (method) => {
      const path = method === "POST" ? "/dashboard/keys/0/rotate" : "/dashboard/keys/0";
      properError(
        await bench.call(user.key, method, path, method === "PUT" ? { RPM: 1 } : undefined),
        403,
        "field_not_settable",
      );
      expect(await status(user.key)).toBe(200);
    },
  );

  test("has the costs that no named key has, and its last charge", async () => {
    await bench.chat(user.key, "[[output=1000]]");
    const { secret } = await makeKey(bench, user);
    await bench.chat(secret, "[[output=500]]");
    const { keys } = (await list(user.key)).body as Json;
    const { usage } = (await bench.call(user.key, "GET", "/dashboard/info")).body as Json;
    expect(keys[0].cost_today).toBeGreaterThan(keys[1].cost_today);
    expect(keys[1].cost_today).toBeGreaterThan(0);
    expect(keys[0].cost_today + keys[1].cost_today).toBeCloseTo(usage.today.cost, 12);
    expect(keys[0].cost_total + keys[1].cost_total).toBeCloseTo(usage.month.cost, 12);
    expect(Date.parse(keys[1].last_used_at)).toBeWithin(bench.now() - 60_000, bench.now() + 1);
    // The main key's is read from the projection of lines, which trails by two seconds.
    const until = Date.now() + 30_000;
    let main = keys[0];
    while (main.last_used_at === null && Date.now() < until) {
      await Bun.sleep(50);
      main = await recordOf(bench, user, 0);
    }
    expect(Date.parse(main.last_used_at)).toBeWithin(bench.now() - 60_000, bench.now() + 1);
  });
});

describe("a new key", () => {
  test("has the scope invoke and nothing else set; its secret is shown this once", async () => {
    const { status, body } = await tryKey(bench, user.key, { Name: "build" });
    expect(status).toBe(200);
    const hash = new Bun.CryptoHasher("sha256").update(body.secret).digest("hex");
    const record = {
      ...NOTHING_SET,
      id: 1,
      name: "build",
      public_key: `pk-${hash.slice(0, 16)}`,
      scopes: ["invoke"],
      created_at: expect.any(String),
      created_by: user.id,
    };
    expect(body).toEqual({
      success: true,
      key: record,
      secret: expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/),
    });
    const { text, body: listed } = await list(user.key);
    expect(listed.keys[1]).toEqual(record);
    expect(text).not.toContain(body.secret);
    expect((await bench.chat(body.secret, "[[output=1]]")).status).toBe(200);
  });

  test("has what was set, in the syntax of accounts", async () => {
    const { record } = await makeKey(bench, user, {
      AllowModels: "gpt-4o-mini, bench-*",
      AllowIPs: "127.0.0.1 10.0.0.0/8",
      Resources: "/v1/chat/*",
      HardLimit: 12.5,
      DailyLimit: 1.000000001,
      RPM: 7,
      TPM: 900,
      ExpiresAt: "2199-12-31T23:59Z",
      Tags: "team=search, env=prod",
    });
    expect(record).toMatchObject({
      allow_models: ["gpt-4o-mini", "bench-*"],
      allow_ips: ["127.0.0.1", "10.0.0.0/8"],
      resources: ["/v1/chat/*"],
      ...{ hard_limit: 12.5, daily_limit: 1.000000001, rpm: 7, tpm: 900 },
      expires_at: "2199-12-31T23:59:00.000Z",
      tags: { team: "search", env: "prod" },
    });
  });

  test.each([
    [{ Name: "" }, "invalid_parameter"],
    [{ Name: undefined }, "missing_parameter"],
    [{ Name: "1234" }, "invalid_parameter"],
    [{ Name: "a/b" }, "invalid_parameter"],
    [{ Name: "main" }, "duplicate_name"],
    [{ Name: "MAIN" }, "duplicate_name"],
    [{ Scopes: [] }, "invalid_parameter"],
    [{ Scopes: ["invoke", "invoke"] }, "invalid_parameter"],
    [{ Scopes: ["everything"] }, "invalid_parameter"],
    [{ Scopes: "invoke" }, "invalid_parameter"],
    [{ Scopes: ["main_key"] }, "invalid_parameter"],
    [{ AllowIPs: "10.1" }, "invalid_parameter"],
    [{ AllowModels: "-gpt-4o" }, "invalid_parameter"],
    [{ Resources: "/x-users" }, "invalid_parameter"],
    [{ HardLimit: -1 }, "invalid_parameter"],
    [{ HardLimit: 4e-10 }, "invalid_parameter"],
    [{ DailyLimit: 4e-10 }, "invalid_parameter"],
    [{ DailyLimit: "5" }, "invalid_parameter"],
    [{ RPM: 1.5 }, "invalid_parameter"],
    [{ RPH: 5 }, "unknown_field"],
    [{ WeeklyLimit: 5 }, "unknown_field"],
    [{ Status: false }, "unknown_field"],
    [{ ExpiresAt: "2001-01-01T00:00:00Z" }, "invalid_parameter"],
    [{ ExpiresAt: "2199-02-30T00:00:00Z" }, "invalid_parameter"],
    [{ ExpiresAt: "2199-01-01T00:00:00+02:00" }, "invalid_parameter"],
    [{ ExpiresAt: 5 }, "invalid_parameter"],
    [{ Tags: "team" }, "invalid_parameter"],
    [{ Tags: { team: "x" } }, "invalid_parameter"],
    [{ Scopes: ["admin", "manage"] }, "invalid_parameter"],
  ])("%j: refused with %s, and nothing is made", async (fields, code) => {
    const answer = await tryKey(bench, user.key, fields);
    expect(answer.body.error?.code).toBe(code);
    expect((await list(user.key)).body.total).toBe(1);
  });

  test.each(["HardLimit", "DailyLimit", "RPM", "TPM", "AllowModels", "Resources"])(
    "with manage takes no %s",
    async (field) => {
      const value = field === "AllowModels" ? "m" : field === "Resources" ? "/v1/models" : 5;
      const answer = await tryKey(bench, user.key, { Scopes: ["manage"], [field]: value });
      properError(answer, 400, "invalid_parameter");
      expect(answer.body.error.message).toContain(`"${field}"`);
      const { id } = await makeKey(bench, user, { [field]: value });
      properError(await put(user.key, id, { Scopes: ["manage"] }), 400, "invalid_parameter");
    },
  );

  test("admin needs manage beside it, and an Owner", async () => {
    properError(await tryKey(bench, owner.key, { Scopes: ["admin"] }), 400, "invalid_parameter");
    properError(
      await tryKey(bench, owner.key, { Scopes: ["manage", "admin"] }, user),
      400,
      "invalid_parameter",
    );
    const { secret } = await makeKey(bench, owner, { Scopes: ["manage", "admin"] });
    expect((await bench.call(secret, "GET", "/x-keys")).status).toBe(200);
  });

  test("has a name that no other key of the account has, without regard to case", async () => {
    await makeKey(bench, user, { Name: "Größe" });
    expectError(await tryKey(bench, user.key, { Name: "grÖSSE".replace("SS", "ß") }), 400, "duplicate_name");
    expectError(await tryKey(bench, user.key, { Name: "Größe".normalize("NFD") }), 400, "duplicate_name");
    expect((await tryKey(bench, owner.key, { Name: "Größe" })).status).toBe(200);
    const other = await makeKey(bench, user, { Name: "other" });
    expectError(await put(user.key, other.id, { Name: "größe" }), 400, "duplicate_name");
    expect((await put(user.key, other.id, { Name: "OTHER" })).status).toBe(200);
  });

  test("is the 201st: 400 key_limit_reached; pages count the main key", async () => {
    const made = await Promise.all(Array.from({ length: 200 }, () => tryKey(bench, user.key)));
    expect(made.filter(({ status }) => status !== 200)).toEqual([]);
    properError(await tryKey(bench, user.key), 400, "key_limit_reached");
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(user.key, `?page=${page}&size=67`)));
    expect(pages.map(({ body }) => [body.keys.length, body.has_more])).toEqual([
      [67, true],
      [67, true],
      [67, false],
      [0, false],
    ]);
    const ids = pages.flatMap(({ body }) => body.keys.map(({ id }: Json) => id));
    expect(ids).toEqual(Array.from({ length: 201 }, (_, i) => i));
  });
});

describe("a change", () => {
  test("answers the record as it now is; what is absent stays", async () => {
    const { id, record } = await makeKey(bench, user, { RPM: 5, Tags: "a=b", AllowModels: "m1,m2" });
    const { body } = await put(user.key, id, { DailyLimit: 3, AllowModels: "-m1, m3", ExpiresAt: null });
    const changed = { ...record, daily_limit: 3, allow_models: ["m2", "m3"] };
    expect(body).toEqual({ success: true, key: changed });
    expect(await recordOf(bench, user, id)).toEqual(changed);
  });

  test("is all or nothing", async () => {
    const { id, record } = await makeKey(bench, user);
    properError(await put(user.key, id, { RPM: 9, Tags: "broken" }), 400, "invalid_parameter");
    properError(await put(user.key, id, { RPM: 9, Scopes: ["manage"] }), 400, "invalid_parameter");
    expect(await recordOf(bench, user, id)).toEqual(record);
  });

  test("of a key that is not there: 404 key_not_found; without a field: 400 missing_parameter", async () => {
    const { id } = await makeKey(bench, user);
    for (const [method, path] of [
      ["PUT", "/dashboard/keys/99"],
      ["DELETE", "/dashboard/keys/99"],
      ["POST", "/dashboard/keys/99/rotate"],
    ] as const) {
      properError(
        await bench.call(user.key, method, path, method === "PUT" ? { RPM: 1 } : undefined),
        404,
        "key_not_found",
      );
    }
    properError(await put(user.key, id, {}), 400, "missing_parameter");
    properError(
      await bench.call(user.key, "PUT", "/dashboard/keys/one", { RPM: 1 }),
      400,
      "invalid_parameter",
    );
  });

  test.each([-1, 604_801, 1.5, "60", null, {}])(
    "an overlap of %j seconds: 400, and the secret stays",
    async (OverlapSeconds) => {
      const { id, secret, record } = await makeKey(bench, user);
      properError(
        await bench.call(user.key, "POST", `/dashboard/keys/${id}/rotate`, { OverlapSeconds }),
        400,
        "invalid_parameter",
      );
      expect((await recordOf(bench, user, id)).public_key).toBe(record.public_key);
      expect((await bench.chat(secret, "[[output=1]]")).status).toBe(200);
    },
  );

  test("of lists of models at the same time loses none", async () => {
    const { id } = await makeKey(bench, user, { AllowModels: "m0" });
    await Promise.all(Array.from({ length: 8 }, (_, i) => put(user.key, id, { AllowModels: `m${i + 1}` })));
    const { allow_models } = await recordOf(bench, user, id);
    expect(allow_models.sort()).toEqual(Array.from({ length: 9 }, (_, i) => `m${i}`));
  });
});

test("the operation log has each act with the key's id, and no secret", async () => {
  const { id, secret } = await makeKey(bench, user, { Name: "logged" });
  await put(user.key, id, { RPM: 3 });
  const rotated = await bench.call(user.key, "POST", `/dashboard/keys/${id}/rotate`, { OverlapSeconds: 60 });
  await bench.call(user.key, "DELETE", `/dashboard/keys/${id}`);
  properError(await tryKey(bench, user.key, { Scopes: ["manage"], RPM: 1 }), 400);
  for (const key of [user.key, owner.key]) {
    const { body, text } = await bench.call(key, "GET", "/dashboard/logs?size=100");
    const lines = body.logs.filter(({ operator_id }: Json) => operator_id === user.id);
    expect(
      lines.map(({ action, target_type, target_id, status: done }: Json) => [
        action,
        target_type,
        target_id,
        done,
      ]),
    ).toEqual([
      ["add_api_key", "user", user.id, "failed"],
      ["delete_api_key", "api_key", id, "success"],
      ["rotate_api_key", "api_key", id, "success"],
      ["update_api_key", "api_key", id, "success"],
      ["add_api_key", "api_key", id, "success"],
    ]);
    expect(lines[3].details).toBe("rpm: 0 → 3");
    for (const one of [secret, rotated.body.secret]) expect(text).not.toContain(one);
  }
});
