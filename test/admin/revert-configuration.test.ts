// Going back to a version of a configuration, on real actors: amid changes of others, and where the history is short.

import { expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { ConfigChange, OwnerConfig } from "../../actors/owner/config.ts";
import type { ConfigRow } from "../../actors/owner/history.ts";
import { revertConfiguration } from "../../src/admin/revert-configuration.ts";
import { realClock } from "../../src/base/clock.ts";
import type { Store } from "../../src/store/store.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { memoryTree, refusal } from "./tree.ts";

const OWNER = 2 as AccountId;
const clock = realClock();

const tree = preparedEach(() => memoryTree(clock));

const configure = (change: ConfigChange): Promise<object> =>
  tree.system.ask(actorRef.owner(OWNER), "configure", { change, by: OWNER });
const read = (): Promise<OwnerConfig> => tree.system.ask(actorRef.owner(OWNER), "read", {});
const order = (version: number) => ({ owner: OWNER, version, by: OWNER });

/** The store as if the history of these versions were gone. */
const without = (...versions: readonly number[]): Pick<Store, "find"> => ({
  find: async (asked) =>
    (await tree.store.find(asked)).filter((row) => !versions.includes((row as unknown as ConfigRow).version)),
});

test("a change made between reading and writing is gone back from, too, and none is skipped", async () => {
  await configure({ modelMapper: { a: "b" } });
  await configure({ modelMapper: { c: "d" } });
  let meddled = 0;
  const ask = (async (...given: Parameters<typeof tree.system.ask>) => {
    if (given[1] === "configure" && meddled++ < 2) await configure({ switchOver: { [meddled]: 9 } });
    return tree.system.ask(...given);
  }) as typeof tree.system.ask;
  const { before, after } = await revertConfiguration(
    { system: { ...tree.system, ask }, store: tree.store },
    order(1),
  );
  expect([before.version, after.version]).toEqual([4, 5]);
  expect(after).toMatchObject({ modelMapper: { a: "b" }, switchOver: {} });
  expect(await read()).toEqual(after);
});

test("a version whose way back is no longer kept is not_found, and nothing changes", async () => {
  for (let i = 1; i <= 4; i++) await configure({ switchOver: { "1": i } });
  const store = without(3);
  for (const version of [1, 2]) {
    expect(await refusal(revertConfiguration({ ...tree, store }, order(version)))).toBe("not_found");
  }
  expect((await read()).version).toBe(4);
  const { after } = await revertConfiguration({ ...tree, store }, order(3));
  expect(after).toMatchObject({ version: 5, switchOver: { "1": 3 } });
});

test("the defaults need no history", async () => {
  await configure({ switchOver: { "1": 2 }, emailPass: { box: "sealed", keyId: "k" } });
  const { after } = await revertConfiguration({ ...tree, store: without(1) }, order(0));
  expect(after).toMatchObject({ version: 2, switchOver: {}, emailPass: { box: "sealed" } });
});

test("while the store has not taken the newest version yet, there is only no way back for now", async () => {
  for (let i = 1; i <= 3; i++) await configure({ switchOver: { "1": i } });
  expect(await refusal(revertConfiguration({ ...tree, store: without(3) }, order(1)))).toBe(
    "service_unavailable",
  );
  expect((await read()).version).toBe(3);
});

test("a history is read a few versions at a time, however long the way is", async () => {
  for (let i = 1; i <= 23; i++) await configure({ switchOver: { "1": i } });
  let most = 0;
  const find: Store["find"] = async (asked) => {
    const rows = await tree.store.find(asked);
    most = Math.max(most, rows.length);
    return rows;
  };
  const { after } = await revertConfiguration({ ...tree, store: { find } }, order(2));
  expect(after.switchOver).toEqual({ "1": 2 });
  expect(most).toBeLessThan(10);
});

test("a history that the store does not have yet is stored first", async () => {
  for (let i = 1; i <= 3; i++) await configure({ switchOver: { "1": i } });
  let store: Pick<Store, "find"> = without(2, 3);
  const saveEverywhere = async () => {
    store = tree.store;
    return true;
  };
  const late: Pick<Store, "find"> = { find: (asked) => store.find(asked) };
  const parts = { system: { ...tree.system, saveEverywhere }, store: late };
  expect((await revertConfiguration(parts, order(1))).after.switchOver).toEqual({ "1": 1 });
});
