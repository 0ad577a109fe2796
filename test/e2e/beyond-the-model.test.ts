// What a request may ask beyond its model, and what an answer may bring: other models, things of the provider's account,
// tools that are billed by the call, turns that no total counts.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { verify } from "../../src/report/verify/verify.ts";
import { openAudit } from "../../src/store/open.ts";
import { type Account, charges, type Json, MODEL, nano, until } from "./harness.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

const STYLES = ["chat", "messages"] as const;
type Style = (typeof STYLES)[number];
const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const;
type Path = keyof typeof PATHS;

/** A request in one style to an account whose keys speak another, or the same. */
async function createAccounts(
  speaks: Style,
  more: { config?: object; pricing?: object; keys?: object[] } = {},
) {
  const owner = await bench.owner({ style: speaks, keys: 0, pricing: more.pricing ?? PRICING });
  for (const Config of more.keys ?? [{}]) {
    await bench.level(owner, 1, 1, { Config: { api_style: speaks, ...Config } });
  }
  const user = await bench.subaccount(owner);
  return { owner, user };
}

const PRICING = { ChatPricing: { [MODEL]: { InputText: 1, OutputText: 2 } } };

const bodyFor = (path: Path, said: string, more: object): object => {
  if (path === "responses") return { model: MODEL, input: said, max_output_tokens: 50, ...more };
  return { model: MODEL, max_tokens: 50, messages: [{ role: "user", content: said }], ...more };
};

const ask = (user: Account, path: Path, said: string, more: object = {}) =>
  bench.call(user.key, "POST", PATHS[path], bodyFor(path, said, more), {
    headers: { "anthropic-version": "2023-06-01" },
  });

const linesOf = async (user: Account): Promise<Json[]> => charges(await bench.ledger(user.key));
const calls = () => bench.provider.calls().length;

describe("a model of the client's own choosing", () => {
  const FIELDS: readonly [field: string, path: Path, more: object][] = [
    ["fallbacks", "messages", { fallbacks: [{ model: "dear", speed: "fast" }] }],
    ["fallbacks", "messages", { fallbacks: "default" }],
    ["fallbacks", "chat", { fallbacks: ["dear"] }],
    ["fallbacks", "responses", { fallbacks: ["dear"] }],
    ["tools.0", "messages", { tools: [{ type: "advisor_20260301", name: "advisor", model: "dear" }] }],
    ["tools.0.model", "responses", { tools: [{ type: "image_generation", model: "dear" }] }],
    ["models", "chat", { models: ["dear"] }],
    ["route", "chat", { route: "fallback" }],
    ["provider", "chat", { provider: { order: ["dear"] } }],
    ["models", "messages", { models: ["dear"] }],
  ];

  for (const speaks of STYLES) {
    test.each(FIELDS)(
      `%s of %s is refused, whole and streamed, at keys of the style ${speaks}`,
      async (field, path, more) => {
        const { user } = await createAccounts(speaks);
        const before = calls();
        for (const stream of [false, true]) {
          const { status, body } = await ask(user, path, "hi", { ...more, stream });
          expect([status, body.error.code]).toEqual([400, "invalid_parameter"]);
          expect(body.error.message).toStartWith(field);
        }
        expect(calls()).toBe(before);
        const quoted = await bench.call(user.key, "POST", "/v1/quote", {
          path: PATHS[path],
          body: bodyFor(path, "hi", more),
        });
        expect(quoted.body.refusal.code).toBe("invalid_parameter");
        expect(await linesOf(user)).toEqual([]);
      },
    );
  }

  test("a schema and arguments that use all of these words pass as they came", async () => {
    const words = {
      fallbacks: [{ model: "m" }],
      models: ["m"],
      provider: {},
      container: "c",
      file_id: "f",
      vector_store_ids: ["v"],
      mcp_servers: [{}],
      advisor: { model: "m" },
    };
    const schema = { type: "object", properties: words };
    const turns = [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "route", input: words }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [{ type: "text", text: JSON.stringify(words) }],
          },
        ],
      },
    ];
    const tools = [{ name: "route", description: "fallbacks", input_schema: schema }];
    for (const speaks of STYLES) {
      const { user } = await createAccounts(speaks);
      expect((await ask(user, "messages", "", { messages: turns, tools })).status).toBe(200);
    }
    const { user } = await createAccounts("chat");
    const made = { name: "route", parameters: schema };
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "route", arguments: JSON.stringify(words) },
    };
    const chat = {
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: JSON.stringify(words) },
      ],
      tools: [{ type: "function", function: made }],
    };
    expect((await ask(user, "chat", "", chat)).status).toBe(200);
    const sent = bench.provider.calls().at(-1)!;
    expect(sent.status).toBe(200);
  });
});

