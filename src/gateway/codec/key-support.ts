// Whether a key can take the requests of a surface at all: it speaks a style that the surface can be put into, and its
// provider has the path. What becomes of its health is not looked at here.

import type { LevelKey } from "../../../actors/level/view.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { forbids } from "./key-permits.ts";
import { codecFor } from "./native-codec.ts";

export type KeySupport = "served" | "other_style" | "other_path" | "forbidden";

/** Of a key, for a model. */
export type Serves = (key: LevelKey, model: string) => KeySupport;

/** `translates` false: for a request that cannot be put into another style. `demands`: the request's own, if it is known. */
export const keySupportFor =
  (
    surface: GatewayEndpoint,
    upstream: Pick<Upstream, "address">,
    translates = true,
    demands?: Demands,
  ): Serves =>
  (key, model) => {
    const wire = codecFor(surface, key, model);
    if (wire === null || (wire.translates && !translates)) return "other_style";
    if (demands !== undefined && forbids(key, demands, wire.translates) !== null) return "forbidden";
    const { provider, config } = key;
    // A plain provider is asked on every path: what it lacks it says itself. Of the clouds it is known beforehand.
    if (!CLOUDS.has(config.provider_type)) return "served";
    const address = upstream.address({ provider, config, path: wire.path, model, stream: false });
    return typeof address === "string" ? "other_path" : "served";
  };

const CLOUDS: ReadonlySet<unknown> = new Set(["cloud_a", "cloud_b"]);
