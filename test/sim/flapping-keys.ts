// Checker 17: provider keys that fail and answer by turns, never three failures in a row, as one front end of a cluster sees it
// and reports it, by the gateway's own reports. No such key may sleep. Their Level is one that no other traffic touches.

import { type AccountId, ownerOf, type ProviderKeyId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { LevelView } from "../../actors/level/view.ts";
import { notifyLevels } from "../../src/admin/level-membership.ts";
import { KeyActivityCounter } from "../../src/gateway/attempt/key-activity.ts";
import { createKeyChooser } from "../../src/gateway/attempt/key-chooser.ts";
import { createLevelReporter } from "../../src/gateway/attempt/level-reports.ts";
import { AttemptCounts } from "../../src/gateway/traffic/attempt-counts.ts";
import type { Clients } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";
import type { Tree } from "./tree.ts";

export const FLAPPING_LEVEL = 9;
const FAILURES = 3;
const TRIES = 200;
const ATTEMPTS = 24;
const OUTAGE = { name: "server_error", status: 500, note: "" } as const;

export function createFlappingKeys(parts: {
  clients: Clients;
  tree: Tree;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  /** Nothing is lost now, and nobody stops without a word. */
  kind: () => boolean;
}): () => Promise<void> {
  const { clients, tree, world, random, trace, kind } = parts;
  const ids = random.fork().forRuntime(world);
  const pause = (ms: number) => new Promise<void>((resolve) => void world.after(ms, resolve));
  const reach = <T>(what: string, attempt: (node: SimNode) => Promise<T>): Promise<T> =>
    clients.reach(what, TRIES, attempt);

  async function addKey(): Promise<{ owner: AccountId; id: ProviderKeyId }> {
    const { id: account } = random.pick(tree.known.slice(0, 4));
    const { profile } = await reach("profile", (node) =>
      node.system.ask(actorRef.account(account), "profile", {}),
    );
    const owner = profile.id === ROOT ? ROOT : ownerOf(profile);
    const id = (await reach("block", (node) => node.store.reserveIds("key", 1))) as ProviderKeyId;
    const key = {
      ...{ id, name: "", level: FLAPPING_LEVEL, provider: "https://provider.example/v1", status: true },
      ...{ config: {}, secret: { keyId: "1", box: ids.id() }, mask: `${id}` },
    };
    const command = { id: ids.id(), bornAt: world.wall() };
    await reach("add key", (node) => node.system.ask(actorRef.keyPool(owner), "add", { key }, command));
    await reach("tell Levels", (node) => notifyLevels(node.system, owner, [FLAPPING_LEVEL]));
    return { owner, id };
  }

  const viewOf = (owner: AccountId): Promise<LevelView> =>
    reach("view", (node) => node.system.ask(actorRef.level(owner, FLAPPING_LEVEL), "view", {}));

  const sleeps = async (owner: AccountId, id: ProviderKeyId): Promise<boolean> =>
    ((await viewOf(owner)).health.find(({ key }) => key === id)?.sleepsUntil ?? 0) > world.wall();

  /** Attempts one after the other. Did the key sleep at any time? A report that is lost may make the Level guess wrongly. */
  async function attempts(node: SimNode, owner: AccountId, id: ProviderKeyId): Promise<boolean> {
    let isLost = false;
    const log = (_: string, event: string) => {
      isLost ||= event === "report_failed";
    };
    const { system, clock, configs } = node;
    const level = (of: AccountId, which: number) => configs?.level(of, which);
    const reports = createLevelReporter({
      system,
      clock,
      log,
      level,
      chooser: createKeyChooser(clock),
      attempts: new AttemptCounts(),
      activity: new KeyActivityCounter(),
      keyFailures: FAILURES,
    });
    let inRow = 0;
    for (let i = 0; i < ATTEMPTS && node.alive(); i++) {
      const view = (await configs?.loadLevel(owner, FLAPPING_LEVEL)) ?? (await viewOf(owner));
      const key = view.keys.find((one) => one.id === id);
      if (key === undefined) return false;
      const attempted = { owner, key, view, model: "small", startedAt: clock.wall() };
      await pause(random.spread(20, 150));
      const fails = inRow < FAILURES - 1 && random.chance(0.7);
      inRow = fails ? inRow + 1 : 0;
      if (fails) await reports.failed(attempted, OUTAGE);
      else reports.succeeded(attempted);
      if (fails && (await sleeps(owner, id))) return node.alive() && !isLost;
    }
    return false;
  }

  return async () => {
    const { owner, id } = await addKey();
    const slept = await clients.reach("flap", 1, (node) => attempts(node, owner, id));
    trace.count("keys flapped");
    if (!slept || !kind()) return;
    trace.violate(
      "17 streaks",
      `key ${id} of owner ${owner} sleeps, though it never failed ${FAILURES} times in a row`,
    );
  };
}
