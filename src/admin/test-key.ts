// Tests a provider key by one minimal real call, so that its Owner sees whether and why it works. The test
// bypasses all routing: no Level gets a report, nothing is charged, only the key's own mapping changes the
// model name, and a sleeping or disabled key is called too.

import { findModel } from "../../actors/catalog/catalog.ts";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { Clock } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { ConfigCache } from "../gateway/account/config-cache.ts";
import { misread } from "../gateway/attempt/attempt.ts";
import { readBody } from "../gateway/attempt/whole-body.ts";
import { apiStylesOf } from "../gateway/codec/key-formats.ts";
import { codecFor } from "../gateway/codec/native-codec.ts";
import type { ProviderExchange } from "../gateway/codec/provider-codec.ts";
import { sampleRequest } from "../gateway/dry-run/sample-request.ts";
import { findEndpoint, type GatewayEndpoint } from "../gateway/endpoints.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { SecretVault } from "../upstream/secret-vault.ts";
import type { Destination, Upstream, UpstreamHead } from "../upstream/upstream.ts";
import { cutBy, type UpstreamFailure } from "../upstream/upstream-failure.ts";
import { openedSecrets } from "./key-secrets.ts";
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
  readonly replicas: Pick<ConfigCache, "config">;
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
  const { system, replicas, clock } = parts;
  const running = new Map<ProviderKeyId, AccountId>();

  return async ({ owner, id, model: named, requestId }) => {
    const key = await system.ask(actorRef.keyPool(owner), "read", { id });
    const model = named ?? (await modelToTest(replicas, owner, key, clock.wall()));
    if (model === null) throw new RefusedError(NO_MODEL);
    if (running.has(id)) throw busy("This key is being tested at this moment.");
    const own = [...running.values()].filter((one) => one === owner).length;
    if (own >= OWNERS_MAX) throw busy(`${own} keys of yours are being tested at this moment.`);
    if (running.size >= TESTS_MAX) throw busy("Too many keys are being tested at once.");
    running.set(id, owner);
    try {
      return await tested(parts, key, model, requestId);
    } finally {
      running.delete(id);
    }
  };
}

async function tested(
  { upstream, vault, clock }: Parts,
  key: ProviderKey,
  model: string,
  requestId: string,
): Promise<KeyTested> {
  const surface = surfaceFor(key, model);
  const wire = codecFor(surface, key, model)!;
  const { path } = wire;
  const request = requestFor(surface, model);
  const { provider, config, level, id } = key;
  const to: Destination = { provider, config, path, model, stream: false };
  const address = upstream.address(to);
  const url = typeof address === "string" ? "" : address.href;
  const unsent = (name: UpstreamFailure["name"], message: string): KeyTested => {
    return { success: false, status: 0, signal: name, latencyMs: 0, url, model, message };
  };
  if (typeof address === "string") return unsent("unreachable", address);
  const secrets = openedSecrets(vault, key);
  if (secrets === null) return unsent("invalid_key", UNOPENED);

  const abort = new AbortController();
  const late = () => abort.abort(new DOMException("the test took too long", "TimeoutError"));
  const stopTimer = clock.after(TEST_MS, late);
  const sinceMs = clock.mono();
  try {
    const attempt = { key: { id, level, provider, config, ...secrets }, path, model };
    const exchange = wire.open(request, {
      model,
      naming: upstream.naming(to),
      headers: HEADERS[surface.dialect.name],
      id: requestId,
      now: clock.wall(),
      promptTokens: 1,
    });
    if ("refusal" in exchange) throw new Error("a key of the surface's own style needs no translation");
    const { body, headers } = exchange.outgoing;
    const sending = { method: "POST", headers, body, stream: false } as const;
    const head = await upstream.send({ ...attempt, ...sending, signal: abort.signal, requestId });
    const signal = head.ok ? await fault(head, { exchange, request }, clock, abort) : head.signal;
    const latencyMs = Math.round(clock.mono() - sinceMs);
    const { status } = head.ok ? head : head.signal;
    const found = { status, latencyMs, url, model };
    return signal === null
      ? { success: true, signal: "ok", message: KEY_WORKS, ...found }
      : { success: false, signal: signal.name, message: saying(signal), ...found };
  } finally {
    stopTimer();
  }
}

/** Returns what is wrong with a 200 response; null when it is a valid answer. */
async function fault(
  { response, headers, scrub }: UpstreamHead,
  { exchange, request }: { exchange: ProviderExchange; request: ModelRequest },
  clock: Clock,
  abort: AbortController,
): Promise<UpstreamFailure | null> {
  try {
    const text = await readBody(response, { clock, idleMs: TEST_MS, abort });
    const answered = { text, contentType: headers.get("content-type") ?? "" };
    return exchange.readAnswer(answered, request).ok ? null : misread(scrub(text), 200, request.model, clock);
  } catch (error) {
    return cutBy(abort.signal, error);
  }
}

/** The endpoint of the key's API style; `chat` if the key has both. */
function surfaceFor(key: ProviderKey, model: string): GatewayEndpoint {
  const styles = apiStylesOf(key, model);
  return findEndpoint(styles.has("chat") ? "/v1/chat/completions" : "/v1/messages");
}

const HEADERS: Readonly<Record<GatewayEndpoint["dialect"]["name"], Readonly<Record<string, string>>>> = {
  chat: {},
  messages: { "anthropic-version": "2023-06-01" },
};

/** The smallest possible request: one output token. */
function requestFor(surface: GatewayEndpoint, model: string): ModelRequest {
  const limit = surface.dialect.name === "chat" && thinks(model) ? "max_completion_tokens" : "max_tokens";
  // The parser gets a placeholder name, because only the provider knows whether the real model exists.
  const body = { model: "any", messages: [{ role: "user", content: "ping" }], [limit]: 1 };
  const parsed = sampleRequest(surface, body);
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return { ...parsed.request, model };
}

type ModelRequest = Parameters<ProviderExchange["readAnswer"]>[1];

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
