// Chooses the codec of an endpoint for a provider key: the client's own style wherever the key accepts it,
// with only the necessary changes; otherwise a translation, if there is one (see `translated`).

import { aliasOf, underOwnName } from "../../dialect/model-alias.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { apiStylesOf, type ProviderTarget, speaksResponses } from "./key-formats.ts";
import type { ProviderCodec } from "./provider-codec.ts";
import { translated } from "./translated-codec.ts";

/**
 * Returns the codec of an endpoint for a key and model, or null when the key accepts no style into which the
 * endpoint can be encoded.
 */
export function codecFor(
  endpoint: GatewayEndpoint,
  key: ProviderTarget,
  model: string,
): ProviderCodec | null {
  const styles = apiStylesOf(key, model);
  if (!styles.has(endpoint.dialect.name)) return translated(endpoint, key);
  return endpoint.path === "/v1/responses" && !speaksResponses(key) ? null : straight(endpoint);
}

/** Read for every key of every request. */
const known = new WeakMap<GatewayEndpoint, ProviderCodec>();

/** Returns the codec that keeps the client's style. */
function straight(endpoint: GatewayEndpoint): ProviderCodec {
  const wire = known.get(endpoint) ?? straightWire(endpoint);
  known.set(endpoint, wire);
  return wire;
}

/** Client headers that only providers of the other style understand. They are dropped. */
const STRANGE: Readonly<Record<GatewayEndpoint["dialect"]["name"], ReadonlySet<string>>> = {
  chat: new Set(),
  messages: new Set(["openai-beta"]),
};

function straightWire({ path, dialect }: GatewayEndpoint): ProviderCodec {
  const { usage, readAnswer, closing } = dialect;
  const strange = STRANGE[dialect.name];
  const spoken = { path, usage, readAnswer, closing, translateFailure: (signal: UpstreamFailure) => signal };
  return {
    path,
    usage,
    translates: false,
    open(request, { model, naming, headers }) {
      const alias = aliasOf(naming, model);
      const body = dialect.upstreamBody(request, naming);
      const kept = Object.entries(headers).filter(([name]) => !strange.has(name));
      const sent = { ...Object.fromEntries(kept), "content-type": request.payload.contentType };
      return {
        ...spoken,
        outgoing: { body, headers: sent },
        sentModel: naming.model ?? model,
        clientText: (text, answer, fingerprint) =>
          dialect.withFingerprint(
            answer === null ? text : underOwnName(text, answer, alias),
            answer,
            fingerprint,
          ),
        stream: (options) => dialect.stream({ ...options, alias }),
      };
    },
  };
}
