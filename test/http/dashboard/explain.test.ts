// Why requests go where they go: what an explanation says and to whom, and that it says what the request then does.

import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Account, asking, fresh, type Json, MODEL, type Owner, until } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";

const bench = useBench();

/** Every model has a price of its own, so that a stand-in shows. */
const pricing = {
  ChatPricing: { [MODEL]: { InputText: 1, OutputText: 2 }, spare: { InputText: 3, OutputText: 4 } },
};

async function explained(key: string, query: string, path = "/dashboard/explain"): Promise<Json> {
  const { status, body } = await bench.call(key, "GET", `${path}?${query}`);
  expect(status).toBe(200);
  return body;
}

const refusedWith = async (key: string, query: string, path = "/dashboard/explain") => {
  const { status, body } = await bench.call(key, "GET", `${path}?${query}`);
  return [status, body.error?.code];
};

const ofModel = (key: string, model = MODEL) => explained(key, `model=${encodeURIComponent(model)}`);
const chatOf = (key: string, said = "[[output=1]]", more: object = {}) =>
  bench.chat(key, said, { max_tokens: 1, ...more });

describe("an explanation of a model", () => {
  let owner: Owner;
  let user: Account;
  let spare: number;
  beforeAll(async () => {
    owner = await bench.owner({
      keys: 2,
      pricing,
      config: {
        MODEL_MAPPER: `mine=${MODEL}`,
        LEVEL_MAPPER: "*=1,spare=3",
        SWITCH_OVER: "1=2",
        MODEL_FAILOVER: `${MODEL}=spare|unpriced`,
      },
    });
    await bench.level(owner, 2, 1);
    spare = (await bench.level(owner, 3, 1))[0]!.id;
    user = await bench.subaccount(owner, {
      RPM: 5,
      TPD: 1_000,
      HardLimit: 3,
      ModelLimits: { spare: { rpm: 9 } },
    });
  });

  test("shows each step of the route, its rule, and what would stand in", async () => {
    const found = await ofModel(user.key, "mine");
    expect(found).toMatchObject({
      object: "explain",
      model: "mine",
      decision: { model: MODEL, level: 1, admitted: true, refusal: null },
    });
    const steps = found.steps.map(({ step, in: from, out }: Json) => `${step}: ${from} -> ${out}`);
    expect(steps).toEqual([
      "user_mapper: mine -> mine",
      `owner_mapper: mine -> ${MODEL}`,
      `allow_models: ${MODEL} -> allowed`,
      `level: ${MODEL} -> 1`,
      "allow_levels: 1 -> allowed",
      `price: ${MODEL} -> ChatPricing/${MODEL}`,
      `model_failover: ${MODEL} -> spare, unpriced`,
      `switch_over: ${MODEL} at 1 -> 2`,
      "allow_models: spare -> allowed",
      "level: spare -> 3",
      "allow_levels: 3 -> allowed",
      "price: spare -> ChatPricing/spare",
      `limits: spare -> ${JSON.stringify({ rpm: 9, rph: 0, rpd: 0, tpm: 0, tph: 0, tpd: 0 })}`,
      "allow_models: unpriced -> allowed",
      "level: unpriced -> 1",
      "allow_levels: 1 -> allowed",
      "price: unpriced -> none",
    ]);
    expect(found.steps.find((one: Json) => one.step === "owner_mapper").rule).toBe(`mine=${MODEL}`);
  });

  test("shows its Owner and Root every key by id, in the order in which they come into question", async () => {
    const [one, two] = owner.keys;
    const own = await ofModel(owner.key);
    const places = own.candidates.map(({ model, level, key_id }: Json) => [model, level, key_id]);
    expect(places.slice(0, 2)).toEqual([
      [MODEL, 1, one!.id],
      [MODEL, 1, two!.id],
    ]);
    expect(places.at(2).slice(0, 2)).toEqual([MODEL, 2]);
    expect(places.at(3)).toEqual(["spare", 3, spare]);
    for (const { state } of own.candidates) expect(state).toBe("normal");
    for (const key of [owner.key, bench.rootKey]) {
      const { candidates } = await explained(key, `user=${user.id}&model=${MODEL}`, "/x-explain");
      expect(candidates.map((row: Json) => row.key_id)).toEqual(places.map(([, , id]: Json) => id));
    }
  });

  test("shows a subaccount, and one that manages others, no more than numbers", async () => {
    const child = await bench.subaccount(user, { CreditGranted: 2 });
    for (const found of [
      await ofModel(user.key),
      await explained(user.key, `user=${child.id}&model=${MODEL}`, "/x-explain"),
    ]) {
      expect(found.candidates).toEqual([
        { model: MODEL, level: 1, count: 2, state: "normal" },
        { model: MODEL, level: 2, count: 1, state: "normal" },
        { model: "spare", level: 3, count: 1, state: "normal" },
      ]);
      expect(JSON.stringify(found)).not.toContain("key_id");
    }
  });

  test("shows each limit that is set, what it leaves and when it is whole again", async () => {
    const child = await bench.subaccount(owner, { RPM: 5, TPD: 1_000, HardLimit: 3, CreditGranted: 7 });
    await chatOf(child.key, "[[output=1 prompt=4]]");
    const { limits } = await ofModel(child.key);
    const rows = new Map<string, Json>(limits.map((row: Json) => [row.name, row]));
    expect([...rows.keys()].sort()).toEqual(["balance", "hard_limit", "rpm", "tpd"]);
    expect(rows.get("rpm")).toMatchObject({ scope: "account", limit: 5, remaining: 4 });
    expect(rows.get("tpd")).toMatchObject({ limit: 1_000, remaining: 995 });
    expect(rows.get("balance")).toMatchObject({ remaining: 7 - 0.000006, resets_at: null });
    expect(rows.get("hard_limit")).toMatchObject({ limit: 3, remaining: 3 - 0.000006 });
    const now = Date.now();
    expect(Date.parse(rows.get("rpm").resets_at) - now).toBeWithin(1_000, 121_000);
    expect(new Date(rows.get("tpd").resets_at).toISOString()).toEndWith("T00:00:00.000Z");
    expect(new Date(rows.get("hard_limit").resets_at).toISOString()).toEndWith("-01T00:00:00.000Z");
  });

  test("uses the path that is asked for", async () => {
    const translated = await explained(user.key, `model=${MODEL}&path=/v1/messages`);
    expect(translated.decision).toMatchObject({ admitted: true, refusal: null });
    const messagesOnly = await bench.owner({ style: "messages" });
    const found = await explained(messagesOnly.key, `model=bench-model&path=/v1/responses`);
    expect(found.candidates[0]).toMatchObject({ state: "normal" });
    expect(found.decision).toMatchObject({ admitted: true, refusal: null });
    const untranslated = await explained(messagesOnly.key, `model=bench-model&path=/v1/embeddings`);
    expect(untranslated.candidates[0]).toMatchObject({ state: "other_style" });
    expect(untranslated.decision).toMatchObject({ admitted: false, refusal: { code: "invalid_parameter" } });
    expect(await refusedWith(user.key, `model=${MODEL}&path=/v1/nothing`)).toEqual([
      400,
      "invalid_parameter",
    ]);
  });
});

