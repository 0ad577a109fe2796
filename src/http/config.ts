// /x-config: an Owner's configuration. Everything is checked before anything changes; a change is one version.

import { Type } from "@sinclair/typebox";
import { to } from "../../actors/index.ts";
import type { ConfigChange, OwnerConfig } from "../../actors/owner/owner.ts";
import { parseLevelMapper } from "../../actors/pattern.ts";
import { checkPricing } from "../../actors/price-table.ts";
import { Refused } from "../runtime/system.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import { text } from "./shapes.ts";

const Configuration = Type.Object(
  {
    LEVEL_MAPPER: Type.Optional(text(65_536)),
    PRICING: Type.Optional(
      Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], {
        description: "must be a JSON object, or the text of one",
      }),
    ),
  },
  { additionalProperties: false },
);

type Key = "LEVEL_MAPPER" | "PRICING";

/** Each key: how its value is read, and how it is shown. */
const KEYS: Readonly<
  Record<Key, { read(value: unknown): ConfigChange; show(config: OwnerConfig): unknown }>
> = {
  LEVEL_MAPPER: {
    read(value) {
      const parsed = parseLevelMapper(value as string);
      if (!parsed.ok) {
        throw new Refused({ code: "invalid_parameter", message: `"LEVEL_MAPPER": ${parsed.message}.` });
      }
      const levels: [string, number][] = [];
      for (const { pattern, level } of parsed.value) {
        if (level === null) {
          throw new Refused({
            code: "invalid_parameter",
            message: `"LEVEL_MAPPER": "-${pattern}" deletes, but here the whole map is replaced. Leave the entry out.`,
          });
        }
        levels.push([pattern, level]);
      }
      return { levelMapper: Object.fromEntries(levels) };
    },
    show: (config) => config.levelMapper,
  },
  PRICING: {
    read(value) {
      if (value === "") return { pricing: null };
      const checked = checkPricing(value);
      if (!checked.ok) throw new Refused({ code: "invalid_pricing", message: `${checked.message}.` });
      return { pricing: checked.value };
    },
    show: (config) => (config.pricing === null ? "" : JSON.stringify(config.pricing)),
  },
};

/** spec: PUT /x-config. Answers the changed keys as they now are. */
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
