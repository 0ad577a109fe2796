// POST and GET /x-keys: the fields, who may, masks, the addresses that are refused, and the completion of LEVEL_MAPPER.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Bench, fresh, type Owner, startBench } from "../e2e/harness.ts";
import { properError } from "./proper.ts";

let bench: Bench;
let owner: Owner;
let user: Account;
beforeAll(async () => {
  bench = await startBench({
    settings: { PUBLIC_URL: "https://gate.example:8443/base, http://alias.example" },
  });
  owner = await bench.owner({ keys: 0 });
  user = await bench.subaccount(owner);
});
afterAll(() => bench.close());

const SECRET = "sk-provider-0123456789abcdef";
const add = (given: object, key = owner.key) =>
  bench.call(key, "POST", "/x-keys", {
    Level: 1,
    Provider: bench.provider.url,
    SecretKey: SECRET,
    ...given,
  });
const list = (query = "", key = owner.key) => bench.call(key, "GET", `/x-keys${query}`);

test("an added key is answered with its fields, its secret masked", async () => {
  const { status, body } = await add({ Name: "first", Level: 3 });
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    Action: "add",
    key: {
      ID: expect.any(Number),
      Name: "first",
      Level: 3,
      Provider: bench.provider.url,
      SecretKey: "sk-…cdef",
      Status: true,
      Config: {},
      CreatedAt: expect.stringMatching(/Z$/),
      UpdatedAt: expect.stringMatching(/Z$/),
    },
    LevelMapper: {},
  });
  expect((await list(`?id=${body.key.ID}`)).body).toEqual({ success: true, keys: [body.key] });
});

describe("only an Owner, or Root, has keys", () => {
  test("a subaccount is refused: 403 not_owner", async () => {
    for (const answer of [await add({}, user.key), await list("", user.key)]) {
      properError(answer, [403]);
      expect(answer.body.error.code).toBe("not_owner");
    }
  });

  test("Root's keys are Root's, and an Owner's his own: nobody sees another's", async () => {
    const other = await bench.owner({ keys: 0 });
    await add({ Name: "of root" }, bench.rootKey);
    await add({ Name: "of other" }, other.key);
    const names = async (key: string) =>
      (await list("", key)).body.keys.map((one: { Name: string }) => one.Name);
    expect(await names(bench.rootKey)).toEqual(["of root"]);
    expect(await names(other.key)).toEqual(["of other"]);
    expect(await names(owner.key)).not.toContain("of root");
    // And nobody is served by another's.
    await bench.call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "only-there=77" });
    await add({ Level: 77 }, other.key);
    const answer = await bench.chat(user.key, "hi", { model: "only-there" });
    expect(answer.body.error.code).toBe("model_not_found");
  });
});

describe("a Provider that is refused", () => {
  const port = () => new URL(bench.url).port;
  test.each<[string, string | (() => string), string]>([
    ["no URL", "not a url", "invalid_parameter"],
    ["another scheme", "ftp://provider.example", "invalid_parameter"],
    ["a file", "file:///etc/passwd", "invalid_parameter"],
    ["a user and password", "http://user:password@127.0.0.1:9", "invalid_parameter"],
    ["nothing", "", "invalid_parameter"],
    ["this service", () => `http://127.0.0.1:${port()}`, "self_referencing_provider"],
    ["this service by path", () => `http://127.0.0.1:${port()}/v1`, "self_referencing_provider"],
    ["this service by name", () => `http://localhost:${port()}`, "self_referencing_provider"],
    ["this service as a number", () => `http://2130706433:${port()}`, "self_referencing_provider"],
    ["this service in hex", () => `http://0x7f000001:${port()}`, "self_referencing_provider"],
    ["this service, shortened", () => `http://127.1:${port()}`, "self_referencing_provider"],
    [
      "this service in IPv6 clothes",
      () => `http://[::ffff:127.0.0.1]:${port()}`,
      "self_referencing_provider",
    ],
    [
      "this service by the unspecified address",
      () => `http://0.0.0.0:${port()}`,
      "self_referencing_provider",
    ],
    [
      "this service by another loopback address",
      () => `http://127.9.8.7:${port()}`,
      "self_referencing_provider",
    ],
    ["its public address with a final dot", "http://alias.example./v1", "self_referencing_provider"],
    ["its public address", "https://gate.example:8443", "self_referencing_provider"],
    ["its public address in capitals", "https://GATE.example:8443/v1", "self_referencing_provider"],
    ["its other public address", "http://alias.example/v1", "self_referencing_provider"],
    ["a private network", "http://10.0.0.1", "forbidden_provider_address"],
    ["another private network", "https://192.168.1.1:8443", "forbidden_provider_address"],
    ["link-local", "http://169.254.1.1", "forbidden_provider_address"],
    ["the metadata of clouds", "http://169.254.169.254/latest/meta-data", "forbidden_provider_address"],
    ["the metadata as a number", "http://2852039166/", "forbidden_provider_address"],
    ["carrier-grade NAT", "http://100.64.0.1", "forbidden_provider_address"],
    ["IPv6 loopback", "http://[::1]:9", "forbidden_provider_address"],
    ["IPv6 private", "http://[fd00::1]", "forbidden_provider_address"],
    ["multicast", "http://224.0.0.1", "forbidden_provider_address"],
    ["everywhere", "http://0.0.0.0:9", "forbidden_provider_address"],
  ])("%s", async (_, provider, code) => {
    const Provider = typeof provider === "string" ? provider : provider();
    const before = (await list("?page=0")).body.keys.length;
    const answer = await add({ Provider });
    properError(answer);
    expect(answer.body.error.code).toBe(code);
    if (code === "forbidden_provider_address")
      expect(answer.body.error.message).toContain("PROVIDER_ALLOW_CIDRS");
    expect((await list("?page=0")).body.keys).toHaveLength(before);
  });
});

