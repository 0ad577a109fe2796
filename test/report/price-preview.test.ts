// What the last 30 days would have cost: exact to the nano-dollar against charges that accounts really took.

import { describe, expect, test } from "bun:test";
import type { ChargeFacts } from "../../actors/account/state.ts";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { type ChargeTerms, cost } from "../../actors/pricing/cost.ts";
import type { Group, Pricing } from "../../actors/pricing/price.ts";
import { GROUPS_OF, priceTable } from "../../actors/pricing/price-table.ts";
import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../actors/pricing/usage.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { moveAccount } from "../../src/admin/move-account.ts";
import { realClock } from "../../src/base/clock.ts";
import { METERS } from "../../src/gateway/metering/meter-kinds.ts";
import { type MeterInput, meterUsage } from "../../src/gateway/metering/usage-meter.ts";
import { previewPrices } from "../../src/report/price-preview.ts";
import { DAY, factsOf, NOON } from "../actors/account-samples.ts";
import { type Born, startTree } from "../admin/tree.ts";
import { sizeOf } from "../gateway/request-samples.ts";
import { simRandom } from "../sim/random.ts";
import { memoryStore } from "../store/memory/memory.ts";

const PRICING: Pricing = {
  ChatPricing: {
    plain: { InputText: 1, OutputText: 2, CachedText: 0.5 },
    odd: { InputText: 0.0173, OutputText: 3.333333, Rates: 1.1 },
  },
};

interface Asked {
  readonly by: Born;
  readonly model?: string;
  readonly usage?: Partial<Usage>;
  readonly terms?: Partial<ChargeTerms>;
  /** What was in force. */
  readonly pricing?: Pricing | null;
  readonly days?: number;
  /** The groups of the path that it was asked on. */
  readonly groups?: readonly Group[];
}

/** What is read of an answer, and what was in force. */
interface Answered extends Partial<MeterInput> {
  readonly pricing?: Pricing | null;
  readonly rates?: number;
}

/** An Owner, an account and an account below it, so many days ago; charges are made in the order of time. */
async function startAccounts(daysAgo = 1) {
  const clock = { ...realClock(), wall: () => now };
  let now = NOON - daysAgo * DAY;
  const tree = await startTree(memoryStore({ clock }), clock);
  const owner = await tree.born(ROOT, "acme", 100_000);
  const team = await tree.born(owner.id, "team", 30_000);
  const member = await tree.born(team.id, "member", 10_000);
  let made = 0;
  async function charged(by: Born, { usage = NO_USAGE, ...what }: Partial<ChargeFacts>): Promise<void> {
    const facts = factsOf({
      ...{ id: `request-${++made}`, usage, admittedAt: now, ...what },
      ...{ prompt: promptTokens(usage), completion: completionTokens(usage) },
    });
    await tree.system.ask(actorRef.account(by.id), "charge", facts, { id: facts.id, bornAt: now });
  }
  return {
    ...{ tree, owner, team, member },
    /** So many days before the preview. */
    ago(days: number, ms = 0) {
      now = NOON - days * DAY + ms;
    },
    /** Charges as the gateway does; answers the cost in nano-dollars. */
    async charge({
      by,
      model = "plain",
      usage: some,
      terms,
      pricing = PRICING,
      groups = GROUPS_OF.tokens,
    }: Asked): Promise<number> {
      const usage = { ...NO_USAGE, inText: 1_000, outText: 100, ...some };
      const priced = priceTable(pricing).find(model, groups)!;
      const { amount, numbers } = cost(priced, usage, { rates: 1, factor: 1, ...terms });
      await charged(by, { model, usage, cost: amount, price: numbers });
      return amount;
    },
    /** Charges what the gateway computes of an answer; answers the cost in nano-dollars. */
    async chargeAnswer(model: string, { pricing = null, rates = 1, ...read }: Answered): Promise<number> {
      const prices = priceTable(pricing);
      const { groups } = METERS.tokens;
      const priced = prices.find(model, groups)!;
      const multipliers = { rates, factor: 1 };
      const route = { model, priced, pricedByTokens: null, prices, multipliers };
      const size = sizeOf({ maxOutput: 64_000 });
      const { usage, charge, answeredModel } = await meterUsage(
        METERS.tokens,
        { route, size },
        {
          ...{ dialect: "messages", usage: null, serviceTier: null, answeredModel: null, texts: [] },
          ...{ measured: {}, complete: true, prompt: () => [], promptTokens: null, promptBeside: 0 },
          ...read,
        },
        { count: async () => 0 },
      );
      const { amount: cost, numbers: price, parts } = charge;
      const other = answeredModel === null ? {} : { answeredModel };
      await charged(team, { model, usage, cost, price, ...other, ...(parts.length > 0 && { parts }) });
      return cost;
    },
    /** Once everything is saved. */
    async preview(pricing: Pricing | null, of: AccountId = owner.id) {
      now = NOON;
      await tree.system.drain(5_000);
      const dna = of === ROOT ? "." : ".1.";
      return previewPrices(tree.store, { of: { id: of, dna }, pricing, now });
    },
  };
}

