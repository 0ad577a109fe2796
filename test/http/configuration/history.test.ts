// GET /x-config/history and POST /x-config/revert: what each version changed, and the way back to one as a new version.

import { beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Account, fresh, type Json, MODEL, type Owner, PRICING } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { pageHeaders, properError } from "../proper.ts";

let owner: Owner;
const bench = useBench();
beforeEach(async () => {
  // Version 1 is what the bench makes: prices, and every model on Level 1.
  owner = await bench.owner({ config: { LEVEL_AFFINITY: "on" } });
});

const put = async (body: object, key = owner.key): Promise<void> => {
  expect((await bench.call(key, "PUT", "/x-config", body)).status).toBe(200);
};
const conf = async (body: object, key = owner.key): Promise<void> => {
  expect((await bench.call(key, "POST", "/x-conf", body)).status).toBe(200);
};
const history = async (query = "", key = owner.key): Promise<Json[]> =>
  (await bench.call(key, "GET", `/x-config/history${query}`)).body.versions;
const newest = async (key = owner.key): Promise<Json> => (await history("?size=1", key))[0];
const configs = async (key = owner.key): Promise<Json> =>
  (await bench.call(key, "GET", "/x-config")).body.configs;
const revert = (version: unknown, key = owner.key) =>
  bench.call(key, "POST", "/x-config/revert", { version });
const mapper = async ({ id }: Account): Promise<string> =>
  (await bench.call(bench.rootKey, "GET", `/x-dna/${id}`)).body[0].ModelMapper;

