// The answer of a request with an Idempotency-Key is kept before it is charged: a repeat on another node that finds the
// charge finds the answer as well.

import { expect, test } from "bun:test";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { silent } from "../../../src/base/log.ts";
import { createFailedRequestLog } from "../../../src/gateway/answer/failed-request-log.ts";
import { createKeyChooser } from "../../../src/gateway/attempt/key-chooser.ts";
import { GATEWAY_ENDPOINTS } from "../../../src/gateway/endpoints.ts";
import type { IdempotencyRecords } from "../../../src/gateway/idempotency/idempotency-records.ts";
import { createGateway, type GatewayParts } from "../../../src/gateway/request.ts";
import { INTERNAL, refusalOf } from "../../../src/http/errors.ts";
import { responseOf } from "../../../src/upstream/fetch-transport.ts";
import type { UpstreamHead } from "../../../src/upstream/upstream.ts";
import { KEY } from "../../actors/account-samples.ts";
import { countingRandom, manualClock } from "../../runtime/manual-clock.ts";
import { accountContextOf } from "../account-context-samples.ts";
import { chatCall, LIMITS } from "../call-samples.ts";
import { viewOf } from "../level-samples.ts";
import { ANYWHERE } from "../request-samples.ts";

const ACCOUNT = 7 as AccountId;
const ANSWER = {
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/** What a gateway did, in its order, for a request with this Idempotency-Key; null: without one. */
async function steps(key: string | null): Promise<string[]> {
  const done: string[] = [];
  const head = (): UpstreamHead => {
    const headers = new Headers({ "content-type": "application/json" });
    const response = new Response(JSON.stringify(ANSWER), { headers });
    return { ok: true, ...responseOf(response), scrub: (text) => text };
  };
  const admitted = {
    cost: 5,
    tokens: 5,
    admittedAt: 0,
    takenAt: 0,
    requests: null,
    tokensLeft: null,
    apiKey: null,
  };
  const accountContext = accountContextOf({
    config: { pricing: { ChatPricing: { m: { InputText: 1, OutputText: 1 } } } },
  });
  const parts = {
    clock: manualClock(),
    system: {
      lagMs: () => 0,
      ask: async () => ({ key: { apiKey: MAIN_API_KEY } }),
      subscribe: () => () => undefined,
      onStale: () => () => undefined,
    },
    identify: async () => ({ account: ACCOUNT, keyHash: KEY }),
    configs: { accountContext: () => accountContext, level: () => viewOf(0, [1]) },
    levelReporter: { succeeded: () => undefined },
    settlement: {
      admit: async () => admitted,
      charge: async () => void done.push("charged"),
      onSettled: () => undefined,
      pendingLateCharges: () => [],
    },
    idempotencyRecords: {
      hashes: (_path: string, name: string) => ({ key: name, body: "b" }),
      find: async () => ({ kind: "none" }),
      keep: async (...[, , , { headers }]: Parameters<IdempotencyRecords["keep"]>) =>
        void done.push(`kept ${headers["x-arbor-cost"]}`),
    },
    vault: { open: () => "sk-upstream" },
    chooser: createKeyChooser(manualClock()),
    upstream: { ...ANYWHERE, naming: () => ({ model: "m", add: {} }), send: async () => head() },
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
  const headers = new Headers(key === null ? {} : { "idempotency-key": key });
  const outcome = await createGateway(parts)(chatCall({ headers }), GATEWAY_ENDPOINTS[0]!);
  if (outcome.kind !== "whole") throw new Error(JSON.stringify(outcome));
  return [...done, `answered ${outcome.headers["x-arbor-cost"]}`];
}

test("the answer is kept, the charge is stored, and then the answer leaves", async () => {
  const cost = "0.000002";
  expect(await steps("k")).toEqual([`kept ${cost}`, "charged", `answered ${cost}`]);
});

test("of a request without a key nothing is kept", async () => {
  expect(await steps(null)).toEqual(["charged", "answered 0.000002"]);
});
