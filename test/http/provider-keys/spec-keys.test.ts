// The specification's tables of provider keys, their Config, their states and their endpoints: one test for each row,
// through HTTP.

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { privateKeyPem } from "../../admin/private-key.ts";
import { type Account, type Json, type Owner, PRICING, type UpstreamKey } from "../../e2e/harness.ts";
import { ask, fares, fateOf, watch } from "../../e2e/harness-keys.ts";
import { useBench } from "../../e2e/use-bench.ts";

const MINUTE_MS = 60_000;
const SECRET = "sk-provider-0123456789abcdef";

let owner: Owner;
let good: { readonly Level: number; readonly Provider: string; readonly SecretKey: string };
const bench = useBench({
  settings: { ALLOW_CLOCK_OFFSET: "1", CLOUD_A_API_VERSIONS: '{"chat":"2024-10-21"}' },
});
beforeAll(async () => {
  good = { Level: 1, Provider: bench.provider.url, SecretKey: SECRET };
});
beforeEach(async () => {
  owner = await bench.owner({ keys: 0 });
});

const call = (method: string, path: string, body?: object) => bench.call(owner.key, method, path, body);
const add = (given: object = {}) => call("POST", "/x-keys", { ...good, ...given });
const added = async (given: object = {}): Promise<Json> => (await add(given)).body.key;
const read = async ({ ID }: Json) => (await call("GET", `/x-keys/${ID}`)).body.key;
const codeOf = async (answer: ReturnType<typeof call>) => {
  const { status, body } = await answer;
  return status === 200 ? 200 : `${status} ${body.error.code}`;
};

describe("field", () => {
  test("ID: an integer, assigned", async () => {
    const [one, two] = [await added(), await added()];
    expect(one.ID).toBeInteger();
    expect(two.ID).toBeGreaterThan(one.ID);
    expect(await codeOf(add({ ID: 7 }))).toBe("400 unknown_field");
  });

  test("Name: optional, for display", async () => {
    expect((await added()).Name).toBe("");
    expect((await added({ Name: "the good one" })).Name).toBe("the good one");
  });

  test("Level: an integer, required", async () => {
    expect((await added({ Level: -2 })).Level).toBe(-2);
    expect(await codeOf(add({ Level: undefined }))).toBe("400 missing_parameter");
    expect(await codeOf(add({ Level: "1" }))).toBe("400 invalid_parameter");
  });

  test("Provider: a base URL, required, not the service itself", async () => {
    expect((await added({ Provider: `${bench.provider.url}/v1` })).Provider).toBe(`${bench.provider.url}/v1`);
    expect(await codeOf(add({ Provider: undefined }))).toBe("400 missing_parameter");
    expect(await codeOf(add({ Provider: bench.url }))).toBe("400 self_referencing_provider");
  });

  test("SecretKey: required on create, at least 20 characters", async () => {
    expect(await codeOf(add({ SecretKey: "x".repeat(20) }))).toBe(200);
    expect(await codeOf(add({ SecretKey: "x".repeat(19) }))).toBe("400 invalid_parameter");
    expect(await codeOf(add({ SecretKey: undefined }))).toBe("400 missing_parameter");
  });

  test("Status: true by default", async () => {
    expect([(await added()).Status, (await added({ Status: false })).Status]).toEqual([true, false]);
  });

  test("Config: optional", async () => {
    expect((await added()).Config).toEqual({});
    expect((await added({ Config: { api_style: "chat" } })).Config).toEqual({ api_style: "chat" });
  });

  test("SleepTimes: in the list of sleeping keys", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    const { SleepingKeys } = (await call("GET", "/x-conf")).body;
    expect(SleepingKeys).toMatchObject([{ ID: key.id, SleepTimes: 1 }]);
    expect(await codeOf(add({ SleepTimes: 0 }))).toBe("400 unknown_field");
    expect((await ask(bench, user)).told).toBe("503 no_available_key");
  });

  test("CreatedAt, UpdatedAt: timestamps, of the service's own making", async () => {
    const key = await added();
    expect(key.CreatedAt).toBe(new Date(Date.parse(key.CreatedAt)).toISOString());
    const { body } = await call("PUT", `/x-keys/${key.ID}`, { Name: "new" });
    expect(body.key.CreatedAt).toBe(key.CreatedAt);
    expect(Date.parse(body.key.UpdatedAt)).toBeGreaterThan(Date.parse(key.UpdatedAt));
    expect(await codeOf(add({ CreatedAt: key.CreatedAt }))).toBe("400 unknown_field");
  });
});

