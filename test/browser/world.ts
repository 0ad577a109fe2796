// The service that the browser tests of one process share, with a tree of accounts that have lived for forty days: it is made
// through the HTTP API alone, at the first call. The accounts are those of world-tree.ts, their life is world-life.ts. Tests that
// change something make accounts of their own below these, and never move the clock.

import type { Log } from "../../src/base/log.ts";
import { consoleUpdate } from "../../src/cli/console-build.ts";
import {
  type Account,
  type Bench,
  type Call,
  callsTo,
  type Json,
  startBench,
  until,
} from "../e2e/harness.ts";
import { shared } from "../shared.ts";
import { live } from "./world-life.ts";
import { plant, type Tree } from "./world-tree.ts";

export type Role = "leaf" | "reseller" | "owner" | "root";
export const ROLES: readonly Role[] = ["leaf", "reseller", "owner", "root"];

const DAY_MS = 86_400_000;
/** Business time when the world is ready: a Thursday, in UTC, far enough in its month and its day to have both. */
export const NOW = Date.UTC(2027, 2, 18, 14, 30);
/** How old the world is then. */
const AGE_DAYS = 40;

export interface World {
  readonly bench: Bench;
  readonly tree: Tree;
  /** Where everything is served, administration too: with `ADMIN_PORT` its own address. */
  readonly adminUrl: string;
  /** Calls the service, at `adminUrl`. */
  readonly call: Call;
  /** By how many milliseconds business time is ahead of the machine's; browsers are as much ahead. */
  readonly aheadMs: number;
  account(role: Role): Account;
}

/** Speaks to the service as the makers of the world do: whatever is not answered with 200 ends the making. */
export type Must = (key: string, method: string, path: string, body?: object) => Promise<Json>;

const mustOf =
  (call: Call): Must =>
  async (key, method, path, body) => {
    const answer = await call(key, method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

/** A console that cannot be built is a reason to stop, and the log of the service says why. */
export const report: Log = (_, event, fields) => console.error(event, fields);

/** Makes a world of its own, such as one whose administration has its own port. */
export async function makeWorld(settings: Record<string, string> = {}): Promise<World> {
  const startAt = NOW - AGE_DAYS * DAY_MS;
  const bench = await startBench({ settings, startAt, console: consoleUpdate(report) });
  const { adminUrl } = bench.service;
  const { call } = callsTo(() => adminUrl);
  const must = mustOf(call);
  const tree = await plant(bench, must);
  const charges = await live({ bench, call, must, tree, now: NOW });
  await settled(must, tree, charges);
  const accounts: Readonly<Record<Role, Account>> = {
    leaf: tree.leaf,
    reseller: tree.reseller,
    owner: tree.owner,
    root: tree.root,
  };
  return {
    ...{ bench, tree, adminUrl, call },
    aheadMs: bench.now() - Date.now(),
    account: (role) => accounts[role],
  };
}

/** Waits until bills have all charges of Root's descendants, and lists what they owe to them: both trail by two seconds. */
async function settled(must: Must, { root, owner, low, nearLimit }: Tree, charges: number): Promise<void> {
  const isKnown = async (): Promise<boolean> => {
    await must(root.key, "POST", "/x-conf", { SaveCache: true });
    const [bill, attention] = await Promise.all([
      must(root.key, "GET", "/x-bill?days=60"),
      must(owner.key, "GET", "/x-attention"),
    ]);
    const found = attention.accounts.map(({ id }: Json) => id);
    return bill.total_requests === charges && found.includes(low.id) && found.includes(nearLimit.id);
  };
  await until(`${charges} charges are in bills`, isKnown);
}

/** The world of this process, closed after all tests. */
export const sharedWorld = shared(makeWorld, ({ bench }) => bench.close());
/** The same where administration has a port of its own. */
export const sharedWorldWithAdminPort = shared(
  () => makeWorld({ ADMIN_PORT: "0" }),
  ({ bench }) => bench.close(),
);
