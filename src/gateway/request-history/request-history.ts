// The last requests of accounts, as a node knows, reports and asks for them. Charged and released ones are read from the
// commits of the accounts that this node owns; all others are reported by the nodes that they ended on. Nothing
// here is durable, and no request waits for it.

import type { AccountEvent } from "../../../actors/account/events.ts";
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { UnavailableError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ActorRef } from "../../runtime/actor.ts";
import type { ActorObserver } from "../../runtime/actor-observer.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { EndedRequest, RecentRequests, RequestList } from "./recent-requests.ts";
import { REPORT_QUERY, type RequestBatch, RequestReports } from "./request-reports.ts";

/** The history of a node. */
export interface RequestHistory {
  /** Reports a request that ended without a charge. */
  report(account: AccountId, ended: EndedRequest): void;
  /** Returns the last requests of an account from the node that owns it. Throws `UnavailableError`. */
  recent(account: AccountId): Promise<RequestList>;
  /** Return how many reports were left out, and how many were lost, since the start. */
  skippedCount(): number;
  lostCount(): number;
}

const LIST_QUERY = "recentRequests";
/** Milliseconds for finding the owner, for one attempt at it, and between two attempts. */
const FIND_MS = 5_000;
const TRY_MS = 2_000;
const PAUSE_MS = 100;

/**
 * Creates the observer that fills the list of this node. It is created before the actor system, whose commits
 * and shards it watches.
 */
export function observeRequests(recent: RecentRequests, clock: Clock): ActorObserver {
  return {
    loaded() {},
    committed({ kind, id }: ActorRef, { events }) {
      if (kind !== "account") return;
      for (const { at, e } of events) addEvent(recent, Number(id) as AccountId, at, e as AccountEvent);
    },
    gained: (shards) => recent.restart(shards, clock.wall()),
    lost: (shards) => recent.restart(shards, clock.wall()),
  };
}

/** Adds the request that an event ended, if it ended one. `at`: wall-clock ms. */
function addEvent(recent: RecentRequests, account: AccountId, at: number, event: AccountEvent): void {
  switch (event.type) {
    case "charge":
    case "late_charge": {
      const { attempts } = event;
      const signal = attempts.length === 0 ? OK : attempts[attempts.length - 1]!.signal;
      const ended: EndedRequest = {
        id: event.id,
        at,
        request: event.request,
        path: recent.shared(event.path),
        model: recent.shared(event.model),
        status: 200,
        code: signal === OK ? null : signal,
        ms: Math.max(0, at - event.admittedAt),
        cost: event.cost,
        attempts: attempts.length,
        apiKey: event.apiKey ?? MAIN_API_KEY,
        keyHash: null,
      };
      // One whose node was declared dead was released before.
      if (event.counted) recent.put(account, ended, "charge");
      else recent.add(account, ended);
      return;
    }
    case "released":
      recent.put(account, releasedRequest(event, at), "release");
      return;
  }
}

/** Returns what a release says of its request; its front end knows the rest, unless it has ended. */
const releasedRequest = (
  { id, model, admittedAt, apiKey = MAIN_API_KEY }: Extract<AccountEvent, { type: "released" }>,
  at: number,
): EndedRequest => ({
  ...{ id, at, request: null, path: null, model: model || null, status: null, code: null },
  ...{ ms: Math.max(0, at - admittedAt), cost: ZERO, attempts: 0, apiKey, keyHash: null },
});

/** The signal of an attempt that went well. */
const OK = "ok";

/** Creates the history of a node over the list that its observer fills. */
export function createRequestHistory(parts: {
  readonly system: ActorSystem<Protocol>;
  readonly clock: Clock;
  readonly log: Log;
  readonly recent: RecentRequests;
}): RequestHistory {
  const { system, clock, recent } = parts;
  const reports = new RequestReports(parts);

  const listHere = (account: AccountId): RequestList | null =>
    system.owns(actorRef.account(account)) ? recent.list(account) : null;

  async function listAt(node: string, account: AccountId): Promise<RequestList | null> {
    try {
      return (await system.queryNode(
        node,
        { name: LIST_QUERY, input: { account } },
        TRY_MS,
      )) as RequestList | null;
    } catch (error) {
      parts.log("debug", "requests_not_read", { node, account, error: String(error) });
      return null;
    }
  }

  system.serveQuery(LIST_QUERY, (input) => listHere((input as { readonly account: AccountId }).account));
  system.serveQuery(REPORT_QUERY, (input) => {
    reports.accept(input as RequestBatch);
    return null;
  });

  return {
    report: (account, ended) => reports.report(account, ended),
    skippedCount: () => reports.skippedCount(),
    lostCount: () => reports.lostCount(),
    async recent(account) {
      const actor = actorRef.account(account);
      for (const until = clock.mono() + FIND_MS; ; await sleep(clock, PAUSE_MS)) {
        const owner = system.otherOwnerOf(actor);
        const found = owner === null ? listHere(account) : await listAt(owner, account);
        if (found !== null) return found;
        if (clock.mono() >= until)
          throw new UnavailableError(`account/${account}`, "its owner does not answer");
      }
    },
  };
}
