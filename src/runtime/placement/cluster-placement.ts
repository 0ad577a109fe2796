// Placement in a cluster: this node's part in the shard table. It sends heartbeats, observes the other nodes,
// plans, takes shards and gives them away, and serves no shard that it might not own. The registry is the
// truth; publications on the bus only save time.
//
// It is safe against any delay: it gives a shard away only after it stopped serving it in that epoch, takes
// one only from an owner whose own row says dead, and counts its lease from before each heartbeat. The ledger
// refuses what slips through a pause between a check and an append.

import { type Clock, inTime, type Random, sleep } from "../../base/clock.ts";
import { coalesce } from "../../base/coalesce.ts";
import type { Log } from "../../base/log.ts";
import type { Bus } from "../../bus/bus.ts";
import type { Registry } from "../../store/store.ts";
import { createDeadNodes } from "./dead-nodes.ts";
import {
  createRowObserver,
  type LeaseLimits,
  type LeaseRecord,
  type NodeLease,
  takeLease,
} from "./node-lease.ts";
import type { NodeState, Placement } from "./placement.ts";
import { createShardOwnership } from "./shard-ownership.ts";
import {
  addMember,
  incarnationOf,
  type Member,
  type NodeId,
  nameOf,
  type PlanLimits,
  plan,
  type ShardTable,
  TABLE_KEY,
} from "./shard-table.ts";

/** Intervals and bounds of placement; times in milliseconds. */
export interface ClusterLimits extends LeaseLimits, PlanLimits {
  /** Interval (ms) between two looks at the table and the other nodes. */
  readonly lookMs: number;
  /** Interval (ms) between two reads of the table that `refresh` makes. */
  readonly refreshMs: number;
  /** How long (ms) decisions on a shard may take to become durable before it is given away anyway. */
  readonly drainMs: number;
  /** Shards are balanced only after no node came or went for this long (ms). */
  readonly settleMs: number;
  /** A node that is unfit for this long (ms) gives its shards away. */
  readonly unfitMs: number;
}

export const CLUSTER_LIMITS: ClusterLimits = {
  heartbeatMs: 1_000,
  holdMs: 4_000,
  ttlMs: 6_000,
  callMs: 2_000,
  lookMs: 1_000,
  refreshMs: 50,
  drainMs: 2_000,
  settleMs: 10_000,
  unfitMs: 10_000,
  moves: 8,
  departures: 64,
  imbalance: 0.1,
};

export interface ClusterPlacement extends Placement {
  /** Sets the watermark (wall-clock ms): older commits of this node's shards are covered by snapshots. */
  advance(watermark: number): void;
  /** Returns the table as this node knows it, for operators. */
  table(): ShardTable;
}

export interface ClusterParts {
  readonly registry: Registry;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The node's name, unique in the cluster. */
  readonly name: string;
  /**
   * Returns false while this node cannot serve the others: it is cut off from the bus, or its wall clock is
   * wrong.
   */
  readonly fit?: () => boolean;
  readonly limits?: Partial<ClusterLimits>;
}

const TOPIC = "table";

/**
 * Creates the placement of a node; `join` starts it. It reads and writes the registry, publishes on the bus
 * and logs.
 */
