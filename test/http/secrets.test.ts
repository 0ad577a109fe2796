// A whole life, and no secret in anything that leaves the service or that it writes: no API key but in the answer that
// creates it, no provider secret (some providers echo it in their errors), no key that seals them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { realClock } from "../../src/base/clock.ts";
import { openStore } from "../../src/store/open.ts";
import { type Account, asking, type Bench, fresh, MODEL, PRICING, startBench } from "../e2e/harness.ts";
import { type PostOffice, startPostOffice } from "../mail/post-office.ts";
import { userBody } from "./bodies.ts";

const SECRETS_KEY = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
const METRICS_TOKEN = `metrics-token-${fresh()}-0123456789`;
/** As providers issue them; the last two are of no known form. */
const PROVIDER_SECRETS = [
  "sk-proj-AbCdEf0123456789ghIJklMNopQRstUVwx",
  "opaque0123456789abcdef0123456789abcdef",
  "Zq7.tilde~and/slash+plus=0123456789",
];
/** The password of a mail server, which says it back when it refuses it. */
const MAIL_PASS = `Mail-Pass_${fresh()}-0123456789`;
/** How the echoing provider fails: status, and whether the error comes inside a stream. */
const FAILURES = ["400", "401", "403", "404", "422", "429", "500", "200", "200-later"];

let bench: Bench;
let echo: ReturnType<typeof Bun.serve>;
let office: PostOffice;
/** Everything that left the service, but the answers that create accounts. */
const seen: string[] = [];
const apiKeys: string[] = [];

beforeAll(async () => {
  bench = await startBench({ settings: { SECRETS_KEY, METRICS_TOKEN, LOG_LEVEL: "debug" } });
  office = await startPostOffice({ login: { user: "mailer", pass: "another one" } });
  echo = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: echoing });
  await life();
});
afterAll(async () => {
  await bench.close();
  await echo.stop(true);
  await office.shut();
});

