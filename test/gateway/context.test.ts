// One object per request: its fields are filled once, and its hold ends once, by a charge or by a cancel, on every way out.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { RefusedError } from "../../src/base/errors.ts";
import { silent } from "../../src/base/log.ts";
import { PROFILE_KEEPS_CHANGING } from "../../src/gateway/admission/admission.ts";
import { createFailedRequestLog } from "../../src/gateway/answer/failed-request-log.ts";
import { createKeyChooser } from "../../src/gateway/attempt/key-chooser.ts";
import type { Outcome } from "../../src/gateway/call.ts";
import {
  type Admission,
  type AttemptAnswer,
  type ParsedFields,
  RunningRequest,
} from "../../src/gateway/context.ts";
import { GATEWAY_ENDPOINTS } from "../../src/gateway/endpoints.ts";
import { createGateway, type GatewayParts } from "../../src/gateway/request.ts";
import { createRequestDeadlines, RequestLifetime } from "../../src/gateway/request-lifetime.ts";
import { INTERNAL, refusalOf } from "../../src/http/errors.ts";
import { responseOf } from "../../src/upstream/fetch-transport.ts";
import type { UpstreamFailureResult, UpstreamHead } from "../../src/upstream/upstream.ts";
import { KEY } from "../actors/account-samples.ts";
import { countingRandom, manualClock, settled } from "../runtime/manual-clock.ts";
import { accountContextOf } from "./account-context-samples.ts";
import { chatCall, chatPayload, LIMITS } from "./call-samples.ts";
import { viewOf } from "./level-samples.ts";
import { ANYWHERE } from "./request-samples.ts";

const ACCOUNT = 7 as AccountId;
const ADMITTED = {
  cost: 5,
  tokens: 5,
  admittedAt: 0,
  takenAt: 0,
  requests: null,
  tokensLeft: null,
  apiKey: null,
};
const CHAT = GATEWAY_ENDPOINTS[0]!;

const callOf = (stream: boolean) => chatCall({ payload: async () => chatPayload(stream) });

describe("the object of a request", () => {
  const running = () => {
    const call = callOf(false);
    const clock = manualClock();
    const lifetime = new RequestLifetime(call.signal, clock, createRequestDeadlines(clock, 1_000));
    return new RunningRequest("r", call, CHAT, lifetime, 1, 0);
  };
  const fields = { request: { model: "m" } } as ParsedFields;

  test("is widened by each stage once, and stays the same object", () => {
    const context = running();
    const admission = {} as Admission;
    const answer = {} as AttemptAnswer;
    expect(context.parsed(fields)).toBe(context);
    expect(context.admitted(admission)).toBe(context);
    expect(context.answered([], answer)).toBe(context);
    expect(() => context.parsed(fields)).toThrow("parsed twice");
    expect(() => context.admitted(admission)).toThrow("admitted twice");
    expect(() => context.answered([], answer)).toThrow("answered twice");
  });

  test("has no admission and no answer before their stages", () => {
    expect(() => running().admission).toThrow("not admitted");
    expect(() => running().replaceAdmission({} as Admission)).toThrow("not admitted");
    expect(() => running().answer).toThrow("not answered");
  });

  test("ends its hold once, and not before it has one", () => {
    const context = running();
    expect(() => context.endHold(null)).toThrow("cannot end: none");
    context.admitted({} as Admission);
    expect(context.mustEndHold).toBe(true);
    context.endHold(null);
    expect(context.mustEndHold).toBe(false);
    expect(() => context.endHold(null)).toThrow("cannot end: ended");
  });

  test("leaves the end of its hold to a streamed body", () => {
    const context = running();
    context.admitted({} as Admission);
    context.passHold();
    expect(context.mustEndHold).toBe(false);
    context.endHold(null);
    expect(() => context.endHold(null)).toThrow("cannot end: ended");
  });
});

const ANSWER = {
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m" },
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
};
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const BUSY: UpstreamFailureResult = { ok: false, signal: { name: "server_error", status: 500, note: "" } };

const head = (body: string, type = "application/json"): UpstreamHead => {
  const headers = new Headers({ "content-type": type });
  return { ok: true, ...responseOf(new Response(body, { headers })), scrub: (text) => text };
};