describe("an answer that names another model", () => {
  // The list: gpt-4o costs 2.5 and 10, gpt-4o-mini 0.15 and 0.6.
  const listed = async (
    asked: string,
    answered: string,
    stream: boolean,
    path: Path = "chat",
    speaks: Style = "chat",
  ) => {
    const { user } = await createAccounts(speaks);
    const said = `hi [[prompt=100 output=10 answered=${answered}]]`;
    const answer = await ask(user, path, said, { model: asked, stream });
    expect(answer.status).toBe(200);
    return (await linesOf(user)).at(-1);
  };

  for (const stream of [false, true]) {
    test(`is charged at the dearer price, and stands in the line (streamed: ${stream})`, async () => {
      const dearer = await listed("gpt-4o-mini", "gpt-4o", stream);
      expect(dearer).toMatchObject({ model: "gpt-4o-mini", answered_model: "gpt-4o" });
      expect(nano(-dearer.amount)).toBe(100 * 2_500 + 10 * 10_000);
      const cheaper = await listed("gpt-4o", "gpt-4o-mini", stream);
      expect(cheaper.answered_model).toBe("gpt-4o-mini");
      expect(nano(-cheaper.amount)).toBe(100 * 2_500 + 10 * 10_000);
      for (const path of ["responses", "messages"] as const)
        expect((await listed("gpt-4o-mini", "gpt-4o", stream, path)).answered_model).toBe("gpt-4o");
      expect((await listed("gpt-4o-mini", "gpt-4o", stream, "messages", "messages")).answered_model).toBe(
        "gpt-4o",
      );
      expect(
        bench.log.some(
          ({ event, fields }) => event === "other_model_answered" && fields.answeredModel === "gpt-4o",
        ),
      ).toBe(true);
    });
  }

  test.each(["gpt-4o-2024-05-13", "openai/gpt-4o", "gpt-4o-latest", "a-name-of-its-own"])(
    "%s is no other model than gpt-4o",
    async (answered) => {
      const line = await listed("gpt-4o", answered, false);
      expect(line.answered_model).toBeUndefined();
      expect(nano(-line.amount)).toBe(100 * 2_500 + 10 * 10_000);
    },
  );

  test("costs what the Owner has set for the model that was asked", async () => {
    const { user } = await createAccounts("chat");
    await ask(user, "chat", "hi [[prompt=100 output=10 answered=gpt-4o]]");
    const [line] = await linesOf(user);
    expect(line.answered_model).toBe("gpt-4o");
    expect(nano(-line.amount)).toBe(100 * 1_000 + 10 * 2_000);
  });
});

