// Load on a cluster: many clients at once, whole answers and streams, with an Idempotency-Key and without, through the
// balancer and to nodes themselves, while accounts are recharged and drained, and configurations change. Whatever was
// answered is written down for the judge.

import { type Account, fresh, type Json, type Owner, until } from "../harness.ts";
import { type Attempt, attempt, type Said } from "./attempt.ts";
import type { Cluster } from "./cluster.ts";
import type { ClusterNode } from "./node.ts";

export interface Limited extends Account {
  /** Requests that may be admitted within any minute. */
  readonly rpm: number;
}

export interface User extends Account {
  readonly parent: Account;
  /** What it was made with, in dollars. */
  readonly credit: number;
}

/** A number of dollars that was to be moved; status 0: nobody said whether it was. */
export interface Movement {
  readonly account: User;
  readonly amount: number;
  status: number;
}

export interface Load {
  readonly users: readonly User[];
  /** Accounts with an RPM that is asked for more than it allows. */
  readonly limited: readonly Limited[];
  /** Minutes that the load has lasted, the one that has begun included. */
  minutes(): number;
  /** In the order in which they began, those that are under way too. */
  readonly attempts: Attempt[];
  readonly movements: Movement[];
  /** What went wrong that is no answer to a request: administration that is not answered in the end. */
  readonly troubles: string[];
  /** Waits until so many more requests have been answered in full. */
  runs(count: number): Promise<void>;
  /** Clients who know the nodes do not ask this one until it is back. */
  avoid(node: ClusterNode, avoids: boolean): void;
  /** Lets everything that is under way end. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly cluster: Cluster;
  /** Children of Owners; two of them have a child of their own. */
  readonly users?: number;
  /** Clients of each kind. */
  readonly clients?: number;
  /** How long the long streams are. */
  readonly longMs?: number;
  /** Nothing is sent again: a client without an Idempotency-Key must not, and these have none. */
  readonly onlyOnce?: boolean;
  /** All through the balancer. */
  readonly onlyBalanced?: boolean;
  /** Accounts with an RPM. */
  readonly limited?: boolean;
  readonly administration?: boolean;
}

const CREDIT = 40;
const RPM = 25;
const THINK_MS = 60;
/** Sent again so long, at most. */
const AGAIN_MS = 90_000;

const isAnswer = (one: Attempt): boolean =>
  one.complete || one.code === "idempotency_expired" || (one.status === 429 && one.code !== "");

