// A large store, written in bulk: accounts below an Owner who is there already, their credit, a month of charges, and all
// that is derived from it, through the store's own contract. `verify` finds nothing wrong with it. Knows no clock: the
// month begins when the Owner was made.

import { account } from "../actors/account/account.ts";
import { type AccountId, dnaBelow } from "../actors/ids.ts";
import { actorRef } from "../actors/index.ts";
import { toNano, ZERO } from "../actors/money.ts";
import { DAY_MS } from "../actors/time.ts";
import { realClock, realRandom } from "../src/base/clock.ts";
import { hashKey } from "../src/gateway/account/identify.ts";
import { DedupTable } from "../src/runtime/activation/dedup-table.ts";
import { loadState } from "../src/runtime/activation/replay.ts";
import { actorName } from "../src/runtime/actor.ts";
import { LIMITS } from "../src/runtime/limits.ts";
import { createSingleNodePlacement } from "../src/runtime/placement/single-node.ts";
import { openStore } from "../src/store/open.ts";
import { rowWrites } from "../src/store/sqlite/claims.ts";
import { connectSqlite } from "../src/store/sqlite/connection.ts";
import type { Commit, Save, Store } from "../src/store/store.ts";
import { chargesOf, DAYS, type Marks, type Used } from "./scale-charges.ts";
import { type Life, lifeOf } from "./scale-life.ts";

/** One in a hundred accounts has accounts below itself: half of all. */
const TEAM = 50;
const CREDIT = toNano(2_000_000_000);
/** What the Owner needs for so many accounts, in US dollars. */
export const creditFor = (accounts: number): number => (accounts + 1_000) * 4;

export interface Filled {
  readonly used: Used;
  /** Lines of the Owner's ledger, and of the operation log: one for each account. */
  readonly ledgerLines: number;
  readonly logLines: number;
  /** How many of these are children of the Owner. */
  readonly children: number;
  readonly ids: readonly AccountId[];
}

export const keyOf = (id: AccountId): string => `sk-scale-${String(id).padStart(32, "0")}`;

/** Fills the store at `path`, on which no service runs. `charges`: of all accounts together. */
export async function fill(
  path: string,
  plan: {
    readonly owner: AccountId;
    readonly accounts: number;
    readonly charges: number;
    readonly marks: Marks;
  },
): Promise<Filled> {
  const clock = realClock();
  const store = await openStore(`sqlite:${path}`, { clock, onError: (error) => console.error(error) });
  const name = actorName(actorRef.account(plan.owner));
  const ids = new DedupTable(LIMITS);
  const fold = await loadState({
    store,
    behavior: account,
    ref: actorRef.account(plan.owner),
    name,
    ids,
    page: 1_000,
  });
  const bornAt = fold.position.at;
  const { epoch } = fold.position;
  const by = realRandom(clock).id();
  const writer = bulk(store);

  const first = await store.reserveIds("account", plan.accounts);
  const all = Array.from({ length: plan.accounts }, (_, i) => (first + i) as AccountId);
  const owner = lifeOf(plan.owner, epoch, by, fold);
  const used: Used = { requests: 0, cost: 0n };
  const half = Math.ceil(all.length / 2);
  const each = Math.floor(plan.charges / plan.accounts);

  for (const [i, id] of all.slice(0, half).entries()) {
    const life = lifeOf(id, epoch, by);
    birth(owner, life, id, bornAt, CREDIT * (i < half / TEAM ? TEAM + 1 : 1));
    if (owner.open > 200) await writer.commit(owner.cut());
    await writer.commit(life.cut());
    const team = i < half / TEAM ? all.slice(half + i * TEAM, half + (i + 1) * TEAM) : [];
    for (const member of team) {
      const one = lifeOf(member, epoch, by);
      birth(life, one, member, bornAt, CREDIT);
      await writer.commit(one.cut());
      await spend(one, member);
    }
    await writer.commit(life.cut());
    await spend(life, id);
  }
  await writer.commit(owner.cut());
  const { snapshot, documents } = owner.save();
  await writer.save({ snapshot, documents });
  await writer.end();
  await logged(store, plan.owner, all, bornAt);

  async function spend(life: Life, id: AccountId): Promise<void> {
    for (const { at, charges } of chargesOf(id, each, bornAt, { used, marks: plan.marks })) {
      for (const facts of charges) life.live({ type: "charge", ...facts }, facts.id, at);
      await writer.commit(life.cut());
    }
    await writer.save(life.save());
  }

  // All is covered by snapshots, as a service that runs for a month sees to it.
  const placement = createSingleNodePlacement({ registry: store, node: "scale" });
  await placement.join();
  await placement.advance(bornAt + DAYS * DAY_MS);
  await store.close();
  claim(path, all, bornAt);
  return { used, children: half, ids: all, ledgerLines: snapshot.linesTo, logLines: all.length };
}

