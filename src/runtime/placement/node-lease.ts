// A node's row in the registry: it lives as long as its beats are stored. The lease counts from the moment a beat was
// sent, on both clocks, whichever says more has passed: one stops in a machine that sleeps, the other may be set back.
// Whoever waits longer than the holder may declare the row dead; a holder who finds it so is fenced for good.

import { type Clock, inTime, type Random, sleep } from "../../base/clock.ts";
import type { Registry } from "../../store/store.ts";
import { incarnationOf, type NodeId, nameOf, nodeId } from "./shard-table.ts";

export interface LeaseLimits {
  readonly beatMs: number;
  /** The holder stops when its newest stored beat was sent so long ago. */
  readonly holdMs: number;
  /** Observers declare a row dead when it has not changed for so long. More than `holdMs` by what clocks may differ. */
  readonly ttlMs: number;
  /** After this a call to the registry counts as one of unknown outcome. */
  readonly callMs: number;
}

export interface LeaseRecord {
  readonly incarnation: string;
  readonly state: "up" | "leaving" | "dead";
  /** Another number with every attempt. */
  readonly beat: number;
  /** See `Member` of the table. */
  readonly watermark: number;
  readonly seen: number;
}

export interface LeaseParts {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly limits: LeaseLimits;
}

/** Somebody else lives under this name. */
export class NameTaken extends Error {}

export interface NodeLease {
  readonly node: NodeId;
  /** The row of the incarnation before, if there was one: what it had not covered is this node's to know. */
  readonly inherited: LeaseRecord | null;
  /** May this node act as an owner now? */
  held(): boolean;
  /** False: the row says dead, or is another's. Never true again. */
  beat(say: Pick<LeaseRecord, "watermark" | "seen"> & { readonly state: "up" | "leaving" }): Promise<boolean>;
  /** Declares the row dead, so that nobody has to wait; holds nothing from the call on. */
  end(): Promise<void>;
}

export const rowKey = (name: string): string => `node/${name}`;

async function readRow(
  { registry, clock, limits }: LeaseParts,
  name: string,
): Promise<{ readonly row: LeaseRecord; readonly rev: number } | null> {
  const found = await inTime(clock, limits.callMs, registry.read(rowKey(name)));
  return found && { row: JSON.parse(found.value), rev: found.rev };
}

/** Takes the row of this name; waits until an earlier incarnation is certainly gone. Throws NameTaken when it lives. */
export async function takeLease(parts: LeaseParts & { random: Random; name: string }): Promise<NodeLease> {
  for (;;) {
    const before = await vacant(parts, parts.name);
    const lease = createLease(parts, before);
    // Lost or unknown: whoever was stored instead, this one too, is waited for like any other.
    if ((await lease.beat({ state: "up", ...lease.begins })) && lease.held()) return lease;
  }
}

interface Fresh extends NodeLease {
  readonly begins: Pick<LeaseRecord, "watermark" | "seen">;
}

function createLease(
  parts: LeaseParts & { random: Random; name: string },
  before: { readonly row: LeaseRecord; readonly rev: number } | null,
): Fresh {
  const { registry, clock, limits, name } = parts;
  const node = nodeId(name, parts.random.id());
  const incarnation = incarnationOf(node);
  const begins = { watermark: before?.row.watermark ?? clock.wall(), seen: before?.row.seen ?? 0 };
  let sent = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  let over = false;
  let beat = 0;
  let rev = before?.rev ?? 0;
  let said: Pick<LeaseRecord, "watermark" | "seen"> = begins;

  /** Null: another was faster, or the outcome is unknown: the row itself will say. */
  async function cas(state: LeaseRecord["state"]): Promise<number | null> {
    const row: LeaseRecord = { incarnation, state, beat: ++beat, ...said };
    const write = registry.cas(rowKey(name), rev, JSON.stringify(row));
    return inTime(clock, limits.callMs, write).catch(() => null);
  }

  async function attempt(state: "up" | "leaving"): Promise<boolean> {
    const at = { mono: clock.mono(), wall: clock.wall() };
    const stored = await cas(state);
    if (over) return false;
    if (stored !== null) {
      rev = stored;
      sent = at;
      return true;
    }
    const found = await readRow(parts, name);
    if (over || found?.row.incarnation !== incarnation || found.row.state === "dead") return false;
    rev = found.rev;
    if (found.row.beat === beat) sent = at;
    return true;
  }

  return {
    node,
    begins,
    inherited: before?.row ?? null,
    held: () => !over && Math.max(clock.mono() - sent.mono, clock.wall() - sent.wall) < limits.holdMs,
    async beat({ state, watermark, seen }) {
      said = { watermark, seen };
      // What the registry does not say is no answer: the lease runs on, or out.
      const kept = await attempt(state).catch(() => !over);
      if (!kept) over = true;
      return kept;
    },
    async end() {
      over = true;
      // A beat that is still under way may be stored first: then its rev is not known here.
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
 * The row as it may be taken: never used, or of one who is dead. Of one who does not beat it waits for the end. What a
 * dead one sent may still be stored; only a row that goes on changing is a living one's.
 */
async function vacant(parts: LeaseParts, name: string): Promise<{ row: LeaseRecord; rev: number } | null> {
  const { clock, limits } = parts;
  const watch = watchRow(parts);
  const begunMs = clock.mono();
  for (let known = 0; ; ) {
    const found = await watch.look(nodeless(name)).catch(() => undefined);
    if (found === null || found?.row.state === "dead") return found;
    if (found !== undefined) {
      const changed = known > 0 && found.rev !== known;
      if (changed && clock.mono() - begunMs >= limits.ttlMs) {
        throw new NameTaken(`a node named ${name} is running: every node needs a NODE_NAME of its own`);
      }
      known = found.rev;
    }
    await sleep(clock, limits.beatMs);
  }
}

const nodeless = (name: string): NodeId => nodeId(name, "");

export interface Watch {
  /** The row under this node's name, by now; declared dead when it has not changed for long enough. */
  look(node: NodeId): Promise<{ readonly row: LeaseRecord; readonly rev: number } | null>;
}

/** Watches rows of others. Time is the observer's own, from when it got to see a beat to when it asked again. */
export function watchRow(parts: LeaseParts): Watch {
  const { registry, clock, limits } = parts;
  const seen = new Map<string, { readonly rev: number; readonly atMs: number }>();

  return {
    async look(node) {
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
