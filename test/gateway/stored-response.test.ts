// What is asked of kept responses keeps the same doors as any request; what comes behind them is in test/e2e/responses.test.ts.

import { expect, test } from "bun:test";
import { createStoredResponse, type StoredResponseParts } from "../../src/gateway/stored-response.ts";
import { INTERNAL, refusalOf } from "../../src/http/errors.ts";
import { countingRandom, manualClock } from "../runtime/manual-clock.ts";

/** `lagMs`: how far the store is behind. Accounts that are asked are not found. */
function recalledAt(lagMs: number) {
  const parts = {
    clock: manualClock(),
    random: countingRandom(),
    limits: { upstreamTimeoutMs: 1_000 },
    system: { lagMs: () => lagMs },
    lagMostMs: 1_000,
    identify: Object.assign(async () => ({ account: 7, keyHash: "h" }), { forget: () => undefined }),
    configs: { accountContext: () => Promise.reject(new Error("past the door")) },
    settlement: { cancel: () => undefined },
    requestHistory: { report: () => {} },
    observer: { ended: () => {} },
    nodeOfAccount: null,
    refusalFor: (error: unknown) => refusalOf(error) ?? INTERNAL,
  } as unknown as StoredResponseParts;
  return createStoredResponse(parts)({
    method: "GET",
    id: "resp_1",
    behind: "",
    query: "",
    key: "sk-any",
    ip: () => "192.0.2.1",
    requestId: "mine",
    headers: new Headers(),
    signal: new AbortController().signal,
  });
}

test("while the store is more than a second behind, it is refused at the door", async () => {
  await expect(recalledAt(1_000)).rejects.toThrow("past the door");
  expect(await recalledAt(1_001)).toEqual({
    kind: "refused",
    refusal: { code: "service_unavailable", message: expect.any(String), retryAfterS: 1 },
    headers: { "x-request-id": "mine" },
  });
});
