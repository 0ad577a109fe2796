// What a request takes longer when another node owns its account: one request in flight, always to the same node, in turn with
// keys of its own accounts and of those of other nodes. The account is asked to admit the request before the call and to
// charge it afterwards, which makes two hops.

import type { ClusterStage } from "./cluster-stage.ts";
import { ownerOf } from "./cluster-table.ts";
import { median } from "./figures.ts";
import type { ClusterRows } from "./measure.ts";

const HOPS = 2;
/** The index of the node that is asked. */
const ASKED = 0;
/** The most accounts of either kind. */
const ACCOUNTS = 8;
/** Requests of each account that only warm up. */
const WARM_UP = 40;

const ms = (value: number): string => `${value.toFixed(2)} ms`;

export async function clusterHop(
  { cluster, load, table }: ClusterStage,
  quick: boolean,
): Promise<ClusterRows> {
  const before = await table();
  const isOwn = (nth: number) => ownerOf(before, cluster.accounts[nth]!) === ASKED;
  const all = cluster.accounts.map((_, nth) => nth);
  const [own, remote] = [all.filter(isOwn), all.filter((nth) => !isOwn(nth))];
  const pairs = Math.min(ACCOUNTS, own.length, remote.length);
  const inTurn = own.slice(0, pairs).flatMap((nth, i) => [nth, remote[i]!]);
  const { times } = await load({
    targets: inTurn.map((nth) => ({ url: cluster.nodes[ASKED]!.url, keys: [cluster.accounts[nth]!.key] })),
    ask: { stream: false },
    concurrency: 1,
    most: { requests: WARM_UP + (quick ? 60 : 250) },
    times: "whole",
  });
  const p50 = (parity: 0 | 1) =>
    median(times.filter((_, i) => i % 2 === parity).flatMap((some) => some.slice(WARM_UP)));
  const added = p50(1) - p50(0);
  const after = await table();
  const moved = inTurn.filter(
    (nth) => ownerOf(after, cluster.accounts[nth]!) !== ownerOf(before, cluster.accounts[nth]!),
  );
  return {
    rows: [
      [
        "Time, whole answer, p50, an account of another node against one of its own",
        ms(p50(1)),
        ms(p50(0)),
        `+ ${ms(added)}`,
        "",
        "",
      ],
      ["Time, one hop to another node, p50", "", "", `+ ${ms(added / HOPS)}`, "≤ 0.5 ms", "≤ 0.5 ms"],
    ],
    notes:
      moved.length === 0 ? [] : [`${moved.length} accounts moved while the hop was measured: it says little`],
  };
}