describe("a key that cannot be used is shown with its reason, and until when", () => {
  test.each([
    ["sleeping", "fault=429.quota", "quota_gone", 30 * 60_000],
    ["resting", "fault=429 retry=40", "rate_limited", 40_000],
    ["passed_over", "fault=404", "model_unavailable", 600_000],
  ])("%s", async (state, script, reason, ms) => {
    const owner = await bench.owner({ pricing });
    bench.provider.behave(owner.secrets[0]!, script);
    const startedAt = Date.now();
    expect((await chatOf(owner.key)).status).not.toBe(200);
    await until(
      "its Level shows it",
      async () => (await ofModel(owner.key)).candidates[0].state !== "normal",
    );
    const { candidates, decision } = await ofModel(owner.key);
    expect(candidates).toEqual([
      { model: MODEL, level: 1, key_id: owner.keys[0]!.id, state, reason, until: expect.any(String) },
    ]);
    expect(Date.parse(candidates[0].until) - startedAt).toBeWithin(ms - 100, ms + 60_000);
    expect(decision.admitted).toBe(false);
    const child = await bench.subaccount(owner);
    const { key_id: _, ...shown } = candidates[0];
    expect((await ofModel(child.key)).candidates).toEqual([{ ...shown, count: 1 }]);
    const { body } = await chatOf(child.key);
    expect(body.error).toMatchObject({ code: decision.refusal.code });
  });

  test("disabled: without an end", async () => {
    const owner = await bench.owner({ pricing });
    await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Status: false });
    const { candidates } = await ofModel(owner.key);
    expect(candidates).toEqual([
      { model: MODEL, level: 1, key_id: owner.keys[0]!.id, state: "disabled", reason: "Status is false" },
    ]);
  });

  test("a switched-over Level: where its requests go, and until when", async () => {
    const owner = await bench.owner({ keys: 6, pricing, config: { SWITCH_OVER: "1=2" } });
    await bench.level(owner, 2, 1);
    for (const secret of owner.secrets) bench.provider.behave(secret, "fault=500", 2);
    await until("the Level is switched over", async () => {
      await chatOf(owner.key);
      return (await ofModel(owner.key)).decision.level === 2;
    });
    const { steps, decision } = await ofModel(owner.key);
    expect(decision).toMatchObject({ model: MODEL, level: 2, admitted: true });
    expect(steps.at(-1)).toMatchObject({ step: "switch_over", in: `${MODEL} at 1`, out: `${MODEL} at 2` });
    expect(steps.at(-1).note).toContain("switched over until 20");
    expect((await chatOf(owner.key)).headers.get("x-arbor-level")).toBe("2");
  });
});

