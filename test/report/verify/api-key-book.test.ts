// The sums of named keys, recomputed beside the fold: equal to it over days and months, and any difference is named.

import { expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import type { Account, AccountEvent } from "../../../actors/account/state.ts";
import type { ApiKey } from "../../../actors/api-key/api-key.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import {
  type ApiKeyBook,
  emptyApiKeyBook,
  enterApiKey,
  verifyApiKeys,
} from "../../../src/report/verify/api-key-book.ts";
import { createFindings } from "../../../src/report/verify/findings.ts";
import { usd } from "../../actors/account-samples.ts";

const keyOf = (id: number): ApiKey => ({
  ...{
    id: id as ApiKeyId,
    name: `key-${id}`,
    scopes: ["invoke"],
    allowModels: [],
    allowIps: [],
    resources: [],
  },
  ...{ hardLimit: ZERO, dailyLimit: ZERO, rpm: 0, tpm: 0, tags: {}, expiresAt: null, status: true },
  ...{
    createdAt: 0,
    createdBy: 5 as AccountId,
    secrets: [{ hash: `h${id}`, by: 5 as AccountId, until: null }],
  },
  issuedBy: `add-${id}`,
});
const added = (id: number) => ({ type: "api_key_added", id: `add-${id}`, key: keyOf(id) });
const charge = (apiKey: number, dollars: number) => ({
  ...{
    type: "charge",
    id: "c",
    cost: usd(dollars),
    amount: usd(-dollars),
    apiKey,
    apiKeyName: `key-${apiKey}`,
  },
});
const fee = (apiKey: number, dollars: number) => ({
  ...{ type: "query_fee", id: "f", amount: usd(-dollars), apiKey, apiKeyName: `key-${apiKey}` },
});

const DAYS = ["2026-01-30", "2026-01-31", "2026-02-01"].map((day) => Date.parse(`${day}T12:00:00Z`));
const HISTORY: readonly (readonly [at: number, event: object])[] = [
  [DAYS[0]!, added(1)],
  [DAYS[0]!, added(2)],
  [DAYS[0]!, charge(1, 1)],
  [DAYS[0]!, charge(2, 2)],
  [DAYS[1]!, charge(1, 4)],
  [DAYS[1]!, fee(1, 0.5)],
  [DAYS[1]!, { type: "api_key_deleted", apiKey: 2, by: 5 }],
  [DAYS[2]!, charge(2, 8)],
  [DAYS[2]!, charge(1, 16)],
];

/** The state after `history`, of which only the keys are folded, and the book that was kept beside it. */
function kept(history: typeof HISTORY) {
  const state: Account = account.empty("5");
  const book = emptyApiKeyBook();
  const findings = createFindings();
  for (const [at, event] of history) {
    const e = event as AccountEvent;
    if (e.type === "charge") state.apiKeys?.charge(e.apiKey!, e.cost, at);
    else if (e.type === "query_fee") state.apiKeys?.get(e.apiKey!)?.addFee(-e.amount as typeof e.amount, at);
    else account.evolve(state, e, at);
    enterApiKey(book, e, at, { findings, where: "account/5" });
  }
  return { state, book, findings };
}

const compared = ({ state, book, findings }: ReturnType<typeof kept>) => {
  verifyApiKeys("account/5", state, book, findings);
  return findings.kept.map(({ rule, what }) => [rule, what] as const);
};

test("the sums of keys, deleted ones included, agree over days and months", () => {
  const done = kept(HISTORY);
  expect(compared(done)).toEqual([]);
  expect(done.book.all).toEqual({
    ...{ day: "2026-02-01", dayCost: usd(24), month: "2026-02", monthCost: usd(24), total: usd(31) },
  });
  expect(done.book.keys.get(1)!.fees.total).toBe(usd(0.5));
});

test.each<[string, (spoilt: { state: Account; book: ApiKeyBook }) => void, string]>([
  [
    "a key's sum",
    ({ state }) => state.apiKeys!.get(1 as ApiKeyId)!.addCharge(usd(1), DAYS[2]!),
    "keys.1.cost",
  ],
  ["a key's fees", ({ state }) => state.apiKeys!.get(1 as ApiKeyId)!.addFee(usd(1), DAYS[2]!), "keys.1.fees"],
  ["the sum of all", ({ state }) => state.apiKeys!.charge(2 as ApiKeyId, usd(1), DAYS[2]!), "cost"],
  ["a key too many", ({ state }) => state.apiKeys!.add(keyOf(3), DAYS[2]!), "keys.3"],
  ["a key that is missing", ({ state }) => state.apiKeys!.delete(1 as ApiKeyId, DAYS[2]!), "keys.1"],
])("%s that differs is named", (_, spoil, place) => {
  const done = kept(HISTORY);
  spoil(done);
  const found = compared(done);
  expect(found[0]?.[0]).toBe("api_key");
  expect(found[0]?.[1]).toStartWith(place);
});

test("lines of a key that never existed, or without its name, are named", () => {
  const { apiKeyName: _, ...nameless } = charge(1, 1);
  const found = kept([...HISTORY, [DAYS[2]!, charge(3, 1)], [DAYS[2]!, charge(0, 1)], [DAYS[2]!, nameless]]);
  expect(found.findings.kept.map(({ what }) => what)).toEqual([
    "charge c is of key 3, which never existed",
    "charge c is of key 0, which never existed",
    "charge c does not name its key",
  ]);
});
