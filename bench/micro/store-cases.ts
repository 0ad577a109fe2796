// Appends to the embedded store in memory: what a commit costs without the disk.

import { realClock } from "../../src/base/clock.ts";
import { openStore } from "../../src/store/open.ts";
import type { Commit } from "../../src/store/store.ts";
import { factsOf, NOON, usd } from "../../test/actors/account-samples.ts";
import type { Call } from "./timing.ts";

/** Commits of as many accounts that share a transaction under load. */
const COMMITS = 32;

/** Appends one charge of each account, in one transaction. */
export async function appendBatch(): Promise<Call> {
  const store = await openStore("sqlite::memory:", {
    clock: realClock(),
    onError: (error) => console.error(error),
  });
  return {
    chunk: 1,
    async call(nth) {
      const outcomes = await store.append(
        Array.from({ length: COMMITS }, (_, account) => chargeCommit(account, nth)),
      );
      if (outcomes.some((outcome) => outcome !== "committed")) throw new Error("a commit was not stored");
    },
  };
}

function chargeCommit(account: number, nth: number): Commit {
  const id = `request-${account}-${nth}`;
  const at = NOON + nth;
  return {
    actor: `account:${1_000 + account}`,
    seq: nth + 1,
    shard: account,
    epoch: 1,
    by: "node",
    at,
    v: 1,
    done: [{ id, reply: {} }],
    marks: [id],
    linesTo: nth + 1,
    lines: 1,
    events: [
      { at, line: true, e: { type: "charge", ...factsOf({ id }), amount: usd(-0.5), balanceAfter: usd(1) } },
    ],
  };
}
