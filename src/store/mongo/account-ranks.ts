// Lists of accounts in the order of a name or a figure. The figures are stored within the documents of accounts, and indexes hold
// them by parent. It reads only.

import type { Document } from "mongodb";
import { type AccountRank, checkRanks, type RankOrder, type RankQuery } from "../account-ranks.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import type { MongoConnection } from "./connection.ts";
import { filterOf } from "./query-builder.ts";

/** The fields of each order; the id breaks ties. */
const FIELDS: Readonly<Record<RankOrder, readonly string[]>> = {
  id: ["id"],
  name: ["nameLower", "id"],
  balance: ["balance", "id"],
  month_cost: ["monthCost", "id"],
};

/** Accounts that meet a filter, in the order of some fields. */
interface Stretch {
  readonly filter: Document;
  readonly fields: readonly string[];
}

/** The stretches of documents of which a list consists, in its order. */
function stretchesOf(query: RankQuery): readonly Stretch[] {
  const filter = filterOf(query);
  const { by, month, descending } = query;
  if (by !== "month_cost") return [{ filter, fields: FIELDS[by] }];
  // What another month cost counts as 0, and no index holds that: such accounts are a stretch of their own, by their ids.
  const some = {
    filter: { $and: [filter, { month }, { monthCost: { $gt: 0 } }] },
    fields: FIELDS.month_cost,
  };
  const nothing = {
    filter: { $and: [filter, { $or: [{ month: { $ne: month } }, { monthCost: { $lte: 0 } }] }] },
    fields: FIELDS.id,
  };
  return descending ? [some, nothing] : [nothing, some];
}

/** Reads of lists in the order of a figure. */
export function mongoRanks({ collection, read }: MongoConnection): Pick<Store, "rankAccounts"> {
  const accounts = collection("accounts");

  const part = ({ filter, fields }: Stretch, direction: 1 | -1, skip: number, limit: number) =>
    read(() =>
      accounts
        .find(filter, { allowDiskUse: true })
        .sort(Object.fromEntries(fields.map((field) => [field, direction])))
        .skip(skip)
        // To the server, no limit is 0.
        .limit(limit === Number.POSITIVE_INFINITY ? 0 : limit)
        .project({ id: 1, month: 1, monthCost: 1 })
        .toArray(),
    );

  return {
    async rankAccounts(query) {
      checkRanks(query);
      const { limit = Number.POSITIVE_INFINITY, month } = query;
      let skip = query.offset ?? 0;
      const ranks: AccountRank[] = [];
      for (const stretch of stretchesOf(query)) {
        const left = limit - ranks.length;
        if (left <= 0) break;
        const found = await part(stretch, query.descending ? -1 : 1, skip, left);
        for (const one of found) ranks.push(rankOf(one, month));
        // The next stretch begins where this one has ended, which is unknown only when the page begins behind it.
        if (found.length > 0 || skip === 0) skip = 0;
        else skip -= Math.min(skip, await read(() => accounts.countDocuments(stretch.filter)));
      }
      return ranks;
    },
  };
}

/** A document of an earlier version has no figures. */
function rankOf(found: unknown, month: string): AccountRank {
  const row = new StoredRow("accounts", found);
  const isOfMonth = row.has("month") && row.text("month") === month;
  return { id: row.integer("id"), monthCost: isOfMonth ? row.integer("monthCost") : 0 };
}
