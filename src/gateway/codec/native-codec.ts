// Which way a request of one surface is spoken with one key: in its own style wherever the key knows it, where nothing is
// changed but what must be; else put into the other style (translated-codec.ts), where there is a translation.

import { aliasOf, underOwnName } from "../../dialect/model-alias.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { apiStylesOf, type ProviderTarget, speaksResponses } from "./key-formats.ts";
import type { ProviderCodec } from "./provider-codec.ts";
import { translated } from "./translated-codec.ts";

/** How to speak with a key about a model; null: the key does not speak any style that this surface can be put into. */
export function codecFor(surface: GatewayEndpoint, key: ProviderTarget, model: string): ProviderCodec | null {
  const styles = apiStylesOf(key, model);
  if (!styles.has(surface.dialect.name)) return translated(surface, key);
  return surface.path === "/v1/responses" && !speaksResponses(key) ? null : straight(surface);
}

/** Asked for every key of every request. */
const known = new WeakMap<GatewayEndpoint, ProviderCodec>();

/** In the client's own style. */
function straight(surface: GatewayEndpoint): ProviderCodec {
  const wire = known.get(surface) ?? straightWire(surface);
  known.set(surface, wire);
  return wire;
}

/** What a client of one style may say to all providers and that only the other's know. */
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
