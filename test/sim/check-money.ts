// Checker 3 once more, over the sums that `/x-money` is made from: whenever it is quiet, each tree's credit adds up, and so does all
// of it. Rows are kept for some of the commits and made longer by the rest, as a store's projection does.

import { differenceOf } from "../../src/report/money-statement.ts";
import { hasMoney, MoneyFold, MoneySums, moneyChanges, type TreeMoney } from "../../src/store/money-fold.ts";
import type { Commit } from "../../src/store/store.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

interface MoneyChecker {
  committed(commit: Commit): void;
  /** Everything adds up after the last commit. */
  check(): void;
}

/** Commits between two checks while the simulation runs: every state that it reaches is a prefix of the ledgers. */
const CHECK_COMMITS = 25;

export function moneyChecker(disk: SimDisk, trace: Trace): MoneyChecker {
  /** As a store keeps them: the text of a row at a seq, an older one for most accounts. */
  const rows = new Map<string, { readonly seq: number; readonly sums: string }>();
  const received = new Set<string>();
  let commits = 0;

  function totals() {
    const sums = new MoneySums();
    for (const [actor, ledger] of disk.ledger) {
      if (!hasMoney(actor)) continue;
      const row = rows.get(actor);
      const fold = row === undefined ? new MoneyFold(actor) : MoneyFold.fromText(actor, row.seq, row.sums);
      for (const commit of ledger) if (commit.seq > fold.seq) fold.add(moneyChanges(commit));
      fold.addTo(sums);
      rows.set(actor, { seq: fold.seq, sums: fold.toText() });
    }
    return sums.totals(({ id, to }) => received.has(`account/${to} ${id}`));
  }

  function check(): void {
    const { trees } = totals();
    const all: TreeMoney = { ...trees.get(1)! };
    for (const [tree, sums] of trees) {
      const rest = differenceOf(sums);
      if (tree === 1) continue;
      if (rest !== 0n) trace.violate("3 conservation", `the tree of account ${tree} is ${rest} off`);
      for (const name of SHARED) all[name] += sums[name];
    }
    if (trees.has(1) && differenceOf(all) !== 0n) {
      trace.violate("3 conservation", `the sums of all trees are ${differenceOf(all)} off`);
    }
    trace.count("sums of credit checked");
  }

  return {
    committed(commit) {
      for (const mark of commit.marks) received.add(`${commit.actor} ${mark}`);
      if (hasMoney(commit.actor) && ++commits % CHECK_COMMITS === 0) check();
    },
    check,
  };
}

const SHARED = [
  ...(["adjusted", "writtenOff", "charges", "fees", "expired"] as const),
  ...(["balances", "underWay"] as const),
] as const;