describe("an explanation of a request", () => {
  let owner: Owner;
  let user: Account;
  const sent = async (key: string, said: string) => {
    const id = `request-${fresh()}`;
    const answer = await bench.chat(key, said, {}, { headers: { "x-request-id": id } });
    return { id, answer };
  };
  beforeAll(async () => {
    owner = await bench.owner({ keys: 2, pricing });
    user = await bench.subaccount(owner);
  });

  test("that was charged: its attempts, by the client's id and by the service's own", async () => {
    bench.provider.behave(owner.secrets[0]!, "fault=500", 1);
    const { id, answer } = await sent(user.key, "[[output=3]]");
    expect(answer.headers.get("x-arbor-attempts")).toBe("2");
    const found = await explained(user.key, `request=${id}`);
    expect(found).toMatchObject({
      object: "explain",
      model: MODEL,
      decision: { model: MODEL, level: 1, admitted: true, refusal: null },
      request: { request_id: id, path: "/v1/chat/completions", completion_tokens: 3, basis: "provider" },
    });
    expect(found.request.cost).toBe(Number(answer.headers.get("x-arbor-cost")));
    expect(found.attempts).toMatchObject([
      { level: 1, model: MODEL, status: 500, signal: "server_error" },
      { level: 1, model: MODEL, status: 200 },
    ]);
    for (const { ms } of found.attempts) expect(ms).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(found)).not.toContain("key_id");
    expect(await explained(user.key, `request=${found.request.id}`)).toEqual(found);
    for (const key of [owner.key, bench.rootKey]) {
      const { attempts } = await explained(key, `user=${user.id}&request=${id}`, "/x-explain");
      expect(attempts.map((row: Json) => row.key_id)).toEqual(owner.keys.map((one) => one.id));
    }
  });

  test("that failed: its attempts and the client's error", async () => {
    const { id, answer } = await sent(user.key, "[[fault=500]]");
    expect(answer.status).toBe(502);
    const found = await explained(user.key, `request=${id}`);
    expect(found.decision.refusal).toEqual({ code: "upstream_failed", message: answer.body.error.message });
    expect(found.attempts).toHaveLength(2);
    expect(found.request).toMatchObject({ request_id: id, cost: 0 });
    expect(await explained(user.key, `request=${found.request.id}`)).toEqual(found);
  });

  test("of an id that was used twice is the newest one's", async () => {
    const headers = { "x-request-id": `twice-${fresh()}` };
    for (const output of [2, 5]) await bench.chat(user.key, `[[output=${output}]]`, {}, { headers });
    const { request } = await explained(user.key, `request=${headers["x-request-id"]}`);
    expect(request.completion_tokens).toBe(5);
  });

  test("is found among any number of strangers' requests with the same id", async () => {
    const headers = { "x-request-id": `common-${fresh()}` };
    const stranger = await bench.subaccount(await bench.owner({ pricing }));
    await bench.chat(user.key, "[[output=4]]", {}, { headers });
    await Promise.all(
      Array.from({ length: 120 }, () => bench.chat(stranger.key, "[[output=1]]", {}, { headers })),
    );
    const { request } = await explained(user.key, `request=${headers["x-request-id"]}`);
    expect(request.completion_tokens).toBe(4);
  });

  test("of nobody, of a stranger or of one's own child is 404, one like the other", async () => {
    const child = await bench.subaccount(user, { CreditGranted: 3 });
    const stranger = await bench.subaccount(await bench.owner({ pricing }));
    const ids = ["never-sent"];
    for (const one of [child, stranger]) {
      for (const said of ["[[output=1]]", "[[fault=500]]"]) ids.push((await sent(one.key, said)).id);
    }
    for (const id of ids) {
      expect(await refusedWith(user.key, `request=${id}`)).toEqual([404, "not_found"]);
    }
    const [, ofChild] = ids;
    expect(
      (await explained(user.key, `user=${child.id}&request=${ofChild}`, "/x-explain")).attempts,
    ).toHaveLength(1);
  });
});