describe("Config", () => {
  const cloudB = () => ({
    provider_type: "cloud_b",
    base_url: `${bench.provider.url}/v1/projects/p-1/locations/us-east5`,
    project_id: "p-2",
    client_email: "one@p-1.example.com",
    private_key: privateKeyPem(),
  });
  /** The address at which a key of this Config is called. */
  const calledAt = async (Config: object, model = "gpt-4o"): Promise<string> => {
    const { ID } = await added({ Config });
    return (await call("POST", `/x-keys/${ID}/test`, { model })).body.url.replace(bench.provider.url, "");
  };

  test.each([{}, { provider_type: "standard" }])("provider_type %j: standard", async (Config) => {
    expect(await calledAt(Config)).toBe("/v1/chat/completions");
  });

  test("provider_type cloud_a and cloud_b, and no other", async () => {
    expect(await calledAt({ provider_type: "cloud_a" })).toStartWith("/openai/");
    expect(await calledAt(cloudB())).toContain("/locations/");
    expect(await codeOf(add({ Config: { provider_type: "cloud_c" } }))).toBe("400 invalid_parameter");
  });

  test.each([
    ["gpt-4o", "exact"],
    ["gpt-4o-mini", "longest"],
    ["gpt-5", "shorter"],
    ["other", "default"],
  ])("model_mapping leads %s to the deployment %s", async (model, deployment) => {
    const model_mapping = { "gpt-*": "shorter", "gpt-4o": "exact", "gpt-4o*": "longest", "*": "default" };
    const url = await calledAt({ provider_type: "cloud_a", model_mapping }, model);
    expect(url).toStartWith(`/openai/deployments/${deployment}/chat/completions`);
  });

  test("api_versions of the kind, else the deployment's default", async () => {
    const at = (api_versions?: object) =>
      calledAt({ provider_type: "cloud_a", ...(api_versions && { api_versions }) });
    expect(await at({ chat: "2025-04-01-preview" })).toEndWith("?api-version=2025-04-01-preview");
    expect(await at({ images: "2025-04-01-preview" })).toEndWith("?api-version=2024-10-21");
    expect(await at()).toEndWith("?api-version=2024-10-21");
    expect(await at({ chat: "v1" })).toBe("/openai/v1/chat/completions");
  });

  test("base_url: where project and location stand", async () => {
    const { project_id: _, ...config } = cloudB();
    expect(await calledAt(config)).toBe(
      "/v1/projects/p-1/locations/us-east5/endpoints/openapi/chat/completions",
    );
  });

  test("project_id: instead of the URL's", async () => {
    expect(await calledAt(cloudB())).toContain("/projects/p-2/locations/us-east5/");
  });

  test("client_email: whose the private key is", async () => {
    const Config = cloudB();
    expect((await added({ Config })).Config.client_email).toBe(Config.client_email);
    expect(await codeOf(add({ Config: { ...Config, client_email: undefined } }))).toBe(
      "400 missing_parameter",
    );
  });

  test("private_key: sensitive, comes back as its mask", async () => {
    const Config = cloudB();
    const answer = await add({ Config });
    expect(answer.body.key.Config.private_key).toBe("---…----");
    expect(answer.text).not.toContain(Config.private_key.split("\n")[1]!);
  });
});

/** A new Owner's only key, after so many failures, and an account that calls it. */
async function failing(times: number): Promise<{ user: Account; key: UpstreamKey }> {
  owner = await bench.owner();
  const user = await bench.subaccount(owner);
  const key = owner.keys[0]!;
  await fail(user, key, times);
  return { user, key };
}

async function fail(user: Account, key: UpstreamKey, times: number): Promise<void> {
  bench.provider.behave(key.secret, "fault=500");
  for (let i = 0; i < times; i++) await ask(bench, user);
  bench.provider.behave(key.secret, null);
}