export function createClusterPlacement(parts: ClusterParts): ClusterPlacement {
  const { registry, bus, clock, log } = parts;
  const limits = { ...CLUSTER_LIMITS, ...parts.limits };
  const observer = createRowObserver({ registry, clock, limits });
  const ownership = createShardOwnership({
    clock,
    log,
    drainMs: limits.drainMs,
    drained: () => void reconcile(),
  });
  const deadNodes = createDeadNodes();
  const { table } = ownership;
  let lease: NodeLease | null = null;
  let covered = 0;
  let leaving = false;
  let ended = false;
  let unfitSince: number | null = null;
  let membership = { states: "", since: 0 };
  /**
   * Whether a former incarnation of this node owns a shard, cached per version of the table, because every
   * heartbeat and look needs it.
   */
  let former = { version: -1, node: "", owns: false };
  /** The input of the last plan that changed nothing: the same input need not be planned again. */
  let lastUnchanged: {
    readonly table: ShardTable;
    readonly states: string;
    readonly settled: boolean;
  } | null = null;
  /** The members as of the last look. */
  let known: ReadonlyMap<NodeId, Member> = new Map();
  let readMs = Number.NEGATIVE_INFINITY;
  const joining: Parameters<Placement["onJoin"]>[0][] = [];
  /** Number of looks at which this node saw something to write and left it to others. */
  let overdue = 0;
  let stop: (() => void)[] = [];

  const me = (): NodeId => lease?.node ?? "";
  const isHeld = (): boolean => !ended && lease !== null && lease.held();
  const failed = (error: unknown) => log("warn", "placement_failed", { node: me(), error: String(error) });
  const announce = () => bus.publish(TOPIC, new Uint8Array());

  // ---- the table

  const read = coalesce(async () => {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    if (found !== null && found.rev !== ownership.rev()) adopt(JSON.parse(found.value), found.rev);
  });

  /** Nodes are removed from the members only after they are gone for good. */
  function adopt(next: ShardTable, rev: number): void {
    const before = table();
    ownership.adopt(next, rev);
    if (table() === next) deadNodes.add(before.members.filter((node) => !next.members.includes(node)));
  }

  /** The registry is read at most once per `refreshMs`, however many callers there are. */
  const refresh = coalesce(async () => {
    const waitMs = readMs + limits.refreshMs - clock.mono();
    if (waitMs > 0) await sleep(clock, waitMs);
    readMs = clock.mono();
    await read().catch(failed);
  });

  /** Reads the table, looks at the other nodes, and writes the next table if it is this node's turn. */
  const reconcile = coalesce(async () => {
    try {
      await read();
      const knownMembers = await readMembers();
      // A node that was declared dead meanwhile is no member until it has joined again.
      if (knownMembers === null || !knownMembers.has(me())) return;
      // There is no await from here to the write, so that the plan starts from the table that the rev stands
      // for.
      const before = table();
      const current = ownership.withoutDrained(before, watermark());
      const settled = isSettled(knownMembers);
      const { states } = membership;
      if (
        lastUnchanged?.table === current &&
        lastUnchanged.states === states &&
        lastUnchanged.settled === settled
      )
        return;
      const next = plan(leaving ? current : addMember(current, me()), knownMembers, limits, settled);
      lastUnchanged = next === before ? { table: before, states, settled } : null;
      if (next === before) overdue = 0;
      else if (current !== before || isTurn(knownMembers))
        await write({ ...next, version: before.version + 1 });
    } catch (error) {
      failed(error);
    }
  });

  async function write(next: ShardTable): Promise<void> {
    const stored = registry.cas(TABLE_KEY, ownership.rev(), JSON.stringify(next));
    const rev = await inTime(clock, limits.callMs, stored);
    // Another node was faster. Its table is read at the next look, or at once, because that node publishes.
    if (rev === null) return;
    overdue = 0;
    adopt(next, rev);
    announce();
  }

  /**
   * The first live node by name writes. Each other one waits one look longer, in case those before it are
   * stuck.
   */
  function isTurn(knownMembers: ReadonlyMap<NodeId, Member>): boolean {
    const up = [...knownMembers].filter(([, member]) => member.state === "up").map(([node]) => node);
    return overdue++ >= up.sort().indexOf(me());
  }

  /**
   * Returns the state of every member of the table, by its own row. Returns null when this node is no member.
   */
  async function readMembers(): Promise<ReadonlyMap<NodeId, Member> | null> {
    for (;;) {
      const { members } = table();
      const node = me();
      const others = members.filter((member) => member !== node);
      const rows = await Promise.all(others.map((member) => observer.observe(member)));
      if (lease === null || ended) return null;
      if (members !== table().members || node !== me()) continue;
      const knownMembers = new Map<NodeId, Member>();
      for (const [i, member] of others.entries()) {
        const row = rows[i]?.row;
        // Rows are never deleted; without a row there is no lease.
        knownMembers.set(
          member,
          row === undefined ? GONE : asMember(row, row.incarnation === incarnationOf(member)),
        );
      }
      const own = isLeaving() ? "leaving" : "up";
      known = knownMembers.set(me(), { state: own, watermark: watermark(), seen: table().version });
      deadNodes.add(members.filter(isGone));
      return known;
    }
  }

  function isSettled(knownMembers: ReadonlyMap<NodeId, Member>): boolean {
    const states = JSON.stringify([...knownMembers].map(([node, member]) => [node, member.state]).sort());
    if (states !== membership.states) membership = { states, since: clock.mono() };
    return clock.mono() - membership.since >= limits.settleMs;
  }

  // ---- this node's own row

  /**
   * Returns the row of the former incarnation, whose watermark this node reports until that one's shards have
   * new owners. Returns null afterwards, or when there was none.
   */
  function formerRow(): LeaseRecord | null {
    const inherited = lease?.inherited ?? null;
    if (inherited === null) return null;
    const { version, shards } = table();
    if (former.version !== version || former.node !== me()) {
      const isFormer = (owner: NodeId | null) =>
        owner !== null && owner !== me() && nameOf(owner) === parts.name;
      former = { version, node: me(), owns: shards.some(({ owner }) => isFormer(owner)) };
    }
    return former.owns ? inherited : null;
  }

  const watermark = (): number =>
    Math.min(covered, ownership.recoverySince(), formerRow()?.watermark ?? Number.POSITIVE_INFINITY);

  function isLeaving(): boolean {
    const fit = parts.fit?.() ?? true;
    unfitSince = fit ? null : (unfitSince ?? clock.mono());
    return leaving || (unfitSince !== null && clock.mono() - unfitSince >= limits.unfitMs);
  }

  const heartbeat = coalesce(async () => {
    if (ended) return;
    const held = lease;
    if (held === null) return takeIdentity();
    const seen = formerRow()?.seen ?? table().version;
    const state = isLeaving() ? "leaving" : "up";
    if ((await held.heartbeat({ state, watermark: watermark(), seen })) || ended) return;
    // The node was declared dead while it lived: it owns nothing any more, and another incarnation begins.
    log("warn", "node_fenced", { node: held.node, shards: ownership.mine().length });
    lease = null;
    ownership.setIdentity(null);
    await takeIdentity();
    await reconcile();
  });

  async function takeIdentity(): Promise<void> {
    const taken = await takeLease({ ...parts, limits });
    covered = clock.wall();
    await Promise.all(joining.map((handle) => handle(taken.node)));
    if (ended) return taken.end();
    lease = taken;
    // A node that is unfit when it joins is assigned no shards at all.
    if (parts.fit?.() === false) unfitSince = Number.NEGATIVE_INFINITY;
    ownership.setIdentity(taken.node);
    log("info", "node_joins", { node: taken.node });
  }

  // ---- state of nodes

  const isGone = (node: NodeId): boolean => known.get(node)?.state === "gone";

  function stateOf(node: NodeId): NodeState["state"] {
    if (node === me()) return isLeaving() ? "leaving" : "up";
    const state = known.get(node)?.state ?? "up";
    return state === "gone" ? "dead" : state;
  }

  // ---- time

  /**
   * Runs a task repeatedly, one run at a time, with `ms` between starts, or at once when a run took longer.
   */
  function every(ms: number, task: () => Promise<void>): void {
    let cancel = () => {};
    const run = async () => {
      const startedMs = clock.mono();
      await task().catch(failed);
      if (!ended) cancel = clock.after(Math.max(0, ms - (clock.mono() - startedMs)), run);
    };
    cancel = clock.after(ms, run);
    stop.push(() => cancel());
  }

  return {
    node: me,
    table,
    epochOf: (shard) => (isHeld() ? ownership.epochOf(shard) : 0),
    drainEpochOf: (shard) => (isHeld() ? ownership.drainEpochOf(shard) : 0),
    ownerOf(shard) {
      const { owner, epoch } = table().shards[shard]!;
      return owner === null ? null : { node: owner, epoch };
    },
    refresh,
    others: () => table().members.filter((node) => nameOf(node) !== parts.name && !isGone(node)),
    members: () =>
      table().members.map((node) => ({
        name: nameOf(node),
        incarnation: incarnationOf(node),
        state: stateOf(node),
      })),
    placed: () => isHeld() && table().shards.every(({ owner }) => owner !== null && !isGone(owner)),
    deadNodes,
    onJoin: (handle) => void joining.push(handle),
    onGain: ownership.onGain,
    onLose: ownership.onLose,
    onMoved: ownership.onMoved,
    advance(watermark) {
      covered = watermark;
      ownership.saved();
    },
    relinquish: ownership.relinquish,
    fenced(shard, epoch) {
      ownership.fenced(shard, epoch);
      void reconcile();
    },
    async join() {
      await takeIdentity();
      every(limits.heartbeatMs, heartbeat);
      every(limits.lookMs, reconcile);
      stop.push(bus.subscribe(TOPIC, () => void reconcile()));
      const placed = () =>
        table().members.includes(me()) && table().shards.every(({ owner }) => owner !== null);
      for (await reconcile(); !placed() && !ended; await reconcile()) await sleep(clock, limits.lookMs / 4);
    },
    async handOff(ms) {
      const until = clock.mono() + ms;
      leaving = true;
      await heartbeat().catch(failed);
      announce();
      // There is no point in waiting when no live node can take the shards.
      const takers = () => [...known].some(([node, { state }]) => node !== me() && state === "up");
      for (
        await reconcile();
        takers() && ownership.mine().length > 0 && clock.mono() < until;
        await reconcile()
      ) {
        await sleep(clock, 20);
      }
      return ownership.mine().length === 0;
    },
    async leave() {
      ended = true;
      for (const end of stop) end();
      stop = [];
      await lease?.end();
      announce();
    },
  };
}

const GONE: Member = { state: "gone", watermark: 0, seen: 0 };

const asMember = ({ state, watermark, seen }: LeaseRecord, isSame: boolean): Member => ({
  state: !isSame || state === "dead" ? "gone" : state,
  watermark,
  seen,
});
