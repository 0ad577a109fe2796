// A node from its start to its end: the order in which its parts come up and go down. What they are made of is in node/.
//
//   start   listens (alive, not ready) → store → line to the others → place among them → application → Root → duties
//   stop    not ready, answers close their connections → shards handed over, still serving → the load balancer has noticed
//           → no new connections, what is under way ends → charges stored → duties, actors, line, store
//
// On SQLite it listens once it has the database: what a second process on it is told is that, and not of an address. A start
// that fails or is called off closes what it opened, the last first.

import { hostname } from "node:os";
import { behaviors, type Protocol } from "../../actors/index.ts";
import { version } from "../../package.json";
import { createRootAccount } from "../admin/create-root.ts";
import { type Clock, movedClock, type Random, realClock, realRandom, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createApp } from "../http/app.ts";
import { ClockOffset } from "../runtime/clock-offset.ts";
import { createSystem } from "../runtime/system.ts";
import { isMongodb } from "../settings/connection-url.ts";
import type { Settings } from "../settings/settings.ts";
import { startBackgroundJobs } from "./background-jobs.ts";
import { applicationParts } from "./create-application.ts";
import { createNodeGateway } from "./create-gateway.ts";
import { createGauges, watermarkAge } from "./gauges.ts";
import { createFront } from "./http-front.ts";
import { asSetting, openInfrastructure } from "./infrastructure.ts";
import { urlOf } from "./listeners.ts";
import { createReadinessCheck, othersUp } from "./readiness.ts";
import { secretsKey } from "./secrets-key.ts";
import { ended, START_MS, type StartupRetry } from "./startup-retry.ts";

export interface Service {
  /** Base addresses of the listeners: the service, and the administration when it has one of its own. */
  readonly url: string;
  readonly adminUrl: string;
  /** What the others call it. */
  readonly name: string;
  /** Root's key, the first time only. */
  readonly rootKey: string | null;
  stop(): Promise<void>;
}

/** Giving all shards away takes a tenth of a second, and two for each that will not drain. */
const HAND_OVER_MS = 10_000;
const DRAIN_MS = 5_000;
const NEVER = new AbortController().signal;

/** Serves when it resolves. `signal` calls a start off that still waits for something: it throws StartCancelledError then. */
export async function startService(settings: Settings, log: Log, signal = NEVER): Promise<Service> {
  const machine: Clock = realClock(() => settings.clockOffsetMs);
  const offset = new ClockOffset(() => settings.clockOffsetMs);
  const clock = movedClock(machine, () => offset.movedMs());
  const random: Random = realRandom(clock);
  const seal = secretsKey(settings);
  const name = settings.nodeName ?? ownName(random);
  await using closing = new AsyncDisposableStack();

  const front = createFront({ settings, clock, random, log });
  closing.defer(() => front.close(0));
  if (isMongodb(settings.storeUrl)) front.listen();
  // Leases, and what is right of a clock, go by the machine's: a business clock that is moved is none that froze or is wrong.
  const patience: StartupRetry = { clock: machine, log, signal, ms: START_MS, tell: front.waits };
  const ground = await openInfrastructure({ ...patience, settings, random, name, closing });
  const { store, bus, placement, fitness } = ground;
  front.listen();
  const movable = settings.allowClockOffset ? { registry: store, bus } : null;
  if (movable !== null) {
    const following = offset.follow({ ...movable, log });
    closing.defer(await ended(patience, "the clock's offset is being read", following));
  }

  const figures = createGauges();
  const age = watermarkAge(clock);
  const system = createSystem<Protocol>({
    ...{ store, bus, clock, random, placement, behaviors, log, version },
    figures: figures.all,
    saved(watermark) {
      age.saved(watermark);
      ground.advance(watermark);
    },
  });
  closing.defer(() => system.drain(DRAIN_MS));
  await ended(patience, "shards are being placed", system.start()).catch((error) => {
    throw asSetting(error);
  });

  const core = { settings, system, store, clock, random, log, secretsKey: seal };
  const gateway = await createNodeGateway(core);
  closing.defer(gateway.finish);
  const { settle, chooser } = gateway.parts;
  figures.tell("lateCharges", settle.lateCharges);
  figures.tell("lateChargesWaiting", () => settle.pendingLateCharges().length);
  figures.tell("keysInFlight", chooser.allInFlight);
  figures.tell("watermarkAgeMs", age.ms);
  figures.tell("tableVersion", ground.tableVersion);
  const standing = createReadinessCheck({
    placement,
    connected: bus.connected,
    fitness,
    leaving: front.isLeaving,
  });
  const movableClock = movable && {
    totalMs: () => offset.totalMs(),
    moveTo: (totalMs: number) => offset.moveTo(totalMs, movable),
  };
  const parts = applicationParts({
    ...{ ...core, gateway, placement, standing, movableClock },
    addresses: front.addresses,
  });
  const everything = createApp(parts, "all");
  const service = settings.adminPort === null ? everything : createApp(parts, "public");

  // The last that may fail: a start that fails later has shown the key to nobody.
  const founding = createRootAccount({ system, store, clock, random, chosen: settings.rootKey });
  const rootKey = await ended(patience, "Root is being founded", founding);
  closing.defer(startBackgroundJobs({ ...core, gateway, operations: parts.operations, figures }));
  front.open({ service, administration: everything }, () => fitness?.isIsolated() ?? false);

  const opened = closing.move();
  return {
    url: urlOf(front.addresses()[0]!),
    adminUrl: urlOf(front.addresses().at(-1)!),
    name,
    rootKey,
    async stop() {
      front.leave();
      if (othersUp(placement) && !(await system.handOver(HAND_OVER_MS))) {
        log("warn", "shards_left", { node: name });
      }
      if (settings.lbWaitMs > 0) await sleep(clock, settings.lbWaitMs);
      await front.close(settings.drainMs);
      await opened.disposeAsync();
    },
  };
}

/** Unlike that of any other process: of this machine, and of no earlier one. */
function ownName(random: Random): string {
  const machine = hostname().replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${machine.slice(0, 50)}-${random.id().slice(-6)}`;
}
