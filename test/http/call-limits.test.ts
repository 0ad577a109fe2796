// Whose limit a management call counts against: the account's only when its key lets it in. Of keys that may not call, dead ones
// are slowed down as guesses are, and refused ones bounded by their address.

import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { INVALID_KEY } from "../../actors/account/authenticate.ts";
import { type Refusal, RefusedError } from "../../src/base/errors.ts";
import { createIdentify, hashKey } from "../../src/gateway/account/identify.ts";
import { callLimiter } from "../../src/http/call-limiter.ts";
import { errorHandler } from "../../src/http/error-handler.ts";
import { createAdminIdempotency } from "../../src/http/idempotency.ts";
import { type ManagementParts, management } from "../../src/http/management.ts";
import { RoutedRequests } from "../../src/http/routed-requests.ts";
import type { ServerRequest } from "../../src/http/server/server-request.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import { countingRandom, manualClock, settled } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";

const PER_MINUTE = 3;
const DEAD = "sk-dead";
const ELSEWHERE = "sk-elsewhere";
const GOOD = "sk-good";
const REFUSALS: Record<string, Refusal> = {
  [hashKey(DEAD)]: INVALID_KEY,
  [hashKey(ELSEWHERE)]: { code: "ip_not_allowed", message: "Not from there." },
};

/** One endpoint whose account 7 has three keys, of which it lets in one. */
async function rig() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  for (const key of [DEAD, ELSEWHERE, GOOD]) await store.claim(`key:${hashKey(key)}`, 7, "me", 0);
  const random = countingRandom();
  const written: string[] = [];
  const routed = new RoutedRequests();
  const parts = {
    ...{
      clock,
      random,
      log: () => {},
      maxBodyBytes: 1_000,
      trustProxy: ["10.0.0.0/8"],
      servesAdministration: true,
    },
    routed,
    limiter: callLimiter({ clock, perMinute: PER_MINUTE }),
    refusalLimiter: callLimiter({ clock, perMinute: PER_MINUTE }),
    identify: createIdentify({ store, clock }),
    system: {
      async ask(_to: unknown, _type: string, { keyHash }: { keyHash: string }) {
        const refusal = REFUSALS[keyHash];
        if (refusal !== undefined) throw new RefusedError(refusal);
        return { profile: { id: 7, parent: 1 }, isOwner: true, key: { account: 7, apiKey: 0 } };
      },
    },
    auditLog: { write: async ({ status }: { status: string }) => void written.push(status) },
    idempotency: createAdminIdempotency({
      ...{ store, clock, random, log: () => {} },
      vault: createSecretVault(Buffer.alloc(32, 1).toString("base64"), null),
      nodes: { node: () => "here", isUp: async () => false },
    }),
  } as unknown as ManagementParts;
  const app = new Elysia({ normalize: false })
    .onError((context) => errorHandler(parts, () => app.routes)(context as never))
    .use(
      new Elysia({ normalize: false })
        .use(management(parts))
        .delete("/x-news", () => ({}), { access: { role: "any", scope: "manage", audit: "delete_news" } }),
    );
  /** The code of the answer, "done" for a success, "waits" while there is none. */
  const call = async (key: string, ip: string): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, "x-forwarded-for": ip };
    let code = "waits";
    const asked = new Request("http://x.example/x-news", { method: "DELETE", headers });
    routed.add(asked, { clientAddress: "10.0.0.1" } as ServerRequest);
    const answered = app.handle(asked).then(async (answer) => {
      const body = (await answer.json()) as { error?: { code: string } };
      code = body.error?.code ?? "done";
    });
    await Promise.race([answered, settled()]);
    return code;
  };
  return { clock, written, call };
}

test("a dead key uses up no calls of its account, and is slowed down as an unknown one", async () => {
  const { call, clock, written } = await rig();
  const codes: string[] = [];
  for (let i = 0; i < 7; i++) codes.push(await call(DEAD, "192.0.2.1"));
  expect(codes).toEqual([...Array(5).fill("invalid_api_key"), "waits", "waits"]);
  expect(await call("sk-nobody", "192.0.2.1")).toBe("waits");
  expect(await call(GOOD, "192.0.2.1")).toBe("done");
  await clock.advance(2_000);
  expect(written).toEqual(["success"]);
});

test("calls that are refused count by address, and have no line in the operation log over the limit", async () => {
  const { call, clock, written } = await rig();
  const codes: string[] = [];
  for (let i = 0; i < 5; i++) codes.push(await call(ELSEWHERE, "192.0.2.1"));
  expect(codes).toEqual([...Array(PER_MINUTE).fill("ip_not_allowed"), "rpm_exceeded", "rpm_exceeded"]);
  expect(await call(ELSEWHERE, "192.0.2.2")).toBe("ip_not_allowed");
  expect(await call(GOOD, "192.0.2.1")).toBe("done");
  expect(written).toEqual([...Array(PER_MINUTE + 1).fill("failed"), "success"]);
  await clock.advance(60_000);
  expect(await call(ELSEWHERE, "192.0.2.1")).toBe("ip_not_allowed");
});

test("a key that lets in counts for its account, from whatever address, and over the limit writes no line", async () => {
  const { call, written } = await rig();
  const codes: string[] = [];
  for (let i = 0; i < 5; i++) codes.push(await call(GOOD, `192.0.2.${i}`));
  expect(codes).toEqual([...Array(PER_MINUTE).fill("done"), "rpm_exceeded", "rpm_exceeded"]);
  expect(written).toEqual(Array(PER_MINUTE).fill("success"));
});
