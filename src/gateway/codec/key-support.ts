// Whether a provider key can take the requests of an endpoint at all: it accepts a style into which the
// endpoint can be encoded, and its provider has the path. The key's health is not considered here.

import type { LevelKey } from "../../../actors/level/view.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import { isCloud, type Upstream } from "../../upstream/upstream.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { mayLackPath, RESPONSES_PATH } from "./key-formats.ts";
import { forbids } from "./key-permits.ts";
import { codecFor } from "./native-codec.ts";

/** Whether a key can serve an endpoint, and why not. */
export type KeySupport = "served" | "other_style" | "other_path" | "forbidden";

/** Returns the support of a key for a model. */
export type Serves = (key: LevelKey, model: string) => KeySupport;

/**
 * Returns the support function of an endpoint. `translates` is false for a request that cannot be translated
 * into another style. `demands` are those of the request, if it is known.
 */
export const keySupportFor =
  (
    endpoint: GatewayEndpoint,
    upstream: Pick<Upstream, "address" | "lacks">,
    translates = true,
    demands?: Demands,
  ): Serves =>
  (key, model) => {
    const codec = codecFor(endpoint, key, model, upstream);
    if (codec === null || (codec.translates && !translates)) return "other_style";
    if (demands !== undefined && forbids(key, demands, codec.translates) !== null) return "forbidden";
    const { provider, config } = key;
    // Other providers are tried on every path, until one answers that it lacks it. The paths of the clouds are known.
    if (!isCloud(config.provider_type)) {
      return mayLackPath(codec.path, key) && upstream.lacks(provider, codec.path, model)
        ? "other_path"
        : "served";
    }
    const address = upstream.address({ provider, config, path: codec.path, model, stream: false });
    return typeof address === "string" ? "other_path" : "served";
  };

/**
 * Returns which keys a request asks first: at `/v1/responses` those whose provider has the path, because a translated response
 * is not kept for later requests. Returns null where any key will do.
 */
export const firstSupportFor = (
  endpoint: GatewayEndpoint,
  upstream: Pick<Upstream, "address" | "lacks">,
  demands?: Demands,
): Serves | null =>
  endpoint.path === RESPONSES_PATH ? keySupportFor(endpoint, upstream, false, demands) : null;
