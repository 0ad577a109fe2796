// The history of a configuration in a store: there when a change is answered, there after a crash that lost it, and there
// of versions that an older program made.

import { expect, test } from "bun:test";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { DEFAULT_CONFIG } from "../../../actors/owner/config.ts";
import { type ConfigRow, reversionTo } from "../../../actors/owner/history.ts";
import { owner } from "../../../actors/owner/owner.ts";
import { silent } from "../../../src/base/log.ts";
import { memoryBus } from "../../../src/bus/memory.ts";
import { createSingleNodePlacement } from "../../../src/runtime/placement/single-node.ts";
import { createSystem } from "../../../src/runtime/system.ts";
import type { Store } from "../../../src/store/store.ts";
import { faultyStore } from "../../runtime/faulty-store.ts";
import { countingRandom, manualClock, settled } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { commit, snapshot } from "../../suites/store-samples.ts";

const OWNER = 2 as AccountId;
const clock = manualClock();
let processes = 0;

/** A process on a store. What it does not save is lost when nobody speaks to it any more. */
async function start(store: Store) {
  const system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random: countingRandom(`p${++processes}`),
    placement: createSingleNodePlacement({ registry: store, node: "n1" }),
    behaviors: [owner],
    log: silent,
  });
  await system.start();
  await settled();
  return {
    read: () => system.ask(actorRef.owner(OWNER), "read", {}),
    configure: (resources: readonly string[]) =>
      system.ask(actorRef.owner(OWNER), "configure", { change: { resources }, by: OWNER }),
  };
}

const rowsIn = async (store: Store) =>
  (await store.find({
    table: "configs",
    where: [{ field: "owner", is: "=", value: OWNER }],
    order: "version",
    descending: true,
  })) as unknown as readonly ConfigRow[];

test("a version is in the history when its change is answered", async () => {
  const store = memoryStore({ clock });
  const one = await start(store);
  await one.configure(["/v1/a"]);
  expect(await rowsIn(store)).toEqual([
    {
      owner: 2,
      version: 1,
      at: clock.wall(),
      by: OWNER,
      changes: { resources: { before: [], after: ["/v1/a"] } },
    },
  ]);
});

test("a version that was committed, and lost by a crash before it was saved, comes with the next process", async () => {
  const inner = memoryStore({ clock });
  const store = faultyStore(inner);
  const one = await start(store);
  await one.configure(["/v1/a"]);
  store.failSaves();
  await one.configure(["/v1/b"]);
  expect((await rowsIn(inner)).map(({ version }) => version)).toEqual([1]);

  const next = await start(inner);
  const config = await next.read();
  await clock.advance(5_000);
  const rows = await rowsIn(inner);
  expect(rows.map(({ version }) => version)).toEqual([2, 1]);
  const way = reversionTo(config, 1);
  for (const row of rows) way.take(row);
  expect(way.change()).toEqual({ ok: true, value: { resources: ["/v1/a"] } });
});

test("what an older program wrote, snapshot or not, is read, and gets a history", async () => {
  const store = memoryStore({ clock });
  const configured = (version: number, resources: readonly string[]) =>
    commit("owner/2", version, {
      at: version,
      done: [],
      linesTo: 0,
      lines: 0,
      events: [
        { at: version, line: false, e: { type: "configured", version, change: { resources }, by: 2 } },
      ],
    });
  await store.append([configured(1, ["/v1/a"]), configured(2, ["/v1/b"])]);
  const { cascades: _, ...former } = { ...DEFAULT_CONFIG, version: 1, resources: ["/v1/a"] };
  const old = snapshot("owner/2", 1, { v: 2, state: former, at: 1, linesTo: 0, done: [] });
  await store.save([{ documents: [], snapshot: old }]);

  const one = await start(store);
  expect(await one.read()).toEqual({ ...DEFAULT_CONFIG, version: 2, resources: ["/v1/b"] });
  await clock.advance(5_000);
  expect(await rowsIn(store)).toMatchObject([
    { version: 2, at: 2, by: 2, changes: { resources: { before: ["/v1/a"], after: ["/v1/b"] } } },
    { version: 1, at: 1, by: 2, changes: { resources: { before: [], after: ["/v1/a"] } } },
  ]);
  expect((await one.configure([])).version).toBe(3);
});
