// What a key may spend and where, at the gateway: caps, lists, addresses, expiry, rotation with overlap, and what its ledger
// lines say.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../e2e/harness.ts";
import { MODEL } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { makeKey, recordOf } from "./key-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = preparedEach(() => bench.subaccount(owner, { CreditGranted: 10 }));

const change = (id: number, body: object) => bench.call(user.key, "PUT", `/dashboard/keys/${id}`, body);
const rotate = (id: number, OverlapSeconds = 0) =>
  bench.call(user.key, "POST", `/dashboard/keys/${id}/rotate`, { OverlapSeconds });
const chat = (key: string, output = 1) => bench.chat(key, `[[output=${output}]]`, { max_tokens: output });
const statuses = async (...keys: string[]) => Promise.all(keys.map(async (key) => (await chat(key)).status));

test("a line has the key's id and name, the main key's 0 and main", async () => {
  const { id, secret } = await makeKey(bench, user, { Name: "lines" });
  await chat(secret);
  await chat(user.key);
  const lines = (await bench.ledger(user.key)).filter(({ type }: Json) => type === "charge");
  const { events } = { events: lines };
  expect(events).toHaveLength(2);
  const shown = (await recordOf(bench, user, id)).cost_total;
  expect(shown).toBe(-lines[0].amount);
});

