// What is foreseen of a request, where the account's answer is the test's: a route made from an old profile is made anew,
// and a place that would be refused is passed by.

import { describe, expect, test } from "bun:test";
import type { AdmissionRequest, StaleProfile } from "../../../actors/account/admit.ts";
import type { AdmitDryRun } from "../../../actors/account/admit-dry-run.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import type { OwnerConfig } from "../../../actors/owner/config.ts";
import { type Refusal, RefusedError } from "../../../src/base/errors.ts";
import type { AccountContext } from "../../../src/gateway/account/account-context.ts";
import type { ConfigCache } from "../../../src/gateway/account/config-cache.ts";
import { PROFILE_KEEPS_CHANGING } from "../../../src/gateway/admission/admission.ts";
import { dryRun } from "../../../src/gateway/dry-run/dry-run.ts";
import { type Quote, quote } from "../../../src/gateway/dry-run/quote.ts";
import { GATEWAY_ENDPOINTS } from "../../../src/gateway/endpoints.ts";
import type { ActorSystem } from "../../../src/runtime/system.ts";
import { KEY, profileOf } from "../../actors/account-samples.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { ANYWHERE, sizeOf } from "../request-samples.ts";

const CHAT = GATEWAY_ENDPOINTS.find(({ path }) => path === "/v1/chat/completions")!;
const PRICING = {
  ChatPricing: {
    first: { InputText: 1, OutputText: 1 },
    second: { InputText: 2, OutputText: 2 },
    third: { InputText: 3, OutputText: 3 },
  },
};
const CONFIG: Partial<OwnerConfig> = {
  pricing: PRICING,
  levelMapper: { first: 1, second: 2, third: 3 },
  modelFailover: { first: ["second", "third"] },
};

const viewOf = (
  level: number,
  over: Partial<LevelView> = {},
  state: "normal" | "disabled" = "normal",
): LevelView => ({
  id: `2.${level}`,
  version: 1,
  members: 1,
  health: [],
  switchedUntil: 0,
  keys: [
    {
      id: level as ProviderKeyId,
      level,
      provider: "https://x.example",
      secret: { keyId: "k", box: "" },
      config: {},
      state,
    },
  ],
  ...over,
});

/** `answer`: the account's, to every question. */
function rig(
  views: readonly LevelView[],
  answer: (question: AdmissionRequest) => Refusal | StaleProfile | null,
  config = CONFIG,
) {
  const clock = manualClock();
  let copy = { profile: profileOf({}), version: 1 };
  const questions: AdmissionRequest[] = [];
  const system = {
    async ask(_to: unknown, type: string, question: AdmissionRequest): Promise<AdmitDryRun | StaleProfile> {
      expect(type).toBe("admitDryRun");
      questions.push(question);
      const refusal = answer(question);
      if (refusal !== null && "stale" in refusal) return refusal;
      return { refusal, cost: question.cost, tokens: 0, limits: [] };
    },
  } as unknown as ActorSystem<never>;
  const configs = {
    accountContext: (): AccountContext =>
      accountContextOf({ chain: [copy.profile], version: copy.version, config }),
    level: (_: AccountId, level: number) => views.find(({ id }) => id === `2.${level}`),
    acceptProfile(_: AccountId, fresh: { profile: Profile; version: number }) {
      copy = fresh;
    },
  } as unknown as ConfigCache;
  const storedObjects = { find: async () => new Map() };
  const limits = { holdOutputTokens: 100 };
  const parts = { clock, system, configs, storedObjects, upstream: ANYWHERE, limits };
  const who = { caller: { account: 7 as AccountId, keyHash: KEY }, ip: () => "192.0.2.1" };
  const body = { model: "first", messages: [{ role: "user", content: "hi there" }], max_tokens: 10 };
  return {
    questions,
    quoted: (): Promise<Quote> => quote(parts, CHAT, who, body),
    foreseen: () =>
      dryRun(parts, CHAT, {
        ...who,
        requested: {
          model: "first",
          size: sizeOf(),
        },
      }),
  };
}

const ALL = [viewOf(1), viewOf(2), viewOf(3)];
const WITHOUT_FIRST = [viewOf(1, {}, "disabled"), viewOf(2), viewOf(3)];
const limited: Refusal = { code: "rpm_exceeded", message: "too many" };

