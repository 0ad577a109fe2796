// /x-keys: adding, listing, changing and deleting; the fields, who may, masks, the addresses that are refused, the
// completion of LEVEL_MAPPER, and that the next request already knows of a change.

import { describe, expect, test } from "bun:test";
import { fresh, type Json, PRICING } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { keyBody } from "../bodies.ts";
import { pageHeaders, properError } from "../proper.ts";
import { unusedRow } from "./rows.ts";

const bench = useBench({ settings: { PUBLIC_URL: "https://gate.example:8443/base, http://alias.example" } });
const owner = prepared(() => bench.owner({ keys: 0 }));
const user = prepared(() => bench.subaccount(owner));

const SECRET = "sk-provider-0123456789abcdef";
const add = (given: object, key = owner.key) =>
  bench.call(key, "POST", "/x-keys", keyBody(bench.provider.url, { SecretKey: SECRET, ...given }));
const list = (query = "", key = owner.key) => bench.call(key, "GET", `/x-keys${query}`);

test("an added key is answered with its fields, its secret masked", async () => {
  const { status, body } = await add({ Name: "first", Level: 3 });
  expect(status).toBe(200);
  expect(body).toEqual({
    success: true,
    Action: "add",
    key: {
      ...{ ID: expect.any(Number), Name: "first", Level: 3, Provider: bench.provider.url },
      ...{ SecretKey: "sk-…cdef", Status: true, Config: {} },
      CreatedAt: expect.stringMatching(/Z$/),
      UpdatedAt: expect.stringMatching(/Z$/),
    },
    LevelMapper: {},
  });
  expect((await list(`?id=${body.key.ID}`)).body).toEqual({ success: true, keys: [unusedRow(body.key)] });
});

test("ID: an integer, assigned", async () => {
  const [one, two] = [(await add({})).body.key, (await add({})).body.key];
  expect(one.ID).toBeInteger();
  expect(two.ID).toBeGreaterThan(one.ID);
  properError(await add({ ID: 7 }), 400, "unknown_field");
});

test("CreatedAt, UpdatedAt: timestamps, of the service's own making", async () => {
  const { key } = (await add({})).body;
  expect(key.CreatedAt).toBe(new Date(Date.parse(key.CreatedAt)).toISOString());
  const { body } = await bench.call(owner.key, "PUT", `/x-keys/${key.ID}`, { Name: "new" });
  expect(body.key.CreatedAt).toBe(key.CreatedAt);
  expect(Date.parse(body.key.UpdatedAt)).toBeGreaterThan(Date.parse(key.UpdatedAt));
  properError(await add({ CreatedAt: key.CreatedAt }), 400, "unknown_field");
});

