// The nodes that this one knows to be over for good: each an incarnation that was declared dead, or left, or was followed
// by another of its name. A node that is merely unknown here is none of them: perhaps the table at hand is older than it.
//
// At the bound the oldest is forgotten. What it held was given back when it was heard of; something of its own that is
// still on its way then would be taken for a living node's.

export interface DeadNodes {
  has(node: string): boolean;
  /** Grows when more are known. */
  version(): number;
  /** Called when more are known. */
  onMore(handle: () => void): void;
}

const KEPT_MOST = 1_000;

/** For a process that knows of no others. */
export const NO_DEAD_NODES: DeadNodes = { has: () => false, version: () => 0, onMore: () => {} };

export function createDeadNodes(most = KEPT_MOST): DeadNodes & { add(nodes: readonly string[]): void } {
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
