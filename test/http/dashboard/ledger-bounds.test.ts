// What a ledger answers when a store takes too long or is asked too much: lines without totals, or a refusal, and never a wait
// without end.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../../actors/ids.ts";
import { ledgerOf } from "../../../src/http/dashboard/ledger.ts";
import type { LedgerQuery } from "../../../src/http/dashboard/ledger-schemas.ts";
import { refusalOf } from "../../../src/http/errors.ts";
import { LedgerPages } from "../../../src/report/ledger-page.ts";
import type { Store } from "../../../src/store/store.ts";
import { StoreBusyError } from "../../../src/store/store-errors.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { commit } from "../../suites/store-samples.ts";

const ID = 7 as AccountId;
const FIND_MS = 5_000;
const LINES = 30;

const charge = (number: number) => ({
  ...{
    type: "charge",
    id: `c${number}`,
    request: `r${number}`,
    model: "m",
    amount: -1,
    balanceAfter: -number,
  },
  ...{ usage: { inCached: 0, outReason: 0 }, attempts: [], admittedAt: 0 },
});

/** Ends with its signal alone. */
const endless = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
const busy = () => Promise.reject(new StoreBusyError("64 wait already"));

async function partsWith(over: (stored: Store) => Partial<Store>) {
  const clock = manualClock();
  const stored = memoryStore({ clock });
  await stored.append(
    Array.from({ length: LINES }, (_, i) =>
      commit("account/7", i + 1, { events: [{ at: 1_001 + i, line: true, e: charge(i + 1) }] }),
    ),
  );
  const store = { ...stored, ...over(stored) };
  return { store, clock, ledgerPages: new LedgerPages(store, clock) };
}

async function ledger(query: LedgerQuery, over: Partial<Store>, request = new Request("http://localhost/")) {
  const parts = await partsWith(() => over);
  const answer = ledgerOf(parts, ID, query, request);
  return { answer, late: () => parts.clock.advance(FIND_MS) };
}

/** The code, the message and the wait of what a ledger is refused with. */
const refused = (answer: Promise<unknown>) => answer.then(() => null, refusalOf);

const COUNTED = { model: "m", api_key: "0", totals: "true" } as const;

describe("totals that are not there in time", () => {
  test("are null beside the lines", async () => {
    const { answer, late } = await ledger(COUNTED, { lineTotals: (_, signal) => endless(signal) });
    await late();
    const { lines, ...rest } = await answer;
    expect([lines.length, rest]).toEqual([
      24,
      { total: null, page: 1, size: 24, has_more: true, count: null, sum: null },
    ]);
  });

  test("and those for which too many wait already", async () => {
    const { answer } = await ledger(COUNTED, { lineTotals: busy });
    expect(await answer).toMatchObject({ total: null, count: null, sum: null, has_more: true });
  });

  test("are not asked for without being wanted", async () => {
    const { answer } = await ledger({ model: "m" }, { lineTotals: busy, usageTotals: busy });
    expect((await answer).lines).toHaveLength(24);
  });
});

describe("a page that is not found in time", () => {
  test("is 503, and says what to do", async () => {
    const { answer, late } = await ledger(
      { model: "m", page: "2" },
      { walkLines: (_, __, signal) => endless(signal) },
    );
    const outcome = refused(answer);
    await late();
    expect(await outcome).toMatchObject({
      code: "service_unavailable",
      message: expect.stringContaining('narrow the times by "from" and "to"'),
      retryAfterS: 1,
    });
  });

  test("is 503 where too many are searched for already", async () => {
    const { answer } = await ledger({ model: "m", page: "2" }, { walkLines: busy });
    expect(await refused(answer)).toMatchObject({ code: "service_unavailable", retryAfterS: 1 });
  });

  test("is given up with its client", async () => {
    const client = new AbortController();
    const request = new Request("http://localhost/", { signal: client.signal });
    const { answer } = await ledger(
      { model: "m", page: "2" },
      { walkLines: (_, __, signal) => endless(signal) },
      request,
    );
    const outcome = refused(answer);
    client.abort();
    expect(await outcome).toMatchObject({ code: "service_unavailable" });
  });

  test("needs no search where the page before it was answered", async () => {
    const walks: unknown[] = [];
    const parts = await partsWith((stored) => ({
      walkLines(...walk) {
        walks.push(walk[1]);
        return stored.walkLines(...walk);
      },
    }));
    for (const page of ["1", "2", "3", "2", "1", "2"]) {
      await ledgerOf(parts, ID, { model: "m", size: "10", page }, new Request("http://localhost/"));
    }
    expect(walks).toEqual([]);
    await ledgerOf(parts, ID, { model: "m", size: "7", page: "3" }, new Request("http://localhost/"));
    expect(walks).toEqual([{ after: null, skip: 14, limit: 8 }]);
  });
});
