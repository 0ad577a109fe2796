// Opens what the actors of a node run on: store, bus and placement. The settings choose one of three kinds: a
// single process on SQLite, a single process on MongoDB, or a node of a cluster. Code above must not depend
// on which kind it is.

import type { Clock, Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Bus } from "../bus/bus.ts";
import { memoryBus } from "../bus/memory.ts";
import type { RefusedSubject } from "../bus/nats-connection.ts";
import { createClusterPlacement } from "../runtime/placement/cluster-placement.ts";
import { OtherProtocolFound } from "../runtime/placement/live-members.ts";
import { NameTaken } from "../runtime/placement/node-lease.ts";
import { NoNodeRunning } from "../runtime/placement/observer.ts";
import type { Placement } from "../runtime/placement/placement.ts";
import { createSingleNodePlacement } from "../runtime/placement/single-node.ts";
import { createSingleOnClusterPlacement, OtherProcessFound } from "../runtime/placement/single-on-cluster.ts";
import { isMongodb, shownAddress } from "../settings/connection-url.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { openStore } from "../store/open.ts";
import type { Registry, Store } from "../store/store.ts";
import { createNodeHealth, type NodeHealth } from "./node-health.ts";
import { withFilesOf } from "./own-files.ts";
import { opened, type StartupRetry } from "./startup-retry.ts";

/** What the actors of a node run on. */
export interface Infrastructure {
  readonly store: Store;
  readonly bus: Bus;
  readonly placement: Placement;
  /** Version of the shard table; 0 when there is none. */
  readonly tableVersion: () => number;
  /**
   * Reports that commits of this node's shards before `watermark` (wall-clock milliseconds) are covered by
   * snapshots.
   */
  readonly advance: (watermark: number) => void;
  /** Health of this node as a member; null outside a cluster. */
  readonly health: NodeHealth | null;
}

/** What opening the infrastructure needs; `name` is the node's. */
export interface InfrastructureParts extends StartupRetry {
  readonly settings: Pick<Settings, "storeUrl" | "natsUrl">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly name: string;
  /** Receives a closer for everything that was opened; they run in reverse order. */
  readonly closing: AsyncDisposableStack;
}

/**
 * Opens what the settings name. Waits while MongoDB or NATS cannot be reached; throws BadSetting when the
 * wait is over.
 */
export async function openInfrastructure(parts: InfrastructureParts): Promise<Infrastructure> {
  const { settings, clock, log, closing } = parts;
  const onError = (error: unknown) => log("error", "store_failed", { error: String(error) });
  const open = () => openStore(settings.storeUrl, { clock, onError });
  if (!isMongodb(settings.storeUrl)) {
    const store = await withFilesOf("STORE_URL", open);
    closing.defer(() => store.close());
    return solo(parts, store);
  }
  const at = shownAddress(settings.storeUrl);
  log("info", "store_opens", { at });
  const store = await opened(parts, "MongoDB", open);
  closing.defer(() => store.close());
  return settings.natsUrl === null ? alone(parts, store) : cluster(parts, store, settings.natsUrl);
}

function solo({ name, log }: InfrastructureParts, store: Store): Infrastructure {
  const placement = createSingleNodePlacement({ registry: store, node: name });
  const advance = (watermark: number) =>
    void placement
      .advance(watermark)
      .catch((error) => log("warn", "watermark_failed", { error: String(error) }));
  return { store, bus: memoryBus(), placement, advance, tableVersion: () => 0, health: null };
}

/**
 * A single process on a store that other processes may use too: its placement waits until they have certainly
 * ended.
 */
function alone(parts: InfrastructureParts, store: Store): Infrastructure {
  const { clock, random, log, name } = parts;
  const bus = memoryBus();
  const placement = createSingleOnClusterPlacement({ registry: store, bus, clock, random, log, name });
  return {
    ...{ store, bus, placement, advance: placement.advance },
    tableVersion: () => placement.table().version,
    health: null,
  };
}

async function cluster(parts: InfrastructureParts, store: Store, url: string): Promise<Infrastructure> {
  const { clock, random, log, name, closing } = parts;
  const words = await opened(parts, "MongoDB", () => clusterName(store, random));
  log("info", "line_opens", { at: shownAddress(url), cluster: words });
  // Only a cluster loads the client of NATS, which takes memory and time at a start.
  const { natsBus } = await import("../bus/nats.ts");
  const refused = (what: RefusedSubject) => log("error", "line_refused", { ...what });
  const bus = await opened(parts, "NATS", () => natsBus({ url, name: words, after: clock.after, refused }));
  closing.defer(() => bus.close());
  const health = createNodeHealth({ store, connected: bus.connected, clock, log });
  closing.defer(() => health.stop());
  await opened(parts, "MongoDB", health.measure);
  const { fit } = health;
  const placement = createClusterPlacement({ registry: store, bus, clock, random, log, name, fit });
  return {
    ...{ store, bus, placement, advance: placement.advance, health },
    tableVersion: () => placement.table().version,
  };
}

/**
 * Returns the first token of all NATS subjects. Nodes on one store share it, and other stores have others, so
 * that several clusters may use the same NATS servers. Written to the registry by the first node.
 */
export async function clusterName(registry: Registry, random: Random): Promise<string> {
  const known = await registry.read("cluster");
  if (known !== null) return known.value;
  // If another node was faster, its name counts, so it is read again.
  await registry.cas("cluster", 0, `arborgate-${random.id().toLowerCase()}`);
  return clusterName(registry, random);
}

/**
 * Turns errors that keep a node or a command from its placement into BadSetting; returns other errors as they
 * are.
 */
export const asSetting = (error: unknown): unknown =>
  error instanceof NameTaken ||
  error instanceof OtherProcessFound ||
  error instanceof OtherProtocolFound ||
  error instanceof NoNodeRunning
    ? new BadSetting(error.message)
    : error;
