// Sums of credit by tree: what each account's ledger says was created, spent, moved and is left, as one small
// row per account that is kept behind the commits (a fold). A tree is an Owner with all accounts below it, by
// the Owner's id; Root's own is 1. `/x-money` adds the rows up. Nothing here reads or writes a database.
//
// Why rows per account, and not sums by line type: an account changes its tree when it is moved, and only a
// fold in the order of its own ledger knows where it was at each line. A row belongs to one seq, so that it
// may be written by any node, late or twice; and 100,000 short rows are added up in a fraction of a second,
// however many lines there are.
// Why transfers stay in the rows until they are settled: what has left one account and not reached the other
// is in no balance. Whether the other has it is looked up by the transfer's dedup id, in the same cut.

/** The sums of a tree, in the order in which a row has them. All are in nano-dollars and mostly positive. */
const MONEY_TERMS = [
  /** Credit that Root gave: to accounts of a tree; of Root's own tree what it created, less what came back refused. */
  "minted",
  "adjusted",
  "writtenOff",
  "charges",
  "fees",
  "expired",
  /** Credit that Root destroyed because it was refunded to it. */
  "returned",
  /** Balances of accounts that were moved here, and transfers that were given in another tree. */
  "movedIn",
  "movedOut",
] as const;
export type MoneyTerm = (typeof MONEY_TERMS)[number];

/** The sums of a tree; `balances` and `underWay` are what there is, the others what happened. */
export type TreeMoney = Record<MoneyTerm | "balances" | "underWay", bigint>;

/** The sums of all trees as of one consistent cut. */
export interface MoneyTotals {
  readonly trees: ReadonlyMap<number, Readonly<TreeMoney>>;
  readonly accounts: number;
}

/** A transfer that was given, and of which its giver does not know yet that it was received. */
export interface PendingMoney {
  readonly id: string;
  /** The account that gives, and the one that receives. */
  readonly from: number;
  readonly to: number;
  readonly amount: number;
  /** The tree in which it was given. */
  readonly tree: number;
}

const ROOT = 1;

/** Where the amount of a line goes; what is not here moves between accounts. 1 counts it, −1 its opposite. */
const LINES: Readonly<Record<string, readonly [MoneyTerm, 1 | -1]>> = {
  charge: ["charges", -1],
  late_charge: ["charges", -1],
  query_fee: ["fees", -1],
  delete_fee: ["fees", -1],
  expire: ["expired", -1],
  write_off: ["writtenOff", 1],
  adjust: ["adjusted", 1],
};

const RECEIPTS: ReadonlySet<string> = new Set(["grant", "transfer_in", "auto_quota", "refund"]);

/** What an event means for the sums. Everything else in it is dropped at once, so that a batch stays small. */
type MoneyChange =
  | { readonly of: "created"; readonly tree: number }
  | { readonly of: "spent"; readonly term: MoneyTerm; readonly amount: number; readonly balance: number }
  | {
      readonly of: "received";
      readonly from: number;
      readonly owner: number | null;
      readonly amount: number;
      readonly balance: number;
    }
  | { readonly of: "gave"; readonly balance: number }
  | { readonly of: "minted"; readonly term: MoneyTerm; readonly amount: number }
  | { readonly of: "pending"; readonly id: string; readonly to: number; readonly amount: number }
  | { readonly of: "settled"; readonly id: string }
  | { readonly of: "returned"; readonly id: string; readonly amount: number; readonly balance: number }
  | { readonly of: "moving"; readonly id: string; readonly tree: number }
  | { readonly of: "moved"; readonly id: string };

/** The changes of one commit of an account. */
export interface MoneyChanges {
  readonly actor: string;
  readonly seq: number;
  readonly changes: readonly MoneyChange[];
}

const PREFIX = "account/";

/** Whether an actor's commits may move credit. */
export const hasMoney = (actor: string): boolean => actor.startsWith(PREFIX);

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
const wholeOf = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The tree of an account: the second account that its DNA lists, or else itself. */
const treeOf = (dna: unknown, id: number): number => Number(textOf(dna).split(".")[2] || id);

/** The parts of a commit that its changes are made of. */
interface MoneyCommit {
  readonly actor: string;
  readonly seq: number;
  readonly events: readonly { readonly e: unknown }[];
}

