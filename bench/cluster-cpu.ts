// CPU time a request costs a cluster of three, all its nodes together, as a ratio to what it costs one node on the same
// kind of store. The two take turns in short rounds, and each pair gives one ratio, once both are warm.

import type { ClusterStage, Fleet } from "./cluster-stage.ts";
import { ownerOf, type ShardTable } from "./cluster-table.ts";
import { type Spent, spend } from "./cpu.ts";
import { grouped, median, range, sum } from "./figures.ts";
import { IN_ONE_PIECE, ONE_BY_ONE, WHOLE } from "./kinds.ts";
import type { Target } from "./load.ts";
import type { ClusterRows } from "./measure.ts";
import { ownProgramsMs } from "./process.ts";
import type { Ask } from "./styles.ts";
import { NO_WARM_UP, type WarmUpTimes, warmUpInTurns, warmUpNote } from "./warm-up.ts";

/**
 * How requests are spread over the three nodes: to each node in turn, or each to the node that owns its account, which a load
 * balancer learns from answers (LB_NODE_HEADER).
 */
const WAYS = ["nodes in turn", "each at its node"] as const;

export interface ClusterKind extends Ask {
  readonly what: string;
  readonly way: (typeof WAYS)[number];
}

export const CLUSTER_KINDS: readonly ClusterKind[] = [
  { ...WHOLE, what: "whole, 50 accounts" },
  IN_ONE_PIECE,
  ONE_BY_ONE,
].flatMap((kind) => WAYS.map((way) => ({ ...kind, what: `${kind.what}, ${way}`, way })));
const TARGET = "≤ 1.5";
const MUST = "≤ 1.8";

interface Times extends WarmUpTimes {
  readonly rounds: number;
  readonly ms: number;
}

const FULL: Times = { warmUpMs: 20_000, warmUpMsMax: 60_000, rounds: 6, ms: 3_000 };
const QUICK: Times = { ...NO_WARM_UP, rounds: 3, ms: 1_000 };
/** How much longer a warm-up of several nodes may be, each of which has a part of the requests and compiles all for itself. */
const SEVERAL_TAKE = 2;

/** The servers that the nodes use, by program. Notes state their CPU time; ratios leave it out. A shell watches mongod. */
const BESIDES = [
  { name: "NATS", programs: ["nats-server"] },
  { name: "the database", programs: ["java", "sh"] },
] as const;

interface Round extends Spent {
  /** CPU time of each of BESIDES, µs a request; zero for a server that this process has not started. */
  readonly besidesUs: readonly number[];
}

/** The nodes that are measured, and the targets that their requests go to. */
type Asked = Pick<Fleet, "nodes" | "targets">;

async function roundOf({ load }: ClusterStage, fleet: Asked, kind: ClusterKind, ms: number): Promise<Round> {
  const before = besidesMs();
  const spent = await spend(load, fleet.nodes, fleet.targets, kind, ms);
  const after = besidesMs();
  return { ...spent, besidesUs: after.map((ms, i) => ((ms - before[i]!) * 1000) / spent.requests) };
}

function besidesMs(): number[] {
  const programs = ownProgramsMs();
  return BESIDES.map((one) => sum(one.programs.map((program) => programs.get(program) ?? 0)));
}

const us = (value: number): string => `${value.toFixed(0)} µs`;
const cpuOf = (rounds: readonly Spent[]): string => us(median(rounds.map(({ cpuUs }) => cpuUs)));
const perS = (rounds: readonly Spent[]): string => grouped(median(rounds.map((one) => one.perS)));

const besidesOf = (rounds: readonly Round[]): string =>
  BESIDES.map(({ name }, i) => `${name} ${us(median(rounds.map((one) => one.besidesUs[i]!)))}`).join(", ");

