// Testing a provider key apart from any provider: its bounds in time and number, by a clock of the test's own, and which
// model is taken when nobody names one.

import { describe, expect, test } from "bun:test";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/provider-key.ts";
import type { OwnerConfig } from "../../actors/owner/owner.ts";
import { GROUPS_OF, type Pricing, priceTable } from "../../actors/pricing/price-table.ts";
import { testKeys } from "../../src/admin/test-key.ts";
import { modelToTest } from "../../src/admin/test-model.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { ConfigCopy } from "../../src/gateway/account/account-context.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";
import { responseOf } from "../../src/upstream/fetch-transport.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import type { Upstream, UpstreamRequest } from "../../src/upstream/upstream.ts";
import { cutBy } from "../../src/upstream/upstream-failure.ts";
import { manualClock, NOON } from "../runtime/manual-clock.ts";

const OWNER = 2 as AccountId;
const OTHERS = [3, 4] as [AccountId, AccountId];
const [KEY, OTHER] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];
const vault = createSecretVault(KEY, null);

const keyOf = (id: number, more: Partial<ProviderKey> = {}): ProviderKey => ({
  ...{ id: id as ProviderKeyId },
  ...{ name: "", level: 1, provider: "https://models.example/v1", status: true, config: {} },
  ...{ secret: vault.seal("sk-secret-0123456789"), mask: "sk-…6789", createdAt: 0, updatedAt: 0 },
  ...more,
});

/** `fails`: when a call is given up, as an upstream reports it; a call that is `answered` gets a whole answer. */
function bench(answers: (attempt: UpstreamRequest) => Promise<Response>, keys: Partial<ProviderKey> = {}) {
  const clock = manualClock();
  const sent: UpstreamRequest[] = [];
  const upstream: Upstream = {
    naming: ({ model }) => ({ model, add: {} }),
    lacks: () => false,
    address: ({ provider, path }) => new URL(provider + path.slice("/v1".length)),
    async send(attempt) {
      sent.push(attempt);
      try {
        return { ok: true, ...responseOf(await answers(attempt)), scrub: (text) => text };
      } catch (error) {
        return { ok: false, signal: cutBy(attempt.signal, error) };
      }
    },
  };
  // No other actors than the pools are asked.
  const pools = [OWNER, ...OTHERS].map((owner) => actorRef.keyPool(owner));
  const system = {
    ask: async (at: unknown, type: string, { id }: { id: number }) => {
      expect<unknown[]>(pools).toContainEqual(at);
      expect(type).toBe("read");
      return keyOf(id, keys);
    },
  } as unknown as ActorSystem<Protocol>;
  const configs = { config: async () => configOf({}) };
  const tests = testKeys({ system, configs, vault, upstream, clock });
  const run = (id = 1, owner = OWNER) =>
    tests({ owner, id: id as ProviderKeyId, model: "m", requestId: "r" });
  return { run, clock, sent };
}

const ANSWER = { choices: [{ message: { role: "assistant", content: "pong" } }] };
const untilAborted = ({ signal }: UpstreamRequest) =>
  new Promise<Response>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => (error instanceof RefusedError ? error.refusal : error),
  );

describe("in time", () => {
  test("a provider that says nothing is given up after 30 seconds: timeout, status 0", async () => {
    const { run, clock } = bench(untilAborted);
    const running = run();
    await clock.advance(29_999);
    expect(Bun.peek.status(running)).toBe("pending");
    await clock.advance(1);
    const found = await running;
    expect(found).toMatchObject({ success: false, status: 0, signal: "timeout", latencyMs: 30_000 });
    expect(found.message).toContain("did not answer in time");
    expect(clock.waiting).toBe(0);
  });

  test("a body that never ends is given up as well, and its status returned", async () => {
    const endless = async ({ signal }: UpstreamRequest) =>
      new Response(
        new ReadableStream({
          start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
        }),
      );
    const { run, clock } = bench(endless);
    const running = run();
    await clock.advance(30_000);
    expect(await running).toMatchObject({ success: false, status: 200, signal: "timeout" });
  });

  test("a test that ends leaves no timer", async () => {
    const { run, clock } = bench(async () => Response.json(ANSWER));
    expect(await run()).toMatchObject({ success: true, status: 200, signal: "ok" });
    expect(clock.waiting).toBe(0);
  });
});

