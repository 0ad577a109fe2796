// Chooses the codec of an endpoint for a provider key: the client's own style wherever the key accepts it,
// with only the necessary changes; otherwise a translation, if there is one (see `translated`).

import type {
  Dialect,
  ModelAlias,
  ModelRequest,
  StreamMachine,
  StreamOptions,
  WholeAnswer,
  WholeBody,
} from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import { aliasOf, underOwnName } from "../../dialect/model-alias.ts";
import type { UsageDialect } from "../../dialect/usage.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { ProviderTarget } from "./kept-per-key.ts";
import { type ApiStyle, apiStylesOf, hasResponses, RESPONSES_PATH } from "./key-formats.ts";
import {
  type EncodedBody,
  type EncodedRequest,
  type EncodeInput,
  NO_REPEATED_FIELDS,
  type ProviderCodec,
  type ProviderExchange,
  type RequestOrigin,
} from "./provider-codec.ts";
import { codecToPath, translated } from "./translated-codec.ts";

/**
 * Returns the codec of an endpoint for a key and model, or null when the key accepts no style into which the
 * endpoint can be encoded. `upstream` knows which paths hosts turned out to lack.
 */
export function codecFor(
  endpoint: GatewayEndpoint,
  key: ProviderTarget,
  model: string,
  upstream: Pick<Upstream, "lacks">,
): ProviderCodec | null {
  const styles = apiStylesOf(key, model);
  if (endpoint.path === RESPONSES_PATH) {
    const has = hasResponses(key) ?? !upstream.lacks(key.provider, RESPONSES_PATH, model);
    return has ? nativeCodec(endpoint) : translated(endpoint, key, styles.has("chat") ? "chat" : "messages");
  }
  const { name } = endpoint.dialect;
  return styles.has(name) ? nativeCodec(endpoint) : translated(endpoint, key, OTHER_STYLE[name]);
}

const OTHER_STYLE: Readonly<Record<ApiStyle, ApiStyle>> = { chat: "messages", messages: "chat" };

/** Returns the codec of an endpoint for a provider's path, which another thread has chosen. */
export const codecAt = (endpoint: GatewayEndpoint, path: string, host: string): ProviderCodec | null =>
  path === endpoint.path ? nativeCodec(endpoint) : codecToPath(endpoint, path, host);

/**
 * Returns the exchange of a request that was sent, opened again to read its answer. It has no body. The request's
 * payload is not read.
 */
export function reopened(
  endpoint: GatewayEndpoint,
  { providerPath, host, request, input, toolNames, repeatedFields }: RequestOrigin,
): ProviderExchange {
  const codec = codecAt(endpoint, providerPath, host);
  const exchange = codec?.open(request, input, { body: "", toolNames, repeatedFields });
  if (exchange === undefined || "refusal" in exchange) throw new Error("an exchange cannot be opened again");
  return exchange;
}

/** Read for every key of every request. */
const known = new WeakMap<GatewayEndpoint, ProviderCodec>();

/** Returns the codec that keeps the client's style. */
function nativeCodec(endpoint: GatewayEndpoint): ProviderCodec {
  let codec = known.get(endpoint);
  if (codec === undefined) {
    codec = createNativeCodec(endpoint);
    known.set(endpoint, codec);
  }
  return codec;
}

/** Client headers that only providers of the other style understand. They are dropped. */
const FOREIGN_HEADERS: Readonly<Record<GatewayEndpoint["dialect"]["name"], ReadonlySet<string>>> = {
  chat: new Set(),
  messages: new Set(["openai-beta"]),
};

const createNativeCodec = (endpoint: GatewayEndpoint): ProviderCodec => ({
  path: endpoint.path,
  usage: endpoint.dialect.usage,
  translates: false,
  encode: (request, input) => encodedNatively(endpoint, request, input),
  open: (request, input, encoded) =>
    new NativeExchange(endpoint, request, input, encoded ?? encodedNatively(endpoint, request, input)),
});

const NO_NAMES: ReadonlyMap<string, string> = new Map();

const encodedNatively = ({ dialect }: GatewayEndpoint, request: ModelRequest, input: EncodeInput) => ({
  body: dialect.upstreamBody(acceptable(dialect, request, input), input.naming),
  toolNames: NO_NAMES,
  repeatedFields: NO_REPEATED_FIELDS,
});

/** Returns the request without what the key would refuse, and with what it demands; nearly always the request itself. */
function acceptable(
  { withoutReasoning, withSignedCalls }: Dialect,
  request: ModelRequest,
  { isWithoutReasoning = false, signsCalls = false }: EncodeInput,
): ModelRequest {
  let { payload } = request;
  if (isWithoutReasoning) payload = withoutReasoning?.(payload) ?? payload;
  if (signsCalls) payload = withSignedCalls?.(payload) ?? payload;
  return payload === request.payload ? request : { ...request, payload };
}

/** A request in the client's own style, with only the necessary changes. */
class NativeExchange implements ProviderExchange {
  readonly path: string;
  readonly outgoing: EncodedRequest;
  readonly sentModel: string;
  private readonly dialect: Dialect;
  private readonly alias: ModelAlias | null;

  constructor(
    { path, dialect }: GatewayEndpoint,
    private readonly request: ModelRequest,
    private readonly input: EncodeInput,
    private readonly encoded: EncodedBody,
  ) {
    const { model, naming, headers } = input;
    this.path = path;
    this.dialect = dialect;
    this.alias = aliasOf(naming, model);
    this.sentModel = naming.model ?? model;
    const sent: Record<string, string> = {};
    for (const name in headers) if (!FOREIGN_HEADERS[dialect.name].has(name)) sent[name] = headers[name]!;
    sent["content-type"] = request.payload.contentType;
    this.outgoing = { method: "POST", body: encoded.body, headers: sent };
  }

  get origin(): RequestOrigin {
    const { path, request, input, encoded } = this;
    const { toolNames, repeatedFields } = encoded;
    return { kind: "request", path, providerPath: path, host: "", request, input, toolNames, repeatedFields };
  }

  get usage(): UsageDialect {
    return this.dialect.usage;
  }

  get closing(): Uint8Array {
    return this.dialect.closing;
  }

  readAnswer(answered: WholeBody): WholeAnswer {
    return this.dialect.readAnswer(answered, this.request);
  }

  clientText(text: string, answer: Json | null, fingerprint: string): string {
    const named = answer === null ? text : underOwnName(text, answer, this.alias);
    return this.dialect.withFingerprint(named, answer, fingerprint);
  }

  stream(options: StreamOptions): StreamMachine {
    return this.dialect.stream({ ...options, alias: this.alias });
  }

  translateFailure(signal: UpstreamFailure): UpstreamFailure {
    return signal;
  }
}
