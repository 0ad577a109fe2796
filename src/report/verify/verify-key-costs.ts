// Compares the stored sums by day and provider key with the charges in the ledger. A store keeps sums over all
// actors, of the lines that are projected, or a sum for each actor, up to a seq. It holds the sums of two days.

import type { AuditView } from "../../store/audit.ts";
import { type ActorKeyCost, dayOfTime, type KeyCost, keyCostOf } from "../../store/key-costs.ts";
import type { Commit } from "../../store/store.ts";
import { exactUsd } from "./conservation.ts";
import type { Findings } from "./findings.ts";

const nameOf = ({ day, key }: Pick<KeyCost, "day" | "key">): string => `${day}, provider key ${key}`;

/** The sums over all actors, to which the lines of each actor are added. */
export class KeyCostComparison {
  readonly #stored: ReadonlyMap<string, bigint>;
  readonly #days: ReadonlySet<string>;
  readonly #computed = new Map<string, bigint>();

  private constructor(stored: readonly KeyCost[]) {
    this.#stored = new Map(stored.map((one) => [nameOf(one), one.cost]));
    this.#days = new Set(stored.map(({ day }) => day));
  }

  static async open(audit: AuditView): Promise<KeyCostComparison> {
    return new KeyCostComparison(await audit.keyCosts());
  }

  /** Begins the comparison of an actor. */
  async actor(actor: string, audit: AuditView): Promise<ActorKeyCosts> {
    return new ActorKeyCosts(actor, await audit.keyCostsOf(actor), this);
  }

  /** Adds a projected line. */
  add(line: KeyCost): void {
    if (!this.#days.has(line.day)) return;
    const name = nameOf(line);
    this.#computed.set(name, (this.#computed.get(name) ?? 0n) + line.cost);
  }

  /** Reports sums that differ, once all actors are read. */
  report(findings: Findings): void {
    for (const name of new Set([...this.#stored.keys(), ...this.#computed.keys()])) {
      compare(name, this.#stored.get(name) ?? 0n, this.#computed.get(name) ?? 0n, findings);
    }
  }
}

/** The comparison of one actor, whose lines are given in order. */
export class ActorKeyCosts {
  readonly #sums: Map<string, { readonly stored: ActorKeyCost; computed: bigint }>;
  /** The seq of the last commit that was read. */
  seq = 0;

  constructor(
    private readonly actor: string,
    stored: readonly ActorKeyCost[],
    private readonly all: KeyCostComparison,
  ) {
    this.#sums = new Map(stored.map((one) => [nameOf(one), { stored: one, computed: 0n }]));
  }

  /** Adds the next line, an event of the commit `seq`. `isProjected`: it is in the sums over all actors. */
  add(seq: number, { at, e }: Commit["events"][number], isProjected: boolean): void {
    const found = keyCostOf(e);
    if (found === null) return;
    const line: KeyCost = { day: dayOfTime(at), key: found.key, cost: BigInt(found.cost) };
    if (isProjected) this.all.add(line);
    const sum = this.#sums.get(nameOf(line));
    if (sum !== undefined && seq > sum.stored.after && seq <= sum.stored.seq) sum.computed += line.cost;
  }

  /** Reports sums that differ. One that is newer than the commits that were read is not compared. */
  finish(findings: Findings): void {
    for (const [name, { stored, computed }] of this.#sums) {
      if (stored.seq <= this.seq) compare(`${name} of ${this.actor}`, stored.cost, computed, findings);
    }
  }
}

function compare(where: string, stored: bigint, computed: bigint, findings: Findings): void {
  if (stored === computed) return;
  findings.add("key_costs", where, `the sum is ${exactUsd(stored)} USD, computed ${exactUsd(computed)}`);
}
