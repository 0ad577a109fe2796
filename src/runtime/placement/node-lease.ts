// A node's row in the registry, which is a lease that heartbeats extend. The lease counts from the moment a
// heartbeat was sent, on both clocks, by the one that shows more time passed: the monotonic clock stops while
// a machine sleeps, and the wall clock may be set back. An observer that waits longer than the holder may
// declare the row dead; a holder that finds it so is fenced for good.

import { type Clock, inTime, type Random, sleep } from "../../base/clock.ts";
import type { Registry } from "../../store/store.ts";
import { PROTOCOL_VERSION } from "../protocol-version.ts";
import { incarnationOf, type NodeId, nameOf, nodeId } from "./shard-table.ts";

/** Intervals of leases, in milliseconds. */
export interface LeaseLimits {
  /** Interval (ms) between heartbeats. */
  readonly heartbeatMs: number;
  /** The holder stops serving when its newest stored heartbeat was sent this long ago (ms). */
  readonly holdMs: number;
  /**
   * Observers declare a row dead that has not changed for this long (ms). It exceeds `holdMs` by what clocks
   * may differ.
   */
  readonly ttlMs: number;
  /** A call to the registry has an unknown outcome after this time (ms). */
  readonly callMs: number;
}

/** A node's row as it is stored. */
export interface LeaseRecord {
  readonly incarnation: string;
  readonly state: "up" | "leaving" | "dead";
  /** A number that differs with every attempt. */
  readonly beat: number;
  /** Version of the node protocol that the node speaks; absent in rows of version 1. */
  readonly protocol?: number;
  /** As in `Member` of the shard table. */
  readonly watermark: number;
  readonly seen: number;
}

export interface LeaseParts {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly limits: LeaseLimits;
}

/** Thrown when another live process uses this node's name. */
export class NameTaken extends Error {}

/** A node's lease, held by this process. */
export interface NodeLease {
  readonly node: NodeId;
  /** The row of the former incarnation, null if there was none. This node takes over its watermark. */
  readonly inherited: LeaseRecord | null;
  /** Returns whether this node may act as an owner now. */
  held(): boolean;
  /**
   * Sends one heartbeat. Returns false when the row says dead or belongs to another incarnation; this is
   * final.
   */
  heartbeat(
    report: Pick<LeaseRecord, "watermark" | "seen"> & { readonly state: "up" | "leaving" },
  ): Promise<boolean>;
  /** Declares the row dead, so that observers need not wait. The lease is not held from this call on. */
  end(): Promise<void>;
}

/** Returns the registry key of a node's row. */
export const rowKey = (name: string): string => `node/${name}`;

async function readRow(
  { registry, clock, limits }: LeaseParts,
  name: string,
): Promise<{ readonly row: LeaseRecord; readonly rev: number } | null> {
  const found = await inTime(clock, limits.callMs, registry.read(rowKey(name)));
  return found && { row: JSON.parse(found.value), rev: found.rev };
}

/**
 * Takes the row of this name and returns its lease. Waits until an earlier incarnation is certainly gone.
 * Throws NameTaken when that one lives.
 */
export async function takeLease(parts: LeaseParts & { random: Random; name: string }): Promise<NodeLease> {
  for (;;) {
    const before = await untilVacant(parts, parts.name);
    const lease = createLease(parts, before);
    // The write was lost or its outcome is unknown: any row that was stored instead, even this one, is waited
    // for like any other.
    if ((await lease.heartbeat({ state: "up", ...lease.initial })) && lease.held()) return lease;
  }
}

interface Fresh extends NodeLease {
  readonly initial: Pick<LeaseRecord, "watermark" | "seen">;
}

