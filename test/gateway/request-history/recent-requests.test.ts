// The list of last requests: what is kept of an account and of a node, what goes first, and who knows more of a request.

import { describe, expect, test } from "bun:test";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { toNano, ZERO } from "../../../actors/money.ts";
import {
  type EndedRequest,
  REQUEST_BOUNDS,
  RecentRequests,
} from "../../../src/gateway/request-history/recent-requests.ts";
import { SHARDS, shardOf } from "../../../src/runtime/shards.ts";

const account = (id: number) => id as AccountId;
const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);

const ended = (id: string, at = 1, over: Partial<EndedRequest> = {}): EndedRequest => ({
  ...{ id, at, request: `x-${id}`, path: "/v1/chat/completions", model: "m", status: 200, code: null },
  ...{ ms: 5, cost: toNano(7), attempts: 1, apiKey: 0 as ApiKeyId, keyHash: null },
  ...over,
});

const idsOf = (recent: RecentRequests, id: number) =>
  recent.list(account(id)).requests.map((request) => request.id);

describe("the bound of an account", () => {
  test("is 200: the oldest goes, and those of others stay", () => {
    const recent = new RecentRequests();
    recent.add(account(1), ended("other"));
    for (let i = 0; i < 1_000; i++) recent.add(account(2), ended(`r${i}`, i));
    expect(idsOf(recent, 2)).toEqual(
      Array.from({ length: REQUEST_BOUNDS.ofAccount }, (_, i) => `r${999 - i}`),
    );
    expect(idsOf(recent, 1)).toEqual(["other"]);
    expect(recent.size).toBe(201);
  });
});

describe("the bound of a node", () => {
  test("is 20,000: the oldest of all goes, and the list says since when it is complete", () => {
    const recent = new RecentRequests();
    recent.restart(ALL, 10);
    const accounts = REQUEST_BOUNDS.ofNode / REQUEST_BOUNDS.ofAccount + 1;
    let at = 100;
    for (let id = 1; id <= accounts; id++) {
      for (let i = 0; i < REQUEST_BOUNDS.ofAccount; i++) recent.add(account(id), ended(`${id}/${i}`, at++));
    }
    expect(recent.size).toBe(REQUEST_BOUNDS.ofNode);
    expect(idsOf(recent, 1)).toEqual([]);
    expect(idsOf(recent, 2)).toHaveLength(REQUEST_BOUNDS.ofAccount);
    // The last of the first account's requests ended then.
    for (const id of [1, 2, 99_999]) expect(recent.list(account(id)).sinceMs).toBe(299);
  });

  test("holds when requests leave from the middle", () => {
    const recent = new RecentRequests({ ofAccount: 2, ofNode: 4 });
    const add = (id: number, name: string) => recent.add(account(id), ended(name));
    for (const [id, name] of [
      [1, "a"],
      [2, "b"],
      [2, "c"],
      [2, "d"],
      [3, "e"],
    ] as const)
      add(id, name);
    expect([idsOf(recent, 1), idsOf(recent, 2), idsOf(recent, 3)]).toEqual([["a"], ["d", "c"], ["e"]]);
    add(3, "f");
    expect([idsOf(recent, 1), idsOf(recent, 2), idsOf(recent, 3)]).toEqual([[], ["d", "c"], ["f", "e"]]);
    add(4, "g");
    expect([idsOf(recent, 2), idsOf(recent, 3), idsOf(recent, 4)]).toEqual([["d"], ["f", "e"], ["g"]]);
    expect(recent.size).toBe(4);
  });
});

test("rows that are filled anew say nothing of the requests that they were", () => {
  const recent = new RecentRequests({ ofAccount: 2, ofNode: 3 });
  const full = (id: string) =>
    ended(id, 2, { code: "tpm_exceeded", keyHash: "0123456789abcdef", attempts: 3 });
  const bare = (id: string): EndedRequest => ({
    ...{ id, at: 9, request: null, path: null, model: null, status: null, code: null },
    ...{ ms: 0, cost: ZERO, attempts: 0, apiKey: null, keyHash: null },
  });
  for (const id of ["a", "b", "c"]) recent.put(account(1), full(id), "report");
  recent.put(account(2), bare("d"), "release");
  recent.put(account(3), bare("e"), "release");
  recent.put(account(3), bare("f"), "release");
  expect([1, 2, 3].map((id) => recent.list(account(id)).requests)).toEqual([
    [],
    [bare("d")],
    [bare("f"), bare("e")],
  ]);
  // The row of "c" is that of "f" now, so a charge of "c" is a request of its own.
  recent.put(account(1), full("c"), "charge");
  expect([1, 2, 3].map((id) => idsOf(recent, id))).toEqual([["c"], [], ["f", "e"]]);
});

describe("of one request", () => {
  const released = ended("r", 3, { request: null, path: null, status: null, cost: ZERO, attempts: 0 });
  const reported = ended("r", 4, { status: 502, code: "upstream_failed", cost: ZERO });
  const charged = ended("r", 5);

  test("what its charge says counts, in any order of entries", () => {
    const entries = { release: released, report: reported, charge: charged };
    for (const order of [
      ["release", "report", "charge"],
      ["charge", "report", "release"],
      ["report", "charge", "release"],
      ["report", "release", "charge"],
    ] as const) {
      const recent = new RecentRequests();
      for (const source of order) recent.put(account(1), entries[source], source);
      expect(recent.list(account(1)).requests).toEqual([charged]);
    }
  });

  test("what its front end reports says more than its release", () => {
    for (const order of [
      ["release", "report"],
      ["report", "release"],
    ] as const) {
      const recent = new RecentRequests();
      for (const source of order) recent.put(account(1), source === "report" ? reported : released, source);
      expect(recent.list(account(1)).requests).toEqual([reported]);
    }
  });
});

test("reports that come late stand in the order of their ends", () => {
  const recent = new RecentRequests();
  for (const at of [5, 9, 7]) recent.put(account(1), ended(`r${at}`, at), "report");
  expect(idsOf(recent, 1)).toEqual(["r9", "r7", "r5"]);
});

describe("a shard that is gained or lost", () => {
  test("begins anew: its requests are gone, its list begins then, those of others stay", () => {
    const recent = new RecentRequests();
    recent.restart(ALL, 10);
    for (const id of [1, 2]) for (const name of ["a", "b"]) recent.add(account(id), ended(`${id}${name}`));
    recent.skip(account(1), 3);
    expect(recent.list(account(1))).toMatchObject({ sinceMs: 10, skipped: 3 });
    recent.restart([shardOf("account/1")], 20);
    expect(recent.list(account(1))).toEqual({ sinceMs: 20, skipped: 0, requests: [] });
    expect([recent.list(account(2)).sinceMs, idsOf(recent, 2)]).toEqual([10, ["2b", "2a"]]);
    expect(recent.size).toBe(2);
    recent.add(account(1), ended("c"));
    recent.restart(ALL, 30);
    expect(recent.size).toBe(0);
    recent.add(account(2), ended("d"));
    expect(idsOf(recent, 2)).toEqual(["d"]);
  });
});

test("what was left out of an account of which nothing is kept is not counted", () => {
  const recent = new RecentRequests();
  recent.skip(account(1), 3);
  expect(recent.list(account(1)).skipped).toBe(0);
});