describe("things of the provider's account", () => {
  const image = (source: object) => [{ role: "user", content: [{ type: "image", source }] }];
  // biome-ignore format: a table
  const FIELDS: readonly [field: string, path: Path, more: object][] = [
    ["container", "messages", { container: "container_1" }],
    ["container.id", "messages", { container: { id: "container_1" } }],
    ["container.skills.0", "messages", { container: { skills: [{ type: "custom", skill_id: "s" }] } }],
    ["mcp_servers", "messages", { mcp_servers: [{ type: "url", url: "https://a.example", name: "a" }] }],
    ["tools.0", "messages", { tools: [{ type: "mcp_toolset", mcp_server_name: "a" }] }],
    ["messages.0.content.0.source.file_id", "messages", { messages: image({ type: "file", file_id: "f" }) }],
    ["messages.0.content.0.file.file_id", "chat", { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] }],
    ["tools.0", "responses", { tools: [{ type: "mcp", server_label: "a", server_url: "https://a.example" }] }],
    ["tools.0.vector_store_ids", "responses", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
    ["tools.0.container", "responses", { tools: [{ type: "code_interpreter", container: "cntr_1" }] }],
    ["tools.0.container.file_ids", "responses", { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["f"] } }] }],
    ["prompt", "responses", { prompt: { id: "pmpt_1" } }],
    ["input.0.content.0.file_id", "responses", { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] }],
  ];
  const styleOf = (path: Path): Style => (path === "messages" ? "messages" : "chat");

  test.each(FIELDS)("%s of %s goes to keys that allow it alone", async (field, path, more) => {
    // Tools are priced by nobody: what the account may not reach is said first.
    const { owner, user } = await createAccounts(styleOf(path), {
      keys: [{}, { allow_provider_objects: false }],
    });
    const before = calls();
    const refused = await ask(user, path, "hi", more);
    expect([refused.status, refused.body.error.code]).toEqual([400, "invalid_parameter"]);
    expect(refused.body.error.message).toStartWith(field);
    expect(calls()).toBe(before);
    const [allowing] = await bench.level(owner, 1, 1, {
      Config: { api_style: styleOf(path), allow_provider_objects: true },
    });
    const tools = { CallPricing: { file_search: { Call: 0.002 }, code_interpreter: { Call: 0.03 } } };
    await bench.call(owner.key, "PUT", "/x-config", { PRICING: { ...PRICING, ...tools } });
    for (let i = 0; i < 3; i++) expect((await ask(user, path, "hi", more)).status).toBe(200);
    const answered = bench.provider.calls().slice(before);
    expect(answered.map(({ key }) => key)).toEqual(Array(3).fill(allowing!.secret.slice(-4)));
  });

  test.each(FIELDS)("%s of %s never goes over to a key that does not allow it", async (_, path, more) => {
    const { owner, user } = await createAccounts(styleOf(path));
    const [allowing] = await bench.level(owner, 1, 1, {
      Config: { api_style: styleOf(path), allow_provider_objects: true },
    });
    const tools = { CallPricing: { file_search: { Call: 0.002 }, code_interpreter: { Call: 0.03 } } };
    await bench.call(owner.key, "PUT", "/x-config", { PRICING: { ...PRICING, ...tools } });
    bench.provider.behave(allowing!.secret, "fault=500");
    const before = calls();
    expect((await ask(user, path, "hi", more)).status).toBe(502);
    expect(
      bench.provider
        .calls()
        .slice(before)
        .map(({ key }) => key),
    ).toEqual([allowing!.secret.slice(-4)]);
  });

  test.each(FIELDS.filter(([, path]) => path !== "responses"))(
    "%s of %s is refused at a key of the other style, which has no field for it",
    async (field, path, more) => {
      const { user } = await createAccounts(styleOf(path) === "chat" ? "messages" : "chat", {
        keys: [{ allow_provider_objects: true }],
      });
      const { status, body } = await ask(user, path, "hi", more);
      expect([status, body.error.code]).toEqual([400, "invalid_parameter"]);
      expect(body.error.message).toStartWith(field);
    },
  );

  test("a container that is made anew needs no leave", async () => {
    const { user } = await createAccounts("chat", {
      pricing: { ...PRICING, CallPricing: { code_interpreter: { Call: 0.03 } } },
    });
    const more = { tools: [{ type: "code_interpreter", container: { type: "auto" } }] };
    expect((await ask(user, "responses", "hi", more)).status).toBe(200);
  });

  test("the field of the key is true or false, is shown, and goes again", async () => {
    const { owner } = await createAccounts("chat", { keys: [] });
    const key = { Level: 1, Provider: "https://api.example.com/v1", SecretKey: "sk-0123456789012345678" };
    const wrong = await bench.call(owner.key, "POST", "/x-keys", {
      ...key,
      Config: { allow_provider_objects: "yes" },
    });
    expect([wrong.status, wrong.body.error.code]).toEqual([400, "invalid_parameter"]);
    expect(wrong.body.error.message).toContain("allow_provider_objects");
    const [made] = await bench.level(owner, 1, 1, { Config: { allow_provider_objects: true } });
    const read = async () => (await bench.call(owner.key, "GET", `/x-keys/${made!.id}`)).body.key.Config;
    expect(await read()).toEqual({ allow_provider_objects: true });
    await bench.call(owner.key, "PUT", `/x-keys/${made!.id}`, { Config: { allow_provider_objects: null } });
    expect(await read()).toEqual({});
  });
});

