// /x-config: an Owner's configuration, for its own tree and without cascades. Everything is checked before anything
// changes; a change is one version. What each key takes and how it is shown stands in config-fields.ts.

import { Type } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import { type Configuring, defaultsOf } from "../../../actors/owner/config.ts";
import { RefusedError } from "../../base/errors.ts";
import type { AuditEntry } from "../audit-log.ts";
import { answer, endpoint, type ManagementAnswer } from "../endpoint.ts";
import type { ManagementCaller, ManagementParts } from "../management.ts";
import { NoQuerySchema } from "../schemas.ts";
import {
  Configuration,
  type ConfigurationKey,
  KEY_NAMES,
  KEYS,
  type Sealing,
  shown,
  together,
} from "./config-fields.ts";

export interface ConfigParts extends ManagementParts, Sealing {}

/** spec: GET /x-config. */
export const getConfig = (parts: ManagementParts) =>
  endpoint(parts, { who: "owner", query: NoQuerySchema }, async ({ caller }) => {
    const { id } = caller.profile;
    const config = await parts.system.ask(actorRef.owner(id), "read", {});
    return answer({ success: true, oid: id, configs: shown(KEY_NAMES, config) });
  });

/** spec: PUT and POST /x-config. Answers the changed keys as they now are. */
export const putConfig = (parts: ConfigParts) =>
  endpoint(
    parts,
    { who: "owner", body: Configuration, action: "update_config" },
    async ({ caller, body, journal }) => {
      const { id, dna } = caller.profile;
      journal.about({ type: "config", id, dna });
      const given = KEY_NAMES.filter((key) => body[key] !== undefined);
      if (given.length === 0) {
        throw new RefusedError({
          code: "missing_parameter",
          message: `Give at least one of ${KEY_NAMES.join(", ")}.`,
        });
      }
      const order = together(given.map((key) => KEYS[key].read(body[key], parts)));
      return configured(parts, { caller, journal, keys: given, order });
    },
  );

const Resets = Type.Object(
  {
    keys: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 1_000,
      description: "must be a list of one or more keys of the configuration",
    }),
  },
  { additionalProperties: false },
);

/** spec: DELETE /x-config. Answers the keys with the defaults that are now in force. */
export const deleteConfig = (parts: ManagementParts) =>
  endpoint(
    parts,
    { who: "owner", body: Resets, action: "update_config" },
    async ({ caller, body, journal }) => {
      const { id, dna } = caller.profile;
      journal.about({ type: "config", id, dna });
      const keys = [...new Set(body.keys)].map(keyOf);
      const order = { change: defaultsOf(keys.map((key) => KEYS[key].field)) };
      return configured(parts, { caller, journal, keys, order });
    },
  );

function keyOf(name: string): ConfigurationKey {
  const key = KEY_NAMES.find((one) => one === name);
  if (key !== undefined) return key;
  const message = `"keys": there is no key ${JSON.stringify(name.slice(0, 80).toWellFormed())}, but ${KEY_NAMES.join(", ")}.`;
  throw new RefusedError({ code: "invalid_parameter", message });
}

/** Does what is ordered, and answers these keys. */
async function configured(
  { system }: ManagementParts,
  asked: {
    readonly caller: ManagementCaller;
    readonly journal: AuditEntry;
    readonly keys: readonly ConfigurationKey[];
    readonly order: Configuring;
  },
): Promise<ManagementAnswer> {
  const { caller, journal, keys, order } = asked;
  const { id } = caller.profile;
  const before = await system.ask(actorRef.owner(id), "read", {});
  await system.ask(actorRef.owner(id), "configure", { ...order, by: id });
  const after = await system.ask(actorRef.owner(id), "read", {});
  const configs = shown(keys, after);
  // A password's mask does not show whether it changed, so the password is always logged as changed.
  const tellable = keys.filter((key) => key !== "EMAIL_PASS");
  journal.changed(configs, shown(tellable, before));
  return answer({ success: true, oid: id, configs });
}