/** Makes the accounts it needs, and begins. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const { cluster, users: count = 7, clients = 4, longMs = 3_000, onlyOnce = false } = options;
  const owners: Owner[] = await Promise.all([0, 1].map(() => cluster.owner({ credit: 5_000, keys: 2 })));
  const make = async (parent: Account, credit: number): Promise<User> => ({
    ...(await cluster.subaccount(parent, { CreditGranted: credit })),
    parent,
    credit,
  });
  const children = await Promise.all(
    Array.from({ length: count }, (_, i) => make(owners[i % owners.length]!, CREDIT * 2)),
  );
  const users = [
    ...children,
    ...(await Promise.all(children.slice(0, 2).map((child) => make(child, CREDIT)))),
  ];
  const limited: Limited[] = await Promise.all(
    Array.from({ length: options.limited === true ? 3 : 0 }, async () => ({
      ...(await cluster.subaccount(owners[0]!, { CreditGranted: CREDIT, RPM })),
      rpm: RPM,
    })),
  );
  const attempts: Attempt[] = [];
  const movements: Movement[] = [];
  const troubles: string[] = [];
  const avoided = new Set<ClusterNode>();
  const beganAt = performance.now();
  let endedAt = Number.POSITIVE_INFINITY;
  let answered = 0;
  let over = false;

  const addresses = (): string[] => {
    const nodes = cluster.nodes.filter((node) => node.isReachable() && !avoided.has(node));
    return [cluster.balancer.url, ...(options.onlyBalanced === true ? [] : nodes.map((node) => node.url()))];
  };

  async function once(intent: string, said: Said, turn: number): Promise<Attempt> {
    const all = addresses();
    const url = all[turn % all.length]!;
    const made = await attempt(url, intent, said, (begun) => void attempts.push(begun));
    if (made.complete) answered++;
    return made;
  }

  async function client(nth: number, shape: Pick<Said, "streamed" | "output" | "pauseMs">): Promise<void> {
    for (let i = 0; !over; i++) {
      const user = users[(nth + i) % users.length]!;
      const intent = `thing-${fresh()}`;
      const key = !onlyOnce && (nth + i) % 2 === 0 ? intent : null;
      const until = Date.now() + AGAIN_MS;
      for (let tries = 0; ; tries++) {
        const made = await once(intent, { user, ...shape, key }, nth + i + tries);
        if (key === null || isAnswer(made) || Date.now() > until) break;
        await Bun.sleep(Math.min(100 * 2 ** tries, 1_000));
      }
      await Bun.sleep(THINK_MS);
    }
  }

  /** Asks for more than is allowed, and never twice for the same. */
  async function hammer(account: Limited, nth: number): Promise<void> {
    for (let i = 0; !over; i++) {
      const shape = { streamed: i % 3 === 0, output: 4, pauseMs: 0 };
      await once(`thing-${fresh()}`, { user: account, ...shape, key: null }, nth + i);
      await Bun.sleep(THINK_MS * 2);
    }
  }

  /** A write that is repeated with its key until its outcome is known. */
  async function callNode(key: string, method: string, path: string, body: object): Promise<Json> {
    const headers = { "idempotency-key": `write-${fresh()}` };
    for (const end = Date.now() + AGAIN_MS; Date.now() < end; await Bun.sleep(300)) {
      const signal = AbortSignal.timeout(30_000);
      const answer = await cluster.call(key, method, path, body, { headers, signal }).catch(() => null);
      if (answer !== null && answer.status < 500) return answer;
      if (answer?.status === 500) troubles.push(`${method} ${path}: 500 ${answer.text}`);
    }
    troubles.push(`${method} ${path} was not answered within ${AGAIN_MS} ms`);
    return null;
  }

  async function administrate(): Promise<void> {
    for (let i = 0; !over; i++) {
      const account = users[i % users.length]!;
      const movement: Movement = { account, amount: i % 3 === 2 ? -0.5 : 0.75, status: 0 };
      movements.push(movement);
      const put = { CreditGranted: movement.amount };
      movement.status =
        (await callNode(account.parent.key, "PUT", `/x-users/${account.id}`, put))?.status ?? 0;
      if (over) break;
      const config = { LEVEL_MAPPER: `*=1, spare-${i}=2` };
      const changed = await callNode(owners[i % 2]!.key, "PUT", "/x-config", config);
      if (changed !== null && changed.status !== 200)
        troubles.push(`PUT /x-config: ${changed.status} ${changed.text}`);
      await Bun.sleep(THINK_MS * 3);
    }
  }

  const short = (streamed: boolean) => ({ streamed, output: 9, pauseMs: streamed ? 5 : 0 });
  const long = { streamed: true, output: 30, pauseMs: Math.round(longMs / 30) };
  const running = [
    ...Array.from({ length: clients }, (_, nth) => client(nth, short(false))),
    ...Array.from({ length: clients }, (_, nth) => client(nth + 1, short(true))),
    ...Array.from({ length: clients }, (_, nth) => client(nth + 2, long)),
    ...limited.flatMap((account) => [0, 1, 2].map((nth) => hammer(account, nth))),
    ...(options.administration === false ? [] : [administrate()]),
  ];
  return {
    users,
    limited,
    attempts,
    movements,
    troubles,
    async runs(more) {
      const target = answered + more;
      await until(`${more} more requests are answered`, () => answered >= target, 120_000);
    },
    avoid: (node, avoids) => void (avoids ? avoided.add(node) : avoided.delete(node)),
    async stop() {
      over = true;
      await Promise.all(running);
      endedAt = performance.now();
    },
    minutes: () => Math.floor((Math.min(endedAt, performance.now()) - beganAt) / 60_000) + 1,
  };
}
