// Compares an account's usage by API key, tag and hour with its ledger: folds the charges that are projected into parts, a period
// after another, and compares them with those that the store has. The first hour that the store keeps is left out, because
// some of it may have been removed. It holds the parts of one day and one hour, and the stored ones of the last hours.

import type { AuditedParts, AuditView } from "../../store/audit.ts";
import {
  type ChargeRow,
  dayPeriod,
  hourPeriod,
  isApart,
  type Period,
} from "../../store/usage/charge-rows.ts";
import { PartsFold, PartsTable, type PeriodPart } from "../../store/usage/usage-parts.ts";
import type { LedgerTotals } from "./conservation.ts";
import { differences, type Findings } from "./findings.ts";

/** The fold of one period. */
interface OpenPeriod {
  readonly period: Period;
  readonly stored: AuditedParts | null;
  readonly fold: PartsFold;
  /** The last line that is folded. */
  last: number;
}

/** The comparison of one account, whose charges are given in order. */
export class PartsComparison {
  #day: OpenPeriod | null = null;
  #hour: OpenPeriod | null = null;
  /** The hours that the store keeps, and what it has of this account in them; null before they are needed. */
  #hours: { readonly kept: readonly Period[]; readonly stored: ReadonlyMap<Period, AuditedParts> } | null =
    null;

  constructor(
    private readonly actor: string,
    private readonly parts: {
      readonly audit: AuditView;
      readonly totals: LedgerTotals;
      readonly findings: Findings;
    },
  ) {}

  /** Takes the next charge; `isProjected` says that its line is projected, or has to be. */
  async add(charge: ChargeRow, isProjected: boolean): Promise<void> {
    const hour = hourPeriod(charge.at);
    if (hour >= (await this.#firstHour())) {
      if (this.#hour?.period !== hour) {
        await this.#close(this.#hour);
        this.#hour = opened(hour, this.#hours?.stored.get(hour) ?? null);
      }
      if (isIn(charge, isProjected, this.#hour)) {
        this.#hour.fold.addModel(charge);
        if (isApart(charge)) this.#hour.fold.addApart(charge);
      }
    }
    if (!isApart(charge)) return;
    const day = dayPeriod(charge.at);
    if (this.#day?.period !== day) {
      await this.#close(this.#day);
      const stored = await this.parts.audit.partsOf(this.actor, [day]);
      this.#day = opened(day, stored.get(day) ?? null);
    }
    if (isIn(charge, isProjected, this.#day)) this.#day.fold.addApart(charge);
  }

  async finish(): Promise<void> {
    await this.#close(this.#day);
    await this.#close(this.#hour);
  }

  async #firstHour(): Promise<Period> {
    if (this.#hours === null) {
      const kept = await this.parts.audit.hours();
      this.#hours = { kept, stored: await this.parts.audit.partsOf(this.actor, kept) };
    }
    return this.#hours.kept[0] ?? NEVER;
  }

  async #close(open: OpenPeriod | null): Promise<void> {
    if (open === null) return;
    const { period, stored, fold, last } = open;
    this.parts.totals.usageParts += stored?.parts.length ?? 0;
    if (period === this.#hours?.kept[0]) return;
    // Its lines are newer than the ledger that was read.
    if ((stored?.upTo ?? 0) > last && (await this.parts.audit.moved(this.actor))) return;
    const computed = new PartsTable(fold.added()).parts();
    for (const what of differences(byName(stored?.parts ?? []), byName(computed))) {
      this.parts.findings.add("usage_parts", `usage of ${this.actor} in ${period.slice(1)}`, what);
    }
    if (stored !== null && stored.upTo !== null && stored.upTo !== last) {
      const what = `it ends at line ${stored.upTo}, computed ${last}`;
      this.parts.findings.add("usage_parts", `usage of ${this.actor} in ${period.slice(1)}`, what);
    }
  }
}

/** A text behind all hours. */
const NEVER: Period = "I";

const opened = (period: Period, stored: AuditedParts | null): OpenPeriod => ({
  period,
  stored,
  fold: new PartsFold(new PartsTable()),
  last: 0,
});

/** Whether a charge is in the stored parts of its period, or has to be. Notes it as the last one. */
function isIn({ number }: ChargeRow, isProjected: boolean, open: OpenPeriod): boolean {
  const upTo = open.stored?.upTo ?? null;
  if (upTo === null ? !isProjected : number > upTo) return false;
  open.last = number;
  return true;
}

const byName = (parts: readonly PeriodPart[]): Readonly<Record<string, PeriodPart>> =>
  Object.fromEntries(parts.map((part) => [`${part.kind} ${part.name}=${part.value}`, part]));
