// The queue before the writer of SQLite: what is answered at each of its bounds, and when the writer is lost. The writer is
// a stand-in whose answers the tests release.

import { beforeEach, describe, expect, test } from "bun:test";
import type { WriterRequest } from "../../../src/store/sqlite/write-messages.ts";
import { WriteQueue } from "../../../src/store/sqlite/write-queue.ts";
import { StoreBusyError, StoreLostError, StoreTimeoutError } from "../../../src/store/store-errors.ts";
import { type ManualClock, manualClock } from "../../runtime/manual-clock.ts";
import { commit, commits } from "../../suites/store-samples.ts";

let clock: ManualClock;
let queue: WriteQueue;
let posted: WriterRequest[];
let errors: unknown[];
let landed: string[];
beforeEach(() => {
  clock = manualClock();
  [posted, errors, landed] = [[], [], []];
  queue = new WriteQueue({
    clock,
    onError: (error) => errors.push(error),
    onApplied: (op) => landed.push(op),
  });
  queue.setWriter({ post: (asked) => posted.push(asked) });
});

const turn = () => new Promise(setImmediate);
const isOpen = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => false), turn().then(() => true)]);

describe("a lane", () => {
  test("has one message under way; what comes meanwhile goes with the next, and the lanes do not wait for each other", async () => {
    const first = queue.append([commit("account/1", 1)]);
    await turn();
    const more = [queue.append([commit("account/1", 2)]), queue.append(commits("account/2", 2))];
    const claim = queue.write("claim", "name:ada", 1, "me", 1);
    await turn();
    expect(posted).toHaveLength(2);
    expect(posted[1]).toEqual({ writes: [["claim", "name:ada", 1, "me", 1]] });
    queue.receive({ writes: [{ ok: true }] });
    expect(await claim).toBe(true);
    queue.receive({ commits: "c" });
    expect(await first).toEqual(["committed"]);
    await turn();
    expect(posted).toHaveLength(3);
    queue.receive({ commits: "clc" });
    expect(await Promise.all(more)).toEqual([["committed"], ["lost", "committed"]]);
  });
});

describe("no answer within ten seconds", () => {
  test("is unknown for commits and an error for others; what waits is dropped, what is under way may yet land", async () => {
    const flying = [queue.append([commit("account/1", 1)]), queue.write("reserveIds", "log", 20)] as const;
    await turn();
    const waiting = [queue.append([commit("account/1", 2)]), queue.write("reserveIds", "log", 20)] as const;
    const refused = Promise.all([flying[1], waiting[1]].map((one) => one.catch((error) => error)));
    await clock.advance(9_000);
    expect(await isOpen(flying[0])).toBe(true);
    await clock.advance(2_000);
    expect(await Promise.all([flying[0], waiting[0]])).toEqual([["unknown"], ["unknown"]]);
    for (const error of await refused) expect(error).toBeInstanceOf(StoreTimeoutError);
    expect(errors.every((error) => error instanceof StoreTimeoutError)).toBe(true);
    expect(posted.slice(2)).toEqual([{ abandon: "commits" }, { abandon: "writes" }]);

    // The disk answers after all.
    queue.receive({ commits: "c" });
    queue.receive({ writes: [{ ok: 1 }] });
    expect(landed).toEqual(["reserveIds"]);
    const after = queue.append([commit("account/3", 1)]);
    await turn();
    expect(posted).toHaveLength(5);
    expect((posted[4] as readonly unknown[])[0]).toBe("account/3");
    queue.receive({ commits: "c" });
    expect(await after).toEqual(["committed"]);
  });

  test("an end waits for what is open, also after a time in which nothing was", async () => {
    const first = queue.append([commit("account/1", 1)]);
    await turn();
    queue.receive({ commits: "c" });
    await first;
    const second = queue.append([commit("account/1", 2)]);
    await turn();
    const waiting = queue.append([commit("account/1", 3)]);
    const end = queue.finish();
    expect(await isOpen(end)).toBe(true);
    queue.receive({ commits: "c" });
    await second;
    await turn();
    expect(await isOpen(end)).toBe(true);
    queue.receive({ commits: "c" });
    expect(await waiting).toEqual(["committed"]);
    await end;
  });

  test("an end waits no longer", async () => {
    const [answer] = [queue.append([commit("account/1", 1)])];
    const end = queue.finish();
    await turn();
    await expect(queue.append([commit("account/1", 2)])).rejects.toThrow("closed");
    await clock.advance(11_000);
    await end;
    expect(await answer).toEqual(["unknown"]);
  });
});

test("what would wait beyond the bound is refused, and there is room again once the disk answers", async () => {
  const large = "x".repeat(40 * 2 ** 20);
  const answerOf = (id: string) =>
    ({ id, account: 1, kind: "gateway", at: 1, until: 9, body: large }) as const;
  const kept = queue.write("keepAnswer", answerOf("a"), 1);
  await expect(queue.write("keepAnswer", answerOf("b"), 1)).rejects.toBeInstanceOf(StoreBusyError);
  const full = commit("account/1", 1, { events: [{ at: 1, line: false, e: large }] });
  expect(await queue.append([full])).toEqual(["unknown"]);
  expect(errors[0]).toBeInstanceOf(StoreBusyError);
  await turn();
  queue.receive({ writes: [{ ok: undefined }] });
  await kept;
  const again = queue.write("keepAnswer", answerOf("b"), 1);
  await turn();
  expect(posted).toHaveLength(2);
  queue.receive({ writes: [{ ok: undefined }] });
  await again;
});

test("with the writer gone everything is unknown or fails with the reason, now and later", async () => {
  const under = [queue.append([commit("account/1", 1)]), queue.write("reserveIds", "log", 1)] as const;
  await turn();
  const waits = queue.append([commit("account/1", 2)]);
  const failed = under[1].catch((error) => error);
  queue.lose("the thread has ended");
  expect(await Promise.all([under[0], waits])).toEqual([["unknown"], ["unknown"]]);
  expect(await failed).toBeInstanceOf(StoreLostError);
  expect(await queue.append([commit("account/2", 1)])).toEqual(["unknown"]);
  await expect(queue.write("reserveIds", "log", 1)).rejects.toThrow("the thread has ended");
  expect(() => queue.assertUsable()).toThrow(StoreLostError);
  await queue.finish();
});
