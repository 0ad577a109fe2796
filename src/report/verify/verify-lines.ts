// Compares the projection of an account's ledger lines with its commits: every line that the store says is
// projected is there, none differs, and none is there that the ledger does not have; and the usage that is projected with them
// (verify-parts.ts). It holds one page of the projection, however many lines there are.

import type { AuditView } from "../../store/audit.ts";
import { type LineRow, lineRows } from "../../store/line-rows.ts";
import type { Commit, LineAnchor } from "../../store/store.ts";
import { chargesOf } from "../../store/usage/charge-rows.ts";
import type { LedgerTotals } from "./conservation.ts";
import { differences, type Findings } from "./findings.ts";
import type { ActorKeyCosts } from "./verify-key-costs.ts";
import { PartsComparison } from "./verify-parts.ts";

const PAGE = 1_000;

/** The comparison of one account, whose commits are given in order. */
export class LineComparison {
  #page: readonly LineRow[] = [];
  #next = 0;
  #isLastPage = false;
  /** The usage that is made of the same lines. */
  readonly #usage: PartsComparison;

  constructor(
    private readonly actor: string,
    /** The lines up to this number are projected; later ones may be. */
    private readonly projected: number,
    private readonly parts: {
      readonly audit: AuditView;
      readonly totals: LedgerTotals;
      readonly findings: Findings;
    },
    /** The sums of provider keys that are made of the same lines. */
    private readonly costs: ActorKeyCosts,
  ) {
    this.#usage = new PartsComparison(actor, parts);
  }

  /** Compares the lines of the next commits; adds to totals and findings. */
  async compare(commits: readonly Commit[]): Promise<void> {
    for (const commit of commits) {
      const charges = chargesOf(commit);
      this.costs.seq = commit.seq;
      const events = commit.events.filter(({ line }) => line);
      for (const [i, line] of lineRows(commit).entries()) {
        const isProjected = await this.#compareLine(line);
        this.costs.add(commit.seq, events[i]!, isProjected);
        const charge = charges[i] ?? null;
        if (charge !== null) await this.#usage.add(charge, isProjected);
      }
    }
  }

  /** Reports what is projected beyond the ledger's end. */
  async finish(): Promise<void> {
    for (let row = await this.#peek(); row !== null; row = await this.#peek()) this.#takeUnknown(row);
    await this.#usage.finish();
    this.costs.finish(this.parts.findings);
  }

  /** Returns whether the line is projected, or has to be. */
  async #compareLine(line: LineRow): Promise<boolean> {
    let row = await this.#peek();
    for (; row !== null && order(row, line) < 0; row = await this.#peek()) this.#takeUnknown(row);
    if (row === null || order(row, line) > 0) {
      if (line.number <= this.projected) this.#report(line.number, "it is not projected");
      return line.number <= this.projected;
    }
    this.#take();
    for (const what of differences(row, line)) this.#report(line.number, what);
    return true;
  }

  /** The next projected line; null when there is none. */
  async #peek(): Promise<LineRow | null> {
    if (this.#next === this.#page.length && !this.#isLastPage) {
      this.#page = await this.parts.audit.lines(this.actor, this.#page.at(-1) ?? null, PAGE);
      this.#next = 0;
      this.#isLastPage = this.#page.length === 0;
    }
    return this.#page[this.#next] ?? null;
  }

  #take(): void {
    this.#next++;
    this.parts.totals.lineRows++;
  }

  #takeUnknown({ number }: LineRow): void {
    this.#take();
    this.#report(number, "it is projected, and the ledger does not have it");
  }

  #report(number: number, what: string): void {
    this.parts.findings.add("line_projection", `line ${number} of ${this.actor}`, what);
  }
}

const order = (a: LineAnchor, b: LineAnchor): number => a.at - b.at || a.number - b.number;
