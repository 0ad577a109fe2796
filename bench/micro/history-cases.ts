// What the list of last requests costs: a charge that the owner's observer notes, and a request without a charge that is reported where its
// account is. The list is at both of its bounds, so every row that comes makes another one go.

import type { AccountId, ApiKeyId } from "../../actors/ids.ts";
import { ZERO } from "../../actors/money.ts";
import { realClock } from "../../src/base/clock.ts";
import { silent } from "../../src/base/log.ts";
import {
  type EndedRequest,
  REQUEST_BOUNDS,
  RecentRequests,
} from "../../src/gateway/request-history/recent-requests.ts";
import { observeRequests } from "../../src/gateway/request-history/request-history.ts";
import { RequestReports } from "../../src/gateway/request-history/request-reports.ts";
import { factsOf, NOON, usd } from "../../test/actors/account-samples.ts";
import type { Call } from "./timing.ts";

/** As many accounts as fill the list of a node to its bound. */
const ACCOUNTS = REQUEST_BOUNDS.ofNode / REQUEST_BOUNDS.ofAccount;

const commitOf = (id: string) => {
  const charge = { type: "charge", ...factsOf({ id }), amount: usd(-0.5), balanceAfter: usd(1) };
  return { events: [{ at: NOON, line: true, e: charge }] };
};

/** Notes a charge of each account in turn. */
export function chargeNoted(): Call {
  const recent = new RecentRequests();
  const observer = observeRequests(recent, realClock());
  const actors = Array.from({ length: ACCOUNTS }, (_, id) => ({
    kind: "account" as const,
    id: String(id + 1),
  }));
  const commits = Array.from({ length: 1_024 }, (_, nth) => commitOf(`r${nth}`));
  for (let nth = 0; nth < REQUEST_BOUNDS.ofNode; nth++) {
    observer.committed(actors[nth % ACCOUNTS]!, commits[nth % commits.length]!);
  }
  if (recent.size !== REQUEST_BOUNDS.ofNode) throw new Error("the list is not full");
  return { call: (nth) => observer.committed(actors[nth % ACCOUNTS]!, commits[nth % commits.length]!) };
}

/** Reports a refused request of each account in turn, as slowly that all of them are listed. */
export function refusalReported(): Call {
  const recent = new RecentRequests();
  const system = { owns: () => true, otherOwnerOf: () => null, queryNode: async () => null };
  let monoMs = 0;
  const clock = { ...realClock(), mono: () => ++monoMs, after: () => () => {} };
  const reports = new RequestReports({ system, clock, log: silent, recent });
  const ended = (nth: number): EndedRequest => ({
    ...{ id: `r${nth}`, at: NOON, request: `x${nth}`, path: "/v1/chat/completions", model: "gpt-4o-mini" },
    ...{
      status: 429,
      code: "rpm_exceeded",
      ms: 1,
      cost: ZERO,
      attempts: 0,
      apiKey: 0 as ApiKeyId,
      keyHash: null,
    },
  });
  for (let nth = 0; nth < REQUEST_BOUNDS.ofNode; nth++)
    recent.put((nth % ACCOUNTS) as AccountId, ended(nth), "report");
  return { call: (nth) => reports.report((nth % ACCOUNTS) as AccountId, ended(REQUEST_BOUNDS.ofNode + nth)) };
}