/** Fails as the last message says, and repeats the key that it got in every place where an error has words. */
async function echoing(request: Request): Promise<Response> {
  const secret = request.headers.get("x-api-key") ?? request.headers.get("authorization")!.slice(7);
  const how: string = (await request.json()).messages.at(-1).content;
  const error = {
    message: `The request with the key ${secret} (Bearer ${secret}) is wrong, see https://x.example/?k=${secret}`,
    type: "invalid_request_error",
    code: secret,
    param: secret,
  };
  const headers = { "x-echo": secret, "set-cookie": `k=${encodeURIComponent(secret)}` };
  if (how !== "200-later") return Response.json({ error }, { status: Number(how), headers });
  const chunk = { object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "a word" } }] };
  return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify({ error })}\n\n`, {
    headers: { ...headers, "content-type": "text/event-stream" },
  });
}

async function ask(...given: Parameters<Bench["call"]>): Promise<void> {
  const answer = await bench.call(...given);
  seen.push(answer.text, JSON.stringify([...answer.headers]));
}

async function born(parent: string, credit: number): Promise<Account> {
  const Name = `life-${fresh()}`;
  const { body } = await bench.call(parent, "POST", "/x-users", userBody({ Name, CreditGranted: credit }));
  apiKeys.push(body.User.SecretKey);
  return { id: body.User.ID, key: body.User.SecretKey, name: Name };
}

async function life(): Promise<void> {
  apiKeys.push(bench.rootKey);
  const owner = await born(bench.rootKey, 1_000);
  const child = await born(owner.key, 100);
  for (const [i, secret] of PROVIDER_SECRETS.entries()) {
    const key = {
      Name: `key ${i}`,
      Level: i + 1,
      Provider: `http://127.0.0.1:${echo.port}`,
      SecretKey: secret,
    };
    await ask(owner.key, "POST", "/x-keys", key);
    await ask(owner.key, "POST", "/x-keys", { ...key, Level: "one" });
    await ask(owner.key, "POST", "/x-keys", { ...key, Unknown: secret });
    await ask(owner.key, "POST", "/x-keys", { ...key, Provider: "http://10.0.0.1" });
  }
  await ask(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "one=1,two=2,three=3", PRICING });
  await ask(owner.key, "PUT", "/x-config", {
    PRICING: { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } },
  });
  for (const model of ["one", "two", "three"]) {
    for (const how of FAILURES) {
      for (const stream of [false, true]) {
        await ask(child.key, "POST", "/v1/chat/completions", { ...asking(how), model, stream });
      }
    }
  }
  const mail = {
    ...{ EMAIL_SMTP: "127.0.0.1", EMAIL_PORT: String(office.port), EMAIL_TLS: "false" },
    ...{ EMAIL_AUTH: "mailer", EMAIL_PASS: MAIL_PASS, SERVICE_MAIL: "mail@life.example" },
  };
  await ask(owner.key, "PUT", "/x-config", mail);
  await ask(owner.key, "POST", "/x-config/test-mail");
  const speaking = { Level: 8, Provider: `http://127.0.0.1:${echo.port}`, SecretKey: PROVIDER_SECRETS[0] };
  await ask(owner.key, "POST", "/x-keys", { ...speaking, Config: { api_style: "messages" } });
  await ask(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=8" });
  for (const how of FAILURES) {
    for (const stream of [false, true]) {
      const body = { ...asking(how), max_tokens: 9, stream };
      await ask(child.key, "POST", "/v1/messages", body, { headers: { "x-request-id": `failed-${how}` } });
    }
    await ask(child.key, "POST", "/v1/messages/count_tokens", asking(how));
    await ask(owner.key, "GET", `/x-explain?user=${child.id}&request=failed-${how}`);
  }
  const good = { Level: 9, Provider: bench.provider.url, SecretKey: PROVIDER_SECRETS[1] };
  await ask(owner.key, "POST", "/x-keys", good);
  await ask(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=9" });
  for (const said of ["[[output=3]]", "[[fault=401]]", "[[fault=cut]]"]) {
    for (const stream of [false, true]) {
      await ask(child.key, "POST", "/v1/chat/completions", { ...asking(said), stream });
    }
  }
  const once = { headers: { "idempotency-key": "asked-once", "x-request-id": "charged" } };
  for (let i = 0; i < 2; i++)
    await ask(child.key, "POST", "/v1/chat/completions", asking("hello there"), once);
  for (const key of [bench.rootKey, owner.key, child.key]) {
    for (const path of [
      "/dashboard/status",
      "/dashboard/x-user-status",
      "/dashboard/ledger",
      "/dashboard/live",
      "/dashboard/requests",
      `/x-info?user=${child.id}`,
      `/x-requests?user=${child.id}`,
      "/x-keys",
      "/x-events",
      "/x-conf",
      "/x-config",
      "/x-prices?size=1000",
      "/x-users?sort=balance&with=children,month_cost",
      `/x-users?parent=${child.id}&sort=month_cost`,
      "/dashboard/logs?from=2020-01-01&size=100",
      "/metrics",
      "/v1/models",
      "/v1/models/one",
      "/dashboard/explain?model=one",
      "/dashboard/explain?request=charged",
      `/x-explain?user=${child.id}&model=${MODEL}`,
      `/x-explain?user=${child.id}&request=charged`,
    ]) {
      await ask(key, "GET", path);
    }
    await ask(key, "GET", `/x-users/${child.id}`);
    await ask(key, "POST", "/x-users", { Name: "x", Secret: apiKeys[0] });
    await ask(key, "POST", "/v1/quote", { path: "/v1/chat/completions", body: asking("hello there") });
  }
  await lifeOfNamedKeys(child, owner);
  // Guessing is slowed down: a few are enough.
  for (const path of ["/dashboard/status", "/x-keys", "/v1/models", "/metrics"])
    await ask("sk-of-nobody", "GET", path);
  for (const path of ["/healthz", "/readyz", "/metrics"]) await ask(METRICS_TOKEN, "GET", path);
}

/** Keys are made, used, changed, rotated, replayed, refused and deleted, by the account and by its Owner. */
async function lifeOfNamedKeys(child: Account, owner: Account): Promise<void> {
  for (const [by, user] of [
    [child, ""],
    [owner, `?user=${child.id}`],
  ] as const) {
    const path = (behind = "") => `/dashboard/keys${behind}${user}`;
    const fields = { Name: `life-${fresh()}`, Scopes: ["invoke", "read", "manage"] };
    const once = { headers: { "idempotency-key": fields.Name } };
    const { body } = await bench.call(by.key, "POST", path(), fields, once);
    apiKeys.push(body.secret);
    await ask(body.secret, "POST", "/v1/chat/completions", asking("[[output=3]]"));
    await ask(body.secret, "POST", "/dashboard/keys", { ...fields, Secret: body.secret });
    await ask(body.secret, "POST", "/x-self", { confirm: body.secret });
    await ask(by.key, "PUT", path(`/${body.key.id}`), { Scopes: [body.secret], DailyLimit: 5 });
    await ask(by.key, "PUT", path(`/${body.key.id}`), { AllowModels: "one", Scopes: ["invoke"] });
    const rotated = await bench.call(by.key, "POST", path(`/${body.key.id}/rotate`), { OverlapSeconds: 60 });
    apiKeys.push(rotated.body.secret);
    await ask(by.key, "GET", path());
    await ask(by.key, "PUT", path(`/${body.key.id}`), { Status: false });
    await ask(rotated.body.secret, "GET", "/dashboard/info");
    await ask(by.key, "DELETE", path(`/${body.key.id}`));
    for (const dead of [body.secret, rotated.body.secret]) await ask(dead, "GET", "/dashboard/status");
    await ask(by.key, "GET", "/dashboard/logs?size=100");
    await ask(by.key, "GET", "/dashboard/ledger");
  }
}

/** A secret as it stands, and in the forms in which it might slip through. */
const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64"),
  Buffer.from(secret).toString("hex"),
];