describe("whom one may ask about", () => {
  test("a descendant, by id, name or e-mail; nobody else is there", async () => {
    const owner = await bench.owner({ pricing });
    const user = await bench.subaccount(owner);
    const grandchild = await bench.subaccount(user, { CreditGranted: 2, Email: `${fresh()}@x.example` });
    const [record] = (await bench.call(user.key, "GET", `/x-users/${grandchild.id}`)).body;
    for (const name of [grandchild.id, grandchild.name, grandchild.name.toUpperCase(), record.Email]) {
      const query = `user=${encodeURIComponent(name)}&model=${MODEL}`;
      for (const key of [user.key, owner.key, bench.rootKey]) {
        expect((await explained(key, query, "/x-explain")).decision.admitted).toBe(true);
      }
    }
    const sibling = await bench.subaccount(owner);
    const other = await bench.owner({ pricing });
    for (const name of [
      sibling.id,
      sibling.name,
      other.id,
      owner.id,
      user.id,
      1,
      "root",
      999_999,
      "nobody",
    ]) {
      const query = `user=${name}&model=${MODEL}`;
      expect(await refusedWith(user.key, query, "/x-explain")).toEqual([404, "user_not_found"]);
    }
  });

  test("an e-mail that several have is ambiguous", async () => {
    const owner = await bench.owner({ pricing });
    const Email = `${fresh()}@x.example`;
    for (let i = 0; i < 2; i++) await bench.subaccount(owner, { Email });
    const query = `user=${encodeURIComponent(Email)}&model=${MODEL}`;
    await until("both are listed", async () => {
      const [status, code] = await refusedWith(owner.key, query, "/x-explain");
      return status === 400 && code === "ambiguous_identifier";
    });
  });

  test("a white list of addresses is no reason to say no to its parent", async () => {
    const owner = await bench.owner({ pricing });
    const user = await bench.subaccount(owner, { AllowIPs: "10.1.2.0/24" });
    const { decision } = await explained(owner.key, `user=${user.id}&model=${MODEL}`, "/x-explain");
    expect(decision.admitted).toBe(true);
  });

  test.each(["", "model=x&request=y", "request=", "model="])("?%s is 400", async (query) => {
    const owner = await bench.owner();
    expect((await refusedWith(owner.key, query))[0]).toBe(400);
  });
});

