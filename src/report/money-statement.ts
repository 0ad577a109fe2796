// The statement of money: where all credit that ever came into a tree is, so that nothing is missing and
// nothing came from nowhere (contract section 8, `/x-money`). It adds up nothing itself: the store has the
// sums of all trees as of one consistent cut.
//
// Adding up reads a row of every account, so one node does it for all trees and the whole cluster, at most
// once a minute: the one that owns Root. The others ask that node. Requests that come meanwhile wait for the
// same computation; after a failure the next one begins FAILED_MS later, and until then is refused.

import { type AccountId, ownerOf, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock } from "../base/clock.ts";
import { SingleFlight } from "../base/coalesce.ts";
import { UnavailableError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { actorName } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { MoneyTotals, TreeMoney } from "../store/money-fold.ts";
import type { Store } from "../store/store.ts";

/** A statement in nano-dollars. `minted` to `writtenOff` came in, the others are there or went. */
export interface MoneyStatement extends Readonly<TreeMoney> {
  /** When it was computed, wall-clock milliseconds. */
  readonly at: number;
  /** What came in, less what is there or went: 0, or a bug. */
  readonly difference: bigint;
  /** What running requests reserve of the balances. */
  readonly held: bigint;
}

/** Statements of this cluster. */
export interface MoneyReport {
  /**
   * Returns the statement of an Owner's tree; Root's is of all accounts. One that is younger than a minute is returned
   * again. Rejects with `UnavailableError` or `StoreBusyError` when it cannot be computed now.
   */
  statement(owner: AccountId): Promise<MoneyStatement>;
}

/** What the statements are made from. */
export interface MoneyReportParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** What requests that run on this node reserve, by account, in nano-dollars. */
  readonly heldHere: () => readonly (readonly [account: AccountId, cost: number])[];
}

const [FRESH_MS, FAILED_MS] = [60_000, 5_000];
/** How long other nodes may take to report their holds, and the node that computes to answer. */
const [HELD_MS, ANSWER_MS] = [1_000, 20_000];
/** Accounts whose trees one query reads. */
const ACCOUNTS_MAX = 500;
/**
 * A cut that does not add up is computed again with all commits of so long (ms): after a crash, commits of before may
 * be covered by no snapshot for a while.
 */
const FAR_MS = 24 * 60 * 60_000;

const QUERIES = { held: "held", statement: "money" } as const;

/** The sums of all trees, as they were computed. */
interface Computed {
  readonly at: number;
  readonly totals: MoneyTotals;
  /** By tree. */
  readonly held: ReadonlyMap<number, bigint>;
}

/** Creates the statements of a node, and lets other nodes ask for them. */
export function createMoneyReport(parts: MoneyReportParts): MoneyReport {
  const { system, clock } = parts;
  const running = new SingleFlight<"all", Computed>();
  let computed: Computed | null = null;
  let failed: { readonly at: number; readonly error: unknown } | null = null;
  /** Whether a moment (wall-clock milliseconds) is near, also when the clock went back since. */
  const isWithin = (at: number, ms: number) => Math.abs(clock.wall() - at) < ms;

  async function fresh(): Promise<Computed> {
    if (computed !== null && isWithin(computed.at, FRESH_MS)) return computed;
    if (failed !== null && isWithin(failed.at, FAILED_MS)) throw failed.error;
    return running.run("all", async () => {
      try {
        computed = await compute(parts);
        return computed;
      } catch (error) {
        failed = { at: clock.wall(), error };
        throw error;
      }
    });
  }

  async function statementHere(owner: AccountId): Promise<MoneyStatement> {
    const all = await fresh();
    return statementOf(all, owner);
  }

  system.serveQuery(QUERIES.held, () => parts.heldHere());
  system.serveQuery(QUERIES.statement, async (owner) =>
    asText(await statementHere(Number(owner) as AccountId)),
  );

  return {
    async statement(owner) {
      const query = { name: QUERIES.statement, input: owner };
      return fromText(await system.queryOwner(actorRef.account(ROOT), query, ANSWER_MS));
    },
  };
}

