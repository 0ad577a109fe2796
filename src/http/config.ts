// /x-config: an Owner's configuration. Everything is checked before anything changes; a change is one version.
// What each key takes and how it is shown stands in config-keys.ts.

import { to } from "../../actors/index.ts";
import type { ConfigChange, OwnerConfig } from "../../actors/owner/owner.ts";
import { Refused } from "../runtime/system.ts";
import { Configuration, KEYS, type Key, type Sealing } from "./config-keys.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";

export interface ConfigParts extends Edge, Sealing {}

/** spec: PUT and POST /x-config. Answers the changed keys as they now are. */
export const putConfig = (parts: ConfigParts) =>
  endpoint(
    parts,
    { who: "owner", body: Configuration, action: "update_config" },
    async ({ caller, body, journal }) => {
      const { id, dna } = caller.profile;
      journal.about({ type: "config", id, dna });
      const given = (Object.keys(KEYS) as Key[]).filter((key) => body[key] !== undefined);
      if (given.length === 0) {
        throw new Refused({
          code: "missing_parameter",
          message: `Give at least one of ${Object.keys(KEYS).join(", ")}.`,
        });
      }
      const change: ConfigChange = Object.assign({}, ...given.map((key) => KEYS[key].read(body[key], parts)));
      const before = await parts.system.ask(to.owner(id), "read", {});
      const config = await parts.system.ask(to.owner(id), "configure", { change, by: id });
      const configs = shown(given, config);
      // Of a password nobody can tell by its mask that it changed: it is told in any case.
      journal.changed(
        configs,
        shown(
          given.filter((key) => key !== "EMAIL_PASS"),
          before,
        ),
      );
      return answer({ success: true, oid: id, configs });
    },
  );

const shown = (keys: readonly Key[], config: OwnerConfig): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, KEYS[key].show(config)]));