describe("only an Owner, or Root, has keys", () => {
  test("a subaccount is refused: 403 not_owner", async () => {
    for (const answer of [await add({}, user.key), await list("", user.key)]) {
      properError(answer, 403, "not_owner");
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

/** Each spelling of the service's own address is in key-own-address.test.ts. */
describe("a Provider that is refused", () => {
  const port = () => new URL(bench.url).port;
  test.each<[string, string | (() => string), string]>([
    ["no URL", "not a url", "invalid_parameter"],
    ["another scheme", "ftp://provider.example", "invalid_parameter"],
    ["a file", "file:///etc/passwd", "invalid_parameter"],
    ["a user and password", "http://user:password@127.0.0.1:9", "invalid_parameter"],
    ["nothing", "", "invalid_parameter"],
    ["a name that nobody has", "https://nobody.invalid/v1", "invalid_parameter"],
    ["a query", () => `${bench.provider.url}/v1?key=1`, "invalid_parameter"],
    ["a fragment", () => `${bench.provider.url}/v1#part`, "invalid_parameter"],
    ["this service", () => `http://127.0.0.1:${port()}`, "self_referencing_provider"],
    ["this service by name", () => `http://localhost:${port()}`, "self_referencing_provider"],
    ["its public address", "https://gate.example:8443", "self_referencing_provider"],
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
    properError(answer, 400, code);
    if (code === "forbidden_provider_address")
      expect(answer.body.error.message).toContain("PROVIDER_ALLOW_CIDRS");
    expect((await list("?page=0")).body.keys).toHaveLength(before);
  });
});

describe("fields and their rules", () => {
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
    expectError(await bench.chat(user.key, "hi"), 502, "upstream_failed");
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
  /** Two keys at the stand-in, of Levels 1 and 2, and one elsewhere. */
  const lister = prepared(async () => {
    const { key } = await bench.owner({ keys: 0 });
    const keys: Json[] = [];
    for (const given of [{}, { Level: 2 }, { Level: 2, Provider: "https://127.0.0.9/v1" }]) {
      keys.push((await add(given, key)).body.key);
    }
    return { key, keys };
  });
  const host = () => new URL(bench.provider.url).host;

  test("without a filter: success and all keys", async () => {
    expect((await list("", lister.key)).body).toEqual({ success: true, keys: lister.keys.map(unusedRow) });
  });

  test.each<[string, (keys: Json[]) => string, string]>([
    ["id", ([, second]) => `id=${second.ID}`, "2"],
    ["level", () => "level=2", "2 3"],
    ["level as L2", () => "level=L2", "2 3"],
    ["provider as its URL", () => `provider=${bench.provider.url}`, "1 2"],
    ["provider as its URL with a slash", () => `provider=${bench.provider.url}/`, "1 2"],
    ["provider as its URL in capitals", () => "provider=HTTPS://127.0.0.9/v1", "3"],
    ["provider as its URL, default port named", () => "provider=https://127.0.0.9:443/v1", "3"],
    ["provider as a host with its port", () => `provider=${host()}`, "1 2"],
    ["provider as a host", () => "provider=127.0.0.9", "3"],
    ["provider as another path", () => "provider=https://127.0.0.9/v2", ""],
    ["level and provider", () => "level=2&provider=127.0.0.1", "2"],
    ["a Level that has none", () => "level=9", ""],
    ["an id that is none", () => "id=999999", ""],
    ["page and size", () => "page=2&size=2", "3"],
  ])("by %s", async (_, query, expected) => {
    const { keys } = (await list(`?${query(lister.keys)}`, lister.key)).body;
    const places = keys.map(({ ID }: Json) => lister.keys.findIndex((key) => key.ID === ID) + 1);
    expect(places.join(" ")).toBe(expected);
  });

  test.each([
    ["", { total: "3", page: "1", per: "100", pages: "1" }, 3],
    ["?size=2", { total: "3", page: "1", per: "2", pages: "2" }, 2],
    ["?size=2&page=2", { total: "3", page: "2", per: "2", pages: "2" }, 1],
    ["?size=2&page=3", { total: "3", page: "3", per: "2", pages: "2" }, 0],
    ["?size=5000", { total: "3", page: "1", per: "1000", pages: "1" }, 3],
    ["?page=0", { total: "3", page: null, per: null, pages: null }, 3],
    ["?size=0", { total: "3", page: null, per: null, pages: null }, 3],
  ])("pages in headers: %s", async (query, { total, page, per, pages }, count) => {
    const answer = await list(query, lister.key);
    expect(answer.body.keys).toHaveLength(count);
    expect(pageHeaders(answer)).toEqual([total, page, per, pages]);
  });
});

test("an account's own Level serves what no mapper names", async () => {
  const plain = await bench.owner({ keys: 0 });
  await bench.call(plain.key, "PUT", "/x-config", { LEVEL_MAPPER: "" });
  await add({ Level: 0, SecretKey: `sk-zero-${fresh()}-0123456789` }, plain.key);
  const child = await bench.subaccount(plain);
  expect((await bench.chat(child.key, "[[output=1]]")).status).toBe(200);
});

/** A key of its own Level, the model that leads there, and an account that calls it. */
async function createKeyAndCaller() {
  const one = await bench.owner({ keys: 0 });
  const child = await bench.subaccount(one);
  const secret = `sk-of-${fresh()}-0123456789`;
  const { body } = await add({ Level: 1, SecretKey: secret, Name: "first" }, one.key);
  const path = `/x-keys/${body.key.ID}`;
  return {
    one,
    path,
    secret,
    key: body.key,
    put: (change: object) => bench.call(one.key, "PUT", path, change),
    read: async () => (await bench.call(one.key, "GET", path)).body,
    chat: () => bench.chat(child.key, "[[output=1]]"),
  };
}

describe("a change of a key", () => {
  test.each<[object, object]>([
    [{ Name: "second" }, { Name: "second" }],
    [{ Name: "" }, { Name: "" }],
    [{ Name: "half \ud800" }, { Name: "half \ufffd" }],
    [{ Level: -4 }, { Level: -4 }],
    [{ Status: false }, { Status: false }],
    [{ Provider: "http://127.0.0.1:9/v1" }, { Provider: "http://127.0.0.1:9/v1" }],
    [{ SecretKey: "another-secret-of-00wxyz" }, { SecretKey: "ano…wxyz" }],
    [{ Config: { api_style: "messages" } }, { Config: { api_style: "messages" } }],
    [{ Config: {} }, {}],
    [
      { Name: "all", Level: 2, Status: false },
      { Name: "all", Level: 2, Status: false },
    ],
  ])("%j is answered and kept, with PUT and with POST", async (change, expected) => {
    for (const method of ["PUT", "POST"]) {
      const { one, path, key, read } = await createKeyAndCaller();
      const { status, body } = await bench.call(one.key, method, path, change);
      const after = { ...key, ...expected, UpdatedAt: body.key?.UpdatedAt };
      expect([status, body]).toEqual([200, { success: true, Action: "update", key: after }]);
      expect(Date.parse(after.UpdatedAt)).toBeGreaterThanOrEqual(Date.parse(key.UpdatedAt));
      expect(await read()).toEqual({ success: true, key: unusedRow(after) });
    }
  });

  test("merges Config field by field; null takes a field away", async () => {
    const { put } = await createKeyAndCaller();
    await put({ Config: { api_style: "chat" } });
    expect((await put({ Config: { provider_type: "standard" } })).body.key.Config).toEqual({
      api_style: "chat",
      provider_type: "standard",
    });
    expect((await put({ Config: { api_style: null, provider_type: null } })).body.key.Config).toEqual({});
  });

  test("leaves the secret when it is given as its mask", async () => {
    const { put, key, secret, chat } = await createKeyAndCaller();
    expect((await put({ SecretKey: key.SecretKey, Name: "kept" })).body.key).toMatchObject({
      Name: "kept",
      SecretKey: key.SecretKey,
    });
    expect((await chat()).status).toBe(200);
    expect(bench.provider.calls().at(-1)!.key).toBe(secret.slice(-4));
  });

  test("of nothing is 400 missing_parameter", async () => {
    const { put } = await createKeyAndCaller();
    properError(await put({}), 400, "missing_parameter");
  });

  test.each<[string, object, string]>([
    ["SecretKey", { SecretKey: "x".repeat(19) }, "invalid_parameter"],
    ["SecretKey", { SecretKey: "sk-…0000" }, "invalid_parameter"],
    ["SecretKey", { SecretKey: "" }, "invalid_parameter"],
    ["Level", { Level: 1.5 }, "invalid_parameter"],
    ["Name", { Name: null }, "invalid_parameter"],
    ["Config.api_style", { Config: { api_style: "telegraph" } }, "invalid_parameter"],
    ["Config.Unknown", { Config: { Unknown: 1 } }, "unknown_field"],
    ["ID", { ID: 7 }, "unknown_field"],
    ["Provider", { Provider: "ftp://provider.example" }, "invalid_parameter"],
    ["PROVIDER_ALLOW_CIDRS", { Provider: "http://10.0.0.1" }, "forbidden_provider_address"],
    ["Provider", { Provider: "https://nobody.invalid/v1" }, "invalid_parameter"],
    ["Provider", { Provider: "https://1.1.1.1/v1?key=1" }, "invalid_parameter"],
    ["itself", { Provider: "https://gate.example:8443/v1" }, "self_referencing_provider"],
  ])("that names %s badly is refused, and nothing changes: %j", async (field, change, code) => {
    const { put, read } = await createKeyAndCaller();
    const before = await read();
    const answer = await put({ ...change, Status: false });
    properError(answer);
    expect(answer.body.error).toMatchObject({ code, message: expect.stringContaining(field) });
    expect(await read()).toEqual(before);
  });
});

describe("in force with the next request:", () => {
  test("a new secret", async () => {
    const { put, chat } = await createKeyAndCaller();
    expect((await chat()).status).toBe(200);
    await put({ SecretKey: "another-secret-of-00wxyz" });
    expect((await chat()).status).toBe(200);
    expect(bench.provider.calls().at(-1)!.key).toBe("wxyz");
  });

  test("Status, both ways", async () => {
    const { one, put, chat } = await createKeyAndCaller();
    await bench.call(one.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=1", PRICING });
    for (let i = 0; i < 5; i++) {
      await put({ Status: false });
      expect((await chat()).body.error.code).toBe("no_available_key");
      await put({ Status: true });
      expect((await chat()).status).toBe(200);
    }
  });

  test("another Level: the one it left has lost it, the one it entered serves", async () => {
    const { one, put, chat } = await createKeyAndCaller();
    const onLevel = (level: number) =>
      bench.call(one.key, "PUT", "/x-config", { LEVEL_MAPPER: `*=${level}` });
    await onLevel(1);
    expect((await chat()).headers.get("x-arbor-level")).toBe("1");
    await put({ Level: 2 });
    expect((await chat()).body.error.code).toBe("model_not_found");
    await onLevel(2);
    expect((await chat()).headers.get("x-arbor-level")).toBe("2");
  });

  test("another provider", async () => {
    const { put, chat } = await createKeyAndCaller();
    await put({ Provider: "http://127.0.0.1:9" });
    expect((await chat()).status).toBeGreaterThanOrEqual(502);
    await put({ Provider: bench.provider.url });
    expect((await chat()).status).toBe(200);
  });

  test("a key that is added", async () => {
    const { one, chat } = await createKeyAndCaller();
    await bench.call(one.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=3" });
    expect((await chat()).body.error.code).toBe("model_not_found");
    await add({ Level: 3 }, one.key);
    expect((await chat()).status).toBe(200);
  });

  test("a key that is deleted", async () => {
    const { one, path, key, chat } = await createKeyAndCaller();
    expect((await chat()).status).toBe(200);
    const { status, body } = await bench.call(one.key, "DELETE", path);
    expect([status, body]).toEqual([200, { success: true, Action: "delete", key }]);
    expect((await chat()).body.error.code).toBe("model_not_found");
    expect((await list("", one.key)).body.keys).toEqual([]);
  });
});

describe("by its path", () => {
  test.each(["GET", "PUT", "POST", "DELETE"])("%s finds a key of the caller only", async (method) => {
    const { path } = await createKeyAndCaller();
    const body = method === "PUT" || method === "POST" ? { Name: "mine now" } : undefined;
    for (const unknown of [path, "/x-keys/0", "/x-keys/999999", `/x-keys/${"9".repeat(40)}`]) {
      properError(await bench.call(owner.key, method, unknown, body), 404, "key_not_found");
    }
    properError(await bench.call(user.key, method, path, body), 403, "not_owner");
  });

  test.each(["PUT", "DELETE"])("%s wants the number of a key, no other name", async (method) => {
    for (const name of ["L1", "127.0.0.1", "-1", "1.0", "0x1", "__proto__"]) {
      const body = method === "PUT" ? { Name: "x" } : undefined;
      properError(await bench.call(owner.key, method, `/x-keys/${name}`, body), 404);
    }
  });

  test("a deleted key is found no more", async () => {
    const { one, path } = await createKeyAndCaller();
    await bench.call(one.key, "DELETE", path);
    for (const method of ["GET", "DELETE"]) {
      properError(await bench.call(one.key, method, path), 404);
    }
  });

  test("a Level or a provider lists its keys, by pages", async () => {
    const { one, key } = await createKeyAndCaller();
    const { body } = await add({ Level: -2, Provider: "http://127.0.0.1:9007/v1" }, one.key);
    const get = async (path: string) => bench.call(one.key, "GET", `/x-keys/${path}`);
    expect((await get("L1")).body).toEqual({ success: true, keys: [unusedRow(key)] });
    expect((await get("L-2")).body).toEqual({ success: true, keys: [unusedRow(body.key)] });
    expect((await get("127.0.0.1:9007")).body).toEqual({ success: true, keys: [unusedRow(body.key)] });
    expect((await get(encodeURIComponent("http://127.0.0.1:9007/v1"))).body.keys).toEqual([
      unusedRow(body.key),
    ]);
    expect((await get("127.0.0.1?size=1&page=2")).body.keys).toEqual([unusedRow(body.key)]);
    expect((await get("127.0.0.1")).headers.get("x-total-count")).toBe("2");
    for (const nobody of ["L9", "provider.example", "constructor"]) {
      expect((await get(nobody)).body).toEqual({ success: true, keys: [] });
    }
  });
});
