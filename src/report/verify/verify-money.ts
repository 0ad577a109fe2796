// Compares an account's row of sums of credit with its commits: the row says what they add up to at its seq,
// and is not older than what the store says is projected. The sums are made anew from the first commit.

import type { Derivation } from "../../store/audit.ts";
import { MoneyFold, moneyChanges } from "../../store/money-fold.ts";
import type { Commit } from "../../store/store.ts";
import type { LedgerTotals } from "./conservation.ts";
import type { Findings } from "./findings.ts";

/** The comparison of one account, whose commits are given in order. */
export class MoneyComparison {
  readonly #fold: MoneyFold;

  constructor(
    private readonly actor: string,
    private readonly derived: Pick<Derivation, "money" | "moneyTo">,
    private readonly parts: { readonly totals: LedgerTotals; readonly findings: Findings },
  ) {
    this.#fold = new MoneyFold(actor);
  }

  /** Adds the next commits and compares the row at its seq; adds to totals and findings. */
  compare(commits: readonly Commit[]): void {
    const { money } = this.derived;
    for (const commit of commits) {
      this.#fold.add(moneyChanges(commit));
      if (money?.seq !== commit.seq) continue;
      this.parts.totals.moneyRows++;
      const computed = this.#fold.toText();
      if (money.sums !== computed)
        this.#report(`#${money.seq}: they are ${money.sums}, computed ${computed}`);
    }
  }

  /** Reports a row that is missing, too old, or beyond the ledger's end. */
  finish(): void {
    const { money, moneyTo } = this.derived;
    const seq = money?.seq ?? 0;
    if (seq < moneyTo) this.#report(`they are of #${seq}, and #${moneyTo} is projected`);
    if (seq > this.#fold.seq) this.#report(`they are of #${seq}, the ledger ends at #${this.#fold.seq}`);
  }

  #report(what: string): void {
    this.parts.findings.add("money_sums", `sums of credit of ${this.actor}`, what);
  }
}
