// Sends the requests that ended here without a charge to the nodes that own their accounts, in batches, so that they stand in the list
// of an account's last requests. Best effort: what cannot be delivered at once is dropped and counted, and no
// request waits for it. What is charged is known to the owner by itself, and is never reported.

import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { EndedRequest, RecentRequests } from "./recent-requests.ts";

/** What one node reports to another. */
export interface RequestBatch {
  readonly ended: readonly (readonly [AccountId, EndedRequest])[];
  /** How many were left out because of `REPORTS_PER_SECOND_MAX`. */
  readonly skipped: readonly (readonly [AccountId, number])[];
}

/** The query that brings a batch. */
export const REPORT_QUERY = "endedRequests";

/** Reported requests of an account in a second; further ones are counted and not shown. */
export const REPORTS_PER_SECOND_MAX = 100;
const SECOND_MS = 1_000;
/** Requests that wait to be sent; further ones are counted like those above. */
const WAITING_MAX = 10_000;
/** Milliseconds between two batches. */
const BATCH_MS = 500;
const BATCH_ROWS_MAX = 1_000;
/** Milliseconds that a node may take for a batch. */
const SEND_MS = 2_000;

/** What an account reported in its current second. */
interface ReportRate {
  /** Monotonic ms. */
  since: number;
  count: number;
  /** Left out since the last batch. */
  skipped: number;
}

/** Returns a copy whose texts take no more memory than they need: those that were read from a frame take four times as much. */
function withOwnTexts(one: EndedRequest, recent: RecentRequests): EndedRequest {
  const own = (text: string | null) => (text === null ? null : Buffer.from(text).toString());
  const shared = (text: string | null) => (text === null ? null : recent.shared(text));
  const id = own(one.id)!;
  const request = one.request === one.id ? id : own(one.request);
  // Clients make up names of models, as many as they like.
  return { ...one, id, request, path: shared(one.path), model: own(one.model), code: shared(one.code) };
}

/** The reports of one node. */
export class RequestReports {
  private readonly rates = new Map<AccountId, ReportRate>();
  private waiting: (readonly [AccountId, EndedRequest])[] = [];
  private isScheduled = false;
  private skipped = 0;
  private lost = 0;

  constructor(
    private readonly parts: {
      readonly system: Pick<ActorSystem<Protocol>, "owns" | "otherOwnerOf" | "queryNode">;
      readonly clock: Clock;
      readonly log: Log;
      /** The list of this node, for the accounts that it owns. */
      readonly recent: RecentRequests;
    },
  ) {}

  /** Returns how many requests were left out since the start because there were too many. */
  skippedCount(): number {
    return this.skipped;
  }

  /** Returns how many requests were lost since the start because their account's owner could not be reached. */
  lostCount(): number {
    return this.lost;
  }

  /** Reports a request that ended without a charge. It is in the list at once when this node owns the account. */
  report(account: AccountId, ended: EndedRequest): void {
    const { system, recent } = this.parts;
    const rate = this.rateOf(account);
    const isHere = system.owns(actorRef.account(account));
    this.schedule();
    if (rate.count >= REPORTS_PER_SECOND_MAX || this.waiting.length >= WAITING_MAX) {
      this.skipped++;
      if (isHere) recent.skip(account, 1);
      else rate.skipped++;
      return;
    }
    rate.count++;
    if (isHere) recent.put(account, ended, "report");
    else this.waiting.push([account, ended]);
  }

  /** Adds what another node reports, of the accounts that this node owns. */
  accept({ ended, skipped }: RequestBatch): void {
    const { system, recent } = this.parts;
    for (const [account, one] of ended) {
      if (system.owns(actorRef.account(account))) recent.put(account, withOwnTexts(one, recent), "report");
    }
    for (const [account, count] of skipped) recent.skip(account, count);
  }

  private rateOf(account: AccountId): ReportRate {
    const now = this.parts.clock.mono();
    const known = this.rates.get(account);
    if (known === undefined) {
      const fresh: ReportRate = { since: now, count: 0, skipped: 0 };
      this.rates.set(account, fresh);
      return fresh;
    }
    if (now - known.since >= SECOND_MS) {
      known.since = now;
      known.count = 0;
    }
    return known;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.parts.clock.after(BATCH_MS, () => void this.flush());
  }

  /** Sends what waits, to all owners at once; the next batch is sent when they have answered or failed. */
  private async flush(): Promise<void> {
    const { system, recent } = this.parts;
    const batches = new Map<string, { ended: [AccountId, EndedRequest][]; skipped: [AccountId, number][] }>();
    const batchFor = (account: AccountId) => {
      const node = system.otherOwnerOf(actorRef.account(account));
      if (node === null) return null;
      const known = batches.get(node) ?? { ended: [], skipped: [] };
      batches.set(node, known);
      return known;
    };
    for (const [account, ended] of this.waiting) {
      const batch = batchFor(account);
      if (batch !== null) batch.ended.push([account, ended]);
      else if (system.owns(actorRef.account(account))) recent.put(account, ended, "report");
      else this.lost++;
    }
    this.waiting = [];
    for (const [account, skipped] of this.takeSkipped()) {
      const batch = batchFor(account);
      if (batch === null) recent.skip(account, skipped);
      else batch.skipped.push([account, skipped]);
    }
    await Promise.all([...batches].map(([node, { ended, skipped }]) => this.send(node, ended, skipped)));
    this.isScheduled = false;
    if (this.waiting.length > 0 || this.rates.size > 0) this.schedule();
  }

  /** Returns what was left out since the last time, by account, and forgets the accounts that are quiet. */
  private takeSkipped(): [AccountId, number][] {
    const now = this.parts.clock.mono();
    const taken: [AccountId, number][] = [];
    for (const [account, rate] of this.rates) {
      if (rate.skipped > 0) taken.push([account, rate.skipped]);
      rate.skipped = 0;
      if (now - rate.since >= SECOND_MS) this.rates.delete(account);
    }
    return taken;
  }

  private async send(
    node: string,
    ended: RequestBatch["ended"],
    skipped: RequestBatch["skipped"],
  ): Promise<void> {
    const { system, log } = this.parts;
    for (let at = 0; at === 0 || at < ended.length; at += BATCH_ROWS_MAX) {
      const batch: RequestBatch = {
        ended: ended.slice(at, at + BATCH_ROWS_MAX),
        skipped: at === 0 ? skipped : [],
      };
      try {
        await system.queryNode(node, { name: REPORT_QUERY, input: batch }, SEND_MS);
      } catch (error) {
        this.lost += ended.length - at;
        log("debug", "request_reports_lost", { node, requests: ended.length - at, error: String(error) });
        return;
      }
    }
  }
}
