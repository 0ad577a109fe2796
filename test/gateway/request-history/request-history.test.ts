// The history of several nodes: what ended elsewhere comes to the owner in batches, bounded and counted; a query gets
// the owner's list. The nodes are histories whose lines to each other a test cuts.

import { describe, expect, test } from "bun:test";
import type { AccountEvent } from "../../../actors/account/events.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { toNano, ZERO } from "../../../actors/money.ts";
import { UnavailableError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import { type EndedRequest, RecentRequests } from "../../../src/gateway/request-history/recent-requests.ts";
import {
  createRequestHistory,
  observeRequests,
  type RequestHistory,
} from "../../../src/gateway/request-history/request-history.ts";
import { REPORTS_PER_SECOND_MAX } from "../../../src/gateway/request-history/request-reports.ts";
import { type ManualClock, manualClock, NOON } from "../../runtime/manual-clock.ts";

const ACCOUNT = 7 as AccountId;

interface Rig {
  readonly clock: ManualClock;
  readonly recent: Record<string, RecentRequests>;
  readonly nodes: Record<"a" | "b", RequestHistory>;
  /** Frames so far, by topic. */
  readonly sent: string[];
  owner: "a" | "b" | null;
  cut: boolean;
}

/** Two nodes; `b` owns every account. */
function rig(): Rig {
  const clock = manualClock();
  const serving: Record<string, Map<string, (body: unknown) => unknown>> = { a: new Map(), b: new Map() };
  const recent = { a: new RecentRequests(), b: new RecentRequests() };
  const one: Rig = { clock, recent, sent: [], owner: "b", cut: false, nodes: {} as Rig["nodes"] };
  for (const name of ["a", "b"] as const) {
    const system = {
      owns: () => one.owner === name,
      serveQuery: (query: string, answer: (input: unknown) => unknown) => serving[name]!.set(query, answer),
      otherOwnerOf: () => (one.owner === name ? null : one.owner),
      async queryNode(node: string, { name: topic, input: body }: { name: string; input: unknown }) {
        if (one.cut) throw new Error("no line");
        one.sent.push(topic);
        return serving[node]!.get(topic)!(structuredClone(body));
      },
    };
    one.nodes[name] = createRequestHistory({
      ...{ system: system as never, clock, log: silent, recent: recent[name] },
    });
  }
  return one;
}

const ended = (id: string): EndedRequest => ({
  ...{
    id,
    at: NOON,
    request: id,
    path: "/v1/chat/completions",
    model: null,
    status: 429,
    code: "rpm_exceeded",
  },
  ...{ ms: 1, cost: ZERO, attempts: 0, apiKey: 0 as ApiKeyId, keyHash: null },
});

const idsAt = (one: Rig, node: string) => one.recent[node]!.list(ACCOUNT).requests.map(({ id }) => id);

describe("requests without a charge", () => {
  test("are in the list at once where their account is, and within a second elsewhere, in one batch", async () => {
    const one = rig();
    one.nodes.b.report(ACCOUNT, ended("here"));
    expect(idsAt(one, "b")).toEqual(["here"]);
    for (const id of ["r1", "r2", "r3"]) one.nodes.a.report(ACCOUNT, ended(id));
    expect(one.sent).toEqual([]);
    await one.clock.advance(1_000);
    expect(idsAt(one, "b").sort()).toEqual(["here", "r1", "r2", "r3"]);
    expect(one.sent).toHaveLength(1);
    expect(idsAt(one, "a")).toEqual([]);
  });

  test("leave no timer behind once all is quiet", async () => {
    const one = rig();
    for (const node of [one.nodes.a, one.nodes.b]) node.report(ACCOUNT, ended("r"));
    await one.clock.advance(3_000);
    expect(one.clock.waiting).toBe(0);
  });

  test.each(["a", "b"] as const)(
    "of an account are 100 a second; the others are counted and said (%s)",
    async (at) => {
      const one = rig();
      const over = 30;
      for (let i = 0; i < REPORTS_PER_SECOND_MAX + over; i++) one.nodes[at].report(ACCOUNT, ended(`r${i}`));
      await one.clock.advance(1_000);
      const first = await one.nodes[at].recent(ACCOUNT);
      expect([first.requests.length, first.skipped]).toEqual([REPORTS_PER_SECOND_MAX, over]);
      expect([one.nodes[at].skippedCount(), one.nodes[at].lostCount()]).toEqual([over, 0]);
      one.nodes[at].report(ACCOUNT, ended("later"));
      one.nodes[at].report(8 as AccountId, ended("another's"));
      await one.clock.advance(1_000);
      expect(idsAt(one, "b")).toContain("later");
      expect((await one.nodes[at].recent(8 as AccountId)).requests).toHaveLength(1);
    },
  );

  test("are lost and counted when the owner cannot be reached, and those after them are not", async () => {
    const one = rig();
    one.cut = true;
    one.nodes.a.report(ACCOUNT, ended("lost"));
    await one.clock.advance(1_000);
    one.cut = false;
    one.owner = null;
    one.nodes.a.report(ACCOUNT, ended("nobody's"));
    await one.clock.advance(1_000);
    one.owner = "b";
    one.nodes.a.report(ACCOUNT, ended("seen"));
    await one.clock.advance(1_000);
    expect(idsAt(one, "b")).toEqual(["seen"]);
    expect(one.nodes.a.lostCount()).toBe(2);
  });

  test("of an account that moved here before they were sent stay here", async () => {
    const one = rig();
    one.nodes.a.report(ACCOUNT, ended("r"));
    one.owner = "a";
    await one.clock.advance(1_000);
    expect(idsAt(one, "a")).toEqual(["r"]);
  });

  test("are not taken by a node that owns the account no more", async () => {
    const one = rig();
    one.nodes.a.report(ACCOUNT, ended("r"));
    const asked = one.clock.advance(1_000);
    one.owner = "b";
    await asked;
    one.owner = "a";
    expect((await one.nodes.a.recent(ACCOUNT)).requests).toEqual([]);
  });
});

describe("a query", () => {
  test("gets the owner's list, at every node", async () => {
    const one = rig();
    one.nodes.b.report(ACCOUNT, ended("r"));
    const [here, there] = await Promise.all([one.nodes.b.recent(ACCOUNT), one.nodes.a.recent(ACCOUNT)]);
    expect(here.requests).toHaveLength(1);
    expect(there).toEqual(here);
  });

  test("waits while nobody is known to own the account, and for a line that is down, five seconds at most", async () => {
    const one = rig();
    one.owner = null;
    const waiting = one.nodes.a.recent(ACCOUNT);
    await one.clock.advance(2_000);
    one.owner = "b";
    await one.clock.advance(200);
    expect((await waiting).requests).toEqual([]);
    one.cut = true;
    const failing = one.nodes.a.recent(ACCOUNT).catch((error) => error);
    await one.clock.advance(6_000);
    expect(await failing).toBeInstanceOf(UnavailableError);
  });
});

describe("commits", () => {
  const attempt = (signal: string) => ({ ...{ key: 1, level: 1, model: "m" }, status: 200, signal, ms: 3 });
  const charge = (over: object = {}) =>
    ({
      ...{ type: "charge", id: "r", request: "x", path: "/v1/chat/completions", model: "m", cost: toNano(5) },
      ...{ admittedAt: NOON - 40, attempts: [attempt("overloaded"), attempt("ok")] },
      ...over,
    }) as unknown as AccountEvent;
  const released: AccountEvent = { type: "released", id: "r", model: "m", admittedAt: NOON - 40 };

  function listOf(...events: AccountEvent[]): readonly EndedRequest[] {
    const recent = new RecentRequests();
    const observer = observeRequests(recent, manualClock());
    const commit = { events: events.map((e) => ({ at: NOON, line: true, e })) };
    observer.committed({ kind: "account", id: "7" }, commit);
    observer.committed({ kind: "owner", id: "7" }, commit);
    return recent.list(ACCOUNT).requests;
  }

  test("of a charge tell all of its request", () => {
    expect(listOf(charge({ apiKey: 3 }))).toEqual([
      {
        ...{ id: "r", at: NOON, request: "x", path: "/v1/chat/completions", model: "m", status: 200 },
        ...{ code: null, ms: 40, cost: toNano(5), attempts: 2, apiKey: 3 as ApiKeyId, keyHash: null },
      },
    ]);
  });

  test("of a charge for an answer that broke off tell what broke it off", () => {
    expect(listOf(charge({ attempts: [attempt("client_gone")] }))).toMatchObject([
      { status: 200, code: "client_gone", attempts: 1 },
    ]);
  });

  test("of a release tell that it cost nothing; a charge that comes after all says the rest", () => {
    const partial = { id: "r", request: null, path: null, status: null, model: "m", ms: 40, cost: ZERO };
    expect(listOf(released)).toMatchObject([partial]);
    expect(listOf(released, charge({ counted: true }))).toMatchObject([{ request: "x", status: 200 }]);
  });

  test("of anything else are no requests", () => {
    expect(listOf({ type: "rotated", keyHash: "h" })).toEqual([]);
  });

  test("shards that come and go begin anew", () => {
    const clock = manualClock();
    const recent = new RecentRequests();
    const observer = observeRequests(recent, clock);
    observer.gained(Array.from({ length: 256 }, (_, shard) => shard));
    expect(recent.list(ACCOUNT).sinceMs).toBe(NOON);
    recent.add(ACCOUNT, ended("r"));
    observer.lost(Array.from({ length: 256 }, (_, shard) => shard));
    expect(recent.size).toBe(0);
  });
});
