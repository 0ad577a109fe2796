// Settings as they are read from the environment: defaults, what is refused by name, and that nothing shown holds a secret.

import { describe, expect, test } from "bun:test";
import { secretsKey } from "../../src/node/secrets-key.ts";
import { shownAddress } from "../../src/settings/connection-url.ts";
import { BadSetting, readSettings } from "../../src/settings/settings.ts";

const read = (env: Record<string, string>) => readSettings(env, false);
const DATED = "2025-04-01-preview";
const DEFAULTS = { chat: DATED, embeddings: "2024-10-21", responses: DATED, audio: DATED, images: DATED };

describe("CLOUD_A_API_VERSIONS", () => {
  test("unset: the defaults of each kind", () => {
    expect(read({}).cloudAApiVersions).toEqual(DEFAULTS);
  });
  test("names some kinds and leaves the others", () => {
    const given = JSON.stringify({ chat: "v1", embeddings: "2024-02-01" });
    expect(read({ CLOUD_A_API_VERSIONS: given }).cloudAApiVersions).toEqual({
      ...DEFAULTS,
      chat: "v1",
      embeddings: "2024-02-01",
    });
  });
  const BAD: readonly (readonly [rule: string, given: string])[] = [
    ["no JSON", "chat=v1"],
    ["a list", "[]"],
    ["null", "null"],
    ["a kind that is none", '{"chats":"v1"}'],
    ["a version that is none", '{"chat":"newest"}'],
    ["a version that is no text", '{"chat":20241021}'],
    ["a date with more behind", '{"chat":"2024-10-21&x=1"}'],
  ];
  test.each(BAD)("refuses %s", (_, given) => {
    const refused = () => read({ CLOUD_A_API_VERSIONS: given });
    expect(refused).toThrow(BadSetting);
    expect(refused).toThrow(/^CLOUD_A_API_VERSIONS/);
  });
});

describe("CLOUD_B_TOKEN_URL", () => {
  test("unset: the cloud's own", () => {
    expect(read({}).cloudBTokenUrl).toBe("https://oauth2.googleapis.com/token");
  });
  test("another address", () => {
    expect(read({ CLOUD_B_TOKEN_URL: "http://127.0.0.1:9/token" }).cloudBTokenUrl).toBe(
      "http://127.0.0.1:9/token",
    );
  });
  test.each(["tokens", "https://", "ftp://tokens.example/"])("refuses %p", (url) => {
    expect(() => read({ CLOUD_B_TOKEN_URL: url })).toThrow(/^CLOUD_B_TOKEN_URL/);
  });
});

describe("SSE_KEEPALIVE_MS", () => {
  test.each([
    [undefined, 0],
    ["0", 0],
    ["1000", 1_000],
    ["60000", 60_000],
  ])("%p is %p", (given, ms) => {
    expect(read(given === undefined ? {} : { SSE_KEEPALIVE_MS: given }).sseKeepaliveMs).toBe(ms);
  });
  test.each(["1", "999", "60001", "-1", "15s"])("refuses %p", (given) => {
    expect(() => read({ SSE_KEEPALIVE_MS: given })).toThrow(/^SSE_KEEPALIVE_MS/);
  });
});

describe("ALLOW_CLOCK_OFFSET", () => {
  test.each([
    [undefined, false],
    ["", false],
    ["0", false],
    ["1", true],
  ])("%p is %p", (given, isAllowed) => {
    expect(read(given === undefined ? {} : { ALLOW_CLOCK_OFFSET: given }).allowClockOffset).toBe(isAllowed);
  });
  test.each(["true", "yes", "2", "-1"])("refuses %p", (given) => {
    expect(() => read({ ALLOW_CLOCK_OFFSET: given })).toThrow(/^ALLOW_CLOCK_OFFSET must be one of 0, 1/);
  });
});

const MONGODB = "mongodb://db-1.example:27017,db-2.example:27017/arborgate?replicaSet=rs0";
const NATS = "nats://nats-1.example:4222";

function refusalOf(env: Record<string, string>): string {
  try {
    read(env);
  } catch (error) {
    if (error instanceof BadSetting) return error.message;
    throw error;
  }
  return "";
}

