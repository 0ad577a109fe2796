// What may happen to a cluster under load, one row each: what is done, what it may cost, and whether it is in the short
// selection of `npm test`. A row does its fault and ends with every node running; the judge says whether it went well.

import type { Account } from "../harness.ts";
import type { Cluster } from "./cluster.ts";
import type { Line } from "./line.ts";
import type { Load, LoadOptions } from "./load.ts";
import type { ClusterNode } from "./node.ts";

export interface Stage {
  readonly cluster: Cluster;
  readonly load: Load;
  /** From here on the time to recover counts; what is under way now may be forgotten by limits. */
  fault(): void;
  /** Requests that begin from here on have recovered: waits until none has failed for a while. */
  recovered(): Promise<void>;
  /** The time since the one before, or since the load was there, is printed with the result. */
  reached(what: string): void;
}

export interface Scenario {
  readonly name: string;
  /** In `npm test` too. */
  readonly short?: true;
  /** Requests may fail while it lasts. */
  readonly breaks: boolean;
  /** Counters of health that it may raise. */
  readonly raises?: readonly string[];
  readonly load?: Partial<LoadOptions>;
  run(stage: Stage): Promise<void>;
}

/** What the end of an owner may raise: appends that it did not hear of, and what its own epoch did not allow any more. */
const OF_AN_OUTAGE = [
  "append_lost",
  "append_unknown",
  "broken",
  "fenced",
  "late_charges",
  "holds_expired",
  "claims_swept",
];

const lead = ({ load }: Stage): Promise<void> => load.runs(60);

async function killed(stage: Stage, ...nodes: ClusterNode[]): Promise<void> {
  stage.fault();
  for (const node of nodes) node.signal("SIGKILL");
  await Promise.all(nodes.map((node) => node.exited()));
}

/** The node that serves the first account of the load, so that a fault of it is felt. */
const anOwner = ({ cluster, load }: Stage): Promise<ClusterNode> => cluster.ownerOf(load.users[0]!.id);

async function other(stage: Stage, account: Account): Promise<ClusterNode> {
  const owner = await stage.cluster.ownerOf(account.id);
  return stage.cluster.nodes.find((node) => node !== owner)!;
}

/** Something breaks for so long; the time to recover counts from its end. */
function outage(
  ms: number,
  breaks: (stage: Stage) => void,
  mends: (stage: Stage) => unknown,
): Scenario["run"] {
  return async (stage) => {
    await lead(stage);
    stage.fault();
    breaks(stage);
    await Bun.sleep(ms);
    await mends(stage);
    stage.fault();
    await stage.recovered();
  };
}

const all = (does: (node: ClusterNode) => void) => (stage: Stage) => stage.cluster.nodes.forEach(does);