/** A line of the operation log for each account, as the Owner would have left it: one a second. */
async function logged(store: Store, owner: AccountId, ids: readonly AccountId[], at: number): Promise<void> {
  const first = await store.reserveIds("log", ids.length);
  const lines = ids.map((id, nth) => ({
    ...{ id: first + nth, at: at + nth * 1_000, action: "add_user", operator: owner, target: id },
    ...{ targetType: "user", targetDna: `${branchOf(owner)}${id}.`, status: "success" },
    ...{ details: "", ip: "127.0.0.1" },
  }));
  for (let from = 0; from < lines.length; from += PER_TRANSACTION) {
    const some = lines.slice(from, from + PER_TRANSACTION);
    await store.putRecords(some.map((body) => ({ table: "logs", id: String(body.id), body })));
  }
}

/** The parent gives, the newborn takes, the parent knows. */
function birth(parent: Life, child: Life, id: AccountId, at: number, amount: number): void {
  const mark = `scale-birth-${id}`;
  const named = { id, name: nameOf(id), email: `${nameOf(id)}@scale.example`, keyHash: hashKey(keyOf(id)) };
  const gift = { id: mark, bornAt: at, amount: toNano(amount), days: 3_650, keep: ZERO };
  parent.live({ type: "createChild", ...gift, child: named }, mark, at);
  for (const effect of parent.owed()) {
    child.live(effect.command as Parameters<Life["live"]>[0], effect.id, at);
    parent.live({ type: "effectDone", effect: effect.id, refused: null }, `${mark}-done`, at);
  }
}

const nameOf = (id: AccountId): string => `scale-${id}`;

/** Everybody's name and key. A claim is a transaction of its own; here thousands share one. */
function claim(path: string, ids: readonly AccountId[], at: number): void {
  const connection = connectSqlite(path);
  const rows = rowWrites(connection);
  for (let i = 0; i < ids.length; i += PER_TRANSACTION) {
    connection.transaction(() => {
      for (const id of ids.slice(i, i + PER_TRANSACTION)) {
        for (const key of [`name:${nameOf(id)}`, `key:${hashKey(keyOf(id))}`]) {
          rows.claim(key, id, "scale", at);
          rows.confirm(key, "scale");
        }
      }
    });
  }
  connection.close();
}

const PER_TRANSACTION = 5_000;
const COMMITS_AT_ONCE = 512;
const DOCUMENTS_AT_ONCE = 1_000;

/** Gathers what is stored, so that a transaction holds many. Saves wait for the commits that they cover. */
function bulk(store: Store) {
  let commits: Commit[] = [];
  let saves: Save[] = [];
  let documents = 0;
  async function flush(): Promise<void> {
    const outcomes = await store.append(commits);
    if (outcomes.some((outcome) => outcome !== "committed")) throw new Error("a commit was not stored");
    commits = [];
  }
  async function write(): Promise<void> {
    await flush();
    await store.save(saves);
    saves = [];
    documents = 0;
  }
  return {
    async commit(commit: Commit | null) {
      if (commit !== null) commits.push(commit);
      if (commits.length >= COMMITS_AT_ONCE) await flush();
    },
    async save(save: Save) {
      saves.push(save);
      documents += save.documents.length;
      if (documents >= DOCUMENTS_AT_ONCE) await write();
    },
    end: write,
  };
}

/** Where the accounts below an Owner stand. */
export const branchOf = (owner: AccountId): string => dnaBelow(".1.", owner);
