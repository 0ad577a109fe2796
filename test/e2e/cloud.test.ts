// Keys of the two clouds through the whole service: dated and v1 paths behind deployments, tokens of a service account, both
// styles, whole and streamed; what is charged and shown is our model, and what fails goes to the next key.

import { afterAll, describe, expect, test } from "bun:test";
import { exportPKCS8, generateKeyPair } from "jose";
import type { ApiStyle } from "../../src/gateway/codec/key-formats.ts";
import { startCloudA } from "../provider/cloud-a.ts";
import { startCloudB } from "../provider/cloud-b.ts";
import type { Cloud, CloudCall } from "../provider/front.ts";
import { charges, fresh, type Json, type Owner, until } from "./harness.ts";
import { ask, fares } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const KEY_A = "cloud-a-key-0123456789abcdef";
const EMAIL = "robot@p-1.example";
const CLAUDE = "claude-bench-20250929";
const GEMINI = "gemini-bench";
const GPT = "gpt-bench";
const PRICE = { InputText: 1, OutputText: 2 };
const PRICING = { ChatPricing: { "*": PRICE } };
const MINUTE = 60_000;

const robot = await generateKeyPair("RS256", { extractable: true });
const stranger = await generateKeyPair("RS256", { extractable: true });
const PEM = await exportPKCS8(robot.privateKey);
const WRONG_PEM = await exportPKCS8(stranger.privateKey);

const cloudA = startCloudA({
  key: KEY_A,
  deployments: {
    "dep-exact": "gpt-4o-2024-11-20",
    "dep wild": "gpt-4o-mini",
    "dep-rest": "gpt-4.1",
    // Some call the model in their answers what the request called it.
    "dep-echo": "dep-echo",
    [GPT]: GPT,
  },
});
const cloudB = startCloudB({
  accounts: { [EMAIL]: robot.publicKey },
  project: "p-1",
  location: "l-1",
  now: () => bench.now(),
});
const bench = useBench({ settings: { CLOUD_B_TOKEN_URL: cloudB.tokenUrl } });
afterAll(() => {
  cloudA.close();
  cloudB.close();
});

const owner = (): Promise<Owner> => bench.owner({ keys: 0, pricing: PRICING });

const keyA = (of: Owner, config: object = {}, secret = KEY_A) =>
  addKey(of, { Provider: cloudA.url, SecretKey: secret, Config: { provider_type: "cloud_a", ...config } });
const keyB = (of: Owner, config: object = {}) => {
  const own = { provider_type: "cloud_b", base_url: cloudB.base, client_email: EMAIL, private_key: PEM };
  return addKey(of, { Provider: cloudB.base, Config: { ...own, ...config } });
};
const addKey = async (of: Owner, more: object) => (await bench.level(of, 1, 1, more))[0]!;

/** The calls that a piece of work leads to at a cloud. */
async function callsOf<T>(
  cloud: Cloud,
  work: () => Promise<T>,
): Promise<{ answer: T; calls: readonly CloudCall[] }> {
  const from = cloud.calls().length;
  const answer = await work();
  return { answer, calls: cloud.calls().slice(from) };
}

const lastCharge = async (of: Owner): Promise<Json> => charges(await bench.ledger(of.key)).at(-1);

