// The nodes that are known to have ended: incarnations that were declared dead, or left, or were followed by
// another one of the same name. A node that is merely unknown here is not dead, because the local table may
// be older than it.
//
// Above the bound the oldest node is forgotten. Its holds were released when its death became known; a
// command of it that is still in flight then would be accepted as a live node's.

/** The incarnations that are known to have ended. */
export interface DeadNodes {
  has(node: string): boolean;
  /** Increases when more nodes are known. */
  version(): number;
  /** Registers a handler that is called when more nodes are known. */
  onMore(handle: () => void): void;
}

const KEPT_MAX = 1_000;

/** The set for a process that knows no other nodes. */
export const NO_DEAD_NODES: DeadNodes = { has: () => false, version: () => 0, onMore: () => {} };

/** Creates an empty set that keeps at most `most` nodes. */
export function createDeadNodes(most = KEPT_MAX): DeadNodes & { add(nodes: readonly string[]): void } {
  const known = new Set<string>();
  const handlers: (() => void)[] = [];
  let version = 0;

  return {
    has: (node) => known.has(node),
    version: () => version,
    onMore: (handle) => void handlers.push(handle),
    add(nodes) {
      const fresh = nodes.filter((node) => !known.has(node));
      if (fresh.length === 0) return;
      version++;
      for (const node of fresh) known.add(node);
      for (const oldest of known) {
        if (known.size <= most) break;
        known.delete(oldest);
      }
      for (const handle of handlers) handle();
    },
  };
}