function createLease(
  parts: LeaseParts & { random: Random; name: string },
  before: { readonly row: LeaseRecord; readonly rev: number } | null,
): Fresh {
  const { registry, clock, limits, name } = parts;
  const node = nodeId(name, parts.random.id());
  const incarnation = incarnationOf(node);
  const initial = { watermark: before?.row.watermark ?? clock.wall(), seen: before?.row.seen ?? 0 };
  let sent = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  let hasEnded = false;
  let beat = 0;
  let rev = before?.rev ?? 0;
  let reported: Pick<LeaseRecord, "watermark" | "seen"> = initial;

  /** Returns null when another write was faster or the outcome is unknown; the row itself then tells. */
  async function cas(state: LeaseRecord["state"]): Promise<number | null> {
    const row: LeaseRecord = { incarnation, state, beat: ++beat, protocol: PROTOCOL_VERSION, ...reported };
    const write = registry.cas(rowKey(name), rev, JSON.stringify(row));
    return inTime(clock, limits.callMs, write).catch(() => null);
  }

  async function attempt(state: "up" | "leaving"): Promise<boolean> {
    const at = { mono: clock.mono(), wall: clock.wall() };
    const stored = await cas(state);
    if (hasEnded) return false;
    if (stored !== null) {
      rev = stored;
      sent = at;
      return true;
    }
    const found = await readRow(parts, name);
    if (hasEnded || found?.row.incarnation !== incarnation || found.row.state === "dead") return false;
    rev = found.rev;
    if (found.row.beat === beat) sent = at;
    return true;
  }

  return {
    node,
    initial,
    inherited: before?.row ?? null,
    held: () => !hasEnded && Math.max(clock.mono() - sent.mono, clock.wall() - sent.wall) < limits.holdMs,
    async heartbeat({ state, watermark, seen }) {
      reported = { watermark, seen };
      // A registry that does not answer decides nothing: the lease continues until it expires.
      const kept = await attempt(state).catch(() => !hasEnded);
      if (!kept) hasEnded = true;
      return kept;
    },
    async end() {
      hasEnded = true;
      // A heartbeat in flight may be stored first, and then its rev is not known here.
      for (let tries = 0; tries < 3; tries++) {
        if ((await cas("dead")) !== null) return;
        const found = await readRow(parts, name).catch(() => null);
        if (found?.row.incarnation !== incarnation || found.row.state === "dead") return;
        rev = found.rev;
      }
    },
  };
}

/**
 * Returns the row once it may be taken: null when it was never used, else a dead one. Waits for the end of a
 * row that does not change. A late write of a dead node may still be stored, so only a row that continues to
 * change belongs to a live one.
 */
async function untilVacant(
  parts: LeaseParts,
  name: string,
): Promise<{ row: LeaseRecord; rev: number } | null> {
  const { clock, limits } = parts;
  const observer = createRowObserver(parts);
  const begunMs = clock.mono();
  for (let known = 0; ; ) {
    const found = await observer.observe(nodeless(name)).catch(() => undefined);
    if (found === null || found?.row.state === "dead") return found;
    if (found !== undefined) {
      const changed = known > 0 && found.rev !== known;
      if (changed && clock.mono() - begunMs >= limits.ttlMs) {
        throw new NameTaken(`a node named ${name} is running: every node needs a NODE_NAME of its own`);
      }
      known = found.rev;
    }
    await sleep(clock, limits.heartbeatMs);
  }
}

const nodeless = (name: string): NodeId => nodeId(name, "");

/** Observes the rows of other nodes. */
export interface RowObserver {
  /**
   * Returns the current row of this node's name, or null. Declares it dead when it has not changed for
   * `ttlMs`.
   */
  observe(node: NodeId): Promise<{ readonly row: LeaseRecord; readonly rev: number } | null>;
}

/**
 * Creates an observer. It measures time by its own clock, from when it received a heartbeat to when it asked
 * again.
 */
export function createRowObserver(parts: LeaseParts): RowObserver {
  const { registry, clock, limits } = parts;
  const seen = new Map<string, { readonly rev: number; readonly atMs: number }>();

  return {
    async observe(node) {
      const name = nameOf(node);
      const askedMs = clock.mono();
      const found = await readRow(parts, name);
      if (found === null || found.row.state === "dead") return found;
      const known = seen.get(name);
      if (known?.rev !== found.rev) seen.set(name, { rev: found.rev, atMs: clock.mono() });
      else if (askedMs - known.atMs >= limits.ttlMs) {
        const row: LeaseRecord = { ...found.row, state: "dead" };
        const write = registry.cas(rowKey(name), found.rev, JSON.stringify(row));
        const rev = await inTime(clock, limits.callMs, write);
        if (rev !== null) return { row, rev };
      }
      return found;
    },
  };
}