describe("a key of cloud_a", () => {
  const model_mapping = { "gpt-exact": "dep-exact", "gpt-w*": "dep wild", "*": "dep-rest" };

  test.each([false, true])(
    "answers on the dated path (stream: %p), and our model is charged",
    async (stream) => {
      const mine = await owner();
      await keyA(mine, { model_mapping });
      const { answer, calls } = await callsOf(cloudA, () =>
        ask(bench, mine, { stream, more: { model: "gpt-exact" } }),
      );
      expect(answer.result).toBe("200");
      expect(calls).toMatchObject([
        {
          path: "/openai/deployments/dep-exact/chat/completions",
          query: "api-version=2025-04-01-preview",
          proof: KEY_A,
        },
      ]);
      expect(answer.model).toBe("gpt-exact");
      expect(answer.text).not.toContain("dep-exact");
      // What the provider says of its model passes as it came.
      expect(answer.text).toContain("gpt-4o-2024-11-20");
      const charge = await lastCharge(mine);
      expect(charge.model).toBe("gpt-exact");
      expect(charge.basis).toBe("provider");
    },
  );

  test.each([false, true])(
    "answers on the v1 path, whose body names the deployment (stream: %p)",
    async (stream) => {
      const mine = await owner();
      await keyA(mine, { model_mapping, api_versions: { chat: "v1" } });
      const { answer, calls } = await callsOf(cloudA, () =>
        ask(bench, mine, { stream, more: { model: "gpt-exact" } }),
      );
      expect(answer.result).toBe("200");
      expect(calls).toMatchObject([
        { path: "/openai/v1/chat/completions", query: "", body: { model: "dep-exact" } },
      ]);
    },
  );

  const MAPPED: readonly (readonly [rule: string, model: string, path: string])[] = [
    ["the exact name", "gpt-exact", "dep-exact"],
    ["a pattern", "gpt-wild", "dep%20wild"],
    ["the rest", "o3", "dep-rest"],
  ];
  test.each(MAPPED)("is mapped by %s", async (_, model, deployment) => {
    const mine = await owner();
    await keyA(mine, { model_mapping });
    const { answer, calls } = await callsOf(cloudA, () => ask(bench, mine, { more: { model } }));
    expect(answer.result).toBe("200");
    expect(calls.map(({ path }) => path)).toEqual([`/openai/deployments/${deployment}/chat/completions`]);
  });
  test("without a mapping asks for a deployment called like the model", async () => {
    const mine = await owner();
    await keyA(mine);
    expect((await ask(bench, mine, { more: { model: GPT } })).result).toBe("200");
  });

  test("whose deployment is not there goes to the next key, and its name to nobody", async () => {
    const mine = await owner();
    const bad = await keyA(mine, { model_mapping: { "*": "dep-gone" } });
    await keyA(mine, { model_mapping });
    const good = await ask(bench, mine, { more: { model: "o3" } });
    expect([good.result, good.attempts]).toEqual(["200", 2]);
    await fares(bench, mine, bad, "passed_over 10 min", { model: "o3" });
  });
  test("that alone has no deployment answers 404 without its name", async () => {
    const mine = await owner();
    await keyA(mine, { model_mapping: { "*": "dep-gone" } });
    const answer = await ask(bench, mine, { more: { model: "o3" } });
    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain("dep-gone");
  });
  test("with a wrong secret sleeps at once, and another key answers", async () => {
    const mine = await owner();
    const bad = await keyA(mine, { model_mapping }, "cloud-a-key-that-is-not-the-one");
    await keyA(mine, { model_mapping });
    const answer = await ask(bench, mine, { more: { model: "o3" } });
    expect([answer.result, answer.attempts]).toEqual(["200", 2]);
    await fares(bench, mine, bad, "sleeping 30 min", { model: "o3" });
  });
  test("answers messages in its own style, and the deployment is none of the client's business", async () => {
    const mine = await owner();
    await keyA(mine, { model_mapping });
    const more = { model: "o3" };
    const { answer, calls } = await callsOf(cloudA, () => ask(bench, mine, { style: "messages", more }));
    expect([answer.result, answer.body.model]).toEqual(["200", "o3"]);
    expect(calls).toMatchObject([{ body: { model: expect.stringContaining("dep") } }]);
    expect(answer.text).not.toContain("dep");
  });
  test.each<[stream: boolean, version: string]>([
    [false, "v1"],
    [true, "v1"],
    [false, "2024-10-21"],
    [true, "2024-10-21"],
  ])(
    "whose answer repeats the deployment is answered with our model (stream: %p, %s)",
    async (stream, chat) => {
      const mine = await owner();
      await keyA(mine, { model_mapping: { "*": "dep-echo" }, api_versions: { chat } });
      const answer = await ask(bench, mine, { stream, more: { model: "gpt-echo" } });
      expect(answer.result).toBe("200");
      expect(answer.text).not.toContain("dep-echo");
      expect(answer.text).toContain('"model":"gpt-echo"');
    },
  );
  test("keeps a deployment's name out of an error inside a stream", async () => {
    const mine = await owner();
    await keyA(mine, { model_mapping: { "*": "dep-rest" } });
    const answer = await ask(bench, mine, {
      stream: true,
      said: "say [[output=9 fault=error_event after=5]]",
      more: { model: "o3" },
    });
    expect(answer.result).toStartWith("cut ");
    expect(answer.text).not.toContain("dep-rest");
  });
});