/** The parts of a charge, as `explain` reports them. */
async function partsOf(user: Account, request: string): Promise<Json[]> {
  const { body } = await bench.call(user.key, "GET", `/dashboard/explain?request=${request}`);
  return body.request.parts.map(({ name, usage }: Json) => ({ name, calls: usage.calls }));
}

describe("tools that are billed by the call", () => {
  const code = { tools: [{ type: "code_interpreter", container: { type: "auto" } }] };

  test.each([
    ["code_interpreter", "responses", code],
    ["file_search", "responses", { tools: [{ type: "file_search", vector_store_ids: [] }] }],
    ["code_execution", "messages", { tools: [{ type: "code_execution_20260120", name: "code_execution" }] }],
    ["nobody_knows", "chat", { tools: [{ type: "nobody_knows" }] }],
  ] as const)("%s needs a price", async (name, path, more) => {
    const { user } = await createAccounts(path === "messages" ? "messages" : "chat");
    const before = calls();
    const { status, body } = await ask(user, path, "hi", more);
    expect([status, body.error.code]).toEqual([404, "model_not_priced"]);
    expect(body.error.message).toContain(`{"PRICING":{"CallPricing":{"${name}":{"Call":`);
    expect(calls()).toBe(before);
  });

  test.each([
    ["responses", { tools: [{ type: "computer" }, { type: "tool_search" }] }],
    [
      "messages",
      {
        tools: [
          { type: "web_fetch_20260309", name: "web_fetch" },
          { type: "bash_20250124", name: "bash" },
        ],
      },
    ],
  ] as const)("what tokens pay for passes on %s", async (path, more) => {
    const { user } = await createAccounts(path === "messages" ? "messages" : "chat");
    expect((await ask(user, path, "hi", more)).status).toBe(200);
  });

  test.each([false, true])(
    "calls are charged beside the tokens, and held for (streamed: %p)",
    async (stream) => {
      const { owner, user } = await createAccounts("chat", {
        pricing: { ...PRICING, CallPricing: { code_interpreter: { Call: 0.03, Rates: 2 } } },
      });
      const body = { ...bodyFor("responses", "hi", { ...code, max_tool_calls: 4 }) };
      const { hold } = (await bench.call(user.key, "POST", "/v1/quote", { path: PATHS.responses, body }))
        .body;
      expect(hold).toBeGreaterThanOrEqual(4 * 0.06);
      await ask(user, "responses", "hi [[prompt=100 output=10 executions=3]]", { ...code, stream });
      const [line] = await linesOf(user);
      expect(nano(-line.amount)).toBe(3 * 60_000_000 + 100 * 1_000 + 10 * 2_000);
      expect(line).toMatchObject({ prompt_tokens: 100, completion_tokens: 10 });
      const PRICED = { ...PRICING, CallPricing: { code_interpreter: { Call: 0.01 } } };
      const previewed = async (): Promise<Json> => {
        const { body } = await bench.call(owner.key, "POST", "/x-config/preview", { PRICING: PRICED });
        return body.models.find((one: Json) => one.model === MODEL);
      };
      // Days of usage trail behind charges.
      await until("the day has the charge", async () => (await previewed()) !== undefined);
      const row = await previewed();
      expect([nano(row.cost_now), nano(row.cost_preview)]).toEqual([
        nano(-line.amount),
        30_000_000 + 120_000,
      ]);
      const parts = await partsOf(user, line.request_id);
      expect(parts).toEqual([{ name: "code_interpreter", calls: 3 }]);
    },
  );

  describe("searches of the web", () => {
    const SEARCH = { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }] };
    test.each([
      ["the model's own price", "claude-sonnet-4-5", {}, 0.01],
      [
        "an Owner's price of the tool",
        "claude-haiku-4-5",
        { CallPricing: { web_search: { Call: 0.02 } } },
        0.02,
      ],
      ["a cent where there is none", "claude-haiku-4-5", {}, 0.01],
      ["a cent where the Owner has priced the model", MODEL, {}, 0.01],
    ] as const)("cost %s", async (_, model, more, usd) => {
      const { user } = await createAccounts("messages", { pricing: { ...PRICING, ...more } });
      const of = async (searches: number) => {
        await ask(user, "messages", `hi [[prompt=100 output=10 searches=${searches}]]`, { ...SEARCH, model });
        return nano(-(await linesOf(user)).at(-1).amount);
      };
      expect((await of(3)) - (await of(0))).toBe(nano(3 * usd));
      const body = { ...bodyFor("messages", "hi", SEARCH), model };
      const most = async (given: object) =>
        (await bench.call(user.key, "POST", "/v1/quote", { path: PATHS.messages, body: given })).body.cost
          .max;
      expect((await most(body)) - (await most({ ...body, tools: [] }))).toBeGreaterThanOrEqual(5 * usd);
    });

    test("of a streamed response are charged as well", async () => {
      const { user } = await createAccounts("chat");
      await ask(user, "responses", "hi [[prompt=100 output=10 searches=2]]", {
        tools: [{ type: "web_search" }],
        stream: true,
      });
      expect(nano(-(await linesOf(user))[0].amount)).toBe(2 * 10_000_000 + 120_000);
    });
  });
});

