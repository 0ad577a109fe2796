// The prices that answers stated to the clients of a soak, and whether the ledgers say the same: each whole answer one
// charge at the price that came with it, an answer that broke off at most one, and none that nobody asked for.

/** A ledger line as its reader sees it. */
export interface LedgerLine {
  readonly type: string;
  readonly amount: number;
  readonly request_id?: string | null;
}

/** An account of the soak, and what its ledger must agree with. */
export interface ComparedAccount {
  readonly name: string;
  readonly lines: readonly LedgerLine[];
  /** In US dollars, as its status says. */
  readonly balance: number;
}

/** What the sums of all accounts come to, in nano-dollars. */
export interface ComparedSums {
  readonly statedNano: number;
  /** Charges of answers that stated a price, and of those that broke off. */
  readonly chargedNano: number;
  readonly brokenOffNano: number;
}

export const nanoOf = (usd: number | string): number => Math.round(Number(usd) * 1e9);

const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, one) => sum + one, 0);

/** The requests of all clients. */
export class StatedPrices {
  /** By account and request id: the price that its answer stated; null while none has. */
  readonly #accounts = new Map<string, Map<string, number | null>>();

  /** A request leaves. */
  sent(account: string, id: string): void {
    const requests = this.#accounts.get(account) ?? new Map<string, number | null>();
    this.#accounts.set(account, requests.set(id, null));
  }

  /** Its answer came to its end, at this price. */
  stated(account: string, id: string, nano: number): void {
    this.#accounts.get(account)?.set(id, nano);
  }

  /** Adds a line to `findings` for all in which an account's ledger and its clients disagree, and returns its sums. */
  compare({ name, lines, balance }: ComparedAccount, findings: string[]): ComparedSums {
    const requests = this.#accounts.get(name) ?? new Map<string, number | null>();
    const charges = new Map<string, number>();
    for (const { type, amount, request_id } of lines) {
      if (type !== "charge") continue;
      const id = request_id ?? "";
      if (!requests.has(id)) findings.push(`${name}: a charge for ${id}, which nobody asked`);
      if (charges.has(id)) findings.push(`${name}: more than one charge for ${id}`);
      charges.set(id, (charges.get(id) ?? 0) - nanoOf(amount));
    }
    let statedNano = 0;
    for (const [id, nano] of requests) {
      if (nano === null) continue;
      statedNano += nano;
      if (charges.get(id) !== nano)
        findings.push(`${name}: ${id} stated ${nano} nano-dollars, and charged ${charges.get(id) ?? 0}`);
    }
    const whole = sumOf(lines.map(({ amount }) => nanoOf(amount)));
    if (whole !== nanoOf(balance))
      findings.push(`${name}: its lines come to ${whole} nano-dollars, its balance is ${nanoOf(balance)}`);
    const brokenOff = [...charges].filter(([id]) => requests.get(id) === null);
    return {
      statedNano,
      chargedNano: sumOf([...charges.values()]),
      brokenOffNano: sumOf(brokenOff.map(([, nano]) => nano)),
    };
  }
}
