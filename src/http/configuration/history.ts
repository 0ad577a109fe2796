// GET /x-config/history and POST /x-config/revert: what each version of an Owner's configuration changed, and the way back
// to one. Settings are called as /x-config calls them; no secret is in the history, so none can come out of it.

import { Type } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import type { Cascade, CascadedEntry } from "../../../actors/owner/cascade.ts";
import type { Cascades, OwnerConfig } from "../../../actors/owner/config.ts";
import { type ConfigRow, changesBetween } from "../../../actors/owner/history.ts";
import { keptUpTo, keptVersions } from "../../admin/config-versions.ts";
import { revertConfiguration } from "../../admin/revert-configuration.ts";
import type { Store } from "../../store/store.ts";
import { answer, endpoint } from "../endpoint.ts";
import { jsonArray, streamed } from "../json-stream.ts";
import type { ManagementParts } from "../management.ts";
import { digits, pageHeaders, pageOf } from "../schemas.ts";
import { KEY_NAMES, KEYS } from "./config-fields.ts";

export interface HistoryParts extends ManagementParts {
  readonly store: Store;
}

const Paging = Type.Object(
  { page: Type.Optional(digits), size: Type.Optional(digits) },
  { additionalProperties: false },
);

/** Newest first. */
export const getHistory = (parts: HistoryParts) =>
  endpoint(parts, { who: "owner", query: Paging }, async ({ caller, query }) => {
    const { page, size } = pageOf(query, { size: 100, most: 1_000 });
    const { id } = caller.profile;
    const { version } = await parts.system.ask(actorRef.owner(id), "read", {});
    await keptUpTo(parts, id, version);
    const total = await parts.store.count({
      table: "configs",
      where: [{ field: "owner", is: "=", value: id }],
    });
    const paged = page !== 0 && size !== 0;
    const rows = keptVersions(parts.store, id, paged ? { offset: (page - 1) * size, limit: size } : {});
    const versions = jsonArray(rows, versionShape, ['{"success":true,"versions":', "}"]);
    return answer(await streamed(versions), {
      "content-type": "application/json",
      ...pageHeaders(total, paged ? { page, size } : null),
    });
  });

const Version = Type.Object(
  {
    version: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "must be the number of a version, 0 for the defaults",
    }),
  },
  { additionalProperties: false },
);

/** Answers as PUT /x-config does, with all that is now otherwise. */
export const postRevert = (parts: HistoryParts) =>
  endpoint(
    parts,
    { who: "owner", body: Version, action: "update_config" },
    async ({ caller, body, journal }) => {
      const { id, dna } = caller.profile;
      journal.about({ type: "config", id, dna });
      const order = { owner: id, version: body.version, by: id };
      const { before, after } = await revertConfiguration(parts, order);
      const changes = Object.entries(named(changesBetween(before, after)));
      const configs = Object.fromEntries(changes.map(([key, change]) => [key, change.after]));
      const were = Object.fromEntries(changes.map(([key, change]) => [key, change.before]));
      journal.changed({ version: after.version, ...configs }, { version: before.version, ...were });
      return answer({ success: true, oid: id, configs });
    },
  );

const versionShape = ({ version, at, by, changes }: ConfigRow) => ({
  version,
  at: new Date(at).toISOString(),
  by,
  changes: named(changes),
});

interface Change {
  readonly before: unknown;
  readonly after: unknown;
}

/** Settings that /x-config does not have are in the history all the same. */
const BESIDE: Partial<Record<keyof OwnerConfig, string>> = { logEnable: "LOG_ENABLE" };

const CASCADED: Readonly<Record<keyof Cascades, string>> = {
  modelMapper: "CASCADED_MODEL_MAPPER",
  modelLimits: "CASCADED_MODEL_LIMITS",
};

/** Changes of fields, under the names and in the shapes of /x-config. */
function named(changes: ConfigRow["changes"]): Record<string, Change> {
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

/** Each pattern with what was laid (null: deleted) and by which version; and the version that cleared all before it. */
const cascadeShape = ({ entries, cleared }: Cascade<unknown>) => ({
  entries: Object.fromEntries(
    Object.entries(entries).map(([pattern, { value, at }]: [string, CascadedEntry<unknown>]) => [
      pattern,
      { value, version: at },
    ]),
  ),
  cleared: cleared?.at ?? null,
});