async function boxes(): Promise<string[]> {
  const store = await openStore(`sqlite:${join(bench.directory, "bench.db")}`, {
    clock: realClock(),
    readOnly: true,
  });
  const found: string[] = [];
  for (const actor of await store.listActors("key-pool/", "", 100)) {
    const commits = JSON.stringify(await store.readCommits(actor, 0, 1_000));
    for (const match of commits.matchAll(/"box":"([^"]+)"/g)) found.push(match[1]!);
  }
  await store.close();
  return [...new Set(found)];
}

const filesOf = (directory: string): { name: string; bytes: Buffer }[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));

const secrets = () => [...apiKeys, ...PROVIDER_SECRETS, SECRETS_KEY, METRICS_TOKEN, MAIL_PASS];

describe("a secret never appears", () => {
  test("in an answer or a header, not sealed either", async () => {
    const output = seen.join("\n");
    const sealed = await boxes();
    expect(sealed).toHaveLength(PROVIDER_SECRETS.length + 2);
    for (const secret of secrets().flatMap(formsOf)) {
      expect(output).not.toContain(secret);
    }
    for (const box of sealed) expect(output).not.toContain(box);
  });

  test("in a log line", async () => {
    const logged = JSON.stringify(bench.log);
    expect(bench.log.some((line) => line.event === "attempt_failed")).toBe(true);
    expect(office.logins).toContain("mailer");
    expect(seen.some((text) => text.includes('"stage":"login","code":535'))).toBe(true);
    expect(seen.some((text) => text.startsWith('{"object":"explain"') && text.includes("invalid_key"))).toBe(
      true,
    );
    for (const secret of secrets().flatMap(formsOf)) {
      expect(logged).not.toContain(secret);
    }
    for (const box of await boxes()) expect(logged).not.toContain(box);
  });

  test("in any byte of the data directory", () => {
    const files = filesOf(bench.directory);
    expect(files.map((file) => file.name)).toContain("bench.db");
    for (const { bytes } of files) {
      for (const secret of secrets().flatMap(formsOf)) {
        expect(bytes.includes(secret)).toBe(false);
      }
      // What was asked and answered is nobody's business either.
      expect(bytes.includes("The request with the key")).toBe(false);
      expect(bytes.includes("hello there")).toBe(false);
    }
  });

  test("but the new key itself, once, in the answer that creates it", () => {
    expect(new Set(apiKeys).size).toBe(apiKeys.length);
    for (const key of apiKeys) expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
  });
});

test("provider keys come back masked: the first 3 and the last 4 characters", async () => {
  const listed = seen.filter((text) => text.includes('"keys":['));
  expect(listed.length).toBeGreaterThan(0);
  for (const secret of PROVIDER_SECRETS) {
    expect(listed.join()).toContain(`${secret.slice(0, 3)}…${secret.slice(-4)}`);
  }
});
