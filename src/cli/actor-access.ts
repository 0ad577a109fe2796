// Gives commands that change stored data access to the actors, without an HTTP service. On SQLite, and on
// MongoDB without NATS, the command runs the actors itself, and no server may run: it fails with StoreLockedError
// or BadSetting if one does. In a cluster it owns nothing and asks the nodes, of which one must run.

import { existsSync } from "node:fs";
import { behaviors, type Protocol } from "../../actors/index.ts";
import { type Clock, movedClock, type Random, realClock, realRandom, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { natsBus } from "../bus/nats.ts";
import type { RefusedSubject } from "../bus/nats-connection.ts";
import { asSetting, clusterName, type Infrastructure, openInfrastructure } from "../node/infrastructure.ts";
import { createLog } from "../node/logging.ts";
import { ended, opened, type StartupRetry } from "../node/startup-retry.ts";
import { ClockOffset } from "../runtime/clock-offset.ts";
import { createObserverPlacement } from "../runtime/placement/observer.ts";
import { type ActorSystem, createSystem } from "../runtime/system.ts";
import { isMongodb } from "../settings/connection-url.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { openStore } from "../store/open.ts";
import { databasePath } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";

/** The parts that a command works with. */
export interface Actors {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const EFFECTS_MS = 30_000;
/** Milliseconds to wait for the store and NATS; short, because a person waits. */
const PATIENCE_MS = 15_000;

/**
 * Runs `work` with the store's actors, and resolves when the pending effects between the actors that it ran
 * are delivered, at most `EFFECTS_MS` later. Throws BadSetting or StoreLockedError when the actors cannot be
 * reached.
 */
export async function withActors<T>(settings: Settings, work: (parts: Actors) => Promise<T>): Promise<T> {
  const offset = new ClockOffset(() => settings.clockOffsetMs);
  const machine = stoppable(realClock(() => settings.clockOffsetMs));
  const clock = movedClock(machine.clock, () => offset.movedMs());
  await using closing = new AsyncDisposableStack();
  closing.defer(machine.stop);
  const random = realRandom(clock);
  const log = await createLog({ ...settings, logLevel: "warn" });
  const { signal } = new AbortController();
  const retry: StartupRetry = { clock: machine.clock, log, signal, ms: PATIENCE_MS, report: () => {} };
  await assertThere(settings, retry);
  const infrastructure =
    settings.natsUrl === null
      ? await openInfrastructure({ ...retry, settings, random, name: "command", closing })
      : await visit(settings, settings.natsUrl, retry, random, closing);
  const { store, bus, placement } = infrastructure;
  if (settings.allowClockOffset) closing.defer(await offset.follow({ registry: store, bus, log }));
  const system = createSystem<Protocol>({ store, bus, clock, random, placement, behaviors, log });
  closing.defer(() => system.drain(5_000));
  await ended(retry, "shards are being placed", system.start()).catch((error) => {
    throw asSetting(error);
  });
  const result = await work({ system, store, clock, random, log });
  const until = clock.mono() + EFFECTS_MS;
  while (system.stats().effects > 0 && clock.mono() < until) await sleep(clock, 10);
  return result;
}

/** Throws BadSetting when there is no store, because a command must not create one. */
async function assertThere({ storeUrl }: Settings, patience: StartupRetry): Promise<void> {
  if (isMongodb(storeUrl)) {
    const { clock } = patience;
    const store = await opened(patience, "MongoDB", () => openStore(storeUrl, { clock, readOnly: true }));
    return store.close();
  }
  const path = databasePath(storeUrl);
  if (!existsSync(path)) throw new BadSetting(`there is no database at ${path}`);
}

async function visit(
  { storeUrl }: Settings,
  natsUrl: string,
  patience: StartupRetry,
  random: Random,
  closing: AsyncDisposableStack,
): Promise<Pick<Infrastructure, "store" | "bus" | "placement">> {
  const { clock, log } = patience;
  const store = await opened(patience, "MongoDB", () => openStore(storeUrl, { clock }));
  closing.defer(() => store.close());
  const name = await opened(patience, "MongoDB", () => clusterName(store, random));
  const refused = (what: RefusedSubject) => log("error", "line_refused", { ...what });
  const bus = await opened(patience, "NATS", () =>
    natsBus({ url: natsUrl, name, after: clock.after, refused }),
  );
  closing.defer(() => bus.close());
  return { store, bus, placement: createObserverPlacement({ registry: store, clock, random }) };
}

/**
 * A clock whose timers can be cancelled all at once, so that pending timers do not keep the command running.
 */
function stoppable(clock: Clock): { clock: Clock; stop(): void } {
  const pending = new Set<() => void>();
  const after = (ms: number, fn: () => void) => {
    const cancel = clock.after(ms, () => {
      pending.delete(cancel);
      fn();
    });
    pending.add(cancel);
    return () => {
      pending.delete(cancel);
      cancel();
    };
  };
  return {
    clock: { ...clock, after },
    stop() {
      for (const cancel of pending) cancel();
    },
  };
}