/** Once others serve what was this node's, its line heals and it is one of them again. */
async function healed({ cluster, load, recovered }: Stage, node: ClusterNode, line: Line): Promise<void> {
  await recovered();
  line.heal();
  await cluster.settled();
  load.avoid(node, false);
  await load.runs(60);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "an owner is killed under load and comes back",
    short: true,
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      const node = await anOwner(stage);
      await killed(stage, node);
      await stage.recovered();
      await node.start();
      await stage.load.runs(60);
    },
  },
  {
    name: "all nodes are restarted one after another",
    short: true,
    breaks: false,
    load: { onlyOnce: true, onlyBalanced: true },
    async run(stage) {
      await lead(stage);
      for (const node of stage.cluster.nodes) {
        node.signal("SIGTERM");
        const code = await node.exited();
        if (code !== 0) throw new Error(`${node.name} ended with ${code}\n${node.tail()}`);
        stage.reached(`${node.name} stopped in`);
        await node.start();
        await stage.cluster.settled();
        stage.reached(`${node.name} back after`);
      }
      await stage.load.runs(60);
    },
  },
  {
    name: "the database is frozen for 3 s",
    short: true,
    breaks: true,
    raises: OF_AN_OUTAGE,
    run: outage(
      3_000,
      all((node) => node.database.freeze()),
      all((node) => node.database.heal()),
    ),
  },
  {
    name: "NATS is killed and restarted",
    short: true,
    breaks: true,
    raises: OF_AN_OUTAGE,
    run: outage(
      1_500,
      ({ cluster }) => void cluster.nats.kill(),
      ({ cluster }) => cluster.nats.start(),
    ),
  },
  {
    name: "a front end is killed under load",
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      const node = await other(stage, stage.load.users[0]!);
      await killed(stage, node);
      await stage.recovered();
      await node.start();
    },
  },
  {
    name: "a node is frozen for 12 s and wakes fenced",
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      const node = await anOwner(stage);
      stage.fault();
      const frozen = Bun.sleep(12_000);
      node.signal("SIGSTOP");
      await stage.recovered();
      await frozen;
      // What it had under way may have been answered elsewhere meanwhile.
      stage.fault();
      node.signal("SIGCONT");
      await stage.recovered();
      await stage.cluster.settled();
      await stage.load.runs(60);
    },
  },
  {
    name: "NATS is frozen for 8 s",
    breaks: true,
    raises: OF_AN_OUTAGE,
    run: outage(
      8_000,
      ({ cluster }) => cluster.nats.freeze(),
      ({ cluster }) => cluster.nats.thaw(),
    ),
  },
  {
    name: "NATS is frozen for 20 s",
    breaks: true,
    raises: OF_AN_OUTAGE,
    run: outage(
      20_000,
      ({ cluster }) => cluster.nats.freeze(),
      ({ cluster }) => cluster.nats.thaw(),
    ),
  },
  {
    name: "one node is cut off from NATS, and is of no use to the others",
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      const node = await anOwner(stage);
      node.nats.cut();
      stage.load.avoid(node, true);
      // It goes on beating, so the others wait until it gives its shards away.
      await Bun.sleep(10_000);
      stage.fault();
      await healed(stage, node, node.nats);
    },
  },
  {
    name: "the database is frozen for 15 s",
    breaks: true,
    raises: OF_AN_OUTAGE,
    run: outage(
      15_000,
      all((node) => node.database.freeze()),
      all((node) => node.database.heal()),
    ),
  },
  {
    name: "one node is cut off from the database for 10 s",
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      const node = await anOwner(stage);
      stage.fault();
      node.database.cut();
      stage.load.avoid(node, true);
      // It owns them until its lease is over, and cannot book what it admits; but every front end lives and reasserts them.
      await healed(stage, node, node.database);
    },
  },
  {
    name: "the database is cut off from all for 5 s",
    breaks: true,
    raises: OF_AN_OUTAGE,
    run: outage(
      5_000,
      all((node) => node.database.cut()),
      all((node) => node.database.heal()),
    ),
  },
  {
    name: "the database is 50 ms away",
    breaks: false,
    async run(stage) {
      for (const node of stage.cluster.nodes) node.database.slow(25);
      await stage.load.runs(300);
      for (const node of stage.cluster.nodes) node.database.heal();
    },
  },
  {
    name: "two nodes are killed at once",
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      const [first, second] = stage.cluster.nodes as [ClusterNode, ClusterNode];
      await killed(stage, first, second);
      await stage.recovered();
      await Promise.all([first.start(), second.start()]);
      await stage.load.runs(60);
    },
  },
  {
    name: "all nodes are killed and restarted",
    breaks: true,
    raises: OF_AN_OUTAGE,
    async run(stage) {
      await lead(stage);
      await killed(stage, ...stage.cluster.nodes);
      await Promise.all(stage.cluster.nodes.map((node) => node.start()));
      stage.reached("all ready after");
      stage.fault();
      await stage.recovered();
    },
  },
  {
    name: "a fourth node joins under load, and leaves again",
    breaks: false,
    load: { onlyOnce: true, onlyBalanced: true },
    async run(stage) {
      await lead(stage);
      const node = await stage.cluster.add("d");
      await node.start();
      await stage.cluster.balanced(60_000);
      await stage.load.runs(100);
      node.signal("SIGTERM");
      if ((await node.exited()) !== 0) throw new Error(`d did not end well\n${node.tail()}`);
      await stage.cluster.settled();
      await stage.load.runs(60);
    },
  },
];
