// /x-config: an Owner's configuration. Everything is checked before anything changes; a change is one version.

import { Type } from "@sinclair/typebox";
import { to } from "../../actors/index.ts";
import {
  readLevelMapper,
  readModelFailover,
  readModelMapper,
  readSwitchOver,
} from "../../actors/owner/maps.ts";
import type { ConfigChange, OwnerConfig } from "../../actors/owner/owner.ts";
import type { Parsed } from "../../actors/pattern.ts";
import { checkPricing } from "../../actors/price-table.ts";
import { Refused } from "../runtime/system.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import { textOrObject } from "./shapes.ts";

const map = Type.Optional(textOrObject("must be a text such as a=b,c=d, or an object of such entries"));

const Configuration = Type.Object(
  {
    MODEL_MAPPER: map,
    LEVEL_MAPPER: map,
    SWITCH_OVER: map,
    MODEL_FAILOVER: map,
    PRICING: Type.Optional(textOrObject("must be a JSON object, or the text of one")),
  },
  { additionalProperties: false },
);

/** How the value of a key is read, and how it is shown. */
interface Setting {
  readonly read: (value: unknown) => ConfigChange;
  readonly show: (config: OwnerConfig) => unknown;
}

type MapField = "modelMapper" | "levelMapper" | "switchOver" | "modelFailover";

/** A map replaces the former one, and is shown as an object however it was written. */
const mapOf = <F extends MapField>(
  key: string,
  field: F,
  read: (value: unknown) => Parsed<OwnerConfig[F]>,
): Setting => ({
  read(value) {
    const map = read(value);
    if (!map.ok) throw new Refused({ code: "invalid_parameter", message: `"${key}": ${map.message}.` });
    return { [field]: map.value };
  },
  show: (config) => config[field],
});

const pricing: Setting = {
  read(value) {
    if (value === "") return { pricing: null };
    const checked = checkPricing(value);
    if (!checked.ok) throw new Refused({ code: "invalid_pricing", message: `${checked.message}.` });
    return { pricing: checked.value };
  },
  show: (config) => (config.pricing === null ? "" : JSON.stringify(config.pricing)),
};

type Key = keyof typeof Configuration.properties;

const KEYS: Readonly<Record<Key, Setting>> = {
  MODEL_MAPPER: mapOf("MODEL_MAPPER", "modelMapper", readModelMapper),
  LEVEL_MAPPER: mapOf("LEVEL_MAPPER", "levelMapper", readLevelMapper),
  SWITCH_OVER: mapOf("SWITCH_OVER", "switchOver", readSwitchOver),
  MODEL_FAILOVER: mapOf("MODEL_FAILOVER", "modelFailover", readModelFailover),
  PRICING: pricing,
};

/** spec: PUT and POST /x-config. Answers the changed keys as they now are. */
export const putConfig = (parts: Edge) =>
  endpoint(parts, { who: "owner", body: Configuration }, async ({ caller, body }) => {
    const given = (Object.keys(KEYS) as Key[]).filter((key) => body[key] !== undefined);
    if (given.length === 0) {
      throw new Refused({
        code: "missing_parameter",
        message: `Give at least one of ${Object.keys(KEYS).join(", ")}.`,
      });
    }
    const change: ConfigChange = Object.assign({}, ...given.map((key) => KEYS[key].read(body[key])));
    const id = caller.profile.id;
    const config = await parts.system.ask(to.owner(id), "configure", { change, by: id });
    const configs = Object.fromEntries(given.map((key) => [key, KEYS[key].show(config)]));
    return answer({ success: true, oid: id, configs });
  });
