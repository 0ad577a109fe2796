// With warm caches, and the account loaded on this node, nothing is waited for between the body and the provider: the
// number of hops on the queue of microtasks is counted, so that a new `await` on the way of every request is seen.

import { expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { silent } from "../../src/base/log.ts";
import { createFailedRequestLog } from "../../src/gateway/answer/failed-request-log.ts";
import { createKeyChooser } from "../../src/gateway/attempt/key-chooser.ts";
import { GATEWAY_ENDPOINTS } from "../../src/gateway/endpoints.ts";
import { createGateway, type GatewayParts } from "../../src/gateway/request.ts";
import { INTERNAL, refusalOf } from "../../src/http/errors.ts";
import { responseOf } from "../../src/upstream/fetch-transport.ts";
import type { UpstreamHead } from "../../src/upstream/upstream.ts";
import { KEY } from "../actors/account-samples.ts";
import { countingRandom, manualClock } from "../runtime/manual-clock.ts";
import { accountContextOf } from "./account-context-samples.ts";
import { chatCall, chatPayload, LIMITS } from "./call-samples.ts";
import { viewOf } from "./level-samples.ts";
import { ANYWHERE } from "./request-samples.ts";

const ANSWER = JSON.stringify({
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const ADMITTED = {
  cost: 5,
  tokens: 5,
  admittedAt: 0,
  takenAt: 0,
  requests: null,
  tokensLeft: null,
  apiKey: null,
};

/** Counts the rounds of the queue of microtasks until `stop`. */
function countHops(): { stop(): number } {
  let hops = 0;
  let isOver = false;
  const hop = (): void => {
    if (isOver) return;
    hops++;
    queueMicrotask(hop);
  };
  queueMicrotask(hop);
  return {
    stop() {
      isOver = true;
      return hops;
    },
  };
}

/** Runs one request with warm caches. Returns the hops from its body to the provider. */
async function hopsToProvider(): Promise<number> {
  const accountContext = accountContextOf({
    config: { pricing: { ChatPricing: { m: { InputText: 1, OutputText: 1 } } } },
  });
  let counting: ReturnType<typeof countHops> | null = null;
  let hops = -1;
  const parts = {
    clock: manualClock(),
    system: { lagMs: () => 0, subscribe: () => () => undefined, onStale: () => () => undefined },
    identify: () => ({ account: 7 as AccountId, keyHash: KEY }),
    configs: { accountContext: () => accountContext, level: () => viewOf(0, [1]) },
    levelReporter: { succeeded: () => undefined },
    settlement: {
      admit: () => ADMITTED,
      charge: async () => undefined,
      onSettled: () => undefined,
      pendingLateCharges: () => [],
    },
    vault: { open: () => "sk-upstream" },
    chooser: createKeyChooser(manualClock()),
    upstream: {
      ...ANYWHERE,
      naming: () => ({ model: "m", add: {} }),
      async send(): Promise<UpstreamHead> {
        hops = counting!.stop();
        const headers = new Headers({ "content-type": "application/json" });
        return { ok: true, ...responseOf(new Response(ANSWER, { headers })), scrub: (text) => text };
      },
    },
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
  const call = chatCall({
    async payload() {
      const body = chatPayload();
      counting = countHops();
      return body;
    },
  });
  const outcome = await createGateway(parts)(call, GATEWAY_ENDPOINTS[0]!);
  expect(outcome.kind).toBe("whole");
  return hops;
}

test("between the body and the provider a request hops no further than it has to", async () => {
  expect(await hopsToProvider()).toBeLessThanOrEqual(3);
});
