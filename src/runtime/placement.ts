// The contract of placement: who owns which shard, since which epoch. It only limits disagreement: the ledger decides.

export interface Placement {
  /** Starts owning. Resolves when every shard has an owner, which may be others. */
  join(): Promise<void>;
  /** > 0 only while this node owns the shard now. Asked at every turn and before every append. */
  epochOf(shard: number): number;
  ownerOf(shard: number): { readonly node: string; readonly epoch: number } | null;
  /** An append or a reply showed a higher epoch: give the shard up at once. */
  fenced(shard: number, epoch: number): void;
  /** Called with shards newly owned: their unfinished work wants a sweep. Resolves when they are swept. */
  onGain(handle: (shards: readonly number[], since: number) => Promise<void>): void;
  leave(): Promise<void>;
}