describe("fields and their rules", () => {
  test.each<[string, object]>([
    ["SecretKey", { SecretKey: "x".repeat(19) }],
    ["Level", { Level: 1.5 }],
    ["Config.provider_type", { Config: { provider_type: "cloud_c" } }],
    ["Config.api_style", { Config: { api_style: "x" } }],
    ["Name", { Name: "x".repeat(256) }],
  ])("%s: %j is 400", async (field, given) => {
    const answer = await add(given);
    properError(answer);
    expect(answer.body.error).toMatchObject({
      code: "invalid_parameter",
      message: expect.stringContaining(field),
    });
  });

  test.each(["Level", "Provider", "SecretKey"])("%s is required", async (field) => {
    const answer = await add({ [field]: undefined });
    properError(answer);
    expect(answer.body.error).toMatchObject({
      code: "missing_parameter",
      message: expect.stringContaining(field),
    });
  });

  test("a secret of exactly 20 characters is taken, and one that cannot stand in a header is not sent", async () => {
    expect((await add({ SecretKey: "x".repeat(20) })).status).toBe(200);
    await add({ SecretKey: `sk-\u00fcmlaut-${"x".repeat(20)}`, Level: 55 });
    await bench.call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=55" });
    const answer = await bench.chat(user.key, "hi");
    expect([answer.status, answer.body.error.code]).toEqual([502, "upstream_failed"]);
    expect(await bench.nothingHeld(user.key)).toBe(false);
  });

  test("a disabled key serves nobody: 503 no_available_key", async () => {
    const { body } = await add({ Status: false, Level: 56 });
    expect(body.key.Status).toBe(false);
    await bench.call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=56" });
    const answer = await bench.chat(user.key, "hi", { model: "gpt-4o-mini" });
    expect([answer.status, answer.body.error.type, answer.body.error.code]).toEqual([
      503,
      "upstream_error",
      "no_available_key",
    ]);
  });
});

describe("LEVEL_MAPPER is completed", () => {
  test("with nothing for an unknown host, and the answer says so", async () => {
    expect((await add({ Level: 8 })).body.LevelMapper).toEqual({});
  });
});

describe("the list", () => {
  let lister: Owner;
  beforeAll(async () => {
    lister = await bench.owner({ keys: 0 });
    for (let i = 0; i < 5; i++) {
      const Provider = i < 3 ? bench.provider.url : `http://127.0.0.1:${9_000 + i}/path`;
      await add({ Name: `key ${i}`, Level: i % 2 === 0 ? 2 : -3, Provider }, lister.key);
    }
  });
  const names = async (query: string) =>
    (await list(query, lister.key)).body.keys.map((key: { Name: string }) => key.Name);

  test.each([
    ["", ["key 0", "key 1", "key 2", "key 3", "key 4"]],
    ["?level=2", ["key 0", "key 2", "key 4"]],
    ["?level=L2", ["key 0", "key 2", "key 4"]],
    ["?level=-3", ["key 1", "key 3"]],
    ["?level=9", []],
    ["?provider=127.0.0.1:9003", ["key 3"]],
    ["?provider=http://127.0.0.1:9004/path", ["key 4"]],
    ["?provider=127.0.0.1&level=-3", ["key 1", "key 3"]],
    ["?id=999999", []],
  ])("%s", async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test.each([
    ["", { total: "5", page: "1", per: "100", pages: "1" }, 5],
    ["?size=2", { total: "5", page: "1", per: "2", pages: "3" }, 2],
    ["?size=2&page=3", { total: "5", page: "3", per: "2", pages: "3" }, 1],
    ["?size=2&page=4", { total: "5", page: "4", per: "2", pages: "3" }, 0],
    ["?size=5000", { total: "5", page: "1", per: "1000", pages: "1" }, 5],
    ["?page=0", { total: "5", page: null, per: null, pages: null }, 5],
    ["?size=0", { total: "5", page: null, per: null, pages: null }, 5],
  ])("pages in headers: %s", async (query, { total, page, per, pages }, count) => {
    const { headers, body } = await list(query, lister.key);
    expect(body.keys).toHaveLength(count);
    expect([
      headers.get("x-total-count"),
      headers.get("x-page"),
      headers.get("x-per-page"),
      headers.get("x-total-pages"),
    ]).toEqual([total, page, per, pages]);
  });
});

test("an account's own Level serves what no mapper names", async () => {
  const plain = await bench.owner({ keys: 0 });
  await bench.call(plain.key, "PUT", "/x-config", { LEVEL_MAPPER: "" });
  await add({ Level: 0, SecretKey: `sk-zero-${fresh()}-0123456789` }, plain.key);
  const child = await bench.subaccount(plain);
  expect((await bench.chat(child.key, "[[output=1]]")).status).toBe(200);
});