interface Case {
  readonly stream?: boolean;
  readonly provider: () => UpstreamHead | UpstreamFailureResult;
  readonly charge?: () => Promise<void>;
  readonly count?: () => Promise<number>;
  readonly admit?: () => Promise<object>;
}

/** Runs one request. Returns how it came out, and how its hold ended. */
async function run({ stream = false, provider, ...over }: Case) {
  const ended: string[] = [];
  const accountContext = accountContextOf({
    config: { pricing: { ChatPricing: { m: { InputText: 1, OutputText: 1 } } } },
  });
  let admissions = 0;
  const parts = {
    clock: manualClock(),
    system: { lagMs: () => 0, subscribe: () => () => undefined, onStale: () => () => undefined },
    identify: Object.assign(() => ({ account: ACCOUNT, keyHash: KEY }), { forget: () => undefined }),
    configs: {
      accountContext: () => accountContext,
      level: () => viewOf(0, [1]),
      acceptProfile: () => undefined,
    },
    levelReporter: { succeeded: () => undefined, failed: async () => undefined },
    settlement: {
      async admit() {
        admissions++;
        return over.admit?.() ?? ADMITTED;
      },
      async charge() {
        ended.push("charge");
        await over.charge?.();
      },
      cancel: async () => void ended.push("cancel"),
      renew: () => undefined,
      onSettled: () => undefined,
      pendingLateCharges: () => [],
    },
    counter: { count: over.count ?? (async () => 1) },
    vault: { open: () => "sk-upstream" },
    chooser: createKeyChooser(manualClock()),
    upstream: { ...ANYWHERE, naming: () => ({ model: "m", add: {} }), send: async () => provider() },
    failedRequests: createFailedRequestLog(),
    requestHistory: { report: () => {} },
    observer: { ended: () => {} },
    tracer: null,
    nodeOfAccount: null,
    refusalFor: (error: unknown) => refusalOf(error) ?? INTERNAL,
    random: countingRandom(),
    log: silent,
    describe: ({ code, message }: { code: string; message: string }) => ({ code, message, type: "t" }),
    limits: LIMITS,
    lagMostMs: 1_000,
  } as unknown as GatewayParts;
  const outcome = await createGateway(parts)(callOf(stream), CHAT).catch((error: Error) => error);
  await settled();
  return { outcome, ended, admissions: () => admissions };
}

const kindOf = (outcome: Outcome | Error): string =>
  outcome instanceof Error ? outcome.message : outcome.kind;

describe("the hold of a request ends by exactly one", () => {
  const whole = (usage: object | null) => () => head(JSON.stringify({ ...ANSWER, ...(usage && { usage }) }));
  const TWIN = new RefusedError({ code: "service_unavailable", message: "twin" });
  const CHUNK = {
    ...ANSWER,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content: "Hi" } }],
  };
  const events = `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`;

  test.each<[string, Case, string, string[]]>([
    ["charge of a whole answer", { provider: whole(USAGE) }, "whole", ["charge"]],
    [
      "charge that the account refuses",
      { provider: whole(USAGE), charge: () => Promise.reject(TWIN) },
      "refused",
      ["charge"],
    ],
    ["cancel where every attempt failed", { provider: () => BUSY }, "refused", ["cancel"]],
    [
      "cancel where the service fails before the charge",
      { provider: whole(null), count: () => Promise.reject(new Error("broken")) },
      "broken",
      ["cancel"],
    ],
    [
      "charge of a stream that has come whole",
      { stream: true, provider: () => head(events, "text/event-stream") },
      "stream",
      ["charge"],
    ],
  ])("%s", async (_, given, kind, ended) => {
    const found = await run(given);
    expect([kindOf(found.outcome), found.ended]).toEqual([kind, ended]);
  });
});

test("a request whose account changes again and again is refused so that it can be sent again, and holds nothing", async () => {
  const stale = async () => ({ stale: { profile: {}, version: 2 } });
  const { outcome, ended, admissions } = await run({ provider: () => BUSY, admit: stale });
  expect(outcome).toMatchObject({ kind: "refused", refusal: PROFILE_KEEPS_CHANGING });
  expect([admissions(), ended]).toEqual([5, []]);
});
