// The history of an Owner's configuration: what each version changed, and the way back to one. Settings are named as in
// /x-config. No secret is in the history, so none can come out of it.

import type { Static } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import type { Cascade, CascadedEntry } from "../../../actors/owner/cascade.ts";
import type { Cascades, OwnerConfig } from "../../../actors/owner/config.ts";
import { type ConfigRow, changesBetween } from "../../../actors/owner/history.ts";
import { keptUpTo, keptVersions } from "../../admin/config-versions.ts";
import { revertConfiguration } from "../../admin/revert-configuration.ts";
import { jsonArray, streamed } from "../json-stream.ts";
import type { ManagementCall } from "../management.ts";
import { pageHeaders, pageOf } from "../schemas.ts";
import type { ConfigurationParts } from "./config-changes.ts";
import { KEY_NAMES, KEYS } from "./config-fields.ts";
import type { HistoryQuerySchema } from "./schemas.ts";

/** Lists the versions of an Owner's configuration, the newest first, with page headers. */
export async function historyOf(
  { system, store }: ConfigurationParts,
  { caller }: ManagementCall,
  query: Static<typeof HistoryQuerySchema>,
): Promise<{ readonly text: string | ReadableStream; readonly headers: Record<string, string> }> {
  const { page, size } = pageOf(query, { size: 100, most: 1_000 });
  const { id } = caller.profile;
  const { version } = await system.ask(actorRef.owner(id), "read", {});
  await keptUpTo({ system, store }, id, version);
  const total = await store.count({ table: "configs", where: [{ field: "owner", is: "=", value: id }] });
  const paged = page !== 0 && size !== 0;
  const rows = keptVersions(store, id, paged ? { offset: (page - 1) * size, limit: size } : {});
  const versions = jsonArray(rows, versionShape, ['{"success":true,"versions":', "}"]);
  return { text: await streamed(versions), headers: pageHeaders(total, paged ? { page, size } : null) };
}

/** Goes back to a version. Returns all that is now different, as a change of the configuration does. */
export async function revertTo(
  parts: ConfigurationParts,
  { caller, audit }: ManagementCall,
  version: number,
) {
  const { id, dna } = caller.profile;
  audit.setTarget({ type: "config", id, dna });
  const { before, after } = await revertConfiguration(parts, { owner: id, version, by: id });
  if (before.logEnable !== after.logEnable) audit.writeAlways();
  const changes = Object.entries(namedChanges(changesBetween(before, after)));
  const configs = Object.fromEntries(changes.map(([key, change]) => [key, change.after]));
  const were = Object.fromEntries(changes.map(([key, change]) => [key, change.before]));
  audit.addChanges({ version: after.version, ...configs }, { version: before.version, ...were });
  return { success: true as const, oid: id, configs };
}

const versionShape = ({ version, at, by, changes }: ConfigRow) => ({
  version,
  at: new Date(at).toISOString(),
  by,
  changes: namedChanges(changes),
});

interface Change {
  readonly before: unknown;
  readonly after: unknown;
}

/** Names of settings that are in the history although /x-config does not have them. */
const BESIDE: Partial<Record<keyof OwnerConfig, string>> = { logEnable: "LOG_ENABLE" };

const CASCADED: Readonly<Record<keyof Cascades, string>> = {
  modelMapper: "CASCADED_MODEL_MAPPER",
  modelLimits: "CASCADED_MODEL_LIMITS",
};

/** Returns changes of fields with the names and shapes of /x-config. */
function namedChanges(changes: ConfigRow["changes"]): Record<string, Change> {
  const shown = new Map<string, Change>();
  for (const [field, { before, after }] of Object.entries(changes)) {
    if (field === "cascades") {
      for (const [key, change] of cascadeChanges(before as Cascades, after as Cascades))
        shown.set(key, change);
      continue;
    }
    const key = KEY_NAMES.find((one) => KEYS[one].field === field);
    if (key !== undefined) shown.set(key, { before: KEYS[key].show(before), after: KEYS[key].show(after) });
    else shown.set(BESIDE[field as keyof OwnerConfig] ?? field, { before, after });
  }
  return Object.fromEntries(shown);
}

const cascadeChanges = (before: Cascades, after: Cascades): [string, Change][] =>
  (Object.keys(CASCADED) as (keyof Cascades)[])
    .filter((map) => !Bun.deepEquals(before[map], after[map]))
    .map((map) => [CASCADED[map], { before: cascadeShape(before[map]), after: cascadeShape(after[map]) }]);

/** Returns each pattern with its cascaded value (null when deleted) and version, and the version that cleared all before. */
const cascadeShape = ({ entries, cleared }: Cascade<unknown>) => ({
  entries: Object.fromEntries(
    Object.entries(entries).map(([pattern, { value, at }]: [string, CascadedEntry<unknown>]) => [
      pattern,
      { value, version: at },
    ]),
  ),
  cleared: cleared?.at ?? null,
});