describe("a preview", () => {
  test("under the same prices equals what it really cost, to the nano-dollar", async () => {
    const { charge, preview, owner, team, member } = await startAccounts();
    const random = simRandom(7);
    let sum = 0;
    for (let i = 0; i < 200; i++) {
      const usage: Partial<Usage> = {
        inText: random.below(100_000),
        inCached: random.below(1_000),
        outText: random.below(5_000),
        outReason: random.below(500),
      };
      const model = random.pick(["plain", "odd", "gpt-4o-mini"]);
      const terms = { rates: random.pick([1, 1.25, 0.333]), factor: random.pick([1, 0.07]) };
      sum += await charge({ by: random.pick([owner, team, member]), model, usage, terms });
    }
    const { models, total } = await preview(PRICING);
    expect(total).toEqual({ costNow: BigInt(sum), costPreview: BigInt(sum) });
    expect(models.map(({ model }) => model).sort()).toEqual(["gpt-4o-mini", "odd", "plain"]);
    for (const { costNow, costPreview } of models) expect(costPreview).toBe(costNow);
    expect(models.reduce((all, { requests }) => all + requests, 0)).toBe(200);
    expect(models.map(({ costNow }) => costNow)).toEqual(
      models.map(({ costNow }) => costNow).sort((a, b) => (a < b ? 1 : -1)),
    );
  });

  test("under twice the price is twice the cost", async () => {
    const { charge, preview, team } = await startAccounts();
    // 1000 × 1 USD and 100 × 2 USD a million.
    for (let i = 0; i < 3; i++) expect(await charge({ by: team })).toBe(1_200_000);
    const { total } = await preview({ ChatPricing: { plain: { InputText: 2, OutputText: 4 } } });
    expect(total).toEqual({ costNow: 3_600_000n, costPreview: 7_200_000n });
  });

  test("rounds each charge once, as a real one is", async () => {
    const { charge, preview, team } = await startAccounts();
    for (let i = 0; i < 3; i++) await charge({ by: team, usage: { inText: 1, outText: 0 } });
    // 0.0005 USD a million: half a nano-dollar for each, which is one. Three together would be two.
    const { total } = await preview({ ChatPricing: { plain: { InputText: 0.0005, OutputText: 0 } } });
    expect(total.costPreview).toBe(3n);
  });

  test("takes a model's other Rates, and the account's own Rates and Factor as they were", async () => {
    const { charge, preview, team } = await startAccounts();
    expect(await charge({ by: team, terms: { rates: 1.5, factor: 2 } })).toBe(3_600_000);
    const { models } = await preview({ ChatPricing: { plain: { InputText: 1, OutputText: 2, Rates: 10 } } });
    expect(models[0]!.costPreview).toBe(36_000_000n);
  });

  test("of defaults beneath an override: without it they are back, with their tiers", async () => {
    const { charge, preview, team } = await startAccounts();
    const terms = { tier: "priority" };
    const model = "gemini-2.5-pro";
    const usage = { inText: 300_000 };
    const byDefault = await charge({ by: team, model, usage, terms, pricing: null });
    expect(byDefault).not.toBe(await charge({ by: team, model, usage, pricing: null }));
    const same = await preview(null);
    expect(same.total.costPreview).toBe(same.total.costNow);
    const flat = await preview({ ChatPricing: { [model]: { InputText: 1, OutputText: 0 } } });
    expect(flat.total.costPreview).toBe(600_000_000n);
  });

  test("of a flex tier too", async () => {
    const { charge, preview, team } = await startAccounts();
    await charge({ by: team, model: "gemini-2.5-flash", terms: { tier: "flex" }, pricing: null });
    const { total } = await preview(null);
    expect(total.costPreview).toBe(total.costNow);
  });

  test('prices by "*" what has no price of its own', async () => {
    const { charge, preview, team } = await startAccounts();
    await charge({ by: team });
    const { models } = await preview({ CallPricing: { "*": { Call: 0.5 } } });
    expect(models).toEqual([{ model: "plain", requests: 1, costNow: 1_200_000n, costPreview: 500_000_000n }]);
  });

  test("of a model that would have no price is null, and its total is without it", async () => {
    const { charge, preview, team } = await startAccounts();
    await charge({ by: team });
    await charge({ by: team, model: "odd", usage: { inText: 0, outText: 1_000_000 } });
    const { models, total } = await preview({ ChatPricing: { plain: { InputText: 3, OutputText: 0 } } });
    expect(models).toEqual([
      { model: "odd", requests: 1, costNow: 3_666_666_300n, costPreview: null },
      { model: "plain", requests: 1, costNow: 1_200_000n, costPreview: 3_000_000n },
    ]);
    expect(total).toEqual({ costNow: 3_667_866_300n, costPreview: 3_000_000n });
  });

  test("of nothing is nothing", async () => {
    expect(await (await startAccounts()).preview(PRICING)).toEqual({
      models: [],
      total: { costNow: 0n, costPreview: 0n },
    });
  });

  test("of more lines than one page counts each once", async () => {
    const { charge, preview, team } = await startAccounts();
    await Promise.all(Array.from({ length: 450 }, () => charge({ by: team })));
    expect((await preview(PRICING)).models[0]!.requests).toBe(450);
  });

  test("ends when its client is gone: no page more is read", async () => {
    const { tree, charge, preview, owner, team } = await startAccounts();
    await Promise.all(Array.from({ length: 450 }, () => charge({ by: team })));
    await preview(PRICING);
    const gone = new AbortController();
    let pages = 0;
    const readLines: typeof tree.store.readLines = (...asked) => {
      if (++pages === 2) gone.abort();
      return tree.store.readLines(...asked);
    };
    const asked = { of: { id: owner.id, dna: ".1." }, pricing: PRICING, now: NOON };
    const made = previewPrices({ ...tree.store, readLines }, asked, gone.signal);
    expect(await made.catch((error: Error) => error.name)).toBe("AbortError");
    expect(pages).toBe(2);
  });
});