describe("turns that no total counts", () => {
  test.each([false, true])("a compaction is charged (streamed: %p)", async (stream) => {
    const { user } = await createAccounts("messages");
    await ask(user, "messages", "hi [[prompt=100 output=10 usage=iterations]]", { stream });
    const [line] = await linesOf(user);
    // The stand-in's compaction takes 1,000 tokens in and 100 out.
    expect(line).toMatchObject({ basis: "provider", prompt_tokens: 1_100, completion_tokens: 110 });
    expect(nano(-line.amount)).toBe(1_100 * 1_000 + 110 * 2_000);
  });

  test("a request that may be compacted is held for it", async () => {
    const { user } = await createAccounts("messages");
    const body = bodyFor("messages", "word ".repeat(1_000), {});
    const most = async (more: object) =>
      (await bench.call(user.key, "POST", "/v1/quote", { path: PATHS.messages, body: { ...body, ...more } }))
        .body.cost.max;
    const compacting = { context_management: { edits: [{ type: "compact_20260112" }] } };
    expect(await most(compacting)).toBeCloseTo(2 * (await most({})), 9);
  });
});

test("every charge is found right when it is computed anew from the ledger", async () => {
  const audit = await openAudit(`sqlite:${join(bench.directory, "bench.db")}`);
  const { findings } = await verify(audit).finally(() => audit.close());
  expect(findings.filter(({ rule }) => rule === "charge")).toEqual([]);
});
