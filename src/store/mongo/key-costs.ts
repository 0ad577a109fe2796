// The sums of requests by day and provider key in MongoDB: a document for each account, day and key, with the
// seq of the account's ledger up to which it is the sum. A save adds what its commits cost before it stores
// their snapshot; the seq in the filter keeps every line from counting twice.
//
// what a write finds                     what it does
// no document, or one of an older seq    adds the lines of its range
// one of a newer seq                     another node, or an earlier attempt, has counted some of the range: it
//                                        adds the lines after that seq alone
//
// A crash before the snapshot leaves sums that are ahead of it; the next save finds the newer seq.

import type { Collection } from "mongodb";
import { type ActorKeyCost, dayBefore, type KeyCost, KeyCostSums } from "../key-costs.ts";
import type { LinesOfCommit } from "../line-rows.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { Keyed, MongoConnection } from "./connection.ts";
import { duplicatesOf } from "./errors.ts";

/** One sum. Its cost is a double, exact below 9 million USD, which no account has. */
export interface KeyCostDocument extends Keyed {
  readonly actor: string;
  readonly day: string;
  readonly key: number;
  readonly cost: number;
  /** It is the sum of the lines of the commits after `after`, up to `seq`. */
  readonly after: number;
  readonly seq: number;
}

/** The commits of one actor after one seq, up to another; `commits` are those of them that have lines. */
export interface CountedRange {
  readonly actor: string;
  readonly after: number;
  readonly to: number;
  readonly commits: readonly LinesOfCommit[];
}

const keyOf = (actor: string, { day, key }: Pick<KeyCost, "day" | "key">): string => `${actor}/${day}/${key}`;

const sumsOf = (commits: readonly LinesOfCommit[]): KeyCost[] => {
  const sums = new KeyCostSums();
  for (const commit of commits) sums.add(commit);
  return sums.sums();
};

/** Adds to the sums of a database, as far as this node saves. */
export class MongoKeyCosts {
  readonly #connection: MongoConnection;
  readonly #sums: Collection<KeyCostDocument>;
  #newestDay = "";

  constructor(connection: MongoConnection) {
    this.#connection = connection;
    this.#sums = connection.collection("keyCosts");
  }

  /** Adds the lines of these ranges, each once. The ranges of an actor come in the order of its ledger. */
  async count(ranges: readonly CountedRange[]): Promise<void> {
    const additions = ranges.flatMap((range) => sumsOf(range.commits).map((sum) => ({ range, sum })));
    if (additions.length === 0) return;
    const writes = additions.map(({ range: { actor, after, to }, sum: { day, key, cost } }) => ({
      updateOne: {
        filter: { _id: keyOf(actor, { day, key }), seq: { $lte: after } },
        update: {
          $inc: { cost: Number(cost) },
          $set: { seq: to },
          $setOnInsert: { actor, day, key, after },
        },
        upsert: true,
      },
    }));
    const counted = await this.#connection.write(() =>
      duplicatesOf(() => this.#sums.bulkWrite(writes, { ordered: false })),
    );
    for (const place of counted) {
      const { range, sum } = additions[place]!;
      await this.#addRest(range, sum);
    }
    const [newest = ""] = additions.map(({ sum }) => sum.day).sort((a, b) => (a < b ? 1 : -1));
    await this.#dropBefore(newest);
  }

  /** Adds what another write of the same range has left. */
  async #addRest({ actor, commits, to }: CountedRange, { day, key }: KeyCost): Promise<void> {
    const _id = keyOf(actor, { day, key });
    for (;;) {
      const found = await this.#connection.read(() => this.#sums.findOne({ _id }));
      // It is of a day that was dropped meanwhile.
      if (found === null) return;
      const seq = new StoredRow("keyCosts", found).integer("seq");
      if (seq >= to) return;
      const rest = sumsOf(commits.filter((commit) => commit.seq > seq)).find(
        (one) => one.day === day && one.key === key,
      );
      const { modifiedCount } = await this.#connection.write(() =>
        this.#sums.updateOne({ _id, seq }, { $inc: { cost: Number(rest?.cost ?? 0n) }, $set: { seq: to } }),
      );
      if (modifiedCount > 0) return;
    }
  }

  /** Drops the sums of days before the one before `day`, when it is newer than all before. */
  async #dropBefore(day: string): Promise<void> {
    if (day <= this.#newestDay) return;
    this.#newestDay = day;
    await this.#connection.write(() => this.#sums.deleteMany({ day: { $lt: dayBefore(day) } }));
  }
}

/** The sums of the store's contract, on a connection. */
export function mongoKeyCosts({ collection, read }: MongoConnection): Pick<Store, "keyCosts"> {
  return {
    async keyCosts(day, keys) {
      const match = { key: { $in: [...keys] }, day };
      const found = await read(() =>
        collection<KeyCostDocument>("keyCosts")
          .aggregate([{ $match: match }, { $group: { _id: "$key", cost: { $sum: "$cost" } } }])
          .toArray(),
      );
      return new Map(
        found.map(({ _id, cost }) => {
          const row = new StoredRow("keyCosts", { key: _id, cost: String(cost) });
          return [row.integer("key"), row.exactSum("cost")];
        }),
      );
    },
  };
}

/** The sums of one actor. */
export const actorKeyCosts = (
  { collection, read }: MongoConnection,
  actor: string,
): Promise<ActorKeyCost[]> =>
  read(() => collection<KeyCostDocument>("keyCosts").find({ actor }).map(parseActorKeyCost).toArray());

function parseActorKeyCost(stored: unknown): ActorKeyCost {
  const row = new StoredRow("keyCosts", stored);
  return {
    day: row.text("day"),
    key: row.integer("key"),
    cost: row.exactSum("cost"),
    after: row.integer("after"),
    seq: row.integer("seq"),
  };
}
