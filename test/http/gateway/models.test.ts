// The models that an account can call: in the shape of the SDK that asks, page by page, by id; and that the list is true.

import { beforeAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { MODELS } from "../../../actors/catalog/catalog.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import { errorHandler } from "../../../src/http/error-handler.ts";
import { type ModelsParts, models } from "../../../src/http/gateway/models.ts";
import { type Account, asking, type Json, MODEL, type Owner } from "../../e2e/harness.ts";
import { expectError, useBench } from "../../e2e/use-bench.ts";
import { formOf, wavFile } from "../../provider/asking.ts";

const VERSION = { "anthropic-version": "2023-06-01" };
const PRICE = { InputText: 1, OutputText: 1 };
/** Names that need care in an address. */
const ODD = ["meta/llama-3:free", "a b", "50%", "x?y=1", "ümläut", "a/b/c", "#1", "..", "a&b"];

let user: Account;
let talking: Owner;
/** May call a few models only. */
let choosy: Account;
const bench = useBench();
beforeAll(async () => {
  const names = [MODEL, ...ODD, "elsewhere", "dead", "stood-in"];
  const owner = await bench.owner({
    pricing: { ChatPricing: Object.fromEntries(names.map((name) => [name, PRICE])) },
    config: {
      MODEL_MAPPER: { mine: MODEL, "any-*": MODEL, lost: "never-priced" },
      LEVEL_MAPPER: { "*": 1, elsewhere: 7, dead: 2, "stood-in": 2 },
      MODEL_FAILOVER: { "stood-in": MODEL },
    },
  });
  talking = owner;
  const [dead] = await bench.level(owner, 2, 1);
  await bench.call(owner.key, "PUT", `/x-keys/${dead!.id}`, { Status: false });
  user = await bench.subaccount(owner);
  choosy = await bench.subaccount(owner, { AllowModels: `gpt-4* ${MODEL}` });
});

const listOf = async (key: string, query = "", headers = {}): Promise<Json> => {
  const { status, body } = await bench.call(key, "GET", `/v1/models${query}`, undefined, { headers });
  expect(status).toBe(200);
  return body;
};
const idsOf = (list: Json): string[] => list.data.map((one: Json) => one.id);
const oneOf = (key: string, id: string, headers = {}) =>
  bench.call(key, "GET", `/v1/models/${id}`, undefined, { headers });

describe("the list", () => {
  test("is in the shape of the chat SDK", async () => {
    const list = await listOf(user.key);
    expect(Object.keys(list)).toEqual(["object", "data"]);
    expect(list.object).toBe("list");
    for (const { id, object, created, owned_by } of list.data) {
      expect([typeof id, object, typeof created, typeof owned_by]).toEqual([
        "string",
        "model",
        "number",
        "string",
      ]);
    }
    expect(idsOf(list)).toEqual(idsOf(list).toSorted());
    expect(list.data.find((one: Json) => one.id === "gpt-4o").owned_by).toBe("openai");
  });

  test("is in the shape of the messages SDK for a client that sends anthropic-version", async () => {
    const list = await listOf(user.key, "", VERSION);
    expect(Object.keys(list).sort()).toEqual(["data", "first_id", "has_more", "last_id"]);
    expect(list.data).toHaveLength(20);
    expect(list).toMatchObject({ has_more: true, first_id: list.data[0].id, last_id: list.data[19].id });
    for (const one of list.data) {
      expect(one).toMatchObject({ type: "model", id: expect.any(String), display_name: expect.any(String) });
      expect(new Date(one.created_at).toISOString()).toEndWith("Z");
    }
    const { body } = await oneOf(user.key, "gpt-4o", VERSION);
    expect(body).toMatchObject({ max_input_tokens: 128_000, max_tokens: 16_384 });
  });

  test("has the limits of each model under all the names that agents read", async () => {
    const entries: Json[] = (await listOf(user.key)).data;
    for (const { id, ...one } of entries.filter(({ id }) => MODELS.has(id))) {
      const { context_window: window, max_output_tokens: most } = MODELS.get(id)!;
      const named = (names: readonly string[], value: number) =>
        value === 0 ? {} : Object.fromEntries(names.map((name) => [name, value]));
      const { object: _, created: _created, owned_by: _owner, ...limits } = one;
      expect([id, limits]).toEqual([
        id,
        {
          ...named(["context_window", "context_length", "max_model_len"], window),
          ...named(["max_output_tokens", "max_completion_tokens"], most),
        },
      ]);
    }
  });

  test("has every field of the messages SDK's type, and null for what is not known", async () => {
    const UNKNOWN = { capabilities: null, line: null, deprecated_at: null, retires_at: null };
    for (const [id, limits] of [
      ["claude-haiku-4-5", { max_input_tokens: 200_000, max_tokens: 64_000 }],
      [MODEL, { max_input_tokens: null, max_tokens: null }],
    ] as const) {
      expect((await oneOf(user.key, id, VERSION)).body).toEqual({
        type: "model",
        id,
        display_name: id,
        created_at: expect.any(String),
        lifecycle: "active",
        ...UNKNOWN,
        ...limits,
      });
    }
  });

  test("may be asked with x-api-key, and not without a key", async () => {
    const sent = { headers: { "x-api-key": user.key } };
    expect((await bench.call(null, "GET", "/v1/models", undefined, sent)).status).toBe(200);
    expect((await bench.call(null, "GET", "/v1/models")).status).toBe(401);
  });

  test("page by page is the whole, forwards and backwards", async () => {
    const all = idsOf(await listOf(user.key));
    const forwards: string[] = [];
    for (let after = ""; ; ) {
      const page = await listOf(user.key, `?limit=37${after}`, VERSION);
      forwards.push(...idsOf(page));
      if (!page.has_more) break;
      after = `&after_id=${encodeURIComponent(page.last_id)}`;
    }
    expect(forwards).toEqual(all);
    const backwards: string[] = [];
    for (let before = all.at(-1)!; ; ) {
      const page = await listOf(user.key, `?limit=41&before_id=${encodeURIComponent(before)}`, VERSION);
      backwards.unshift(...idsOf(page));
      if (!page.has_more) break;
      before = page.first_id;
    }
    expect(backwards).toEqual(all.slice(0, -1));
  });

  test("has an end, where nothing is on the page", async () => {
    const page = await listOf(user.key, "?after_id=\u{10ffff}", VERSION);
    expect(page).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
  });

  test.each(["0", "1001", "-1", "1.5", "many", "", "1e2"])("of limit=%s is 400", async (limit) => {
    expectError(
      await bench.call(user.key, "GET", `/v1/models?limit=${limit}`, undefined, {
        headers: VERSION,
      }),
      400,
      "invalid_parameter",
    );
  });
});

describe("one model", () => {
  test.each(["gpt-4o", MODEL, "mine", ...ODD.filter((name) => name !== "..")])(
    "%s is found by its name, in both shapes",
    async (id) => {
      const chat = await oneOf(user.key, encodeURIComponent(id));
      expect(chat.body).toMatchObject({ id, object: "model" });
      const message = await oneOf(user.key, encodeURIComponent(id), VERSION);
      expect(message.body).toMatchObject({ id, type: "model" });
    },
  );

  test("may have slashes and colons as they stand", async () => {
    expect((await oneOf(user.key, "meta/llama-3:free")).body.id).toBe("meta/llama-3:free");
  });

  test.each(["%", "%zz", "%E0%A4%A"])("%s cannot be read: 400", async (id) => {
    expectError(await oneOf(user.key, id), 400, "invalid_parameter");
  });

  test("that a pattern leads to is found, though no list names it", async () => {
    expect((await oneOf(user.key, "any-thing")).body.id).toBe("any-thing");
  });

  test.each([
    "never-priced",
    "lost",
    "barred",
    "elsewhere",
    "dead",
    "__proto__",
    "constructor",
    "x".repeat(2_000),
  ])("%s is 404 model_not_found", async (id) => {
    expectError(await oneOf(user.key, id), 404, "model_not_found");
  });

  test("that a mapper leads to another model has the limits of that one", async () => {
    const owner = await bench.owner({ config: { MODEL_MAPPER: { "gpt-4o": "gpt-4" } } });
    const { context_window, max_output_tokens } = (await oneOf(owner.key, "gpt-4o")).body;
    expect([context_window, max_output_tokens]).toEqual([8_192, MODELS.get("gpt-4")!.max_output_tokens]);
  });

  test("that is not there is an error in the style of the SDK that asks", async () => {
    const error = { type: "not_found_error", code: "model_not_found", message: expect.any(String) };
    expect((await oneOf(user.key, "no/such")).body).toEqual({ error });
    const asked = await oneOf(user.key, "no/such", VERSION);
    expect(asked.status).toBe(404);
    expect(asked.body).toEqual({ type: "error", error, request_id: expect.any(String) });
  });

  test.each(["/v1/models", `/v1/models/${MODEL}`, "/v1/models-x"])(
    "%s without a key is 401 in the style of the SDK that asks",
    async (path) => {
      const ask = async (headers: object) =>
        (await bench.call(null, "GET", path, undefined, { headers } as never)).body;
      expect(Object.keys(await ask({}))).toEqual(["error"]);
      const isList = !path.endsWith("-x");
      expect(Object.keys(await ask(VERSION))).toEqual(isList ? ["type", "error", "request_id"] : ["error"]);
    },
  );
});

describe("the list is true", () => {
  test("names what mappers and prices name, and only what leads to a key and a price", async () => {
    const ids = new Set(idsOf(await listOf(user.key)));
    for (const name of [MODEL, "mine", "stood-in", "gpt-4o", ...ODD])
      expect([name, ids.has(name)]).toEqual([name, true]);
    for (const name of ["any-*", "*", "lost", "never-priced", "elsewhere", "dead"]) {
      expect([name, ids.has(name)]).toEqual([name, false]);
    }
  });

  test("keeps to AllowModels, after mapping", async () => {
    const ids = idsOf(await listOf(choosy.key));
    expect(ids).toContain("mine");
    expect(ids).toContain("gpt-4o");
    expect(ids.filter((id) => !/^gpt-4/.test(id)).sort()).toEqual([MODEL, "mine"]);
    expect((await oneOf(choosy.key, "a b")).status).toBe(404);
  });

  /** Asks for a model where models of its kind answer. */
  function call(key: string, model: string): Promise<{ readonly status: number }> {
    const ask = (path: string, body: object) => bench.call(key, "POST", path, { model, ...body });
    switch (MODELS.get(model)?.mode) {
      case "image_generation":
        return ask("/v1/images/generations", { prompt: "a boat" });
      case "audio_speech":
        return ask("/v1/audio/speech", { input: "hi", voice: "alloy" });
      case "audio_transcription":
        return bench.call(key, "POST", "/v1/audio/transcriptions", formOf({ model, file: wavFile(1) }));
      case "rerank":
        return ask("/v1/rerank", { query: "a boat", documents: ["a boat"] });
      case "moderation":
        return ask("/v1/moderations", { input: "hi" });
      default:
        return bench.chat(key, "[[output=1]]", { model, max_tokens: 1 });
    }
  }

  test("every one of a sample can be called where models of its kind answer, and no other can", async () => {
    const ids = idsOf(await listOf(user.key));
    for (const id of ["dall-e-3", "tts-1", "whisper-1", "rerank-v3.5", "omni-moderation-latest"]) {
      expect(ids).toContain(id);
    }
    const sample = [...ids.filter((_, i) => i % 9 === 0), MODEL, "mine", "stood-in", ...ODD];
    for (const model of sample) {
      expect([model, (await call(user.key, model)).status]).toEqual([model, 200]);
    }
    for (const model of [...MODELS.keys(), "elsewhere", "dead", "lost"].filter(
      (name) => !ids.includes(name),
    )) {
      expect([model, (await call(user.key, model)).status >= 400]).toEqual([model, true]);
    }
  });

  test("leaves out what answers only on paths that are closed to the account", async () => {
    const child = await bench.subaccount(talking, { Resources: "/v1/chat/completions /v1/models*" });
    const ids = idsOf(await listOf(child.key));
    const unlisted = [...MODELS.keys()].filter((name) => !ids.includes(name));
    expect(ids).toContain("gpt-4o");
    expect(unlisted.length).toBeGreaterThan(10);
    for (const model of unlisted) {
      const { status } = await bench.chat(child.key, "[[output=1]]", { model, max_tokens: 1 });
      expect([model, status]).toEqual([model, 404]);
    }
  });

  test("follows the keys: a Level whose keys are all disabled serves nothing", async () => {
    const owner = await bench.owner();
    const [key] = owner.keys;
    for (const Status of [true, false, true]) {
      await bench.call(owner.key, "PUT", `/x-keys/${key!.id}`, { Status });
      expect(idsOf(await listOf(owner.key)).includes(MODEL)).toBe(Status);
      expect((await oneOf(owner.key, MODEL)).status).toBe(Status ? 200 : 404);
    }
  });

  test.each([
    ["chat", "", true],
    ["chat", "/v1/chat/completions", true],
    ["chat", "/v1/messages", true],
    ["messages", "", true],
    ["messages", "/v1/messages", true],
    ["messages", "/v1/chat/*", true],
    ["messages", "/v1/embeddings", false],
  ] as const)("keys of the %s style, Resources %j: %s", async (style, Resources, there) => {
    const owner = await bench.owner({ style });
    const child = await bench.subaccount(owner, {
      Resources: Resources === "" ? "" : `${Resources} /v1/models*`,
    });
    expect(idsOf(await listOf(child.key)).includes(MODEL)).toBe(there);
    const answers = await Promise.all(
      ["/v1/chat/completions", "/v1/messages"].map((path) =>
        bench.call(child.key, "POST", path, { ...asking("[[output=1]]"), max_tokens: 1 }),
      ),
    );
    expect(answers.some(({ status }) => status === 200)).toBe(there);
  });

  test.each([
    ["/v1/chat/*", 403, 403],
    ["/v1/chat/* /v1/models", 200, 403],
    ["/v1/chat/* /v1/models/*", 403, 200],
  ])("is there for an account whose Resources are %s: %i, one model: %i", async (Resources, list, one) => {
    const owner = await bench.owner();
    const child = await bench.subaccount(owner, { Resources });
    const answers = [
      await bench.call(child.key, "GET", "/v1/models"),
      await bench.call(child.key, "GET", `/v1/models/${MODEL}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([list, one]);
    for (const { status, body } of answers)
      if (status === 403) expect(body.error.code).toBe("path_not_allowed");
  });

  test("knows no model that nobody could ask for, whatever the mappers and prices say", async () => {
    const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 1 } } };
    const owner = await bench.owner({ pricing });
    expect((await oneOf(owner.key, "anything")).status).toBe(200);
    for (const name of [" ", "x".repeat(257)]) {
      expectError(await oneOf(owner.key, encodeURIComponent(name)), 404, "model_not_found");
    }
  });

  test("is refused to a suspended account, as the other paths of the gateway are", async () => {
    const asked: unknown[] = [];
    const refusal = { code: "account_suspended", message: "suspended" } as const;
    const parts = {
      identify: async () => ({ account: 7, keyHash: "h" }),
      random: { id: () => "id" },
      trustProxy: [],
      limiter: { count: () => undefined },
      refusalLimiter: { count: () => undefined },
      routed: { manage: () => undefined, addressOf: () => "" },
      system: {
        async ask(_: unknown, type: string, { suspendedToo }: { suspendedToo: boolean }) {
          asked.push([type, suspendedToo]);
          throw new RefusedError(refusal);
        },
      },
    } as unknown as ModelsParts;
    const app = new Elysia({ normalize: false })
      .onError((context) => errorHandler(parts, () => app.routes)(context as never))
      .use(models(parts));
    for (const path of ["/v1/models", "/v1/models/one"]) {
      const headers = { "x-api-key": "sk-x" };
      expect((await app.handle(new Request(`http://x.example${path}`, { headers }))).status).toBe(403);
    }
    expect(asked).toEqual([
      ["identify", false],
      ["identify", false],
    ]);
  });

  test("is empty for an account whose Owner has no key", async () => {
    const owner = await bench.owner({ keys: 0 });
    expect((await listOf(owner.key)).data).toEqual([]);
    expect(await listOf(owner.key, "", VERSION)).toMatchObject({ data: [], has_more: false, first_id: null });
  });
});
