// Starts and stops a node: the order in which its parts come up and go down. Other files of this folder make
// the parts.
//
//   start   listen (alive, not ready) → store → bus → placement → application → Root → background jobs
//   stop    not ready, answers close their connections → hand shards over, still serving → wait for the load
//           balancer → no new connections, requests in flight end → charges stored → background jobs, actors,
//           bus, store
//
// On SQLite it listens after it has the database, so that a second process fails with an error about the
// database and not about the address. A start that fails or is cancelled closes what it opened, in reverse
// order.

import { hostname } from "node:os";
import { behaviors, type Protocol } from "../../actors/index.ts";
import { version } from "../../package.json";
import { createRootAccount } from "../admin/create-root.ts";
import { KEY_ACTIVITY, keyActivityAnswer } from "../admin/key-activity.ts";
import { type Clock, movedClock, type Random, realClock, realRandom, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { RecentRequests } from "../gateway/request-history/recent-requests.ts";
import { observeRequests } from "../gateway/request-history/request-history.ts";
import { createApp } from "../http/app.ts";
import { createMoneyReport } from "../report/money-statement.ts";
import { ClockOffset } from "../runtime/clock-offset.ts";
import { createSystem } from "../runtime/system.ts";
import { isMongodb } from "../settings/connection-url.ts";
import type { Settings } from "../settings/settings.ts";
import { startBackgroundJobs } from "./background-jobs.ts";
import { BUILT_CONSOLE, type ConsoleSource, openConsole } from "./console-files.ts";
import { applicationParts } from "./create-application.ts";
import { createNodeGateway, type NodeGateway } from "./create-gateway.ts";
import { createGauges, type Gauges, watermarkAge } from "./gauges.ts";
import { createFront } from "./http-front.ts";
import { asSetting, openInfrastructure } from "./infrastructure.ts";
import { urlOf } from "./listeners.ts";
import { createReadinessCheck, othersUp } from "./readiness.ts";
import { secretsKey } from "./secrets-key.ts";
import { ended, START_MS, type StartupRetry } from "./startup-retry.ts";

/** A running node. */
export interface Service {
  /** Base URL of the service; `adminUrl` is that of administration, which may be the same. */
  readonly url: string;
  readonly adminUrl: string;
  /** The node's name in the cluster. */
  readonly name: string;
  /** Root's API key in plain text at the first start; null later. */
  readonly rootKey: string | null;
  /** Drains and stops the node; resolves when everything is closed. */
  stop(): Promise<void>;
}

/**
 * Milliseconds for the handover of all shards, which takes 0.1 s, and 2 s more for each shard that does not
 * drain.
 */
const HAND_OVER_MS = 10_000;
const DRAIN_MS = 5_000;
const NEVER = new AbortController().signal;

/**
 * Starts a node; it serves when the promise resolves. `signal` cancels a start that still waits for
 * something: it then throws StartCancelledError. `consoleSource`: what it serves below /console, read when it is asked
 * for. Throws BadSetting when the node cannot start.
 */
export async function startService(
  settings: Settings,
  log: Log,
  signal = NEVER,
  consoleSource: ConsoleSource = BUILT_CONSOLE,
): Promise<Service> {
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
  // Leases and the clock check use the machine's clock: a moved business clock must not look like a frozen or
  // wrong one.
  const retry: StartupRetry = { clock: machine, log, signal, ms: START_MS, report: front.waits };
  const infrastructure = await openInfrastructure({ ...retry, settings, random, name, closing });
  const { store, bus, placement, health } = infrastructure;
  front.listen();
  const movable = settings.allowClockOffset ? { registry: store, bus } : null;
  if (movable !== null) {
    const following = offset.follow({ ...movable, log });
    closing.defer(await ended(retry, "the clock's offset is being read", following));
  }

  const figures = createGauges();
  const age = watermarkAge(clock);
  const recentRequests = new RecentRequests();
  const system = createSystem<Protocol>({
    ...{ store, bus, clock, random, placement, behaviors, log, version },
    figures: figures.all,
    observer: observeRequests(recentRequests, clock),
    saved(watermark) {
      age.saved(watermark);
      infrastructure.advance(watermark);
    },
  });
  closing.defer(() => system.drain(DRAIN_MS));
  await ended(retry, "shards are being placed", system.start()).catch((error) => {
    throw asSetting(error);
  });

  const core = { settings, system, store, clock, random, log, secretsKey: seal };
  const gateway = await createNodeGateway({ ...core, recentRequests });
  closing.defer(gateway.finish);
  const { settlement, chooser } = gateway.parts;
  system.serveQuery(
    KEY_ACTIVITY,
    keyActivityAnswer((keys) => gateway.keyActivity.read(keys, chooser, clock.wall())),
  );
  registerGatewayFigures(figures, gateway.parts);
  figures.register("watermarkAgeMs", age.ms);
  figures.register("tableVersion", infrastructure.tableVersion);
  const money = createMoneyReport({
    ...{ system, store, clock, log },
    heldHere: settlement.heldCosts.bind(settlement),
  });
  const localReason = createReadinessCheck({
    placement,
    connected: bus.connected,
    health,
    leaving: front.isLeaving,
  });
  const parts = applicationParts({
    ...{ ...core, gateway, placement, localReason, money },
    movableClock: movable && movableClock(offset, movable),
    addresses: front.addresses,
    consoleFiles: openConsole(consoleSource, machine),
  });
  const everything = createApp(parts, "all");
  const service = settings.adminPort === null ? everything : createApp(parts, "public");

  // The last step that may fail: a start that failed later would lose the key that it did not show.
  const founding = createRootAccount({ system, store, clock, random, chosen: settings.rootKey });
  const rootKey = await ended(retry, "Root is being founded", founding);
  closing.defer(startBackgroundJobs({ ...core, gateway, operations: parts.auditLog, figures }));
  front.open({ service, administration: everything }, () => health?.isIsolated() ?? false);

  const opened = closing.move();
  return {
    url: urlOf(front.addresses()[0]!),
    adminUrl: urlOf(front.addresses().at(-1)!),
    name,
    rootKey,
    async stop() {
      front.leave();
      if (othersUp(placement) && !(await system.handOff(HAND_OVER_MS))) {
        log("warn", "shards_left", { node: name });
      }
      if (settings.lbWaitMs > 0) await sleep(clock, settings.lbWaitMs);
      await front.close(settings.drainMs);
      await opened.disposeAsync();
    },
  };
}

/** The clock of tests, as its endpoint moves it. */
const movableClock = (offset: ClockOffset, stores: Parameters<ClockOffset["moveTo"]>[1]) => ({
  totalMs: () => offset.totalMs(),
  moveTo: (totalMs: number) => offset.moveTo(totalMs, stores),
});

/** Registers the figures that parts of the gateway know. */
function registerGatewayFigures(
  figures: Gauges,
  { settlement, chooser, requestHistory }: NodeGateway["parts"],
): void {
  figures.register("lateCharges", () => settlement.lateCharges());
  figures.register("lateChargesWaiting", () => settlement.pendingLateCharges().length);
  figures.register("keysInFlight", chooser.allInFlight);
  figures.register("requestReportsSkipped", requestHistory.skippedCount);
  figures.register("requestReportsLost", requestHistory.lostCount);
}

/** A name that no other process has, on any machine, now or earlier. */
function ownName(random: Random): string {
  const machine = hostname().replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${machine.slice(0, 50)}-${random.id().slice(-6)}`;
}
