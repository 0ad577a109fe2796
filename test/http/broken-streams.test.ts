// A list that breaks off while it is sent: GET has begun to answer, so its connection breaks; HEAD has not, and says what it is.

import { expect, test } from "bun:test";
import { UnavailableError } from "../../src/base/errors.ts";
import { type AppParts, createApp } from "../../src/http/app.ts";
import { countingRandom, manualClock } from "../runtime/manual-clock.ts";
import { bodyOf, serverRequest } from "./server/requests.ts";

const ROW_BYTES = 70_000;

/** An application whose store has the first four versions of a configuration, each larger than a piece, and then is gone. */
function rig() {
  const clock = manualClock();
  const versionOf = (version: number) => {
    const changes = { pricing: { before: "x".repeat(ROW_BYTES), after: "" } };
    return { owner: 7, version, at: clock.wall(), by: 7, changes };
  };
  const metrics: number[] = [];
  const lines: unknown[] = [];
  let finds = 0;
  const parts = {
    ...{ clock, random: countingRandom(), log: () => {}, maxBodyBytes: 1_000, trustProxy: [] },
    ...{ limiter: { count: () => undefined }, refusalLimiter: { count: () => undefined } },
    identify: async () => ({ account: 7, keyHash: "h" }),
    system: {
      ask: async ({ kind }: { kind: string }) =>
        kind === "owner"
          ? { version: 9 }
          : { profile: { id: 7, parent: 1 }, isOwner: true, key: { account: 7, apiKey: 0 } },
    },
    store: {
      count: async () => 9,
      async find({ limit }: { limit: number }) {
        if (++finds > 2) throw new UnavailableError("store", "gone");
        return Array.from({ length: limit }, (_, i) => versionOf(9 - i));
      },
    },
    idempotency: {
      begin: async () => ({
        command: { id: "c", bornAt: 0 },
        kept: null,
        complete: async () => {},
        abandon: async () => {},
      }),
    },
    metrics: { managementRequest: (status: number) => void metrics.push(status) },
    accessLog: { write: (line: unknown) => void lines.push(line) },
  } as unknown as AppParts;
  const app = createApp(parts, "all");
  const ask = async (method: string) => {
    const headers = { authorization: "Bearer sk-x", "x-request-id": "mine" };
    return app(serverRequest(`${method} /x-config/history?size=0`, headers));
  };
  return { ask, metrics, lines };
}

test("HEAD of a list that breaks off is 503, counted and logged like every answer", async () => {
  const { ask, metrics, lines } = rig();
  const answer = await ask("HEAD");
  expect([answer.status, answer.headers["x-request-id"]]).toEqual([503, "mine"]);
  expect(answer.headers["retry-after"]).toBe("1");
  expect(metrics).toEqual([503]);
  expect(lines).toMatchObject([
    { method: "HEAD", status: 503, code: "service_unavailable", request_id: "mine", account: 7 },
  ]);
});

test("GET of it begins with 200, and its body fails", async () => {
  const { ask, metrics } = rig();
  const answer = await ask("GET");
  expect([answer.status, metrics]).toEqual([200, [200]]);
  await expect(bodyOf(answer)).rejects.toThrow();
});