/** Adds everything up, and logs what does not add up. */
async function compute(parts: MoneyReportParts): Promise<Computed> {
  const { system, store, clock, log } = parts;
  const at = clock.wall();
  const nodes = await system.overview(HELD_MS);
  const ages = nodes.map(({ stats }) => stats?.figures.watermarkAgeMs ?? 0);
  const since = at - Math.max(0, ...ages);
  let totals = await store.moneyTotals(since);
  if (!addsUp(totals)) totals = await store.moneyTotals(since - FAR_MS);
  if (!addsUp(totals)) {
    for (const tree of [ROOT, ...totals.trees.keys()]) {
      const { difference } = statementOf({ at, totals, held: new Map() }, tree as AccountId);
      if (difference !== 0n) log("error", "money_difference", { tree, nano: String(difference) });
    }
  }
  return { at, totals, held: await heldByTree(parts) };
}

const addsUp = (totals: MoneyTotals): boolean =>
  [ROOT, ...totals.trees.keys()].every(
    (tree) => statementOf({ at: 0, totals, held: new Map() }, tree as AccountId).difference === 0n,
  );

/** What running requests of all nodes reserve, by tree. A node that does not answer in time is left out. */
async function heldByTree({ system, store }: MoneyReportParts): Promise<Map<number, bigint>> {
  const costs = new Map<number, number>();
  for (const { answer } of await system.queryNodes({ name: QUERIES.held, input: null }, HELD_MS)) {
    if (!Array.isArray(answer)) continue;
    for (const [account, cost] of answer as [number, number][])
      costs.set(account, (costs.get(account) ?? 0) + cost);
  }
  const held = new Map<number, bigint>();
  const ids = [...costs.keys()];
  for (let i = 0; i < ids.length; i += ACCOUNTS_MAX) {
    const where = [{ field: "id", is: "in", value: ids.slice(i, i + ACCOUNTS_MAX) }] as const;
    for (const { id, dna } of await store.find({ table: "accounts", where, order: "id" })) {
      const account = { id: Number(id) as AccountId, dna: String(dna) };
      const tree = ownerOf(account);
      held.set(tree, (held.get(tree) ?? 0n) + BigInt(costs.get(account.id) ?? 0));
    }
  }
  return held;
}

/** The sums that all trees have together; what Root minted and destroyed is in its own tree alone. */
const SHARED = [
  ...(["adjusted", "writtenOff", "charges", "fees", "expired"] as const),
  ...(["balances", "underWay"] as const),
] as const;

function statementOf({ at, totals, held }: Computed, owner: AccountId): MoneyStatement {
  const all = owner === ROOT;
  const sums: TreeMoney = { ...(totals.trees.get(owner) ?? NOTHING) };
  if (all) {
    [sums.movedIn, sums.movedOut] = [0n, 0n];
    for (const name of SHARED) {
      sums[name] = 0n;
      for (const tree of totals.trees.values()) sums[name] += tree[name];
    }
  }
  const reserved = all ? [...held.values()].reduce((sum, one) => sum + one, 0n) : (held.get(owner) ?? 0n);
  return { at, ...sums, difference: differenceOf(sums), held: reserved };
}

/** What came in, less what is there or went. */
export const differenceOf = (sums: Readonly<TreeMoney>): bigint =>
  sums.minted +
  sums.movedIn +
  sums.adjusted +
  sums.writtenOff -
  (sums.balances + sums.underWay + sums.charges + sums.fees + sums.expired + sums.returned + sums.movedOut);

const NOTHING: Readonly<TreeMoney> = {
  ...{ minted: 0n, movedIn: 0n, adjusted: 0n, writtenOff: 0n, balances: 0n, underWay: 0n },
  ...{ charges: 0n, fees: 0n, expired: 0n, returned: 0n, movedOut: 0n },
};

/** A statement as plain data: nodes exchange JSON, which has no such integers. */
const asText = (statement: MoneyStatement): Record<string, string> =>
  Object.fromEntries(Object.entries(statement).map(([name, value]) => [name, String(value)]));

/** Reads the answer of the node that computes. */
function fromText(answer: unknown): MoneyStatement {
  const texts = answer as Partial<Record<keyof MoneyStatement, string>> | null;
  if (typeof texts?.difference !== "string")
    throw new UnavailableError(actorName(actorRef.account(ROOT)), "the sums were not computed");
  const sums = Object.fromEntries(
    [...Object.keys(NOTHING), "difference", "held"].map((name) => [
      name,
      BigInt(texts[name as keyof MoneyStatement] ?? "0"),
    ]),
  ) as unknown as Omit<MoneyStatement, "at">;
  return { ...sums, at: Number(texts.at) };
}
