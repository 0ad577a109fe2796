// How much memory the lists of last requests take when they are full, of requests that came from other nodes: half of them were charged, the
// others were reported.

import { heapStats } from "bun:jsc";
import type { AccountId, ApiKeyId } from "../actors/ids.ts";
import { ZERO } from "../actors/money.ts";
import { realClock } from "../src/base/clock.ts";
import { silent } from "../src/base/log.ts";
import { decode, encode } from "../src/bus/codec.ts";
import {
  type EndedRequest,
  REQUEST_BOUNDS,
  RecentRequests,
} from "../src/gateway/request-history/recent-requests.ts";
import { observeRequests } from "../src/gateway/request-history/request-history.ts";
import { type RequestBatch, RequestReports } from "../src/gateway/request-history/request-reports.ts";
import { factsOf } from "../test/actors/account-samples.ts";
import { WrongResult } from "./books.ts";

const AT = 1_790_000_000_000;
const idOf = (nth: number): string => `01M833XHE8G5W828AS${String(nth).padStart(8, "0")}`;

const ended = (nth: number): EndedRequest => ({
  ...{ id: idOf(nth), at: AT + nth, request: crypto.randomUUID(), path: "/v1/chat/completions" },
  ...{ model: "gpt-4o-mini-2024-07-18", status: 429, code: "rpm_exceeded", ms: 1, cost: ZERO, attempts: 0 },
  ...{ apiKey: 0 as ApiKeyId, keyHash: null },
});

const charge = (nth: number) => {
  const facts = {
    ...factsOf({ id: idOf(nth), model: "gpt-4o-mini-2024-07-18" }),
    request: crypto.randomUUID(),
  };
  return { events: [{ at: AT + nth, line: true, e: { type: "charge", ...facts } }] };
};

/** Returns a value as a node gets it from another one. */
const received = <T>(value: T): T => decode(encode(value)) as T;

const heapBytes = (): number => {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
};

/** Returns the bytes of a full list: half of the rows are of busy accounts, each of the others is the only one of its account. */
export function fullListBytes(): number {
  const before = heapBytes();
  const recent = new RecentRequests();
  const observer = observeRequests(recent, realClock());
  const system = { owns: () => true, otherOwnerOf: () => null, queryNode: async () => null };
  const reports = new RequestReports({ system, clock: realClock(), log: silent, recent });
  const busy = REQUEST_BOUNDS.ofNode / 2 / REQUEST_BOUNDS.ofAccount;
  for (let nth = 0; nth < REQUEST_BOUNDS.ofNode; nth++) {
    const account = (nth % 4 < 2 ? 1 + (nth % busy) : 1_000 + nth) as AccountId;
    const batch: RequestBatch = { ended: [[account, ended(nth)]], skipped: [] };
    if (nth % 2 === 0) observer.committed({ kind: "account", id: String(account) }, received(charge(nth)));
    else reports.accept(received(batch));
  }
  const bytes = heapBytes() - before;
  if (recent.size < REQUEST_BOUNDS.ofNode * 0.9)
    throw new WrongResult(`${recent.size} last requests are kept`);
  return bytes;
}
