// A hold lives as long as its request: it is renewed before it would end by itself, however long the provider thinks, and
// given back when nobody knows whether it was taken.

import { describe, expect, test } from "bun:test";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { RefusedError, UnavailableError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import { createFailedRequestLog } from "../../../src/gateway/answer/failed-request-log.ts";
import { createKeyChooser } from "../../../src/gateway/attempt/key-chooser.ts";
import { GATEWAY_ENDPOINTS } from "../../../src/gateway/endpoints.ts";
import { createGateway, type GatewayParts } from "../../../src/gateway/request.ts";
import { INTERNAL, refusalOf } from "../../../src/http/errors.ts";
import type { UpstreamFailureResult } from "../../../src/upstream/upstream.ts";
import { KEY } from "../../actors/account-samples.ts";
import { countingRandom, manualClock, settled } from "../../runtime/manual-clock.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { chatCall, LIMITS } from "../call-samples.ts";
import { viewOf } from "../level-samples.ts";
import { ANYWHERE } from "../request-samples.ts";

const ACCOUNT = 7 as AccountId;
const BUSY: UpstreamFailureResult = { ok: false, signal: { name: "server_error", status: 500, note: "" } };

const ADMITTED = { cost: 5, tokens: 5, admittedAt: 0, requests: null, tokensLeft: null, apiKey: null };

/** One key at a provider that answers when the test says so; the account's part is the test's. */
function rig(admit = async (): Promise<object> => ADMITTED) {
  const clock = manualClock();
  const renewed: number[] = [];
  const ended: string[] = [];
  const answer = Promise.withResolvers<UpstreamFailureResult>();
  const accountContext = accountContextOf({
    config: { pricing: { ChatPricing: { m: { InputText: 1, OutputText: 1 } } } },
  });
  const parts = {
    clock,
    system: {
      lagMs: () => 0,
      subscribe: () => () => undefined,
      onStale: () => () => undefined,
    },
    identify: async () => ({ account: ACCOUNT, keyHash: KEY }),
    configs: { accountContext: () => accountContext, level: () => viewOf(0, [1]) },
    levelReporter: { failed: async () => undefined },
    settlement: {
      admit,
      renew: () => void renewed.push(clock.mono()),
      cancel: (_: AccountId, id: string) => void ended.push(id),
      onSettled: () => undefined,
      pendingLateCharges: () => [],
    },
    vault: { open: () => "sk-upstream" },
    chooser: createKeyChooser(clock),
    upstream: { ...ANYWHERE, naming: () => ({ model: "m", add: {} }), send: () => answer.promise },
    failedRequests: createFailedRequestLog(),
    requestHistory: { report: () => {} },
    observer: { ended: () => {} },
    tracer: null,
    nodeOfAccount: null,
    refusalFor: (error: unknown) => refusalOf(error) ?? INTERNAL,
    random: countingRandom(),
    log: silent,
    limits: LIMITS,
    lagMostMs: 1_000,
  } as unknown as GatewayParts;
  const outcome = createGateway(parts)(chatCall(), GATEWAY_ENDPOINTS[0]!);
  return { clock, renewed, ended, outcome, answer: () => answer.resolve(BUSY) };
}

describe("the hold of a whole answer", () => {
  test("is renewed while the provider thinks, and not once the request has ended", async () => {
    const { clock, renewed, ended, outcome, answer } = rig();
    const beganAt = clock.mono();
    await clock.advance(3 * HOLD_TTL_MS);
    const times = [beganAt, ...renewed, clock.mono()];
    for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeLessThan(HOLD_TTL_MS);
    answer();
    await settled();
    expect((await outcome).kind).toBe("refused");
    expect(ended).toEqual(["id-000001"]);
    const before = renewed.length;
    await clock.advance(HOLD_TTL_MS);
    expect([renewed.length, clock.waiting]).toEqual([before, 0]);
  });
});

describe("the hold of a request whose admission", () => {
  test("nobody answered in time is given back: it may have been taken all the same", async () => {
    const { ended, outcome } = rig(async () => {
      throw new UnavailableError("account/7", "unavailable");
    });
    await expect(outcome).rejects.toThrow(UnavailableError);
    expect(ended).toEqual(["id-000001"]);
  });

  test("was refused was never taken", async () => {
    const { ended, outcome } = rig(async () => {
      throw new RefusedError({ code: "rpm_exceeded", message: "" });
    });
    expect((await outcome).kind).toBe("refused");
    expect(ended).toEqual([]);
  });
});