describe("for any configuration", () => {
  const MODELS = ["a", "b", "c"] as const;
  const LEVELS = [1, 2, 3] as const;
  const states = fc.constantFrom("normal", "normal", "disabled", "messages");
  const configuration = fc.record({
    mapper: fc.dictionary(fc.constantFrom("a", "b", "x*"), fc.constantFrom(...MODELS), { maxKeys: 2 }),
    levels: fc.dictionary(fc.constantFrom(...MODELS), fc.constantFrom(1, 2, 3, 4), { maxKeys: 3 }),
    over: fc.dictionary(fc.constantFrom("1", "2", "3"), fc.constantFrom(1, 2, 3, 4), { maxKeys: 3 }),
    failover: fc.dictionary(
      fc.constantFrom("a", "b", "*"),
      fc.uniqueArray(fc.constantFrom(...MODELS, "unpriced"), { minLength: 1, maxLength: 3 }),
      { maxKeys: 2 },
    ),
    keys: fc.tuple(states, states, states),
    allow: fc.constantFrom("", "", "a b", "c*", "b"),
    resources: fc.constantFrom("", "", "", "/v1/messages", "/v1/responses,/v1/images/*"),
    rpm: fc.constantFrom(0, 0, 1),
    limits: fc.dictionary(fc.constantFrom(...MODELS), fc.record({ rpm: fc.constantFrom(1, 2) }), {
      maxKeys: 2,
    }),
  });

  /** A small request for each path that takes JSON. */
  const BODIES: Readonly<Record<string, object>> = {
    "/v1/chat/completions": { ...asking("[[output=1]]"), max_tokens: 1 },
    "/v1/messages": { ...asking("[[output=1]]"), max_tokens: 1 },
    "/v1/messages/count_tokens": asking("hi"),
    "/v1/responses": { input: "[[output=1]]", max_output_tokens: 16 },
    "/v1/completions": { prompt: "[[output=1]]", max_tokens: 1 },
    "/v1/embeddings": { input: "a" },
    "/v1/images/generations": { prompt: "a boat", size: "256x256", quality: "low" },
    "/v1/audio/speech": { input: "a", voice: "alloy" },
    "/v1/rerank": { query: "a", documents: ["b", "c"] },
    "/v1/moderations": { input: "a" },
  };
  const PATHS = Object.keys(BODIES);

  test("the decision is what the request then does on each path, also when it is asked again", async () => {
    const price = { InputText: 1, OutputText: 1 };
    const pricing = { ChatPricing: { a: price, b: price, c: price }, CallPricing: { b: { Call: 0.001 } } };
    const owner = await bench.owner({ keys: 0, pricing });
    const keys: number[] = [];
    for (const level of LEVELS) keys.push((await bench.level(owner, level, 1))[0]!.id);
    const seen = new Map<string, number>();
    const path = fc.oneof(fc.constant("/v1/chat/completions"), fc.constantFrom(...PATHS));
    await fc.assert(
      fc.asyncProperty(configuration, fc.constantFrom(...MODELS, "xy"), path, async (given, model, path) => {
        const body = { ...BODIES[path], model };
        const { status } = await bench.call(owner.key, "PUT", "/x-config", {
          MODEL_MAPPER: given.mapper,
          LEVEL_MAPPER: given.levels,
          SWITCH_OVER: Object.fromEntries(
            Object.entries(given.over).filter(([level, to]) => Number(level) !== to),
          ),
          MODEL_FAILOVER: Object.fromEntries(
            Object.entries(given.failover)
              .map(([name, others]) => [name, others.filter((one) => one !== name).join("|")] as const)
              .filter(([, others]) => others !== ""),
          ),
        });
        expect(status).toBe(200);
        for (const [i, state] of given.keys.entries()) {
          const Config = { api_style: state === "messages" ? "messages" : "chat" };
          const update = { Status: state !== "disabled", Config };
          await bench.call(owner.key, "PUT", `/x-keys/${keys[i]}`, update);
        }
        const child = await bench.subaccount(owner, {
          ...{ CreditGranted: 2, RPM: given.rpm, AllowModels: given.allow, Resources: given.resources },
          ...{ ModelLimits: given.limits },
        });
        for (let i = 0; i < 2; i++) {
          const { decision } = await explained(child.key, `model=${model}&path=${path}`);
          const quoted = await bench.call(child.key, "POST", "/v1/quote", { path, body });
          const real = await bench.call(child.key, "POST", path, body);
          const happened = {
            admitted: real.status === 200,
            refusal: real.body?.error?.code ?? null,
            ...(real.headers.has("x-arbor-level")
              ? { model: real.headers.get("x-arbor-model"), level: Number(real.headers.get("x-arbor-level")) }
              : {}),
          };
          const foreseen = { ...decision, refusal: decision.refusal?.code ?? null };
          expect(foreseen).toMatchObject(happened);
          expect({ ...quoted.body, refusal: quoted.body.refusal?.code ?? null }).toMatchObject(happened);
          seen.set(foreseen.refusal, (seen.get(foreseen.refusal) ?? 0) + 1);
        }
      }),
      { numRuns: 120 },
    );
    // The property has been through good and bad ends alike.
    expect(seen.size).toBeGreaterThan(3);
  }, 300_000);
});

