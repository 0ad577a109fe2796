// One try at a provider: take a key of the Level, open its secret, send, and say what came. It charges nothing.

import type { AttemptRow } from "../../actors/account/state.ts";
import type { LevelKey, LevelView } from "../../actors/level/level.ts";
import type { Refusal } from "../runtime/actor.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Signal, SignalName } from "../upstream/signal.ts";
import type { Upstream, UpstreamHead } from "../upstream/upstream.ts";
import { UnknownSecretsKey, type Vault } from "../upstream/vault.ts";
import type { Rejection } from "./call.ts";
import type { KeyChooser } from "./keys.ts";

export interface ForwardParts {
  readonly upstream: Upstream;
  readonly vault: Vault;
  readonly chooser: KeyChooser;
  readonly clock: Clock;
}

export interface Sending {
  readonly path: string;
  readonly model: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly stream: boolean;
  /** Of this request: aborted when the client goes, and here when no head comes within `headMs`. */
  readonly abort: AbortController;
  readonly headMs: number;
  readonly requestId: string;
}

export type Forwarded =
  | {
      readonly ok: true;
      readonly head: UpstreamHead;
      readonly key: LevelKey;
      readonly startedAt: number;
      readonly done: () => void;
      /** An error's text without the key, which some providers repeat in it. */
      readonly scrub: (text: string) => string;
    }
  | { readonly ok: false; readonly signal: Signal | null; readonly rows: readonly AttemptRow[] };

/** A head that came, and the key it came through. */
export type Sent = Extract<Forwarded, { ok: true }>;

/** `done` must be called when the answer has been read, however it ended: the key is taken until then. */
export async function forward(parts: ForwardParts, view: LevelView, sending: Sending): Promise<Forwarded> {
  const { upstream, vault, chooser, clock } = parts;
  const key = chooser.take(view, new Set());
  if (key === null) return { ok: false, signal: null, rows: [] };
  const startedAt = clock.mono();
  const stopTimer = clock.after(sending.headMs, () =>
    sending.abort.abort(new DOMException("no head", "TimeoutError")),
  );
  const done = () => chooser.done(key.id);
  const secret = opened(vault, key);
  if (secret === null) {
    stopTimer();
    done();
    const signal: Signal = {
      name: "invalid_key",
      status: 0,
      note: "no key at hand opens the secret: see SECRETS_KEY",
    };
    return { ok: false, signal, rows: [rowOf(key, sending.model, signal, 0)] };
  }
  const scrub = (text: string) => text.replaceAll(secret, "[removed]");
  const result = await upstream
    .send({
      path: sending.path,
      model: sending.model,
      method: "POST",
      headers: sending.headers,
      body: sending.body,
      stream: sending.stream,
      signal: sending.abort.signal,
      requestId: sending.requestId,
      key: {
        id: key.id,
        level: key.level,
        provider: key.provider,
        secret,
        config: key.config,
      },
    })
    .catch((error) => {
      done();
      throw error;
    })
    .finally(stopTimer);
  if (result.ok) return { ok: true, head: result, key, startedAt, done, scrub };
  done();
  return {
    ok: false,
    signal: result.signal,
    rows: [rowOf(key, sending.model, result.signal, clock.mono() - startedAt)],
  };
}

/** Null: it was sealed with another SECRETS_KEY. The key is of no use until that comes back. */
function opened(vault: Vault, key: LevelKey): string | null {
  try {
    return vault.open(key.secret);
  } catch (error) {
    if (error instanceof UnknownSecretsKey) return null;
    throw error;
  }
}

export const rowOf = (
  key: LevelKey,
  model: string,
  signal: Signal | null,
  ms: number,
  status = 200,
): AttemptRow => ({
  key: key.id,
  level: key.level,
  model,
  status: signal === null ? status : signal.status,
  signal: signal === null ? "ok" : signal.name,
  ms: Math.round(ms),
});

/** What a client is told when nothing worked, by the last signal (contract section 2). */
export function failure(
  signal: Signal | null,
  model: string,
): { readonly refusal: Refusal } | { readonly rejection: Rejection } {
  if (signal?.pass !== undefined) return { rejection: signal.pass };
  const wait =
    signal?.retryAfterMs === undefined
      ? {}
      : { retryAfterS: Math.max(1, Math.ceil(signal.retryAfterMs / 1000)) };
  const [code, message] = signal === null ? NO_KEY : (FAILURES[signal.name] ?? FAILED);
  const final = signal?.name === "too_big_for_tpm" ? ({ final: true } as const) : {};
  return { refusal: { code, message: message.replace("{model}", model), ...wait, ...final } };
}

const NO_KEY = [
  "no_available_key",
  "No provider key can serve {model} at the moment. Try again later.",
] as const;
const FAILED = ["upstream_failed", "The provider failed to answer for {model}. Try again."] as const;

const FAILURES: Partial<Record<SignalName, readonly [string, string]>> = {
  timeout: ["upstream_timeout", "The provider did not answer in time for {model}. Try again."],
  rate_limited: [
    "upstream_rate_limited",
    "The provider limits requests for {model} at the moment. Try again later.",
  ],
  too_big_for_tpm: [
    "upstream_rate_limited",
    "The request is larger than the provider's tokens per minute for {model}.",
  ],
  quota_gone: NO_KEY,
  overloaded: NO_KEY,
  model_unavailable: ["model_not_found", "No provider key has access to the model {model}."],
};