describe("STORE_URL", () => {
  test.each([
    "sqlite:data/a.db",
    "sqlite::memory:",
    MONGODB,
    "mongodb://127.0.0.1:27017",
    "mongodb://user:p%40ss@db.example/arborgate",
    "mongodb+srv://cluster.example/arborgate?retryWrites=true&w=majority",
  ])("takes %s", (url) => {
    expect(read({ STORE_URL: url }).storeUrl).toBe(url);
  });
  test.each([
    ["another kind of store", "postgres://secret-user:secret@db.example/x"],
    ["a password that is not encoded", "mongodb://user:sec@ret@db.example/x"],
    ["a password that cannot be decoded", "mongodb://user:sec%zzret@db.example/x"],
    ["a user name that cannot be decoded", "mongodb+srv://sec%@db.example/x"],
    ["no host", "mongodb:///secret"],
    ["a space", "mongodb://user:secret @db.example/x"],
    ["no scheme", "secret"],
    ["no path", "sqlite:"],
  ])("refuses %s, and shows nothing secret of it", (_, url) => {
    const refusal = refusalOf({ STORE_URL: url });
    expect(refusal).toStartWith("STORE_URL");
    expect(refusal).not.toContain("sec");
    expect(refusal).not.toContain("ret@");
  });
});

describe("NATS_URL", () => {
  test.each([
    NATS,
    "tls://nats.example:4222",
    "nats://a.example:4222,nats://b.example:4222, c.example",
    "nats://user:pass@nats.example",
    "nats://token@nats.example:4222",
  ])("takes %s", (url) => {
    expect(read({ STORE_URL: MONGODB, NATS_URL: url }).natsUrl).toBe(url);
  });
  test.each([
    ["another protocol", "http://secret@nats.example"],
    ["a password that is not encoded", "nats://user:sec@ret@nats.example"],
    ["a password that cannot be decoded", "nats://user:sec100%@nats.example"],
    ["a token that cannot be decoded", `${NATS},tls://sec%zz@nats.example`],
    ["an empty place in the list", `${NATS},`],
    ["no host", "nats://"],
  ])("refuses %s, and shows nothing secret of it", (_, url) => {
    const refusal = refusalOf({ STORE_URL: MONGODB, NATS_URL: url });
    expect(refusal).toStartWith("NATS_URL");
    expect(refusal).not.toContain("sec");
  });
  test("needs a store on MongoDB", () => {
    expect(refusalOf({ NATS_URL: NATS })).toMatch(/^NATS_URL .*cluster.*mongodb:/);
  });
});

describe("an address that is shown", () => {
  test.each([
    ["sqlite:data/a.db", "sqlite:data/a.db"],
    ["mongodb://user:secret@db.example:1/arborgate?authSource=admin", "mongodb://db.example:1/arborgate"],
    [
      "mongodb://u:secret@a.example,b.example/x?tlsCertificateKeyFilePassword=secret",
      "mongodb://a.example,b.example/x",
    ],
    ["nats://user:secret@a.example,nats://secret@b.example:1", "nats://a.example,nats://b.example:1"],
    ["tls://user:se%2Fcret@a.example", "tls://a.example"],
  ])("%s", (url, shown) => {
    expect(shownAddress(url)).toBe(shown);
  });
});

describe.each(["TRUST_PROXY", "PROVIDER_ALLOW_CIDRS"] as const)("%s", (name) => {
  const listed = { TRUST_PROXY: "trustProxy", PROVIDER_ALLOW_CIDRS: "providerAllowCidrs" } as const;
  test("takes addresses and ranges of both kinds", () => {
    const items = ["10.1.0.0/16", "192.0.2.7", "2001:db8::/32", "::1", "::ffff:10.0.0.0/104"];
    expect(read({ [name]: items.join(", ") })[listed[name]]).toEqual(items);
  });
  // Each has another meaning in the parser of addresses than for who writes it.
  test.each(["10.1/16", "10/8", "010.0.0.0/8", "192.168", "300", "0x7f.0.0.1", "10.0.0.0/33"])(
    "refuses %p",
    (item) => {
      expect(refusalOf({ [name]: `127.0.0.1 ${item}` })).toBe(
        `${name}: "${item}" is neither an address nor a CIDR range`,
      );
    },
  );
});

describe("PUBLIC_URL", () => {
  test("takes web addresses", () => {
    const urls = ["https://models.example", "http://alias.example:8080/base"];
    expect(read({ PUBLIC_URL: urls.join(", ") }).publicUrls).toEqual(urls);
  });
  // The first is a URL of the scheme `models.example:`, to which no provider's address is ever equal.
  test.each(["models.example:8080", "models.example", "ftp://models.example", "https://"])(
    "refuses %p",
    (url) => {
      expect(refusalOf({ PUBLIC_URL: `https://alias.example ${url}` })).toStartWith("PUBLIC_URL");
    },
  );
});

describe("NODE_NAME", () => {
  test.each(["a", "node-1", "gw.eu_1", "n".repeat(63)])("takes %p", (name) => {
    expect(read({ NODE_NAME: name }).nodeName).toBe(name);
  });
  test.each(["a b", "a/b", "a#1", ".a", "-a", "größe", "n".repeat(64), "*", "a>b"])("refuses %p", (name) => {
    expect(refusalOf({ NODE_NAME: name })).toStartWith("NODE_NAME");
  });
});

