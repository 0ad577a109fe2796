// Reverts an Owner's configuration to the state of an earlier version, as a new version. It reads the history
// and decides nothing: the change is computed in actors/owner/history.ts.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import {
  type ConfigChange,
  DEFAULT_CONFIG,
  defaultsOf,
  type OwnerConfig,
} from "../../actors/owner/config.ts";
import { reversionTo } from "../../actors/owner/history.ts";
import { STALE_CONFIG } from "../../actors/owner/owner.ts";
import { RefusedError } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { keptUpTo, keptVersions } from "./config-versions.ts";

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Pick<Store, "find">;
}

/** The configuration before and after a reversion. */
export interface Reverted {
  readonly before: OwnerConfig;
  /** Equal to `before` when there was nothing to change. */
  readonly after: OwnerConfig;
}

/**
 * Reverts to `version`; 0 means the defaults. The mail server's password stays, because the history contains
 * no secrets. Concurrent changes count as made before and are reverted too. Throws `RefusedError`: not_found
 * for a version that never existed or cannot be reached by the kept history, service_unavailable while the
 * history lags.
 */
export async function revertConfiguration(
  parts: Parts,
  { owner, version, by }: { readonly owner: AccountId; readonly version: number; readonly by: AccountId },
): Promise<Reverted> {
  const { system } = parts;
  for (;;) {
    const before = await system.ask(actorRef.owner(owner), "read", {});
    const change = differing(before, await changeBack(parts, owner, before, version));
    if (Object.keys(change).length === 0) return { before, after: before };
    try {
      await system.ask(actorRef.owner(owner), "configure", { change, by, version: before.version });
      return { before, after: await system.ask(actorRef.owner(owner), "read", {}) };
    } catch (error) {
      if (!(error instanceof RefusedError) || error.refusal.code !== STALE_CONFIG) throw error;
    }
  }
}

const SETTINGS = Object.keys(DEFAULT_CONFIG).filter(
  (field) => field !== "version" && field !== "emailPass",
) as (keyof ConfigChange)[];

async function changeBack(
  parts: Parts,
  owner: AccountId,
  config: OwnerConfig,
  version: number,
): Promise<ConfigChange> {
  if (version === 0) return defaultsOf(SETTINGS);
  await keptUpTo(parts, owner, config.version);
  const way = reversionTo(config, version);
  for await (const row of keptVersions(parts.store, owner)) {
    if (row.version <= version) break;
    way.take(row);
  }
  const found = way.change();
  if (found.ok) return found.value;
  const message = `Version ${version} cannot be gone back to: ${found.message}. GET /x-config/history lists what is kept.`;
  throw new RefusedError({ code: "not_found", message });
}

/**
 * Drops the settings that already have the wanted value: two later changes may have cancelled each other out.
 */
const differing = (config: OwnerConfig, change: ConfigChange): ConfigChange =>
  Object.fromEntries(
    (Object.keys(change) as (keyof ConfigChange)[])
      .filter((field) => !Bun.deepEquals(change[field], config[field], true))
      .map((field) => [field, change[field]]),
  );
