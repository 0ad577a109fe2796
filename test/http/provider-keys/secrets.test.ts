// The secrets of provider keys, SecretKey and private key, through all that /x-keys can do, well and badly: in no answer, no
// log, no line of the operation log, and in no byte on the disk.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyPem } from "../../admin/private-key.ts";
import { type Bench, type Json, MODEL, type Owner, startBench } from "../../e2e/harness.ts";

const [FIRST, SECOND, THIRD] = [privateKeyPem(), privateKeyPem(), privateKeyPem()] as const;
const SECRETS = [
  "sk-proj-AbCdEf0123456789ghIJklMNop",
  "opaque0123456789abcdef0123456789",
  "sk-of-a-test-ZyXwVu9876543210",
];

let bench: Bench;
let owner: Owner;
/** Refuses everything, and repeats all that it was sent. */
let echo: ReturnType<typeof Bun.serve>;
let statements = 0;
const seen: string[] = [];

beforeAll(async () => {
  echo = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      const body = await request.text();
      if (body.includes("assertion=")) statements++;
      const said = `${[...request.headers].join(" ")} ${body}`;
      const error = { message: `The key ${said} is wrong`, code: "invalid_grant", type: said };
      return Response.json(
        { error, error_description: said },
        { status: 400, headers: { "x-echo": "said" } },
      );
    },
  });
  const url = `http://127.0.0.1:${echo.port}`;
  bench = await startBench({ settings: { LOG_LEVEL: "debug", CLOUD_B_TOKEN_URL: `${url}/token` } });
  owner = await bench.owner({ keys: 0 });
  await life(url);
});
afterAll(async () => {
  await bench.close();
  await echo.stop(true);
});

async function ask(method: string, path: string, body?: unknown): Promise<Json> {
  const headers = body === undefined ? {} : { "idempotency-key": `once-${seen.length}` };
  const answer = await bench.call(owner.key, method, path, body, { headers });
  seen.push(answer.text, JSON.stringify([...answer.headers]));
  return answer.body;
}

async function life(url: string): Promise<void> {
  const account = {
    ...{ provider_type: "cloud_b", client_email: "one@p-1.example.com" },
    base_url: `${url}/v1/projects/p-1/locations/us-east5`,
  };
  const standard = { Level: 1, Provider: url, SecretKey: SECRETS[0] };
  const cloud = { ...standard, SecretKey: SECRETS[1], Config: { ...account, private_key: FIRST } };
  const signing = { ...standard, SecretKey: THIRD, Config: account };
  for (const given of [standard, cloud, signing]) {
    const { key } = await ask("POST", "/x-keys", given);
    const path = `/x-keys/${key.ID}`;
    // Whatever is wrong with it, the answer says so without repeating it.
    for (const bad of [
      { Level: "one" },
      { Unknown: 1 },
      { Provider: "http://10.0.0.1" },
      { Config: { private_key: 1 } },
    ]) {
      await ask("POST", "/x-keys", { ...given, ...bad });
    }
    await ask("POST", "/x-keys", {
      ...given,
      Config: { ...account, private_key: `${FIRST.slice(0, -80)}broken` },
    });
    await ask("POST", "/x-keys", { ...given, Config: { provider_type: "cloud_a", private_key: FIRST } });
    await ask("PUT", path, { SecretKey: SECRETS[2], Name: 1 });
    for (const path of ["/x-keys", `/x-keys/${key.ID}`, "/x-keys/L1"]) await ask("GET", path);
    await ask("POST", `${path}/test`, { model: MODEL });
    await ask("POST", `${path}/test`, { model: "claude-opus-4-1" });
    await ask("POST", "/v1/chat/completions", { model: MODEL, messages: [{ role: "user", content: "hi" }] });
    await ask("POST", "/v1/messages", {
      model: MODEL,
      messages: [{ role: "user", content: "hi" }],
      max_tokens: 1,
    });
    if (key.Config.private_key !== undefined) await ask("PUT", path, { Config: { private_key: SECOND } });
    await ask("PUT", path, { SecretKey: key.Config.provider_type ? THIRD : SECRETS[2] });
    await ask("PUT", path, { Status: false });
  }
  for (const path of ["/x-conf", "/dashboard/explain?model=x", "/dashboard/logs?size=100", "/metrics"]) {
    await ask("GET", path);
  }
  const all = await ask("GET", "/x-keys");
  await ask("DELETE", `/x-keys/${all.keys[0].ID}`);
}

/** A secret as it stands and in the forms in which it might slip through; of a private key each of its lines. */
const forms: readonly string[] = [
  ...SECRETS.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString("base64"),
    encodeURIComponent(secret),
  ]),
  ...[FIRST, SECOND, THIRD].flatMap((pem) =>
    pem.split("\n").filter((line) => line.length > 20 && !line.startsWith("-")),
  ),
];

test("everything was tried: calls with the secrets, statements signed, refusals", () => {
  expect(statements).toBeGreaterThan(1);
  expect(seen.filter((text) => text.includes('"signal":'))).toHaveLength(6);
  expect(seen.filter((text) => text.includes('"signal":"invalid_key"')).length).toBeGreaterThan(1);
  expect(seen.filter((text) => text.includes('"error":')).length).toBeGreaterThan(15);
  expect(bench.log.filter(({ event }) => event === "attempt_failed").length).toBeGreaterThan(2);
});

test("no secret in an answer or a header", () => {
  const output = seen.join("\n");
  for (const secret of forms) expect(output).not.toContain(secret);
});

test("no secret in the service's log", () => {
  const logged = JSON.stringify(bench.log);
  for (const secret of forms) expect(logged).not.toContain(secret);
});

test("in the operation log the masks alone, and that a secret was exchanged for another of the same mask", async () => {
  const { logs } = (await bench.call(owner.key, "GET", "/dashboard/logs?size=100")).body;
  const details = logs.map((line: Json) => line.details).join("\n");
  for (const secret of forms) expect(details).not.toContain(secret);
  for (const word of ["sk-…MNop", "---…----", 'Config.private_key: "another of the same mask"']) {
    expect(details).toContain(word);
  }
});

test("no secret in any byte of the data directory", () => {
  const files = readdirSync(bench.directory, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.map(({ name }) => name)).toContain("bench.db");
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name));
    for (const secret of forms) expect(bytes.includes(secret)).toBe(false);
  }
});