/** What a commit of an account means for the sums. */
export function moneyChanges({ actor, seq, events }: MoneyCommit): MoneyChanges {
  const account = Number(actor.slice(PREFIX.length));
  const changes = events.flatMap(({ e }) => changeOf(fieldsOf(e), account) ?? []);
  return { actor, seq, changes };
}

function changeOf(e: Fields, account: number): MoneyChange | null {
  const type = textOf(e.type);
  const [id, amount, balance] = [textOf(e.id), wholeOf(e.amount), wholeOf(e.balanceAfter)];
  const spent = Object.hasOwn(LINES, type) ? LINES[type] : undefined;
  if (spent !== undefined) return { of: "spent", term: spent[0], amount: amount * spent[1], balance };
  if (RECEIPTS.has(type)) {
    const owner = e.owner === undefined ? null : wholeOf(e.owner);
    return { of: "received", from: wholeOf(e.from), owner, amount, balance };
  }
  switch (type) {
    case "created":
      return { of: "created", tree: treeOf(fieldsOf(e.profile).dna, account) };
    case "transfer_out":
    case "refund_out":
      return { of: "gave", balance };
    case "minted":
      return amount < 0 && !id.endsWith(":returned")
        ? { of: "minted", term: "returned", amount: -amount }
        : { of: "minted", term: "minted", amount };
    case "owing": {
      const { id: transfer, to, amount: given } = fieldsOf(e.transfer);
      return { of: "pending", id: textOf(transfer), to: wholeOf(to), amount: wholeOf(given) };
    }
    case "settled":
      return { of: "settled", id };
    case "returned":
      return { of: "returned", id, amount, balance };
    case "moving":
      return { of: "moving", id, tree: treeOf(e.dna, account) };
    case "moved":
      return { of: "moved", id };
    default:
      return null;
  }
}

/** The sums of one account's ledger up to a seq. */
export class MoneyFold {
  seq = 0;
  /** The tree of the account now; 0 until it is created. */
  #tree = 0;
  /** The book balance that the last line states. */
  #balance = 0;
  /** The move that was asked for last, and the tree that it leads to. */
  #moving: readonly [id: string, tree: number] | null = null;
  readonly #trees = new Map<number, bigint[]>();
  readonly #pending = new Map<string, Omit<PendingMoney, "from" | "id">>();

  constructor(readonly actor: string) {}

  /** Adds the next commit. A commit that the row has already changes nothing. */
  add({ seq, changes }: MoneyChanges): void {
    if (seq <= this.seq) return;
    for (const change of changes) this.#apply(change);
    this.seq = seq;
  }

  #apply(change: MoneyChange): void {
    switch (change.of) {
      case "created":
        this.#tree = change.tree;
        return;
      case "spent":
        this.#count(this.#tree, change.term, change.amount);
        this.#balance = change.balance;
        return;
      case "received":
        if (change.from === ROOT) this.#count(this.#tree, "minted", change.amount);
        else this.#cross(change.owner ?? this.#tree, change.amount);
        this.#balance = change.balance;
        return;
      case "gave":
        this.#balance = change.balance;
        return;
      case "minted":
        this.#count(this.#tree, change.term, change.amount);
        return;
      case "pending":
        this.#pending.set(change.id, { to: change.to, amount: change.amount, tree: this.#tree });
        return;
      case "settled": {
        const pending = this.#pending.get(change.id);
        this.#pending.delete(change.id);
        if (pending?.to === ROOT && this.#tree !== ROOT)
          this.#count(pending.tree, "returned", pending.amount);
        return;
      }
      case "returned": {
        const pending = this.#pending.get(change.id);
        this.#pending.delete(change.id);
        if (pending !== undefined) this.#cross(pending.tree, change.amount);
        this.#balance = change.balance;
        return;
      }
      case "moving":
        this.#moving = [change.id, change.tree];
        return;
      case "moved":
        this.#move(change.id);
        return;
    }
  }

  /** The account takes its balance with it. What it has given stays under way in the tree that it leaves. */
  #move(id: string): void {
    if (this.#moving?.[0] !== id) return;
    const [from, to] = [this.#tree, this.#moving[1]];
    this.#moving = null;
    this.#tree = to;
    this.#cross(from, this.#balance);
  }

  /** Counts credit that came from a tree into that of the account, if that is another. */
  #cross(from: number, amount: number): void {
    if (from === this.#tree) return;
    this.#count(from, "movedOut", amount);
    this.#count(this.#tree, "movedIn", amount);
  }

  #count(tree: number, term: MoneyTerm, amount: number): void {
    let sums = this.#trees.get(tree);
    if (sums === undefined) {
      sums = MONEY_TERMS.map(() => 0n);
      this.#trees.set(tree, sums);
    }
    sums[PLACES[term]]! += BigInt(amount);
  }