describe("state", () => {
  test("normal → sleeping: after 3 failures in a row, for 5 minutes, and unused meanwhile", async () => {
    const { user, key } = await failing(2);
    await fares(bench, owner, key, "normal");
    await fail(user, key, 1);
    await fares(bench, owner, key, "sleeping 5 min");
    const seen = watch(bench);
    expect((await ask(bench, user)).told).toBe("503 no_available_key");
    expect(seen.calls()).toEqual([]);
  });

  test("normal → sleeping again: 15 minutes, 30, then longer", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    for (const [slept, next] of [
      [5, 15],
      [15, 30],
      [30, 60],
      [60, 120],
    ] as const) {
      bench.moveClock(slept * MINUTE_MS);
      // Its probe fails.
      await fail(user, key, 1);
      await fares(bench, owner, key, `sleeping ${next} min`);
    }
  });

  test("sleeping → normal: when the time has passed it takes part again", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    bench.moveClock(5 * MINUTE_MS);
    expect((await ask(bench, user)).told).toBe("200");
    await fares(bench, owner, key, "normal");
    expect((await call("GET", "/x-conf")).body.SleepingKeys).toEqual([]);
  });

  test("sleeping → available: POST /x-conf with DelKeys true", async () => {
    const { user, key } = await failing(3);
    await fares(bench, owner, key, "sleeping 5 min");
    expect((await call("POST", "/x-conf", { DelKeys: true })).status).toBe(200);
    expect(await fateOf(bench, owner, key)).toBe("normal");
    expect((await ask(bench, user)).told).toBe("200");
  });

  test("normal → disabled: PUT with Status false, and it takes no requests", async () => {
    const { user, key } = await failing(0);
    expect(await codeOf(call("PUT", `/x-keys/${key.id}`, { Status: false }))).toBe(200);
    const seen = watch(bench);
    expect((await ask(bench, user)).told).toBe("503 no_available_key");
    expect(seen.calls()).toEqual([]);
    expect((await call("GET", "/x-conf")).body.DisabledKeys).toMatchObject([{ ID: key.id, Status: false }]);
  });

  test("disabled → normal: PUT with Status true", async () => {
    const { user, key } = await failing(0);
    for (const Status of [false, true]) await call("PUT", `/x-keys/${key.id}`, { Status });
    expect((await ask(bench, user)).told).toBe("200");
    expect((await call("GET", "/x-conf")).body.DisabledKeys).toEqual([]);
  });
});

describe("waking one key: Sleep false", () => {
  const put = ({ id }: UpstreamKey, change: object) => call("PUT", `/x-keys/${id}`, change);

  /** Two keys of a new Owner's, asleep. */
  async function asleep() {
    owner = await bench.owner({ keys: 2 });
    const user = await bench.subaccount(owner);
    const [one, two] = owner.keys as [UpstreamKey, UpstreamKey];
    for (const { secret } of [one, two]) bench.provider.behave(secret, "fault=401");
    await ask(bench, user);
    for (const key of [one, two]) {
      await fares(bench, owner, key, "sleeping 30 min");
      bench.provider.behave(key.secret, null);
    }
    return { user, one, two };
  }

  test("is in force when it is answered, and of that key alone", async () => {
    const { user, one, two } = await asleep();
    expect((await put(two, { Sleep: false })).status).toBe(200);
    expect([await fateOf(bench, owner, one), await fateOf(bench, owner, two)]).toEqual([
      "sleeping 30 min",
      "normal",
    ]);
    const seen = watch(bench);
    expect((await ask(bench, user)).told).toBe("200");
    expect(seen.order(one, two)).toBe("2");
  });

  test("changes nothing of the key, and is a line of the operation log", async () => {
    const { one } = await asleep();
    const before = await read({ ID: one.id });
    expect((await put(one, { Sleep: false })).body).toEqual({ success: true, Action: "update", key: before });
    const [line] = (await call("GET", "/dashboard/logs?action=update_key")).body.logs;
    expect(line).toMatchObject({ target_id: one.id, status: "success", details: "Sleep: false" });
  });

  test("goes together with other fields", async () => {
    const { user, one } = await asleep();
    const { body } = await put(one, { Sleep: false, Name: "awake", Level: 1 });
    expect(body.key.Name).toBe("awake");
    expect((await ask(bench, user)).told).toBe("200");
  });

  test("wakes a key at the Level to which it moves", async () => {
    const { one } = await asleep();
    await put(one, { Sleep: false, Level: 2 });
    const { SleepingKeys } = (await call("GET", "/x-conf")).body;
    expect(SleepingKeys.map(({ ID }: Json) => ID)).toEqual([owner.keys[1]!.id]);
  });

  test("of a key that is awake is no fault", async () => {
    const key = await added();
    expect(await codeOf(call("POST", `/x-keys/${key.ID}`, { Sleep: false }))).toBe(200);
  });

  test("true is refused, saying what decides", async () => {
    const { one } = await asleep();
    const answer = await put(one, { Sleep: true, Name: "not taken" });
    expect([answer.status, answer.body.error.code]).toEqual([400, "invalid_parameter"]);
    for (const word of ["Sleep", "failures", "Status"]) expect(answer.body.error.message).toContain(word);
    expect((await read({ ID: one.id })).Name).toBe("");
  });
});

