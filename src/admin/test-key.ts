// Tests a provider key by one minimal real call, so that its Owner sees whether and why it works. The test
// bypasses all routing: no Level gets a report, nothing is charged, only the key's own mapping changes the
// model name, and a sleeping or disabled key is called too.

import { findModel } from "../../actors/catalog/catalog.ts";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { LevelKey, LevelView } from "../../actors/level/view.ts";
import { Cancellation } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { ConfigCache } from "../gateway/account/config-cache.ts";
import { attempt, SECRETS_UNREADABLE } from "../gateway/attempt/attempt.ts";
import { encodeFor } from "../gateway/attempt/encode-request.ts";
import { apiStylesOf } from "../gateway/codec/key-formats.ts";
import { sampleRequest } from "../gateway/dry-run/dry-run.ts";
import { findEndpoint, type GatewayEndpoint } from "../gateway/endpoints.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { SecretVault } from "../upstream/secret-vault.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { UpstreamFailure } from "../upstream/upstream-failure.ts";
import { ADVICE, KEY_WORKS } from "./key-test-advice.ts";
import { modelToTest } from "./test-model.ts";

/** A test to make. */
export interface KeyTest {
  readonly owner: AccountId;
  readonly id: ProviderKeyId;
  /** The model name as the provider knows it; undefined when `modelToTest` must choose one. */
  readonly model: string | undefined;
  readonly requestId: string;
}

/** The result of a key test. `latencyMs` is the time until the whole answer was read. */
export interface KeyTested {
  readonly success: boolean;
  /** HTTP status of the provider; 0 when there was no response. */
  readonly status: number;
  /** The kind of failure; `ok` when the key works. */
  readonly signal: UpstreamFailure["name"] | "ok";
  readonly latencyMs: number;
  /** The called URL without secrets; empty when the key has no valid address. */
  readonly url: string;
  readonly model: string;
  readonly message: string;
}

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly configs: Pick<ConfigCache, "config">;
  readonly vault: SecretVault;
  readonly upstream: Upstream;
  readonly clock: Clock;
}

/** Deadline of a test, ms. */
const TEST_MS = 30_000;
/**
 * Concurrent tests on this node and per Owner, so that one Owner's slow providers cannot block the others.
 */
const TESTS_MAX = 8;
const OWNERS_MAX = 4;

/**
 * Returns a function that tests a key. A failed test is a result, not an error. It throws `RefusedError`:
 * `key_not_found`, `missing_parameter` when no model is known, and `service_unavailable` while the key is
 * being tested or too many tests run.
 */
export function testKeys(parts: Parts): (test: KeyTest) => Promise<KeyTested> {
  const { system, configs, clock } = parts;
  const running = new Map<ProviderKeyId, AccountId>();

  return async ({ owner, id, model: named, requestId }) => {
    const key = await system.ask(actorRef.keyPool(owner), "read", { id });
    const model = named ?? (await modelToTest(configs, owner, key, clock.wall()));
    if (model === null) throw new RefusedError(NO_MODEL);
    if (running.has(id)) throw busy("This key is being tested at this moment.");
    const own = [...running.values()].filter((one) => one === owner).length;
    if (own >= OWNERS_MAX) throw busy(`${own} keys of yours are being tested at this moment.`);
    if (running.size >= TESTS_MAX) throw busy("Too many keys are being tested at once.");
    running.set(id, owner);
    try {
      return await tested(parts, { owner, key, model, requestId });
    } finally {
      running.delete(id);
    }
  };
}

