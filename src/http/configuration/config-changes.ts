// Reads and changes an Owner's configuration, for its own tree and without cascades. Everything is checked before anything
// changes; a change is one version. How each key is read and settingsShape is in config-fields.ts.

import type { Static } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { type Configuring, defaultsOf } from "../../../actors/owner/config.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Store } from "../../store/store.ts";
import type { ManagementCall, ManagementParts } from "../management.ts";
import {
  type ConfigurationKey,
  KEY_NAMES,
  KEYS,
  type Sealing,
  settingsShape,
  together,
} from "./config-fields.ts";
import type { ConfigurationBodySchema, TestMailSchema } from "./schemas.ts";

/** What endpoints of the configuration need. */
export interface ConfigurationParts extends ManagementParts, Sealing {
  readonly store: Store;
  /** Sends a test mail of an Owner. Rejects with `RefusedError`. */
  readonly sendTestMail: (owner: AccountId) => Promise<{
    readonly stage: Static<typeof TestMailSchema>["stage"];
    readonly code: number | null;
    readonly enhanced: string | null;
  }>;
}

/** Returns all settings of an Owner. Source: specification, `GET /x-config`. */
export async function readConfig({ system }: ManagementParts, { caller }: ManagementCall) {
  const { id } = caller.profile;
  const config = await system.ask(actorRef.owner(id), "read", {});
  return { success: true as const, oid: id, configs: settingsShape(KEY_NAMES, config) };
}

/** Changes settings. Returns the changed keys as they now are. Source: specification, `PUT /x-config`. */
export async function changeConfig(
  parts: ConfigurationParts,
  call: ManagementCall,
  body: Static<typeof ConfigurationBodySchema>,
) {
  const { id, dna } = call.caller.profile;
  call.audit.setTarget({ type: "config", id, dna });
  const given = KEY_NAMES.filter((key) => body[key] !== undefined);
  if (given.length === 0) {
    throw new RefusedError({
      code: "missing_parameter",
      message: `Give at least one of ${KEY_NAMES.join(", ")}.`,
    });
  }
  return configured(parts, call, given, together(given.map((key) => KEYS[key].read(body[key], parts))));
}

/** Resets settings. Returns the keys with their defaults. Source: specification, `DELETE /x-config`. */
export async function resetConfig(parts: ManagementParts, call: ManagementCall, names: readonly string[]) {
  const { id, dna } = call.caller.profile;
  call.audit.setTarget({ type: "config", id, dna });
  const keys = [...new Set(names)].map(keyOf);
  return configured(parts, call, keys, { change: defaultsOf(keys.map((key) => KEYS[key].field)) });
}

/** Sends a test mail of the caller, and answers how that has ended. */
export async function testMail({ sendTestMail }: ConfigurationParts, { caller }: ManagementCall) {
  const { stage, code, enhanced } = await sendTestMail(caller.profile.id);
  return { success: stage === "accepted", stage, code, enhanced_status: enhanced };
}

function keyOf(name: string): ConfigurationKey {
  const key = KEY_NAMES.find((one) => one === name);
  if (key !== undefined) return key;
  const message = `"keys": there is no key ${JSON.stringify(name.slice(0, 80).toWellFormed())}, but ${KEY_NAMES.join(", ")}.`;
  throw new RefusedError({ code: "invalid_parameter", message });
}

/** Changes the configuration in one version, and returns these keys as they then are. */
async function configured(
  { system }: ManagementParts,
  { caller, audit }: ManagementCall,
  keys: readonly ConfigurationKey[],
  order: Configuring,
) {
  const { id } = caller.profile;
  const before = await system.ask(actorRef.owner(id), "read", {});
  await system.ask(actorRef.owner(id), "configure", { ...order, by: id });
  const after = await system.ask(actorRef.owner(id), "read", {});
  const configs = settingsShape(keys, after);
  // A password's mask does not show whether it changed, so the password is always logged as changed.
  const comparable = keys.filter((key) => key !== "EMAIL_PASS");
  audit.addChanges(configs, settingsShape(comparable, before));
  return { success: true as const, oid: id, configs };
}
