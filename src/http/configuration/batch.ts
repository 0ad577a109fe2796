// Batches: what is done to an Owner's whole tree at once. All fields are read and checked before anything is done; what they
// configure is one version; the acts on keys and views follow. actors/owner/cascade.ts applies cascades to the accounts below.

import type { Static } from "@sinclair/typebox";
import { isRoot } from "../../../actors/account/state.ts";
import { type AccountId, ROOT } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import type { Cascades, ConfigEdits, OwnerConfig } from "../../../actors/owner/config.ts";
import {
  editLevelMapper,
  editModelFailover,
  editModelLimits,
  editModelMapper,
  editSwitchOver,
} from "../../../actors/owner/map-edit-parsers.ts";
import { readResources } from "../../../actors/owner/map-parsers.ts";
import type { ParseResult } from "../../../actors/pattern.ts";
import { reloadKeys, wakeKeys } from "../../admin/level-membership.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ManagementCall, ManagementParts } from "../management.ts";
import { type ConfigOrder, type ConfigurationKey, KEYS, together, valued } from "./config-fields.ts";
import { type AppliedConfSchema, BatchSchema } from "./schemas.ts";

type Field = keyof typeof BatchSchema.properties;
const FIELDS = Object.keys(BatchSchema.properties) as readonly Field[];

/** How a field that configures is read, and the key of /x-config as which it is shown. */
interface Configures {
  readonly read: (value: unknown) => ConfigOrder;
  readonly shownAs: ConfigurationKey;
  /** The cascade by which it also changes every account below. */
  readonly cascades?: keyof Cascades;
}

const edits = <F extends keyof ConfigEdits>(
  name: Field,
  field: F,
  read: (given: never) => ParseResult<NonNullable<ConfigEdits[F]>>,
): Configures["read"] => {
  return (value) => ({ edits: { [field]: valued(name, read(value as never)) } });
};

const CONFIGURES: Partial<Record<Field, Configures>> = {
  Resources: {
    read: (value) => ({ change: { resources: valued("Resources", readResources(value)) } }),
    shownAs: "RESOURCES",
  },
  ModelMapper: {
    read: edits("ModelMapper", "modelMapper", editModelMapper),
    shownAs: "MODEL_MAPPER",
    cascades: "modelMapper",
  },
  LevelMapper: { read: edits("LevelMapper", "levelMapper", editLevelMapper), shownAs: "LEVEL_MAPPER" },
  ModelFailover: {
    read: edits("ModelFailover", "modelFailover", editModelFailover),
    shownAs: "MODEL_FAILOVER",
  },
  SwitchOver: { read: edits("SwitchOver", "switchOver", editSwitchOver), shownAs: "SWITCH_OVER" },
  ModelLimits: {
    read: edits("ModelLimits", "modelLimits", editModelLimits),
    shownAs: "MODEL_LIMITS",
    cascades: "modelLimits",
  },
};

/** Milliseconds that SaveCache may take: longer than the store needs unless its disk stalls. */
const SAVE_MS = 4_000;

/** The act of a field that is true. */
const DOES: Partial<Record<Field, (parts: ManagementParts, owner: AccountId) => Promise<void>>> = {
  LoadKeys: ({ system }, owner) => reloadKeys(system, owner),
  DelKeys: ({ system }, owner) => wakeKeys(system, owner),
  async SaveCache({ system }) {
    if (await system.saveEverywhere(SAVE_MS)) return;
    const message = "The store did not take all views in time. All else of the request is done: repeat it.";
    throw new RefusedError({ code: "service_unavailable", message, retryAfterS: 1 });
  },
};

/**
 * Applies a batch. Returns what was done as text, and each map as it now is. Source: specification, `POST /x-conf`.
 */
export async function applyBatch(
  parts: ManagementParts,
  { caller, audit }: ManagementCall,
  body: Static<typeof BatchSchema>,
): Promise<Static<typeof AppliedConfSchema>> {
  const { id, dna } = caller.profile;
  audit.setTarget({ type: "config", id, dna });
  const given = FIELDS.filter((field) => body[field] !== undefined);
  if (given.length === 0) {
    throw new RefusedError({
      code: "missing_parameter",
      message: `Give at least one of ${FIELDS.join(", ")}.`,
    });
  }
  if (body.LogEnable !== undefined && !isRoot(caller.profile)) {
    const why = "The operation log is everybody's, so only Root may turn it on or off.";
    throw new RefusedError({ code: "not_root", message: `"LogEnable": ${why}` });
  }
  const { before, after } = await configure(parts, id, body, given);
  for (const field of given) if (body[field] === true) await DOES[field]?.(parts, id);
  const maps = given.filter((field) => CONFIGURES[field] !== undefined);
  audit.addChanges({ ...body, ...mapsOf(maps, after) }, mapsOf(maps, before));
  // The act that switches the log is in it, whether it turns it off or on.
  if (body.LogEnable !== undefined) audit.writeAlways();
  const echo = Object.fromEntries(given.map((field) => [field, String(body[field])]));
  return { success: true, ...echo, ...mapsOf(maps, after) };
}

/** Makes one version of all fields that configure. Returns nulls when there are none. */
async function configure(
  { system }: ManagementParts,
  by: AccountId,
  body: Static<typeof BatchSchema>,
  given: readonly Field[],
): Promise<{ readonly before: OwnerConfig | null; readonly after: OwnerConfig | null }> {
  const settings = given.flatMap((field) => {
    const configures = CONFIGURES[field];
    return configures === undefined ? [] : [{ ...configures, asked: configures.read(body[field]) }];
  });
  const { LogEnable: logEnable } = body;
  if (settings.length === 0 && logEnable === undefined) return { before: null, after: null };
  const order = together([
    ...settings.map(({ asked }) => asked),
    ...(logEnable === undefined ? [] : [{ change: { logEnable } }]),
  ]);
  const before = await system.ask(actorRef.owner(by), "read", {});
  // Read before the cascade is laid: of two cascades laid at once, Root's is then the newer one.
  const root = by === ROOT ? before : await system.ask(actorRef.owner(ROOT), "read", {});
  const fields = settings.flatMap(({ cascades }) => cascades ?? []);
  const cascade = fields.length === 0 ? {} : { cascade: { fields, root: root.version } };
  await system.ask(actorRef.owner(by), "configure", { ...order, ...cascade, by });
  return { before, after: await system.ask(actorRef.owner(by), "read", {}) };
}

/** Returns the fields that configure, with their values in this configuration. */
const mapsOf = (fields: readonly Field[], config: OwnerConfig | null): Record<string, unknown> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const key = CONFIGURES[field]?.shownAs;
      return key === undefined || config === null ? [] : [[field, KEYS[key].show(config[KEYS[key].field])]];
    }),
  );