describe("GET /x-config/history", () => {
  test("lists the versions newest first: number, time, who, and what really changed", async () => {
    await put({ MODEL_MAPPER: "a=b", USER_MIN_BALANCE: 0, LEVEL_MAPPER: "*=1" });
    await put({ MODEL_MAPPER: "a=c", USER_API_BALANCE: 0.5 });
    const versions = await history();
    expect(versions).toEqual([
      {
        version: 3,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        by: owner.id,
        changes: {
          MODEL_MAPPER: { before: { a: "b" }, after: { a: "c" } },
          USER_API_BALANCE: { before: 0, after: 0.5 },
        },
      },
      {
        version: 2,
        at: versions[1].at,
        by: owner.id,
        changes: { MODEL_MAPPER: { before: {}, after: { a: "b" } } },
      },
      {
        version: 1,
        at: versions[2].at,
        by: owner.id,
        changes: {
          LEVEL_MAPPER: { before: {}, after: { "*": 1 } },
          PRICING: { before: "", after: JSON.stringify(PRICING) },
        },
      },
    ]);
    expect(Math.abs(Date.parse(versions[0].at) - bench.now())).toBeLessThan(60_000);
  });

  test("gives pages and all of a long history", async () => {
    for (let i = 1; i <= 20; i++) await put({ USER_MIN_BALANCE: i });
    const versions = async (query: string) => (await history(query)).map(({ version }) => version);
    const all = Array.from({ length: 21 }, (_, i) => 21 - i);
    expect(await versions("")).toEqual(all);
    expect(await versions("?page=0")).toEqual(all);
    expect(await versions("?page=2&size=7")).toEqual(all.slice(7, 14));
    expect(await versions("?page=3&size=9")).toEqual(all.slice(18));
    expect(await versions("?page=4&size=9")).toEqual([]);
    const headers = async (query: string) =>
      pageHeaders(await bench.call(owner.key, "GET", `/x-config/history?${query}`));
    expect(await headers("page=2&size=2")).toEqual(["21", "2", "2", "11"]);
    expect(await headers("page=0")).toEqual(["21", null, null, null]);
    properError(await bench.call(owner.key, "GET", "/x-config/history?page=-1"));
  });

  test("shows every key as /x-config shows it", async () => {
    const before = await configs();
    const given = {
      SWITCH_OVER: "1=2",
      MODEL_FAILOVER: "a=b|c",
      LEVEL_AFFINITY: "off",
      RESOURCES: "/v1/*",
      MODEL_LIMITS: { a: { rpm: 1 } },
      ...{ SERVICE_MAIL: "gate@acme.example", EMAIL_SMTP: "smtp.acme.example", EMAIL_PORT: 587 },
      ...{ EMAIL_AUTH: "mailer", EMAIL_TLS: true },
    };
    await put(given);
    const after = await configs();
    expect((await newest()).changes).toEqual(
      Object.fromEntries(Object.keys(given).map((key) => [key, { before: before[key], after: after[key] }])),
    );
  });

  test("a password is never in it, only that there is one", async () => {
    const EMAIL_PASS = `hidden-${fresh()}`;
    await put({ EMAIL_PASS });
    expect((await newest()).changes).toEqual({ EMAIL_PASS: { before: "", after: "********" } });
    await put({ EMAIL_PASS: "" });
    expect((await newest()).changes).toEqual({ EMAIL_PASS: { before: "********", after: "" } });
    const { text } = await bench.call(owner.key, "GET", "/x-config/history");
    expect(text).not.toContain(EMAIL_PASS);
    expect(text).not.toContain("box");
    const files = readdirSync(bench.directory, { withFileTypes: true }).filter((one) => one.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const { name } of files) {
      expect(readFileSync(join(bench.directory, name)).includes(EMAIL_PASS)).toBe(false);
    }
  });

  test("a cascade stands under a name of its own, with its deletions and what it cleared", async () => {
    await conf({ ModelMapper: "a=b, -c" });
    expect((await newest()).changes).toEqual({
      MODEL_MAPPER: { before: {}, after: { a: "b" } },
      CASCADED_MODEL_MAPPER: {
        before: { entries: {}, cleared: null },
        after: { entries: { a: { value: "b", version: 2 }, c: { value: null, version: 2 } }, cleared: null },
      },
    });
    await conf({ ModelLimits: "*" });
    expect((await newest()).changes).toEqual({
      CASCADED_MODEL_LIMITS: { before: { entries: {}, cleared: null }, after: { entries: {}, cleared: 3 } },
    });
  });

  test("Root's switch of the operation log stands in Root's", async () => {
    await conf({ LogEnable: false }, bench.rootKey);
    expect((await newest(bench.rootKey)).changes).toEqual({ LOG_ENABLE: { before: true, after: false } });
    await conf({ LogEnable: true }, bench.rootKey);
  });

  test("is the caller's own, and an Owner's only", async () => {
    const other = await bench.owner({ config: { LEVEL_AFFINITY: "on" } });
    await put({ MODEL_MAPPER: "a=b" });
    expect(await history("", other.key)).toHaveLength(1);
    const user = await bench.subaccount(owner);
    for (const [method, path, body] of [
      ["GET", "/x-config/history"],
      ["POST", "/x-config/revert", { version: 1 }],
      ["GET", "/x-config"],
      ["DELETE", "/x-config", { keys: ["PRICING"] }],
    ] as const) {
      properError(await bench.call(user.key, method, path, body), 403, "not_owner");
    }
  });
});

