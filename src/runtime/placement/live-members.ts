// Finds members of the shard table that are alive although this process must not run beside them: any other
// process, for one that has no bus to it, or a node of another protocol version, which would understand none
// of the frames that this one sends. It declares dead what does not change, as every observer does, and
// writes nothing else.
//
// row of another node      what follows
// dead, or of no concern   nothing
// does not change          it is declared dead after `ttlMs`, like any other
// continues to change      a live member

import { inTime, sleep } from "../../base/clock.ts";
import { PROTOCOL_VERSION } from "../protocol-version.ts";
import { createRowObserver, type LeaseParts, type LeaseRecord } from "./node-lease.ts";
import { NO_TABLE, type NodeId, nameOf, type ShardTable, TABLE_KEY } from "./shard-table.ts";

/** A member of the table, and its row. */
export interface LiveMember {
  readonly node: NodeId;
  readonly row: LeaseRecord;
}

/** Thrown when a live node of the cluster speaks another version of the node protocol. */
export class OtherProtocolFound extends Error {}

/** Returns the version of the node protocol that the row's node speaks; the first version wrote none. */
export const protocolOf = (row: LeaseRecord): number => row.protocol ?? 1;

/**
 * Returns a member that `concerns` names and that is certainly alive, or null once every such row is dead.
 * Waits for as long as neither is certain, at most `ttlMs` and some reads while the registry answers.
 */
export async function findLiveMember(
  parts: LeaseParts,
  concerns: (row: LeaseRecord, node: NodeId) => boolean,
): Promise<LiveMember | null> {
  const { registry, clock, limits } = parts;
  const observer = createRowObserver(parts);
  const begunMs = clock.mono();
  const revs = new Map<NodeId, number>();

  /** Reads the rows once. Returns those that are not dead, each with whether it changed since the last time. */
  async function readRows(): Promise<readonly (LiveMember & { readonly changed: boolean })[]> {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    const { members }: ShardTable = found === null ? NO_TABLE : JSON.parse(found.value);
    const rows = await Promise.all(members.map((node) => observer.observe(node)));
    return rows.flatMap((known, i) => {
      const node = members[i]!;
      if (known === null || known.row.state === "dead" || !concerns(known.row, node)) return [];
      const before = revs.get(node);
      revs.set(node, known.rev);
      return [{ node, row: known.row, changed: before !== undefined && before !== known.rev }];
    });
  }

  for (;;) {
    const alive = await readRows().catch(() => null);
    if (alive?.length === 0) return null;
    // A dead node's last write may still be stored, so one early change proves nothing.
    const changed = alive?.find((member) => member.changed);
    if (changed !== undefined && clock.mono() - begunMs >= limits.ttlMs) return changed;
    await sleep(clock, limits.heartbeatMs);
  }
}

/**
 * Resolves when no live node of the cluster speaks another version of the protocol. Throws OtherProtocolFound
 * when one does; its message says what to do. `name` is this node's own.
 */
export async function refuseOtherProtocols(parts: LeaseParts, name: string): Promise<void> {
  const isOther = (row: LeaseRecord, node: NodeId) =>
    protocolOf(row) !== PROTOCOL_VERSION && nameOf(node) !== name;
  const other = await findLiveMember(parts, isOther);
  if (other !== null) throw otherProtocol(other);
}

/** Returns the error for a live member of another protocol version. */
export const otherProtocol = ({ node, row }: LiveMember): OtherProtocolFound =>
  new OtherProtocolFound(
    `node ${nameOf(node)} of this cluster speaks node protocol ${protocolOf(row)}, this program ${PROTOCOL_VERSION}: ` +
      "stop all nodes of the one version before a node of the other starts",
  );