describe("in number", () => {
  test("one of a key, four of an Owner, eight in all; what is too many is refused with a time to come back, and what ends makes room", async () => {
    const gate = Promise.withResolvers<void>();
    const { run, clock, sent } = bench(async () => {
      await gate.promise;
      return Response.json(ANSWER);
    });
    const four = (from: number, owner: AccountId) => [0, 1, 2, 3].map((i) => run(from + i, owner));
    const mine = four(1, OWNER);
    await clock.advance(0);
    const busy = { code: "service_unavailable", retryAfterS: 1 };
    expect(await codeOf(run(9))).toMatchObject({ ...busy, message: expect.stringContaining("of yours") });
    const running = [...mine, ...four(5, OTHERS[0])];
    await clock.advance(0);
    const message = expect.stringContaining("Too many");
    expect(await codeOf(run(9, OTHERS[1]))).toMatchObject({ ...busy, message });
    expect(await codeOf(run(1))).toMatchObject({ ...busy, message: expect.stringContaining("This key") });
    expect(sent).toHaveLength(8);
    gate.resolve();
    expect((await Promise.all(running)).every(({ success }) => success)).toBe(true);
    expect((await run(9)).success).toBe(true);
    expect((await run(1)).success).toBe(true);
  });

  test("a call that breaks makes room too", async () => {
    const { run } = bench(() => Promise.reject(new Error("broken")));
    for (let i = 0; i < 10; i++) expect((await run()).signal).toBe("unreachable");
  });
});

test("a secret that no key at hand opens is not sent: invalid_key, and why", async () => {
  const secret = createSecretVault(OTHER, null).seal("sk-secret-0123456789");
  const { run, sent } = bench(async () => Response.json(ANSWER), { secret });
  expect(await run()).toMatchObject({
    ...{ success: false, status: 0, signal: "invalid_key" },
    message: expect.stringContaining("SECRETS_KEY"),
  });
  expect(sent).toEqual([]);
});

const configOf = (levelMapper: OwnerConfig["levelMapper"], pricing: Pricing | null = null): ConfigCopy =>
  ({ config: { levelMapper, pricing }, prices: priceTable(pricing) }) as unknown as ConfigCopy;

describe("without a name the model is", () => {
  const price = (usd: number) => ({ InputText: usd, OutputText: usd });
  const OPENAI = { provider: "https://api.openai.com/v1" };
  const chosen = (key: Partial<ProviderKey>, config: ConfigCopy) =>
    modelToTest({ config: async () => config }, OWNER, keyOf(1, key), NOON);

  test("one of the provider's own that leads to the key's Level", async () => {
    const model = await chosen(OPENAI, configOf({ "*": 1 }));
    expect(model).toStartWith("gpt-");
    expect(await chosen(OPENAI, configOf({ "*": 1, [model!]: 2 }))).not.toBe(model);
    expect(await chosen(OPENAI, configOf({ "*": 2 }))).toBeNull();
    expect(await chosen(OPENAI, configOf({}))).toBeNull();
  });

  test("the cheapest, and the Owner's price counts", async () => {
    const pricing = { ChatPricing: { "gpt-4o": price(0.000001) } };
    expect(await chosen(OPENAI, configOf({ "*": 1 }, pricing))).toBe("gpt-4o");
  });

  test("one that thinks only where there is no other", async () => {
    const pricing = { ChatPricing: { "o4-mini": price(0.000001) } };
    expect(await chosen(OPENAI, configOf({ "*": 1 }, pricing))).not.toBe("o4-mini");
    expect(await chosen(OPENAI, configOf({ "o4-mini": 1 }, pricing))).toBe("o4-mini");
  });

  test.each(["text-embedding-3-small", "chatgpt-4o-latest"])(
    "not %s, which does not chat or is gone",
    async (name) => {
      expect(priceTable(null).find(name, GROUPS_OF.tokens)).not.toBeNull();
      expect(await chosen(OPENAI, configOf({ [name]: 1 }))).toBeNull();
      expect(await chosen(OPENAI, configOf({ [name]: 1, "gpt-4o": 1 }))).toBe("gpt-4o");
    },
  );

  test("of an unknown host one that the Owner named, in PRICING or LEVEL_MAPPER, and priced", async () => {
    const pricing = { ChatPricing: { mine: price(2), "*": price(5) } };
    expect(await chosen({}, configOf({ "*": 1 }, pricing))).toBe("mine");
    expect(await chosen({}, configOf({ "*": 2, "named-here": 1 }, pricing))).toBe("named-here");
    expect(await chosen({}, configOf({ "named-here": 1 }))).toBeNull();
    expect(await chosen({}, configOf({ "*": 1 }))).toBeNull();
  });

  test("of cloud_a the first exact name of its mapping", async () => {
    const config = {
      provider_type: "cloud_a",
      model_mapping: { "gpt-*": "a", "*": "b", "gpt-4o": "c", o3: "d" },
    };
    expect(await chosen({ config }, configOf({}))).toBe("gpt-4o");
    const patterns = { provider_type: "cloud_a", model_mapping: { "*": "b" } };
    expect(await chosen({ config: patterns }, configOf({}))).toBeNull();
  });
});