describe("POST /x-config/revert", () => {
  test("goes back to how everything was, as a new version, and answers what changed", async () => {
    await put({ MODEL_MAPPER: "a=b", MODEL_LIMITS: { a: { rpm: 1 } } });
    const then = await configs();
    await put({ MODEL_MAPPER: "c=d", RESOURCES: "/v1/*", USER_MIN_BALANCE: 2 });
    await put({ MODEL_LIMITS: "", PRICING: "" });
    const { status, body } = await revert(2);
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        oid: owner.id,
        configs: {
          MODEL_MAPPER: { a: "b" },
          RESOURCES: {},
          USER_MIN_BALANCE: 0,
          MODEL_LIMITS: { a: { rpm: 1 } },
          PRICING: JSON.stringify(PRICING),
        },
      },
    ]);
    expect(await configs()).toEqual(then);
    expect(await newest()).toMatchObject({ version: 5, by: owner.id });
    // And forth again: what was gone back from is a version, too.
    await revert(4);
    expect(await configs()).toMatchObject({ MODEL_MAPPER: { c: "d" }, PRICING: "" });
  });

  test("to version 0 everything is at its default", async () => {
    const fresh = await configs(
      (await bench.call(bench.rootKey, "POST", "/x-users", someone())).body.User.SecretKey,
    );
    await put({ MODEL_MAPPER: "a=b", EMAIL_SMTP: "smtp.acme.example", USER_MIN_BALANCE: 2 });
    await conf({ ModelMapper: "x=y" });
    expect((await revert(0)).status).toBe(200);
    expect(await configs()).toEqual(fresh);
    expect((await newest()).changes.CASCADED_MODEL_MAPPER.after).toEqual({ entries: {}, cleared: null });
  });

  test("takes cascades back as well", async () => {
    const user = await bench.subaccount(owner);
    await conf({ ModelMapper: "fast=one" });
    await conf({ ModelMapper: "fast=two, more=three" });
    expect((await mapper(user)).split(",").sort()).toEqual(["fast=two", "more=three"]);
    await revert(2);
    expect(await mapper(user)).toBe("fast=one");
    await revert(1);
    expect(await mapper(user)).toBe("");
  });

  test("the password stays as it is: the history has no secret", async () => {
    await put({ EMAIL_PASS: "first" });
    await put({ EMAIL_PASS: "second", EMAIL_AUTH: "mailer" });
    expect((await revert(1)).body.configs).toEqual({ EMAIL_AUTH: "" });
    expect((await configs()).EMAIL_PASS).toBe("********");
  });

  test("to the newest version, or to one that was the same, nothing changes and no version is made", async () => {
    await put({ MODEL_MAPPER: "a=b" });
    await put({ MODEL_MAPPER: "" });
    for (const version of [3, 1]) {
      expect((await revert(version)).body).toEqual({ success: true, oid: owner.id, configs: {} });
    }
    expect((await newest()).version).toBe(3);
  });

  test.each([2, 99, Number.MAX_SAFE_INTEGER])("version %d never was: 404 not_found", async (version) => {
    properError(await revert(version), 404, "not_found");
    expect((await newest()).version).toBe(1);
  });

  test.each([[-1], [1.5], ["1"], [null], [undefined]])("%p is no version: 400", async (version) => {
    properError(await revert(version));
  });

  test("is in force with the next request", async () => {
    const user = await bench.subaccount(owner);
    const served = async () =>
      (await bench.chat(user.key, "[[output=1]]", { model: "small" })).headers.get("x-arbor-model");
    await put({ MODEL_MAPPER: `small=${MODEL}` });
    await put({ MODEL_MAPPER: "" });
    expect(await served()).toBeNull();
    await revert(2);
    expect(await served()).toBe(MODEL);
  });

  test("amid other changes none is lost, and each is a version", async () => {
    await put({ MODEL_MAPPER: "a=b" });
    const others = Array.from({ length: 10 }, (_, i) => conf({ SwitchOver: `${i}=99` }));
    const answers = await Promise.all([revert(1), revert(1), ...others]);
    expect(answers.slice(0, 2).map((one) => one?.status)).toEqual([200, 200]);
    const versions = await history();
    expect(versions.map(({ version }) => version)).toEqual(versions.map((_, i) => versions.length - i));
    expect((await configs()).MODEL_MAPPER).toEqual({});
    // Each version begins where the one before it ended.
    let now: Json = {};
    for (const { changes } of versions.toReversed()) {
      if (changes.SWITCH_OVER === undefined) continue;
      expect(changes.SWITCH_OVER.before).toEqual(now);
      now = changes.SWITCH_OVER.after;
    }
    expect((await configs()).SWITCH_OVER).toEqual(now);
  });

  test("is logged as update_config, with what was and what is", async () => {
    await put({ MODEL_MAPPER: "a=b" });
    await revert(1);
    const [line] = (await bench.call(owner.key, "GET", "/dashboard/logs")).body.logs;
    expect(line).toMatchObject({ action: "update_config", target_id: owner.id, status: "success" });
    expect(line.details).toBe('version: 2 → 3; MODEL_MAPPER: {"a":"b"} → {}');
  });
});

const someone = () => userBody();