describe("an answer of several models", () => {
  const usage = { input_tokens: 23_000, output_tokens: 1_000 };
  const OPUS = "claude-opus-4-5";
  const HAIKU = "claude-haiku-4-5";
  const advice = { type: "advisor_message", input_tokens: 1_000, output_tokens: 100 };
  const searched = { ...usage, server_tool_use: { web_search_requests: 2, code_execution_requests: 1 } };
  const OWN: Pricing = {
    ChatPricing: { [HAIKU]: { InputText: 0.3, OutputText: 1 }, odd: { InputText: 0.0173, OutputText: 3.3 } },
    CallPricing: { code_execution: { Call: 0.05 }, "*": { Call: 0.001 } },
  };

  test.each<[what: string, model: string, answered: Answered]>([
    ["a dearer model", HAIKU, { usage, answeredModel: OPUS }],
    ["a cheaper model", OPUS, { usage, answeredModel: HAIKU }],
    ["a dearer model than one that the Owner priced", HAIKU, { usage, answeredModel: OPUS, pricing: OWN }],
    ["a model that the Owner priced", OPUS, { usage, answeredModel: "odd", pricing: OWN }],
    ["a model without a price", OPUS, { usage, answeredModel: "unheard-of", pricing: OWN }],
    ["a turn of the model itself", OPUS, { usage: { ...usage, iterations: [advice] } }],
    ["a turn of a cheaper model", OPUS, { usage: { ...usage, iterations: [{ ...advice, model: HAIKU }] } }],
    ["a turn of a dearer model", HAIKU, { usage: { ...usage, iterations: [{ ...advice, model: OPUS }] } }],
    [
      "a turn of an unknown model",
      HAIKU,
      { usage: { ...usage, iterations: [{ ...advice, model: "unheard-of" }] }, pricing: OWN },
    ],
    [
      "turns, tools and a dearer model at once",
      HAIKU,
      {
        usage: { ...searched, iterations: [advice, { ...advice, model: "gpt-4o" }] },
        answeredModel: OPUS,
        pricing: { CallPricing: { code_execution: { Call: 0.05 } } },
        rates: 1.1,
      },
    ],
  ])("costs the same again under the same prices: %s", async (_what, model, answered) => {
    const { chargeAnswer, preview } = await startAccounts();
    const real = BigInt(await chargeAnswer(model, answered));
    expect(real).toBeGreaterThan(0n);
    expect((await preview(answered.pricing ?? null)).total).toEqual({ costNow: real, costPreview: real });
  });

  test("costs what its own price says once the Owner prices the model that was asked", async () => {
    const { chargeAnswer, preview } = await startAccounts();
    await chargeAnswer(HAIKU, { usage, answeredModel: OPUS });
    const { total } = await preview({ ChatPricing: { [HAIKU]: { InputText: 1, OutputText: 0 } } });
    expect(total.costPreview).toBe(23_000_000n);
  });
});

