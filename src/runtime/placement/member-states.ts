// The state of the members of the shard table, as this node reads it from their rows: who is up, leaving or gone,
// and since when nobody came or went. It writes nothing but what an observer of rows writes.

import type { Clock } from "../../base/clock.ts";
import type { DeadNodes } from "./dead-nodes.ts";
import type { NodeIdentity } from "./node-identity.ts";
import type { LeaseRecord, RowObserver } from "./node-lease.ts";
import type { NodeState } from "./placement.ts";
import { incarnationOf, type Member, type NodeId, type ShardTable } from "./shard-table.ts";

/** The members and their states. */
export type KnownMembers = ReadonlyMap<NodeId, Member>;

export interface MemberStates {
  /** Reads the state of every member of the table. Returns null when this node is no member. */
  read(): Promise<KnownMembers | null>;
  /** Returns whether the node was gone when the members were last read. */
  isGone(node: NodeId): boolean;
  stateOf(node: NodeId): NodeState["state"];
  /** Returns whether another node is up and can take shards. */
  hasTaker(): boolean;
  /**
   * Returns whether no node came or went for `settleMs`, and all states in one text, to compare them with a
   * later one.
   */
  settled(members: KnownMembers): { readonly isSettled: boolean; readonly states: string };
}

const GONE: Member = { state: "gone", watermark: 0, seen: 0 };

const asMember = ({ state, watermark, seen }: LeaseRecord, isSame: boolean): Member => ({
  state: !isSame || state === "dead" ? "gone" : state,
  watermark,
  seen,
});

/** Creates the view of a node. Nodes that are found dead are added to `deadNodes`. */
export function createMemberStates(parts: {
  readonly clock: Clock;
  readonly settleMs: number;
  readonly observer: RowObserver;
  readonly identity: NodeIdentity;
  readonly deadNodes: DeadNodes & { add(nodes: readonly string[]): void };
  readonly table: () => ShardTable;
}): MemberStates {
  const { clock, observer, table } = parts;
  const { node: me, isLeaving, watermark, hasLease, hasEnded } = parts.identity;
  /** The members when they were last read. */
  let known: KnownMembers = new Map();
  let unchanged = { states: "", since: 0 };

  const isGone = (node: NodeId): boolean => known.get(node)?.state === "gone";

  return {
    isGone,
    async read() {
      for (;;) {
        const { members } = table();
        const node = me();
        const others = members.filter((member) => member !== node);
        const rows = await Promise.all(others.map((member) => observer.observe(member)));
        if (!hasLease() || hasEnded()) return null;
        if (members !== table().members || node !== me()) continue;
        const found = new Map<NodeId, Member>();
        for (const [i, member] of others.entries()) {
          const row = rows[i]?.row;
          // Rows are never deleted; without a row there is no lease.
          found.set(
            member,
            row === undefined ? GONE : asMember(row, row.incarnation === incarnationOf(member)),
          );
        }
        const own = isLeaving() ? "leaving" : "up";
        known = found.set(me(), { state: own, watermark: watermark(), seen: table().version });
        parts.deadNodes.add(members.filter(isGone));
        return known;
      }
    },
    stateOf(node) {
      if (node === me()) return isLeaving() ? "leaving" : "up";
      const state = known.get(node)?.state ?? "up";
      return state === "gone" ? "dead" : state;
    },
    hasTaker: () => [...known].some(([node, { state }]) => node !== me() && state === "up"),
    settled(members) {
      const states = JSON.stringify([...members].map(([node, member]) => [node, member.state]).sort());
      if (states !== unchanged.states) unchanged = { states, since: clock.mono() };
      return { isSettled: clock.mono() - unchanged.since >= parts.settleMs, states };
    },
  };
}