describe("who asks", () => {
  let user: Account;
  let host: Owner;
  beforeAll(async () => {
    host = await bench.owner();
    user = await bench.subaccount(host, { AllowIPs: "192.0.2.0/24, 127.0.0.1" });
  });
  const decided = async (query: string) =>
    (await explained(host.key, `user=${user.id}&model=${MODEL}&${query}`, "/x-explain")).decision;

  test("is judged by the address that is given, and by none if none is", async () => {
    const elsewhere = await bench.subaccount(host, { AllowIPs: "192.0.2.1" });
    const open = await explained(host.key, `user=${elsewhere.id}&model=${MODEL}`, "/x-explain");
    expect(open.decision.admitted).toBe(true);
    for (const [ip, admitted] of [
      ["192.0.2.7", true],
      ["::ffff:192.0.2.7", true],
      ["198.51.100.1", false],
      ["2001:db8::1", false],
    ] as const) {
      const { admitted: found, refusal } = await decided(`ip=${encodeURIComponent(ip)}`);
      expect([ip, found, refusal?.code]).toEqual([ip, admitted, admitted ? undefined : "ip_not_allowed"]);
    }
    expect((await explained(user.key, `model=${MODEL}&ip=198.51.100.1`)).decision.refusal.code).toBe(
      "ip_not_allowed",
    );
    expect((await ofModel(user.key)).decision.admitted).toBe(true);
  });

  test.each(["10.1", "300", "010.0.0.1", "192.0.2.0/24", "here", "", "1.2.3.4, 5.6.7.8"])(
    "is nobody at %j",
    async (ip) => {
      for (const query of [`model=${MODEL}`, "request=one"]) {
        const asked = await refusedWith(user.key, `${query}&ip=${encodeURIComponent(ip)}`);
        expect(asked).toEqual([400, "invalid_parameter"]);
      }
    },
  );

  test("is a named key, with its own limits and lists", async () => {
    const given = { Name: "narrow", AllowModels: "others", AllowIPs: "192.0.2.7" };
    const made = await bench.call(user.key, "POST", "/dashboard/keys", given);
    expect(made.status).toBe(200);
    const { id } = made.body.key;
    expect((await decided(`api_key=${id}`)).refusal.code).toBe("model_not_allowed");
    expect((await decided(`api_key=${id}&ip=192.0.2.8`)).refusal.code).toBe("ip_not_allowed");
    expect((await decided("ip=192.0.2.8")).admitted).toBe(true);
  });

  test("is the main key, 0; one that is not there is not known", async () => {
    expect(await explained(user.key, `model=${MODEL}&api_key=0`)).toEqual(await ofModel(user.key));
    expect((await decided("api_key=0")).admitted).toBe(true);
    for (const query of [`model=${MODEL}`, "request=one"]) {
      expect(await refusedWith(user.key, `${query}&api_key=7`)).toEqual([404, "key_not_found"]);
    }
    for (const id of ["-1", "x", "1.5", "", "9".repeat(16)]) {
      expect(await refusedWith(user.key, `model=${MODEL}&api_key=${id}`)).toEqual([400, "invalid_parameter"]);
    }
  });
});
