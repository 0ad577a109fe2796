// The path of a chat request, from the call to its outcome:
//
//   identify (whose key) -> parse -> admission (route, estimate, hold) -> forward (one key, one try) -> answer whole or
//   streamed -> meter -> settle (the charge is durable before the last byte)
//
// Every way out either charges or cancels the hold, exactly once, with the id minted here.

import type { Protocol } from "../../actors/index.ts";
import { parseChatRequest, promptTexts, upstreamBody } from "../dialect/chat.ts";
import type { Refusal } from "../runtime/actor.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { type ActorSystem, Refused } from "../runtime/system.ts";
import { type Admission, type Asked, admission } from "./admission.ts";
import { answerStream } from "./answer-stream.ts";
import { answerWhole } from "./answer-whole.ts";
import type { Call, Limits, Outcome } from "./call.ts";
import { type ForwardParts, failure, forward } from "./forward.ts";
import type { Identify } from "./identify.ts";
import type { Replicas } from "./replicas.ts";
import type { Settle } from "./settle.ts";
import { estimateTokens, type TokenCounter } from "./tokens.ts";

export interface GatewayParts extends ForwardParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly replicas: Replicas;
  readonly settle: Settle;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Limits;
  /** Commit lag above which new work is refused at the door. */
  readonly lagMostMs: number;
  parseJson(text: string): unknown;
  /** A refusal as it stands inside a stream. */
  describe(refusal: Refusal): { readonly message: string; readonly type: string; readonly code: string };
}

/** A request that was admitted and is under way. */
export interface Running {
  readonly id: string;
  readonly requestId: string;
  readonly call: Call;
  readonly admission: Admission;
  /** Ends when the client goes or the request's time is over. */
  readonly abort: AbortController;
  readonly headers: Readonly<Record<string, string>>;
  readonly asked: string;
  readonly includeUsage: boolean;
  readonly prompt: () => readonly string[];
  readonly startedAt: number;
}

export type Gateway = (call: Call) => Promise<Outcome>;

const MISSING: Refusal = {
  code: "missing_api_key",
  message: "No API key was sent. Send it as the header: Authorization: Bearer <key>.",
};
const WRONG: Refusal = {
  code: "invalid_api_key",
  message: "The API key is not valid. Check the key, or ask for a new one.",
};
const SLOW: Refusal = {
  code: "service_unavailable",
  message: "The store is slow at the moment. Try again shortly.",
  retryAfterS: 1,
};

export function createGateway(parts: GatewayParts): Gateway {
  return async (call) => {
    const id = parts.random.id();
    const requestId = call.requestId ?? id;
    const headers = { "x-request-id": requestId };
    try {
      return await handle(parts, call, id, requestId);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { kind: "refused", refusal: error.refusal, headers };
    }
  };
}

async function handle(parts: GatewayParts, call: Call, id: string, requestId: string): Promise<Outcome> {
  if (call.key === null) throw new Refused(MISSING);
  const caller = await parts.identify(call.key, call.ip);
  if (caller === null) throw new Refused(WRONG);
  if (parts.system.lagMs() > parts.lagMostMs) throw new Refused(SLOW);

  const parsed = await parse(parts, call);
  const granted = await admission(
    { ...parts, holdOutputTokens: parts.limits.holdOutputTokens },
    { id, path: call.path, caller, ip: call.ip, asked: parsed.asked },
  ).catch((error) => {
    if (error instanceof Refused && error.refusal.code === WRONG.code) parts.identify.forget(caller.keyHash);
    throw error;
  });
  if (!("request" in parsed)) throw new Error("admitted without a request");
  const { request } = parsed;

  const abort = new AbortController();
  const onGone = () => abort.abort(new DOMException("the client has gone", "AbortError"));
  if (call.signal.aborted) onGone();
  else call.signal.addEventListener("abort", onGone, { once: true });
  const stopTimer = parts.clock.after(parts.limits.upstreamTimeoutMs, () =>
    abort.abort(new DOMException("the request took too long", "TimeoutError")),
  );
  const release = () => {
    stopTimer();
    call.signal.removeEventListener("abort", onGone);
  };

  const { route } = granted;
  const running: Running = {
    id,
    requestId,
    call,
    admission: granted,
    abort,
    headers: responseHeaders(requestId, granted),
    asked: request.model,
    includeUsage: request.includeUsage,
    prompt: () => promptTexts(request.body),
    startedAt: parts.clock.mono(),
  };
  try {
    const sent = await forward(parts, route.view, {
      path: call.path,
      model: route.model,
      body: upstreamBody(request.body, { model: route.model }),
      headers: forwardedHeaders(call.headers),
      stream: request.stream,
      signal: abort.signal,
      headMs: request.stream ? parts.limits.upstreamFirstMs : parts.limits.upstreamTimeoutMs,
      requestId,
    });
    if (!sent.ok) {
      release();
      parts.settle.cancel(caller.account, id, call.signal.aborted);
      if (sent.signal !== null) {
        parts.log("warn", "attempt_failed", {
          requestId,
          model: route.model,
          note: sent.signal.note,
          rows: sent.rows,
        });
      }
      return ended(failure(sent.signal, route.model), running.headers);
    }
    return request.stream
      ? await answerStream(parts, running, sent, release)
      : await answerWhole(parts, running, sent).finally(release);
  } catch (error) {
    release();
    parts.settle.cancel(caller.account, id, call.signal.aborted);
    throw error;
  }
}