describe("LB_WAIT_MS", () => {
  test.each([
    ["alone on SQLite", {}, 0],
    ["alone on MongoDB", { STORE_URL: MONGODB }, 0],
    ["in a cluster", { STORE_URL: MONGODB, NATS_URL: NATS }, 5_000],
    ["as it is set", { STORE_URL: MONGODB, NATS_URL: NATS, LB_WAIT_MS: "0" }, 0],
  ])("%s", (_, env, ms) => {
    expect(read(env).lbWaitMs).toBe(ms);
  });
});

test("LB_NODE_HEADER is on or off, and off by default", () => {
  expect([read({}).lbNodeHeader, read({ LB_NODE_HEADER: "1" }).lbNodeHeader]).toEqual([false, true]);
  expect(refusalOf({ LB_NODE_HEADER: "yes" })).toStartWith("LB_NODE_HEADER");
});

describe("SECRETS_KEY", () => {
  const KEY = Buffer.alloc(32, 1).toString("base64");
  test("is needed on MongoDB, by every command that opens secrets; the line says how to make one", () => {
    const settings = read({ STORE_URL: MONGODB });
    expect(() => secretsKey(settings)).toThrow(BadSetting);
    expect(() => secretsKey(settings)).toThrow(/^SECRETS_KEY .*openssl rand -base64 32/);
    expect(secretsKey(read({ STORE_URL: MONGODB, SECRETS_KEY: KEY }))).toBe(KEY);
  });
  test("is made for a process in memory", () => {
    const made = secretsKey(read({ STORE_URL: "sqlite::memory:" }));
    expect(Buffer.from(made, "base64")).toHaveLength(32);
  });
});

describe("CORS_ORIGINS", () => {
  test.each([
    [undefined, []],
    ["https://a.example", ["https://a.example"]],
    ["https://a.example:8443, http://localhost:5173", ["https://a.example:8443", "http://localhost:5173"]],
    ["http://[::1]:3000 http://127.0.0.1", ["http://[::1]:3000", "http://127.0.0.1"]],
    ["capacitor://localhost", ["capacitor://localhost"]],
    ["*", ["*"]],
  ])("%p is %p", (given, origins) => {
    expect(read(given === undefined ? {} : { CORS_ORIGINS: given }).corsOrigins).toEqual(origins);
  });
  test.each([
    "a.example",
    "https://a.example/",
    "https://a.example/app",
    "https://A.example",
    "HTTPS://a.example",
    "https://*.a.example",
    "https://a.example:443",
    "http://a.example:80",
    "http://a.example:99999",
    "https://a.example?x",
    "https://b\u00fccher.example",
    "https://",
    "null",
    "https://a.example,nonsense",
  ])("refuses %p in one line", (given) => {
    const said = refusalOf({ CORS_ORIGINS: given });
    expect(said).toMatch(/^CORS_ORIGINS: "[^\n]*$/);
  });
  test("an origin with a password is refused without it", () => {
    const said = refusalOf({ CORS_ORIGINS: "https://user:secret@a.example" });
    expect(said).toStartWith("CORS_ORIGINS");
    expect(said).not.toContain("secret");
  });
});

describe("PROCESSES", () => {
  const cluster = { STORE_URL: MONGODB, NATS_URL: NATS };
  test.each([
    [undefined, 1],
    ["1", 1],
    ["4", 4],
  ])("%p is %p", (given, processes) => {
    expect(read({ ...cluster, ...(given && { PROCESSES: given }) }).processes).toBe(processes);
  });
  test.each(["0", "-1", "1.5", "257", "two"])("refuses %p", (given) => {
    expect(refusalOf({ ...cluster, PROCESSES: given })).toStartWith("PROCESSES must be an integer");
  });
  test.each([
    ["an embedded store", {}],
    ["MongoDB without NATS", { STORE_URL: MONGODB }],
  ])("over 1 is refused on %s", (_, env) => {
    expect(refusalOf({ ...env, PROCESSES: "2" })).toStartWith(
      "PROCESSES over 1 makes a cluster of this machine",
    );
  });
});

test("ADMIN_PORT is another port than PORT, or another host's", () => {
  expect(() => read({ PORT: "8080", ADMIN_PORT: "8080" })).toThrow(/^PORT and ADMIN_PORT must differ/);
  expect(read({ PORT: "8080", ADMIN_PORT: "8080", ADMIN_HOST: "10.0.0.1" }).adminPort).toBe(8080);
  expect(read({ PORT: "0", ADMIN_PORT: "0" }).adminPort).toBe(0);
});
