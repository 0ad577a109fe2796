// The hold of a request taken anew for a backup model while the account's profile changes: what holds now decides.

import { describe, expect, test } from "bun:test";
import type { AdmissionRequest } from "../../../actors/account/admit.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { toNano } from "../../../actors/money.ts";
import type { OwnerConfig } from "../../../actors/owner/config.ts";
import type { AccountContext } from "../../../src/gateway/account/account-context.ts";
import type { AdmissionParts } from "../../../src/gateway/admission/admission.ts";
import { retakeHold } from "../../../src/gateway/admission/retake-hold.ts";
import type { Admission } from "../../../src/gateway/context.ts";
import { failoverCandidates } from "../../../src/gateway/routing/failover-candidates.ts";
import { route } from "../../../src/gateway/routing/route.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { viewOf } from "../level-samples.ts";
import { CHAT, sizeOf } from "../request-samples.ts";

const CONFIG: Partial<OwnerConfig> = {
  levelMapper: { "*": 1 },
  modelFailover: { a: ["b"] },
  pricing: { ChatPricing: { a: { InputText: 1 }, b: { InputText: 2 } } },
};
const VIEW = viewOf(1, [1]);
const ADMITTED = {
  ...{ cost: toNano(5), tokens: 7, admittedAt: 1, takenAt: 1 },
  ...{ requests: null, tokensLeft: null, apiKey: null },
};

const sample = (version: number, over: Partial<Profile> = {}): AccountContext =>
  accountContextOf({ chain: [over], version, config: CONFIG });

/** The account knows `now`; the request was admitted by version 1 of its profile. Answers the versions asked with. */
async function retaken(now: AccountContext) {
  const asked: number[] = [];
  const parts = {
    limits: { holdOutputTokens: 10 },
    settlement: {
      async admit(_account: unknown, question: AdmissionRequest) {
        asked.push(question.version);
        if (question.version !== now.account.version) {
          return { stale: { profile: now.account.profile, version: 2 } };
        }
        return ADMITTED;
      },
    },
    configs: { acceptProfile() {}, accountContext: () => now, level: () => VIEW },
  } as unknown as AdmissionParts;
  const accountContext = sample(1);
  const input = { ...CHAT, model: "a", accountContext, level: () => VIEW };
  const first = route(input);
  if (first.ok !== true) throw new Error("the sample must be routable");
  const plan = failoverCandidates(input, first);
  if ("ok" in plan) throw new Error("the sample's Levels are at hand");
  const size = sizeOf();
  const caller = { account: 3 as AccountId, keyHash: "k" };
  const from: Admission = {
    caller,
    accountContext,
    route: first,
    estimate: {} as never,
    admitted: ADMITTED,
    size,
  };
  let admission = from;
  const context = {
    id: "r",
    endpoint: CHAT,
    caller,
    ip: () => "",
    idempotency: null,
    requested: { model: "a", size },
  };
  const replaceAdmission = (moved: Admission): void => {
    admission = moved;
  };
  const isMoved = await retakeHold(parts, { ...context, admission, replaceAdmission }, plan.rows[1]![0]!);
  return { asked, anew: isMoved ? admission : null };
}

describe("a hold taken anew for a backup model", () => {
  test("is asked for by the profile that admitted the request", async () => {
    const { asked, anew } = await retaken(sample(1));
    expect([asked, anew?.route.model]).toEqual([[1], "b"]);
  });

  test("is asked for again when the profile has changed, by the new one", async () => {
    const { asked, anew } = await retaken(sample(2));
    expect([asked, anew?.route.model, anew?.accountContext.account.version]).toEqual([[1, 2], "b", 2]);
  });

  test("has the limits that the new profile sets for the model", async () => {
    const { anew } = await retaken(sample(2, { modelLimits: { b: { rpm: 3 } } }));
    expect(anew?.route.modelLimits?.rpm).toBe(3);
  });

  test("is refused when the new profile does not allow the model any more", async () => {
    const { asked, anew } = await retaken(sample(2, { allowModels: ["a"] }));
    expect([asked, anew]).toEqual([[1], null]);
  });
});
