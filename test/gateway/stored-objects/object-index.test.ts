// Which key keeps what for whom: apart by account, for thirty days, within bounds, and whatever the store does.

import { expect, test } from "bun:test";
import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { DAY_MS } from "../../../actors/time.ts";
import { UnavailableError } from "../../../src/base/errors.ts";
import { createStoredObjectIndex } from "../../../src/gateway/stored-objects/object-index.ts";
import type { Store } from "../../../src/store/store.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";

const [ADA, BOB] = [7 as AccountId, 77 as AccountId];
const at = (key: number) => ({ key: key as ProviderKeyId, model: "m", tokens: 7 });
const WAIT_MS = 1_000;

function rig(over: Partial<Store> = {}) {
  const clock = manualClock();
  const memory = memoryStore({ clock });
  let finds = 0;
  const store = {
    ...memory,
    find: (async (find) => {
      finds++;
      return memory.find(find);
    }) as Store["find"],
    ...over,
  };
  const logged: string[] = [];
  const log = (_level: string, event: string) => void logged.push(event);
  const fresh = () => createStoredObjectIndex({ store, clock, log, waitMs: WAIT_MS });
  return { clock, store, logged, fresh, objects: fresh(), finds: () => finds };
}

const keys = async (
  objects: ReturnType<typeof createStoredObjectIndex>,
  account: AccountId,
  ...ids: string[]
) => Object.fromEntries([...(await objects.find(account, ids))].map(([id, { key }]) => [id, key as number]));

test("what is kept is found by its account alone, also by another process", async () => {
  const { objects, fresh } = rig();
  await objects.keep(ADA, at(1), ["resp_a", "msg_a"]);
  for (const one of [objects, fresh()]) {
    expect(await keys(one, ADA, "resp_a", "msg_a", "resp_b")).toEqual({ resp_a: 1, msg_a: 1 });
    expect(await keys(one, BOB, "resp_a", "msg_a")).toEqual({});
  }
});

test("two accounts may have the same id, each at a key of its own", async () => {
  const { objects, fresh } = rig();
  await objects.keep(ADA, at(1), ["resp_1"]);
  await objects.keep(BOB, at(2), ["resp_1"]);
  expect(await keys(fresh(), ADA, "resp_1")).toEqual({ resp_1: 1 });
  expect(await keys(fresh(), BOB, "resp_1")).toEqual({ resp_1: 2 });
});

test("no id can be made to mean another account's", async () => {
  const { objects, fresh } = rig();
  // Account 7's `7:x` and account 77's `x` differ by where the number ends.
  await objects.keep(BOB, at(2), ["x"]);
  for (const id of ["7:x", ":x", "77:x", "x"]) expect(await keys(fresh(), ADA, id)).toEqual({});
});

test("what is found once is not looked up again", async () => {
  const { objects, fresh, finds } = rig();
  await objects.keep(ADA, at(1), ["resp_a"]);
  await objects.find(ADA, ["resp_a"]);
  expect(finds()).toBe(0);
  const other = fresh();
  await other.find(ADA, ["resp_a"]);
  await other.find(ADA, ["resp_a"]);
  expect(finds()).toBe(1);
});

test("after thirty days it is forgotten, from memory and from the store", async () => {
  const { objects, fresh, clock } = rig();
  await objects.keep(ADA, at(1), ["resp_a"]);
  clock.stepWall(30 * DAY_MS - 1);
  expect(await keys(objects, ADA, "resp_a")).toEqual({ resp_a: 1 });
  clock.stepWall(1);
  for (const one of [objects, fresh()]) expect(await keys(one, ADA, "resp_a")).toEqual({});
});

test("what is forgotten is gone for all, and nothing else", async () => {
  const { objects, fresh } = rig();
  await objects.keep(ADA, at(1), ["resp_a", "resp_b"]);
  await objects.forget(ADA, "resp_a");
  for (const one of [objects, fresh()])
    expect(await keys(one, ADA, "resp_a", "resp_b")).toEqual({ resp_b: 1 });
});

test("an id that is too long, or no text, is neither kept nor looked for", async () => {
  const { objects, finds, store } = rig();
  const odd = ["x".repeat(1_025), "\ud800"];
  await objects.keep(ADA, at(1), odd);
  expect(await keys(objects, ADA, ...odd)).toEqual({});
  expect([finds(), await store.count({ table: "objects", where: [] })]).toEqual([0, 0]);
});

test("of one answer a thousand ids are kept, in one write", async () => {
  let puts = 0;
  const { objects, store } = rig();
  const put = store.putRecords;
  store.putRecords = (records) => {
    puts++;
    return put(records);
  };
  await objects.keep(
    ADA,
    at(1),
    Array.from({ length: 3_000 }, (_, i) => `msg_${i}`),
  );
  expect([puts, await store.count({ table: "objects", where: [] })]).toEqual([1, 1_000]);
});

test("a store that refuses is logged, and what it did not take is known here", async () => {
  const { objects, logged } = rig({ putRecords: () => Promise.reject(new Error("full")) });
  await objects.keep(ADA, at(1), ["resp_a"]);
  expect(logged).toEqual(["objects_not_kept"]);
  expect(await keys(objects, ADA, "resp_a")).toEqual({ resp_a: 1 });
});

test("a store that hangs is waited for so long and no longer", async () => {
  const { objects, clock } = rig({ putRecords: () => new Promise(() => undefined) });
  let over = false;
  const kept = objects.keep(ADA, at(1), ["resp_a"]).then(() => {
    over = true;
  });
  await clock.advance(WAIT_MS - 1);
  expect(over).toBe(false);
  await clock.advance(1);
  await kept;
});

test("a store that cannot be read is unavailable, not empty", async () => {
  const { objects } = rig({ find: () => Promise.reject(new Error("lost")) });
  expect(objects.find(ADA, ["resp_a"])).rejects.toBeInstanceOf(UnavailableError);
});
