// The path of a chat request, from the call to its outcome:
//
//   identify (whose key) -> parse -> admission (route, estimate, hold) -> forward (one key, one try) -> answer whole or
//   streamed -> meter -> settle (the charge is durable before the last byte)
//
// Every way out either charges or cancels the hold, exactly once, with the id minted here.

import { WRONG_KEY } from "../../actors/account/admit.ts";
import { parseChatRequest, promptTexts, upstreamBody } from "../dialect/chat.ts";
import type { Refusal } from "../runtime/actor.ts";
import { Refused } from "../runtime/system.ts";
import { type Admission, type Asked, admission } from "./admission.ts";
import { answerStream } from "./answer-stream.ts";
import { answerWhole } from "./answer-whole.ts";
import type { Call, Outcome } from "./call.ts";
import { forward } from "./forward.ts";
import { MISSING_KEY } from "./identify.ts";
import type { GatewayParts, Running } from "./running.ts";
import { estimateTokens } from "./tokens.ts";
import { undelivered } from "./undelivered.ts";

export type Gateway = (call: Call) => Promise<Outcome>;

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
  if (call.key === null) throw new Refused(MISSING_KEY);
  const caller = await parts.identify(call.key, call.ip);
  if (caller === null) throw new Refused(WRONG_KEY);
  if (parts.system.lagMs() > parts.lagMostMs) throw new Refused(SLOW);

  const parsed = await parse(parts, call);
  const granted = await admission(parts, {
    id,
    path: call.path,
    caller,
    ip: call.ip,
    asked: parsed.asked,
  }).catch((error) => {
    if (!(error instanceof Refused)) throw error;
    // A key whose account is not there (any more) is a wrong key to whoever sends it.
    const wrong = error.refusal.code === WRONG_KEY.code || error.refusal.code === "user_not_found";
    if (!wrong) throw error;
    parts.identify.forget(caller.keyHash);
    throw new Refused(WRONG_KEY);
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
  };
  try {
    const sent = await forward(parts, route.view, {
      path: call.path,
      model: route.model,
      body: upstreamBody(request.body, { model: route.model }),
      headers: forwardedHeaders(call.headers),
      stream: request.stream,
      abort,
      headMs: request.stream ? parts.limits.upstreamFirstMs : parts.limits.upstreamTimeoutMs,
      requestId,
    });
    if (!sent.ok) {
      release();
      return undelivered(parts, running, sent.signal, sent.rows);
    }
    return request.stream
      ? await answerStream(parts, running, sent, { begun: stopTimer, release })
      : await answerWhole(parts, running, sent).finally(release);
  } catch (error) {
    release();
    parts.settle.cancel(caller.account, id, call.signal.aborted);
    throw error;
  }
}

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

/** A model may have any name; what cannot stand in a header is written as in an address. */
const headerText = (text: string): string =>
  text.replace(/[^\x21-\x7e]+/g, (odd) => encodeURIComponent(odd.toWellFormed()));

function responseHeaders(requestId: string, { route, admitted }: Admission): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    "x-arbor-model": headerText(route.model),
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