/** An outcome without an answer. */
export const ended = (
  failed: ReturnType<typeof failure>,
  headers: Readonly<Record<string, string>>,
): Outcome =>
  "rejection" in failed
    ? { kind: "rejected", rejection: failed.rejection, headers }
    : { kind: "refused", refusal: failed.refusal, headers };

/** A body that cannot be read or parsed is a refusal for admission to give: key, flags and IP are decided before it. */
async function parse(
  parts: GatewayParts,
  call: Call,
): Promise<{ asked: Asked; request: ChatRequestOf } | { asked: Asked & { refusal: Refusal } }> {
  try {
    const text = await call.text();
    const parsed = parseChatRequest(parts.parseJson(text));
    if (!parsed.ok)
      return { asked: { refusal: { code: parsed.refusal.code, message: `${parsed.refusal.message}.` } } };
    const { request } = parsed;
    return { asked: { model: request.model, size: sizeOf(request, text) }, request };
  } catch (error) {
    if (error instanceof Refused) return { asked: { refusal: error.refusal } };
    throw error;
  }
}

type ChatRequestOf = Extract<ReturnType<typeof parseChatRequest>, { ok: true }>["request"];

const sizeOf = (request: ChatRequestOf, text: string) => ({
  promptTokens: estimateTokens({ bytes: request.promptBytes, images: request.images, files: request.files }),
  maxOutput: request.maxOutput,
  n: request.n,
  serviceTier: request.serviceTier,
  never: neverIn(request, text),
});

/** Kinds of token that a text request cannot have, so that its hold need not fear their price. */
function neverIn(request: ChatRequestOf, text: string) {
  const audio = Array.isArray(request.body.modalities) && request.body.modalities.includes("audio");
  return [
    ...(request.files > 0 ? [] : (["inAudio"] as const)),
    ...(request.images > 0 ? [] : (["inImage"] as const)),
    ...(audio ? [] : (["outAudio"] as const)),
    "outImage",
    // One-hour cache writes must be asked for by name.
    ...(text.includes('"1h"') ? [] : (["inCacheWrite1h"] as const)),
  ] as const;
}

/** Client headers that mean something to a provider. Everything else is between the client and us. */
const FORWARDED = ["openai-beta", "anthropic-version", "anthropic-beta"];

function forwardedHeaders(headers: Headers): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of FORWARDED) {
    const value = headers.get(name);
    if (value !== null) forwarded[name] = value;
  }
  return forwarded;
}

function responseHeaders(requestId: string, { route, admitted }: Admission): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "x-arbor-model": route.model,
    "x-arbor-level": String(route.level),
    "x-arbor-attempts": "1",
  };
  for (const [name, left] of [
    ["requests", admitted.requests],
    ["tokens", admitted.tokensLeft],
  ] as const) {
    if (left === null) continue;
    headers[`x-ratelimit-limit-${name}`] = String(left.limit);
    headers[`x-ratelimit-remaining-${name}`] = String(left.remaining);
    headers[`x-ratelimit-reset-${name}`] = `${Math.ceil(left.resetMs / 1000)}s`;
  }
  return headers;
}