  /** The transfers that it has given, whose end it does not know. */
  pending(): PendingMoney[] {
    const from = Number(this.actor.slice(PREFIX.length));
    return [...this.#pending].map(([id, pending]) => ({ ...pending, id, from }));
  }

  hasPending(id: string): boolean {
    return this.#pending.has(id);
  }

  /** The row as text: tree, balance, move, sums by tree, and pending transfers. Equal folds have equal texts. */
  toText(): string {
    const trees = [...this.#trees].map(([tree, sums]) => [tree, ...sums.map(decimal)]);
    const pending = [...this.#pending].map(([id, { to, amount, tree }]) => [id, to, amount, tree]);
    return JSON.stringify([this.#tree, this.#balance, this.#moving, trees, pending]);
  }

  /** Reads a row. Throws for a text that `toText` does not write. */
  static fromText(actor: string, seq: number, text: string): MoneyFold {
    const fold = new MoneyFold(actor);
    fold.seq = seq;
    const [tree, balance, moving, trees, pending] = JSON.parse(text) as readonly [
      number,
      number,
      readonly [string, number] | null,
      readonly (readonly [number, ...(number | string)[]])[],
      readonly (readonly [string, number, number, number])[],
    ];
    fold.#tree = tree;
    fold.#balance = balance;
    fold.#moving = moving;
    for (const [one, ...sums] of trees) fold.#trees.set(one, sums.map(BigInt));
    for (const [id, to, amount, given] of pending) fold.#pending.set(id, { to, amount, tree: given });
    return fold;
  }

  /** Adds the account to the sums of all trees. */
  addTo(sums: MoneySums): void {
    for (const [tree, terms] of this.#trees) sums.addTerms(tree, terms);
    sums.addBalance(this.#tree, this.#balance);
    sums.pending.push(...this.pending());
  }
}

const PLACES = Object.fromEntries(MONEY_TERMS.map((term, i) => [term, i])) as Record<MoneyTerm, number>;

/** A sum as JSON has it: a number as long as that is exact. */
const decimal = (sum: bigint): number | string =>
  sum <= Number.MAX_SAFE_INTEGER && sum >= -Number.MAX_SAFE_INTEGER ? Number(sum) : String(sum);

/** Adds up accounts, each once, as of one cut. */
export class MoneySums {
  /** Transfers whose giver does not know their end; `totals` needs to know which of them were received. */
  readonly pending: PendingMoney[] = [];
  readonly #trees = new Map<number, TreeMoney>();
  #accounts = 0;

  /** Adds sums of a tree, in the order of MONEY_TERMS. */
  addTerms(tree: number, sums: readonly bigint[]): void {
    const of = this.#of(tree);
    for (const [i, term] of MONEY_TERMS.entries()) of[term] += sums[i]!;
  }

  /** Adds an account with its balance. */
  addBalance(tree: number, balance: number): void {
    // An account that was never created has no tree.
    if (tree === 0) return;
    this.#accounts++;
    this.#of(tree).balances += BigInt(balance);
  }

  /**
   * The sums, once it is known which of the pending transfers their receivers have within the cut: a transfer to Root
   * is then destroyed, any other one is in the receiver's balance.
   */
  totals(isReceived: (transfer: PendingMoney) => boolean): MoneyTotals {
    for (const transfer of this.pending.splice(0)) {
      const of = this.#of(transfer.tree);
      if (!isReceived(transfer)) of.underWay += BigInt(transfer.amount);
      else if (transfer.to === ROOT && transfer.from !== ROOT) of.returned += BigInt(transfer.amount);
    }
    return { trees: this.#trees, accounts: this.#accounts };
  }

  #of(tree: number): TreeMoney {
    let sums = this.#trees.get(tree);
    if (sums === undefined) {
      sums = { ...NOTHING };
      this.#trees.set(tree, sums);
    }
    return sums;
  }
}

const NOTHING = Object.fromEntries(
  [...MONEY_TERMS, "balances", "underWay"].map((name) => [name, 0n]),
) as TreeMoney;
