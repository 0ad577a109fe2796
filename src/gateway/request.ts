// The path of a request, from the call to its outcome:
//
//   identify (whose key) -> parse -> admission (route, estimate, hold) -> forward (keys, Levels, models) -> answer whole
//   or streamed -> meter -> settle (the charge is durable before the last byte)
//
// Every way out either charges or cancels the hold, exactly once, with the id minted here.

import { WRONG_KEY } from "../../actors/account/admit.ts";
import type { Idempotency } from "../../actors/account/state.ts";
import type { ModelRequest } from "../dialect/dialect.ts";
import type { Refusal } from "../runtime/actor.ts";
import { Refused } from "../runtime/system.ts";
import { type AdmissionInput, type Asked, admission, planOf, retake } from "./admission.ts";
import { answerStream } from "./answer-stream.ts";
import { answerWhole } from "./answer-whole.ts";
import { type AutoQuota, createAutoQuota } from "./auto-quota.ts";
import type { Call, Outcome } from "./call.ts";
import { forward } from "./forward.ts";
import { replayed } from "./headers.ts";
import { keepAlive } from "./hold-keeper.ts";
import { type Caller, MISSING_KEY } from "./identify.ts";
import { createInFlight, type InFlight } from "./in-flight.ts";
import { type Leash, leashOf } from "./leash.ts";
import { createOnce, type Once } from "./once.ts";
import type { GatewayParts, Running } from "./running.ts";
import type { Surface } from "./surfaces.ts";
import { estimateTokens } from "./tokens.ts";
import { undelivered } from "./undelivered.ts";

export type Gateway = (call: Call, surface: Surface) => Promise<Outcome>;

const SLOW: Refusal = {
  code: "service_unavailable",
  message: "The store is slow at the moment. Try again shortly.",
  retryAfterS: 1,
};

export function createGateway(parts: GatewayParts): Gateway {
  const autoQuota = createAutoQuota(parts);
  const once = createOnce({ ...parts, autoQuota });
  const inFlight = createInFlight(parts);
  return async (call, surface) => {
    const id = parts.random.id();
    const requestId = call.requestId ?? id;
    const leash = leashOf(call.signal, parts.clock, parts.limits.upstreamTimeoutMs);
    try {
      const outcome = await handle(
        parts,
        { once, inFlight, autoQuota },
        { call, surface, id, requestId, leash },
      );
      // A stream lets go of it at its end.
      if (outcome.kind !== "stream") leash.release();
      return outcome;
    } catch (error) {
      leash.release();
      if (!(error instanceof Refused)) throw error;
      return { kind: "refused", refusal: error.refusal, headers: { "x-request-id": requestId } };
    }
  };
}

interface Incoming {
  readonly call: Call;
  readonly surface: Surface;
  readonly id: string;
  readonly requestId: string;
  readonly leash: Leash;
}

interface Memory {
  readonly once: Once;
  readonly inFlight: InFlight;
  readonly autoQuota: AutoQuota;
}

async function handle(
  parts: GatewayParts,
  { once, inFlight, autoQuota }: Memory,
  incoming: Incoming,
): Promise<Outcome> {
  const { call, surface, id, leash } = incoming;
  if (call.key === null) throw new Refused(MISSING_KEY);
  const caller = await parts.identify(call.key, call.ip);
  if (caller === null) throw new Refused(WRONG_KEY);
  // Before admission, so that an account that closes meanwhile misses no request of its own.
  inFlight.add(caller.account, leash);
  if (parts.system.lagMs() > parts.lagMostMs) throw new Refused(SLOW);

  const startedAt = parts.clock.wall();
  const { asked, request, idempotency } = await parse(parts, call, surface);
  const input: AdmissionInput = {
    id,
    path: call.path,
    free: surface.meter === "free",
    caller,
    ip: call.ip,
    asked,
    idempotency,
  };
  const granted = await (idempotency === null
    ? admission({ ...parts, autoQuota }, input)
    : once.admit({ ...input, idempotency }, leash)
  ).catch((error) => {
    // Nobody knows whether the account took the hold.
    if (!(error instanceof Refused)) parts.settle.cancel(caller.account, id, false);
    throw wrongKey(parts, caller, error);
  });
  if ("body" in granted) {
    const headers = replayed(granted.headers, incoming.requestId, surface.dialect.name);
    return { kind: "whole", body: granted.body, headers };
  }
  if (request === null) throw new Error("admitted without a request");

  const running: Running = {
    ...incoming,
    request,
    admission: granted,
    startedAt,
    idempotency,
    forwarded: forwardedHeaders(call.headers),
    legs: async ({ lineage, route }) =>
      (await planOf(parts.replicas, lineage, route, call.path, request.model)).rows,
    retake: (from, leg) => retake(parts, input, from, leg),
  };
  try {
    return await run(parts, running);
  } catch (error) {
    parts.settle.cancel(caller.account, id, call.signal.aborted);
    throw error;
  } finally {
    once.answered(id);
  }
}

async function run(parts: GatewayParts, running: Running): Promise<Outcome> {
  const letGo = keepAlive(parts, running.admission.caller.account, running.id);
  const sent = await forward(parts, running).finally(letGo);
  if (!sent.ok) return undelivered(parts, running, sent);
  const { opened } = sent;
  if (opened.kind === "stream") return answerStream(parts, running, sent, opened);
  const outcome = await answerWhole(parts, running, sent, opened);
  if (running.idempotency !== null && outcome.kind === "whole") {
    await parts.repeats.keep(running.admission.caller.account, running.idempotency, outcome);
  }
  return outcome;
}

/** A key whose account is not there (any more) is a wrong key to whoever sends it. */
function wrongKey(parts: GatewayParts, caller: Caller, error: unknown): unknown {
  const code = error instanceof Refused ? error.refusal.code : "";
  if (code !== WRONG_KEY.code && code !== "user_not_found") return error;
  parts.identify.forget(caller.keyHash);
  return new Refused(WRONG_KEY);
}

interface Read {
  readonly asked: Asked;
  readonly request: ModelRequest | null;
  readonly idempotency: Idempotency | null;
}

/** A body that cannot be read or parsed is a refusal for admission to give: key, flags and IP are decided before it. */
async function parse(parts: GatewayParts, call: Call, { dialect, meter }: Surface): Promise<Read> {
  const refused = (refusal: Refusal): Read => ({ asked: { refusal }, request: null, idempotency: null });
  try {
    const text = await call.text();
    const parsed = dialect.parse(parts.parseJson(text), text);
    if (!parsed.ok) {
      const { code, message } = parsed.refusal;
      return refused({ code, message: `${message}.` });
    }
    const { request } = parsed;
    const name = meter === "free" ? null : call.headers.get("idempotency-key");
    const idempotency = name === null ? null : parts.repeats.hashes(call.path, name, text);
    return { asked: { model: request.model, size: sizeOf(request) }, request, idempotency };
  } catch (error) {
    if (error instanceof Refused) return refused(error.refusal);
    throw error;
  }
}

/** What a request weighs, for its hold. */
export const sizeOf = (request: ModelRequest) => ({
  promptTokens: estimateTokens({ bytes: request.promptBytes, images: request.images, files: request.files }),
  maxOutput: request.maxOutput,
  n: request.n,
  serviceTier: request.serviceTier,
  never: request.never,
});

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