describe("endpoint", () => {
  /** Three keys: two at the stand-in, of Levels 1 and 2, and one elsewhere. */
  const three = async () => {
    const keys = [
      await added(),
      await added({ Level: 2 }),
      await added({ Level: 2, Provider: "https://127.0.0.9/v1" }),
    ];
    const list = async (path: string) => {
      const { body } = await call("GET", path);
      return (body.keys ?? [body.key])
        .map(({ ID }: Json) => keys.findIndex((key) => key.ID === ID) + 1)
        .join(" ");
    };
    return { keys, list };
  };
  const host = () => new URL(bench.provider.url).host;

  test("GET /x-keys: success and keys", async () => {
    const { keys } = await three();
    expect((await call("GET", "/x-keys")).body).toEqual({ success: true, keys });
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
    ["page and size", () => "page=2&size=2", "3"],
  ])("GET /x-keys: by %s", async (_, query, expected) => {
    const { keys, list } = await three();
    expect(await list(`/x-keys?${query(keys)}`)).toBe(expected);
  });

  test("GET /x-keys/{id}: one key", async () => {
    const { keys } = await three();
    expect((await call("GET", `/x-keys/${keys[1].ID}`)).body).toEqual({ success: true, key: keys[1] });
    expect(await codeOf(call("GET", "/x-keys/999999"))).toBe("404 key_not_found");
  });

  test("GET /x-keys/L{n}: keys of Level n", async () => {
    const { list } = await three();
    expect([await list("/x-keys/L1"), await list("/x-keys/L2"), await list("/x-keys/L3")]).toEqual([
      "1",
      "2 3",
      "",
    ]);
  });

  test("GET /x-keys/{provider}: keys of a provider host", async () => {
    const { list } = await three();
    expect([await list(`/x-keys/${host()}`), await list("/x-keys/127.0.0.9")]).toEqual(["1 2", "3"]);
  });

  test("POST /x-keys: adds a key, and completes LEVEL_MAPPER for the provider", async () => {
    const { status, body } = await add({ Level: 4, Provider: "https://1.1.1.1/v1" });
    expect([status, body.Action, body.LevelMapper]).toEqual([200, "add", {}]);
    expect(await read(body.key)).toEqual(body.key);
  });

  test.each(["PUT", "POST"])(
    "%s /x-keys/{id}: updates Name, Level, Status, Provider, Config",
    async (method) => {
      const key = await added();
      const change = {
        ...{ Name: "second", Level: 2, Status: false, Provider: `${bench.provider.url}/v1` },
        Config: { api_style: "messages" },
      };
      const { status, body } = await call(method, `/x-keys/${key.ID}`, change);
      expect([status, body.Action]).toEqual([200, "update"]);
      expect(body.key).toEqual({ ...key, ...change, UpdatedAt: body.key.UpdatedAt });
      expect(await read(key)).toEqual(body.key);
    },
  );

  test("DELETE /x-keys/{id}: deletes the key", async () => {
    const key = await added();
    expect((await call("DELETE", `/x-keys/${key.ID}`)).body).toEqual({
      success: true,
      Action: "delete",
      key,
    });
    expect(await codeOf(call("GET", `/x-keys/${key.ID}`))).toBe("404 key_not_found");
  });

  test.each([
    ["GET", "/x-keys"],
    ["POST", "/x-keys"],
    ["GET", "/x-keys/1"],
    ["PUT", "/x-keys/1"],
    ["POST", "/x-keys/1"],
    ["DELETE", "/x-keys/1"],
    ["POST", "/x-keys/1/test"],
  ])("%s %s: Owner only", async (method, path) => {
    const user = await bench.subaccount(owner);
    const body = method === "GET" || method === "DELETE" ? undefined : { ...good };
    expect(await codeOf(bench.call(user.key, method, path, body))).toBe("403 not_owner");
  });
});

test("keys share the load of their Level", async () => {
  owner = await bench.owner({ keys: 3, pricing: PRICING });
  const user = await bench.subaccount(owner);
  const seen = watch(bench);
  for (let i = 0; i < 6; i++) await ask(bench, user);
  expect(
    seen
      .order(...owner.keys)
      .split(" ")
      .sort()
      .join(" "),
  ).toBe("1 1 2 2 3 3");
});