describe("what was not priced in tokens", () => {
  const { images, audio, rerank } = GROUPS_OF;
  const NONE = { inText: 0, outText: 0 };

  test.each([
    [
      "images in their size",
      "dall-e-3",
      images,
      { calls: 2 },
      { image: { quality: "hd", size: "1024x1792" } },
    ],
    ["characters", "tts-1", audio, { chars: 2_000 }, {}],
    ["seconds", "whisper-1", audio, { seconds: 90 }, {}],
    ["searches", "rerank-v3.5", rerank, { calls: 2 }, {}],
  ] as const)(
    "costs the same again under the same prices: %s",
    async (_what, model, groups, counts, terms) => {
      const { charge, preview, team } = await startAccounts();
      const real = await charge({
        by: team,
        model,
        usage: { ...NONE, ...counts },
        terms,
        groups,
        pricing: null,
      });
      expect(real).toBeGreaterThan(0);
      expect((await preview(null)).total).toEqual({ costNow: BigInt(real), costPreview: BigInt(real) });
    },
  );

  test("costs what the previewed price of its own size says", async () => {
    const { charge, preview, team } = await startAccounts();
    const terms = { image: { quality: "hd", size: "1024x1792" } };
    const usage = { ...NONE, calls: 1 };
    await charge({ by: team, model: "dall-e-3", usage, terms, groups: images, pricing: null });
    const dearer = { ImgPricing: { "dall-e-3": { Sizes: { "hd/1024x1792": 0.5 } } } };
    expect((await preview(dearer)).total.costPreview).toBe(500_000_000n);
  });
});

describe("what is looked back at", () => {
  test("is 30 days, today among them, from the first moment of the first one", async () => {
    const { ago, charge, preview, team } = await startAccounts(40);
    for (const [days, ms] of [[31], [30], [29, -12 * 3_600_000 - 1], [29, -12 * 3_600_000], [15], [0]]) {
      ago(days!, ms);
      await charge({ by: team });
    }
    expect((await preview(PRICING)).models[0]!.requests).toBe(3);
  });

  test("is the Owner, everybody below it and nobody else; Root's prices serve Root alone", async () => {
    const { tree, charge, preview, owner, team, member } = await startAccounts();
    const stranger = await tree.born(ROOT, "stranger", 1_000);
    const root = { ...owner, id: ROOT };
    for (const by of [owner, team, member, stranger, root]) await charge({ by });
    expect((await preview(PRICING)).models[0]!.requests).toBe(3);
    expect((await preview(PRICING, stranger.id)).models[0]!.requests).toBe(1);
    expect((await preview(PRICING, ROOT)).models[0]!.requests).toBe(1);
  });

  test("has accounts that were deleted since", async () => {
    const { tree, ago, charge, preview, member } = await startAccounts(5);
    ago(3);
    await charge({ by: member });
    await deleteAccount(tree, { account: member.id, by: ROOT, recursive: false });
    expect((await preview(PRICING)).total.costNow).toBe(1_200_000n);
  });

  test("of an account that was moved has the days on which it stood here, as bills do", async () => {
    const { tree, ago, charge, preview, owner, member } = await startAccounts(5);
    const other = await tree.born(ROOT, "elsewhere", 1_000);
    ago(3);
    await charge({ by: member });
    // A document of a day says where the account stood when it was last written.
    await tree.system.ask(actorRef.account(member.id), "update", {
      change: { alias: "m" },
      parent: null,
      by: ROOT,
    });
    ago(2);
    const order = { id: "move-1", bornAt: NOON - 2 * DAY, account: member.id, parent: other.id, dna: null };
    await moveAccount(tree, { ...order, by: ROOT });
    for (let i = 0; i < 2; i++) await charge({ by: member });
    const requests = async (of: AccountId) => (await preview(PRICING, of)).models[0]?.requests ?? 0;
    expect([await requests(owner.id), await requests(other.id)]).toEqual([1, 2]);
  });
});