describe("a key of cloud_b", () => {
  test.each([false, true])(
    "answers in the chat style (stream: %p), and our model is charged",
    async (stream) => {
      const mine = await owner();
      await keyB(mine);
      const { answer, calls } = await callsOf(cloudB, () =>
        ask(bench, mine, { stream, more: { model: GEMINI } }),
      );
      expect(answer.result).toBe("200");
      expect(calls).toMatchObject([
        {
          path: `${new URL(cloudB.base).pathname}/endpoints/openapi/chat/completions`,
          body: { model: `google/${GEMINI}` },
        },
      ]);
      expect(answer.model).toBe(GEMINI);
      expect(answer.text).toContain(`"model":"${GEMINI}"`);
      expect(answer.text).not.toContain("google/");
      expect((await lastCharge(mine)).model).toBe(GEMINI);
    },
  );

  test.each([false, true])(
    "answers messages to Claude models (stream: %p), and our model is charged",
    async (stream) => {
      const mine = await owner();
      await keyB(mine);
      const headers = {
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "oauth-2025-04-20,context-1m-2025-08-07",
      };
      const { answer, calls } = await callsOf(cloudB, () =>
        ask(bench, mine, { style: "messages", stream, more: { model: CLAUDE }, headers }),
      );
      expect(answer.result).toBe("200");
      const method = stream ? "streamRawPredict" : "rawPredict";
      expect(calls).toMatchObject([
        {
          path: `${new URL(cloudB.base).pathname}/publishers/anthropic/models/claude-bench@20250929:${method}`,
          headers: { "anthropic-beta": "context-1m-2025-08-07" },
          body: { anthropic_version: "vertex-2023-10-16" },
        },
      ]);
      expect(calls[0]!.body).not.toHaveProperty("model");
      expect(answer.model).toBe(CLAUDE);
      expect((await lastCharge(mine)).model).toBe(CLAUDE);
    },
  );

  test("counts the tokens of messages to Claude models", async () => {
    const mine = await owner();
    await keyB(mine);
    const body = { model: CLAUDE, messages: [{ role: "user", content: "count me" }] };
    const answer = await bench.call(mine.key, "POST", "/v1/messages/count_tokens", body);
    expect(answer.body.input_tokens).toBeGreaterThan(0);
  });

  const ACROSS: readonly (readonly [ApiStyle, model: string, stream: boolean, behind: string])[] = [
    ["chat", CLAUDE, false, "/publishers/anthropic/models/claude-bench@20250929:rawPredict"],
    ["chat", CLAUDE, true, "/publishers/anthropic/models/claude-bench@20250929:streamRawPredict"],
    ["messages", GEMINI, false, "/endpoints/openapi/chat/completions"],
    ["messages", GEMINI, true, "/endpoints/openapi/chat/completions"],
  ];
  test.each(ACROSS)(
    "answers a %s client of %s in the model's own style (stream: %p)",
    async (style, model, stream, behind) => {
      const mine = await owner();
      await keyB(mine);
      const headers = { "anthropic-beta": "context-1m-2025-08-07", "openai-beta": "x=1" };
      const { answer, calls } = await callsOf(cloudB, () =>
        ask(bench, mine, { style, stream, more: { model }, headers }),
      );
      expect([answer.result, answer.model]).toEqual(["200", model]);
      const [call] = calls;
      expect(call!.path).toBe(new URL(cloudB.base).pathname + behind);
      expect(call!.body).toMatchObject(
        style === "chat" ? { anthropic_version: "vertex-2023-10-16" } : { model: `google/${GEMINI}` },
      );
      if (style === "chat") expect(call!.body).not.toHaveProperty("model");
      expect(Object.keys(call!.headers).filter((name) => /^(anthropic|openai)-/.test(name))).toEqual([]);
      expect((await lastCharge(mine)).model).toBe(model);
    },
  );

  test("asks for a token once, and renews it before it ends while the old one serves", async () => {
    const mine = await owner();
    await keyB(mine);
    expect((await ask(bench, mine, { more: { model: GEMINI } })).result).toBe("200");
    const before = cloudB.tokens().length;
    const proofs = async () =>
      (await callsOf(cloudB, () => ask(bench, mine, { more: { model: GEMINI } }))).calls.map((c) => c.proof);
    const first = cloudB.tokens().at(-1)!;
    expect(await proofs()).toEqual([first]);
    expect(cloudB.tokens().length).toBe(before);
    bench.moveClock(56 * MINUTE);
    expect(await proofs()).toEqual([first]);
    await until("a new token is given out", () => cloudB.tokens().length === before + 1);
    await until("the new token is used", async () => (await proofs())[0] === cloudB.tokens().at(-1));
    expect(cloudB.tokens().length).toBe(before + 1);
  });

  test("whose token is refused asks for another, once, and the client sees nothing of it", async () => {
    const mine = await owner();
    await keyB(mine);
    await ask(bench, mine, { more: { model: GEMINI } });
    cloudB.revoke();
    const before = cloudB.tokens().length;
    const { answer, calls } = await callsOf(cloudB, () => ask(bench, mine, { more: { model: GEMINI } }));
    expect([answer.result, answer.attempts, calls.length]).toEqual(["200", 1, 2]);
    expect(cloudB.tokens().length).toBe(before + 1);
  });

  test("that is refused with a new token too sleeps at once", async () => {
    const mine = await owner();
    const bad = await keyB(mine);
    cloudB.revoke();
    cloudB.answerTokens(() => Response.json({ access_token: `ya29.no-${fresh()}`, expires_in: 3_599 }));
    try {
      const { answer, calls } = await callsOf(cloudB, () => ask(bench, mine, { more: { model: GEMINI } }));
      expect([answer.result, calls.length]).toEqual(["502 upstream_failed", 2]);
      await fares(bench, mine, bad, "sleeping 30 min", { model: GEMINI });
    } finally {
      cloudB.answerTokens(null);
    }
  });

  test("with a private key that is not the account's sleeps at once, and another key answers", async () => {
    const mine = await owner();
    const bad = await keyB(mine, { private_key: WRONG_PEM });
    await keyB(mine);
    const answer = await ask(bench, mine, { more: { model: GEMINI } });
    expect([answer.result, answer.attempts]).toEqual(["200", 2]);
    await fares(bench, mine, bad, "sleeping 30 min", { model: GEMINI });
  });

  test("whose token address is down fails like a provider that is, and is asked again", async () => {
    const mine = await owner();
    const key = await keyB(mine, { private_key: PEM.replaceAll("\n", "\\n") });
    cloudB.revoke();
    cloudB.answerTokens(() => new Response("", { status: 500 }));
    try {
      expect((await ask(bench, mine, { more: { model: GEMINI } })).result).toBe("502 upstream_failed");
    } finally {
      cloudB.answerTokens(null);
    }
    await fares(bench, mine, key, "normal", { model: GEMINI });
    expect((await ask(bench, mine, { more: { model: GEMINI } })).result).toBe("200");
  });
});

describe("what is kept to ourselves:", () => {
  const lines = () => JSON.stringify(bench.log);
  test("no token, key or deployment stands in the log", () => {
    expect(bench.log.length).toBeGreaterThan(0);
    for (const secret of [KEY_A, PEM.slice(40, 80), WRONG_PEM.slice(40, 80), "ya29."]) {
      expect(lines()).not.toContain(secret);
    }
  });
  test("no token or key stands in the store", async () => {
    const files = ["bench.db", "bench.db-wal"].map((name) => Bun.file(`${bench.directory}/${name}`));
    const texts = await Promise.all(files.map(async (file) => ((await file.exists()) ? file.text() : "")));
    expect(texts.join("").length).toBeGreaterThan(0);
    for (const secret of [KEY_A, PEM.slice(40, 80), "ya29."]) expect(texts.join("")).not.toContain(secret);
  });
});