describe("a route made from an old profile", () => {
  const stale = (version: number): StaleProfile => ({
    stale: { profile: profileOf({ rates: 5 }), version },
  });

  test("is made anew from the one that the account sends along", async () => {
    const { quoted, questions } = rig(ALL, ({ version }) => (version === 1 ? stale(2) : null));
    const found = await quoted();
    expect(questions.map(({ version }) => version)).toEqual([1, 2]);
    expect(found.route?.multipliers.rates).toBe(5);
    expect(questions[1]!.cost).toBe(found.most);
    expect(questions[1]!.cost).toBe((questions[0]!.cost * 5) as never);
  });

  test("is not made anew for ever", async () => {
    let version = 1;
    const { quoted, questions } = rig(ALL, () => stale(++version));
    await expect(quoted()).rejects.toEqual(new RefusedError(PROFILE_KEEPS_CHANGING));
    expect(questions).toHaveLength(5);
  });
});

describe("a request is foreseen", () => {
  test("at its own model and Level, by one question, where a key is there", async () => {
    const { quoted, questions } = rig(ALL, () => null);
    expect(await quoted()).toMatchObject({ model: "first", refusal: null, route: { level: 1 } });
    expect(questions).toHaveLength(1);
    expect(questions[0]!.idempotency).toBeNull();
  });

  test("at the model that stands in, at that model's price, where none is there", async () => {
    const { quoted, questions } = rig(WITHOUT_FIRST, () => null);
    const found = await quoted();
    expect(found).toMatchObject({ model: "second", refusal: null, route: { level: 2 } });
    expect(found.hold).toBe((questions[0]!.cost * 2) as never);
    expect(questions.map(({ model }) => model)).toEqual(["first", "second"]);
  });

  test("past a model that is refused to it, and the steps say so", async () => {
    const { foreseen } = rig(WITHOUT_FIRST, ({ model }) => (model === "second" ? limited : null));
    const { at, model, steps, refusal } = await foreseen();
    expect([model, at?.route.level, refusal]).toEqual(["third", 3, null]);
    expect(steps.slice(-2)).toEqual([
      {
        step: "model_failover",
        in: "first at 1",
        out: "second at 2",
        note: "no key of Level 1 can be used now",
      },
      {
        step: "model_failover",
        in: "second at 2",
        out: "third at 3",
        note: "second is refused: rpm_exceeded",
      },
    ]);
  });

  test("as unanswerable where every place is refused or without a key", async () => {
    const { foreseen } = rig(
      [viewOf(1, {}, "disabled"), viewOf(2, {}, "disabled"), viewOf(3)],
      ({ model }) => (model === "third" ? limited : null),
    );
    const { at, refusal } = await foreseen();
    expect([at?.route.model, refusal?.code]).toEqual(["second", "no_available_key"]);
  });

  test("as refused, and nowhere else, where its own model is", async () => {
    const { foreseen, questions } = rig(WITHOUT_FIRST, () => limited);
    expect(await foreseen()).toMatchObject({ model: "first", refusal: limited });
    expect(questions).toHaveLength(1);
  });

  test.each([
    ["at the backup of a switched-over Level", 60_000, 2],
    ["at its own Level again when that is over", 0, 1],
  ])("%s", async (_, ms, level) => {
    const config = { ...CONFIG, switchOver: { 1: 2 } };
    const views = [viewOf(1, { switchedUntil: manualClock().wall() + ms }), viewOf(2), viewOf(3)];
    const { foreseen } = rig(views, () => null, config);
    expect((await foreseen()).at?.route).toMatchObject({ model: "first", level });
  });

  test("at a switched-over Level all the same, when nobody behind it has a key", async () => {
    const config = { ...CONFIG, switchOver: { 1: 2 } };
    const views = [
      viewOf(1, { switchedUntil: manualClock().wall() + 60_000 }),
      viewOf(2, {}, "disabled"),
      viewOf(3),
    ];
    const { foreseen } = rig(views, () => null, config);
    expect((await foreseen()).at?.route.level).toBe(1);
  });
});
