// Encodes a request for a provider key: in the style that the key accepts, on this thread unless the request is large. It sends
// nothing and chooses no key.

import type { Clock } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { ModelRequest } from "../../dialect/dialect.ts";
import { signsCalls } from "../../dialect/translate/model-capabilities.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import { keptPerKey, type ProviderTarget } from "../codec/kept-per-key.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { EncodeInput, ProviderCodec, ProviderExchange } from "../codec/provider-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { type EncodedOrRefused, encodedFromValue } from "../large-body/outlined-payload.ts";

type Encoded = ProviderExchange | { readonly refusal: Refusal };

/**
 * Encodes a request for a key, at once unless the request is large. Returns why it cannot be translated into the key's
 * style, where that is so. The key must serve the endpoint.
 */
export function encodeFor(
  { upstream, clock }: { readonly upstream: Upstream; readonly clock: Clock },
  endpoint: GatewayEndpoint,
  key: ProviderTarget,
  request: ModelRequest,
  input: Pick<EncodeInput, "model" | "headers" | "id" | "promptTokens" | "isWithoutReasoning">,
): Encoded | Promise<Encoded> {
  const { model, headers, id, promptTokens, isWithoutReasoning = false } = input;
  const { provider, config } = key;
  const codec = codecFor(endpoint, key, model, upstream);
  if (codec === null) throw new Error("a key was chosen that does not serve the path");
  const naming = upstream.naming({ provider, config, path: codec.path, model, stream: request.stream });
  const asked = { isWithoutReasoning, signsCalls: needsSignatures(endpoint, codec, model, key) };
  const asking = { model, naming, headers, id, now: clock.wall(), promptTokens, ...asked };
  const encoded = encodedFromValue(codec, key, request, asking);
  if (encoded === null) return codec.open(request, asking);
  if (!(encoded instanceof Promise)) return openWith(encoded, codec, request, asking);
  return encoded.then((found) => openWith(found, codec, request, asking));
}

const openWith = (
  encoded: EncodedOrRefused,
  codec: ProviderCodec,
  request: ModelRequest,
  asking: EncodeInput,
): Encoded => ("refusal" in encoded ? encoded : codec.open(request, asking, encoded));

const hostOf = keptPerKey(({ provider }) => URL.parse(provider)?.hostname ?? "");

/** Whether a request that is not translated goes to a model that refuses function calls without a signature. */
const needsSignatures = (
  { dialect }: GatewayEndpoint,
  { translates }: ProviderCodec,
  model: string,
  key: ProviderTarget,
): boolean => !translates && dialect.withSignedCalls !== undefined && signsCalls(model, hostOf(key));