describe("caps", () => {
  test.each([
    ["HardLimit", "hard_limit_reached", "monthly HardLimit of key"],
    ["DailyLimit", "daily_limit_reached", "DailyLimit of key"],
  ])("%s: %s, named in the message; the main key goes on", async (field, code, words) => {
    const { secret, name } = await makeKey(bench, user, { [field]: 0.0001 });
    // Alone on its key it may use more than the rest of the cap; after it nothing is left.
    expect((await chat(secret, 100)).status).toBe(200);
    const refused = await chat(secret, 1_000);
    expectError(refused, 429, code);
    expect(refused.body.error.message).toContain(`${words} ${name}`);
    expect(refused.headers.get("x-should-retry")).toBe("false");
    expect((await chat(user.key, 1_000)).status).toBe(200);
  });

  test("many requests at once never spend more than the cap together", async () => {
    const { id, secret } = await makeKey(bench, user, { HardLimit: 0.001 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => chat(secret, 50)));
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect(admitted).toBeWithin(2, 40);
    const { cost_total } = await recordOf(bench, user, id);
    expect(cost_total).toBeGreaterThan(0);
    expect(cost_total).toBeLessThanOrEqual(0.001);
  });

  test("RPM and TPM: exact, with retry-after, in the headers too", async () => {
    const { secret, name } = await makeKey(bench, user, { RPM: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => chat(secret)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(refused.body.error.code).toBe("rpm_exceeded");
    expect(refused.body.error.message).toContain(`of key ${name}`);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 62);
    expect(answers.find(({ status }) => status === 200)!.headers.get("x-ratelimit-limit-requests")).toBe("3");
    expect((await chat(user.key)).status).toBe(200);
    const tokens = await makeKey(bench, user, { TPM: 20 });
    expectError(await chat(tokens.secret, 100).then(() => chat(tokens.secret, 100)), 429, "tpm_exceeded");
  });

  test("of Root's keys hold although Root has no limits", async () => {
    const root = { key: bench.rootKey, id: 1, name: "root" };
    const { secret } = await makeKey(bench, root, { HardLimit: 0.0000001 });
    const answer = await chat(secret, 1_000);
    expect([429, 404]).toContain(answer.status);
    if (answer.status === 429) expectError(answer, 429, "hard_limit_reached");
  });

  test("a lower cap concerns later admissions; the running one is charged to its key", async () => {
    const { id, secret } = await makeKey(bench, user);
    const running = bench.chat(secret, "[[output=5 head_ms=1500]]", { max_tokens: 9 });
    const held = async () => (await bench.call(user.key, "GET", "/dashboard/info")).body.balance.held;
    while ((await held()) === 0) await Bun.sleep(5);
    await bench.call(user.key, "DELETE", `/dashboard/keys/${id}`);
    expect((await running).status).toBe(200);
    expectError(await chat(secret), 401, "invalid_api_key");
    const [main] = (await bench.call(user.key, "GET", "/dashboard/keys")).body.keys;
    expect(main.cost_total).toBe(0);
  });
});

describe("lists", () => {
  test("AllowModels: 403 model_not_allowed after mapping, and the list of models has no other", async () => {
    const { secret } = await makeKey(bench, user, { AllowModels: "other-model" });
    expectError(await chat(secret), 403, "model_not_allowed");
    expect((await bench.call(secret, "GET", "/v1/models")).body.data).toEqual([]);
    expectError(await bench.call(secret, "GET", `/v1/models/${MODEL}`), 404, "model_not_found");
    const open = await makeKey(bench, user, { AllowModels: `${MODEL.slice(0, 5)}*` });
    expect((await chat(open.secret)).status).toBe(200);
    const { data } = (await bench.call(open.secret, "GET", "/v1/models")).body;
    expect(data.map(({ id }: Json) => id)).toEqual([MODEL]);
  });

  test("Resources: 403 path_not_allowed, before the model", async () => {
    const { secret } = await makeKey(bench, user, { Resources: "/v1/embeddings", AllowModels: "other" });
    expectError(await chat(secret), 403, "path_not_allowed");
    expectError(await bench.call(secret, "GET", "/v1/models"), 403, "path_not_allowed");
  });

  test("AllowIPs: 403 ip_not_allowed everywhere, before the scope", async () => {
    const { secret } = await makeKey(bench, user, { AllowIPs: "192.0.2.1", Scopes: ["read"] });
    expectError(await chat(secret), 403, "ip_not_allowed");
    expectError(await bench.call(secret, "GET", "/dashboard/info"), 403, "ip_not_allowed");
    expectError(await bench.call(secret, "GET", "/dashboard/status"), 403, "ip_not_allowed");
  });

  test("a quote and a dry run see the key's caps", async () => {
    const { secret } = await makeKey(bench, user, { HardLimit: 0.000001, AllowModels: MODEL });
    const body = {
      path: "/v1/chat/completions",
      body: { model: MODEL, messages: [{ role: "user", content: "x" }], max_tokens: 5_000 },
    };
    const { body: quoted } = await bench.call(secret, "POST", "/v1/quote", body);
    expect(quoted).toMatchObject({ admitted: false, refusal: { code: "hard_limit_reached" } });
  });
});

describe("a key that is not valid any more is 401, and its message says why", () => {
  const why = async (key: string) => (await chat(key)).body.error?.message;

  test("disabled; enabled it works again", async () => {
    const { id, secret } = await makeKey(bench, user);
    const { secret: second } = (await rotate(id, 3_600)).body;
    await change(id, { Status: false });
    expect(await why(second)).toContain("is disabled");
    expect(await statuses(secret, second)).toEqual([401, 401]);
    await change(id, { Status: true });
    expect(await statuses(secret, second)).toEqual([401, 200]);
  });

  test("expired, to the millisecond of business time", async () => {
    const at = bench.now() + 3_600_000;
    const { secret, name } = await makeKey(bench, user, { ExpiresAt: new Date(at).toISOString() });
    expect((await chat(secret)).status).toBe(200);
    bench.moveClock(3_600_000);
    expect(await why(secret)).toContain(`The key ${name} expired at ${new Date(at).toISOString()}`);
    expectError(await bench.call(secret, "GET", "/dashboard/status"), 401, "invalid_api_key");
  });

  test("deleted", async () => {
    const { id, secret, name } = await makeKey(bench, user);
    const { body } = await bench.call(user.key, "DELETE", `/dashboard/keys/${id}`);
    expect(body).toMatchObject({ success: true, key: { id, name } });
    expect(await why(secret)).toContain(`The key ${name} was deleted`);
    expect(await recordOf(bench, user, id)).toBeUndefined();
  });

  test("rotated: at once without an overlap; with one both secrets work until it ends", async () => {
    const { id, secret } = await makeKey(bench, user);
    const second = (await rotate(id)).body.secret;
    expect(await statuses(secret, second)).toEqual([401, 200]);
    const { body } = await rotate(id, 600);
    expect(Date.parse(body.key.overlap_until)).toBeWithin(bench.now() + 500_000, bench.now() + 600_001);
    expect(await statuses(second, body.secret)).toEqual([200, 200]);
    // A further rotation ends the oldest at once.
    const fourth = (await rotate(id, 600)).body.secret;
    expect(await statuses(second, body.secret, fourth)).toEqual([401, 200, 200]);
    bench.moveClock(600_001);
    expect(await statuses(body.secret, fourth)).toEqual([401, 200]);
    expect((await recordOf(bench, user, id)).overlap_until).toBeNull();
  });
});

test("a key that only reads has a last use, by the hour", async () => {
  const { id, secret } = await makeKey(bench, user, { Scopes: ["read"] });
  await bench.call(secret, "GET", "/dashboard/info");
  expect(Date.parse((await recordOf(bench, user, id)).last_used_at)).toBeWithin(
    bench.now() - 60_000,
    bench.now() + 1,
  );
});