async function tested(
  { upstream, vault, clock }: Parts,
  { owner, key, model, requestId }: TestedKey,
): Promise<KeyTested> {
  const endpoint = endpointFor(key, model);
  const request = requestFor(endpoint, model);
  const headers = HEADERS[endpoint.dialect.name];
  const parts = { upstream, vault, clock, chooser: UNCOUNTED, limits: LIMITS };
  const input = { model, headers, id: requestId, promptTokens: 1 };
  const exchange = await encodeFor(parts, endpoint, key, request, input);
  if ("refusal" in exchange) throw new Error("a key of the endpoint's own style needs no translation");
  const { provider, config } = key;
  const address = upstream.address({ provider, config, path: exchange.path, model, stream: false });
  const failed = { success: false, status: 0, latencyMs: 0, url: "", model } as const;
  if (typeof address === "string") return { ...failed, signal: "unreachable", message: address };
  const url = address.href;

  const abort = new Cancellation();
  const late = () => abort.abort(new DOMException("the test took too long", "TimeoutError"));
  const stopTimer = clock.after(TEST_MS, late);
  const sinceMs = clock.mono();
  const result = await attempt(parts, {
    attempted: { owner, key: levelKeyOf(key), view: NO_VIEW, model, startedAt: clock.wall() },
    ...{
      exchange,
      answers: endpoint.answers,
      request,
      requestId,
      fingerprint: "",
      abort,
      reporter: null,
      trace: null,
    },
  }).finally(stopTimer);
  const latencyMs = Math.round(clock.mono() - sinceMs);
  const { status } = result;
  if (!("failure" in result)) {
    return { success: true, signal: "ok", message: KEY_WORKS, status, latencyMs, url, model };
  }
  const { failure } = result;
  if (failure === SECRETS_UNREADABLE) return { ...failed, signal: failure.name, url, message: UNOPENED };
  return { ...failed, signal: failure.name, status, latencyMs, url, message: saying(failure) };
}

/** A key that is being tested. */
interface TestedKey {
  readonly owner: AccountId;
  readonly key: ProviderKey;
  readonly model: string;
  readonly requestId: string;
}

/** A test does not count among the requests in flight on the key. */
const UNCOUNTED = { take: () => undefined, done: () => undefined };
const LIMITS = { upstreamIdleMs: TEST_MS, upstreamFirstMs: TEST_MS };
/** A test is not reported, so it needs no view of the key's Level. */
const NO_VIEW: LevelView = { id: "", version: 0, members: 0, keys: [], health: [], switchedUntil: 0 };

/** Returns the key as an attempt takes it. */
const levelKeyOf = ({ id, level, provider, config, secret, privateKey }: ProviderKey): LevelKey => ({
  ...{ id, level, provider, config, secret, state: "normal" },
  ...(privateKey ? { privateKey: privateKey.secret } : {}),
});

/** The endpoint of the key's API style; `chat` if the key has both. */
function endpointFor(key: ProviderKey, model: string): GatewayEndpoint {
  const styles = apiStylesOf(key, model);
  return findEndpoint(styles.has("chat") ? "/v1/chat/completions" : "/v1/messages");
}

const HEADERS: Readonly<Record<GatewayEndpoint["dialect"]["name"], HeaderRecord>> = {
  chat: {},
  messages: { "anthropic-version": "2023-06-01" },
};

/** The smallest possible request: one output token. */
function requestFor(endpoint: GatewayEndpoint, model: string): Parameters<typeof encodeFor>[3] {
  const limit = endpoint.dialect.name === "chat" && thinks(model) ? "max_completion_tokens" : "max_tokens";
  // The parser gets a placeholder name, because only the provider knows whether the real model exists.
  const body = { model: "any", messages: [{ role: "user", content: "ping" }], [limit]: 1 };
  const parsed = sampleRequest(endpoint, body);
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return { ...parsed.request, model };
}

/** OpenAI's reasoning models refuse `max_tokens`, because reasoning is part of their output. */
function thinks(model: string): boolean {
  const entry = findModel(model);
  return entry?.provider === "openai" && entry.capabilities.includes("reasoning");
}

/** The advice, and the provider's own message as far as it may be shown. */
const saying = (signal: UpstreamFailure): string =>
  `${ADVICE[signal.name]} (${signal.pass?.message ?? signal.note})`;

const UNOPENED =
  "No key at hand opens the secret: it was sealed with another SECRETS_KEY. Give SecretKey anew.";

const NO_MODEL: Refusal = {
  code: "missing_parameter",
  message:
    'No model is known that this key\'s provider has and that leads to its Level. Name one: {"model":"…"}, as the provider calls it.',
};

const busy = (message: string): RefusedError =>
  new RefusedError({
    code: "service_unavailable",
    message: `${message} Ask again in a moment.`,
    retryAfterS: 1,
  });
