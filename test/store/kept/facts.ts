// What a store says of itself through the service's own API: accounts, ledgers, keys, configurations, logs, news and
// bills. Gathered when a fixture is made, and again by every later version that reads it.

import type { Json, Running } from "./service.ts";

export interface Credential {
  readonly id: number;
  readonly key: string;
}

/** Whom to ask, by name. */
export interface Credentials {
  readonly accounts: Readonly<Record<string, Credential>>;
  /** Names of those who have provider keys and a configuration. */
  readonly owners: readonly string[];
  /** Ids of accounts that are deleted, or are being deleted. */
  readonly deleted: readonly number[];
}

const LINE_FIELDS = [
  ...["id", "type", "amount", "balance_after", "created_at", "request_id", "model", "basis", "operation_id"],
  ...["prompt_tokens", "completion_tokens", "price", "attempts"],
];

export async function factsOf(service: Running, { accounts, owners, deleted }: Credentials): Promise<Json> {
  const root = accounts.root!.key;
  const facts: Json = { byAccount: {}, owners: {}, deleted: {} };
  facts.accounts = await service.must(root, "GET", "/x-dna?page=0");
  facts.logs = await pages(service, root, "/dashboard/logs?size=100", "logs");
  for (const [name, { key }] of Object.entries(accounts)) {
    const get = (path: string) => service.must(key, "GET", path);
    const { user_api_balance, ...status } = await get("/dashboard/status");
    facts.byAccount[name] = {
      status,
      info: await get("/dashboard/info"),
      ledger: summed(await pages(service, key, "/dashboard/ledger?size=1000", "lines")),
      news: await get("/dashboard/news"),
      bill: await get("/dashboard/bill?days=7"),
    };
  }
  for (const name of owners) {
    const get = (path: string) => service.must(accounts[name]!.key, "GET", path);
    facts.owners[name] = {
      keys: (await get("/x-keys?page=0")).keys,
      conf: await get("/x-conf"),
      config: (await get("/x-config")).configs,
      history: await get("/x-config/history"),
      bill: await get("/x-bill?days=7"),
    };
  }
  for (const id of deleted) {
    facts.deleted[id] = summed(await pages(service, root, `/x-ledger?user=${id}&size=1000`, "lines"));
  }
  return facts;
}

async function pages(service: Running, key: string, path: string, field: string): Promise<Json[]> {
  const rows: Json[] = [];
  for (let page = 1; ; page++) {
    const answer = await service.must(key, "GET", `${path}&page=${page}`);
    rows.push(...answer[field]);
    if (!answer.has_more) return rows;
  }
}

/** A ledger: what matters of its lines, and their sums by type in nano-dollars. */
function summed(lines: readonly Json[]) {
  const sums: Record<string, number> = {};
  for (const { type, amount } of lines) sums[type] = (sums[type] ?? 0) + Math.round(amount * 1e9);
  const rows = lines.map((line) =>
    Object.fromEntries(
      LINE_FIELDS.filter((field) => line[field] !== undefined).map((field) => [field, line[field]]),
    ),
  );
  return { count: lines.length, sums, lines: rows };
}

/**
 * What two gatherings agree on: what depends on the moment (seconds that remain, what a restart writes anew) is left out.
 * Throws where a list is of another length; `left` hears of each value that is left out.
 */
export function agreed(one: Json, two: Json, path: string, left: (path: string) => void): Json {
  if (Array.isArray(one)) {
    if (!Array.isArray(two) || one.length !== two.length) throw new Error(`${path}: lists of unlike lengths`);
    return one.map((each, i) => agreed(each, two[i], `${path}[${i}]`, left));
  }
  if (typeof one === "object" && one !== null && typeof two === "object" && two !== null) {
    const rows = Object.keys(one).flatMap((name) => {
      const value = agreed(one[name], two[name], `${path}.${name}`, left);
      return value === undefined ? [] : [[name, value]];
    });
    return Object.fromEntries(rows);
  }
  if (one === two) return one;
  left(path);
  return undefined;
}