/** Measures requests of a kind. Of its two rows the first is the CPU time, the second are the requests per second. */
export async function clusterCpu(
  stage: ClusterStage,
  kind: ClusterKind,
  quick: boolean,
): Promise<ClusterRows> {
  const times = quick ? QUICK : FULL;
  const { rounds, ms } = times;
  const { cluster, single, sqlite } = stage;
  const ours: Round[] = [];
  const theirs: Round[] = [];
  const table = await stage.table();
  const targets = kind.way === "each at its node" ? targetsAtOwners(cluster, table) : cluster.targets;
  const three = { nodes: cluster.nodes, targets };
  const [threeWarm, oneWarm] = await warmUpInTurns(
    [three, single].map(({ nodes, targets }) => ({
      servers: nodes,
      times: { ...times, warmUpMsMax: times.warmUpMsMax * (nodes.length > 1 ? SEVERAL_TAKE : 1) },
      work: (stepMs: number) => spend(stage.load, nodes, targets, kind, stepMs),
    })),
  );
  const grown = [await growth(cluster), await growth(single)];
  for (let round = 0; round < rounds; round++) {
    ours.push(await roundOf(stage, three, kind, ms));
    theirs.push(await roundOf(stage, single, kind, ms));
  }
  const [inCluster, inSingle] = await Promise.all(grown.map((read) => read()));
  const asksEach = inCluster!("remote_commands") / sum(ours.map(({ requests }) => requests));
  // The first warms it up.
  await spend(stage.load, sqlite.nodes, sqlite.targets, kind, ms);
  const embedded = await spend(stage.load, sqlite.nodes, sqlite.targets, kind, ms);

  const owners = new Map(cluster.accounts.map((account) => [account.key, ownerOf(table, account)]));
  const answered = ours.flatMap((one) =>
    one.answered.flatMap((counts, node) =>
      counts.map((n, nth) => ({ n, node, owner: owners.get(targets[node]!.keys[nth]!) })),
    ),
  );
  const remote = answered.filter(({ node, owner }) => owner !== node);
  const share = sum(remote.map(({ n }) => n)) / sum(answered.map(({ n }) => n));
  const ratios = ours.map((one, i) => one.cpuUs / theirs[i]!.cpuUs);
  return {
    rows: [
      [
        `CPU per request, ${kind.what}`,
        cpuOf(ours),
        cpuOf(theirs),
        `× ${median(ratios).toFixed(2)} (${range(ratios, 2)})`,
        TARGET,
        MUST,
      ],
      [`Requests per second, ${kind.what}`, perS(ours), perS(theirs), "", "", ""],
    ],
    notes: [
      `${kind.what}: ${(share * 100).toFixed(0)} % of the requests came to a node that does not own the account; ` +
        `${asksEach.toFixed(2)} asks of another node a request; ` +
        `events per commit: ${batching(inCluster!)} in the cluster, ${batching(inSingle!)} on one node`,
      `${kind.what}, besides: ${besidesOf(ours)} a request in the cluster, ${besidesOf(theirs)} with one node; ` +
        `one node on SQLite takes ${us(embedded.cpuUs)} of CPU and answers ${grouped(embedded.perS)} a second`,
      `${kind.what}: three nodes ${warmUpNote(threeWarm!)}, one ${warmUpNote(oneWarm!)}`,
    ],
  };
}

/** Returns the nodes with the accounts that each of them owns. */
const targetsAtOwners = ({ nodes, accounts }: Fleet, table: ShardTable): Target[] =>
  nodes.map(({ url }, node) => {
    const own = accounts.filter((account) => ownerOf(table, account) === node);
    return { url, keys: own.map(({ key }) => key) };
  });

type Grown = (counter: string) => number;

const batching = (grown: Grown): string => (grown("events") / grown("commits")).toFixed(1);

/** Returns a function that reads by how much each counter has grown since then. */
async function growth(fleet: Fleet): Promise<() => Promise<Grown>> {
  const before = await fleet.counters();
  return async () => {
    const after = await fleet.counters();
    return (counter) => (after.get(counter) ?? 0) - (before.get(counter) ?? 0);
  };
}
