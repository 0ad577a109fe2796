// Starts and stops a node: the order in which its parts come up and go down. Other files of this folder make
// the parts.
//
//   start   listen (alive, not ready) → store → bus → placement → application → Root → background jobs
//   stop    not ready, answers close their connections → hand shards over, still serving → wait for the load
//           balancer → no new connections, requests in flight end → background jobs → charges stored → actors →
//           last spans → access log → bus, store; stop-times.ts says how long each may take
//
// On SQLite it listens after it has the database, so that a second process fails with an error about the
// database and not about the address. A start that fails or is cancelled closes what it opened, in reverse
// order.

import { behaviors, type Protocol } from "../../actors/index.ts";
import { version } from "../../package.json";
import { createRootAccount } from "../admin/create-root.ts";
import { KEY_ACTIVITY, keyActivityAnswer } from "../admin/key-activity.ts";
import { type Clock, movedClock, type Random, realClock, realRandom, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { TurnClock } from "../base/turn-clock.ts";
import { RecentRequests } from "../gateway/request-history/recent-requests.ts";
import { observeRequests } from "../gateway/request-history/request-history.ts";
import type { RequestTracer } from "../gateway/request-trace.ts";
import { GatewayCounts } from "../gateway/traffic/gateway-counts.ts";
import { type AppParts, createApp } from "../http/app.ts";
import { createMoneyReport } from "../report/money-statement.ts";
import { observeWith } from "../runtime/actor-observer.ts";
import { ClockOffset } from "../runtime/clock-offset.ts";
import { createSystem } from "../runtime/system.ts";
import { isMongodb } from "../settings/connection-url.ts";
import type { Settings } from "../settings/settings.ts";
import type { TracingParts } from "../telemetry/open-telemetry.ts";
import { openAccessLog } from "./access-log.ts";
import { startBackgroundJobs } from "./background-jobs.ts";
import { BUILT_CONSOLE, type ConsoleSource, openConsole } from "./console-files.ts";
import { applicationParts } from "./create-application.ts";
import { createNodeGateway, type NodeGateway } from "./create-gateway.ts";
import { createGauges, type Gauges, watermarkAge } from "./gauges.ts";
import { type Applications, createFront } from "./http-front.ts";
import { asSetting, type Infrastructure, openInfrastructure } from "./infrastructure.ts";
import { urlOf } from "./listeners.ts";
import { prepareSpool, withFilesOf } from "./own-files.ts";
import { ownName } from "./own-name.ts";
import { createReadinessCheck, othersUp } from "./readiness.ts";
import { secretsKey } from "./secrets-key.ts";
import { ended, START_MS, type StartupRetry } from "./startup-retry.ts";
import { ACTORS_MS, HAND_OVER_MS, TRACES_MS } from "./stop-times.ts";

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

/** A start that failed when Root was founded already: its key, which is shown only once, is here. */
export class FailedWithRootKey extends Error {
  override readonly name = "FailedWithRootKey";
  constructor(
    readonly rootKey: string,
    override readonly cause: unknown,
  ) {
    super("the start failed after Root was founded");
  }
}

const NEVER = new AbortController().signal;

/**
 * Starts a node; it serves when the promise resolves. `signal` cancels a start that still waits for
 * something: it then throws StartCancelledError. `consoleSource`: what it serves below /console, read when it is asked
 * for. Throws BadSetting when the node cannot start, and FailedWithRootKey with that as its cause where Root's key is new.
 */
export async function startService(
  settings: Settings,
  log: Log,
  signal = NEVER,
  consoleSource: ConsoleSource = BUILT_CONSOLE,
): Promise<Service> {
  const machine: Clock = realClock(() => settings.clockOffsetMs);
  const offset = new ClockOffset(() => settings.clockOffsetMs);
  const turnClock = new TurnClock(movedClock(machine, () => offset.movedMs()));
  const clock: Clock = { ...machine, wall: turnClock.wall.bind(turnClock) };
  const random: Random = realRandom(clock);
  const seal = await withFilesOf("STORE_URL", () => secretsKey(settings));
  await withFilesOf("SPOOL_DIR", () => prepareSpool(settings.spoolDir));
  const name = settings.nodeName ?? ownName(random);
  await using closing = new AsyncDisposableStack();

  const front = createFront({ settings, clock: turnClock, random, log });
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

  const accessLog = openAccessLog(settings, machine, closing);
  const tracer = await openTracer(settings, { clock, random, log, node: name, version }, closing);
  const figures = createGauges();
  const age = watermarkAge(clock);
  const recentRequests = new RecentRequests();
  const counts = new GatewayCounts();
  const system = createSystem<Protocol>({
    ...{ store, bus, clock, random, placement, behaviors, log, version },
    figures: figures.all,
    observer: observeWith(observeRequests(recentRequests, clock), counts.levels, counts.levelEvents),
    saved(watermark) {
      age.saved(watermark);
      infrastructure.advance(watermark);
    },
  });
  closing.defer(() => system.drain(ACTORS_MS));
  await ended(retry, "shards are being placed", system.start()).catch((error) => {
    throw asSetting(error);
  });

  const core = { settings, system, store, clock, turnClock, random, log, secretsKey: seal };
  const gateway = await createNodeGateway({ ...core, recentRequests, counts, accessLog, tracer });
  closing.defer(gateway.finish);
  const { settlement, chooser } = gateway.parts;
  system.serveQuery(
    KEY_ACTIVITY,
    keyActivityAnswer((keys) => gateway.keyActivity.read(keys, chooser, clock.wall())),
  );
  registerGatewayFigures(figures, gateway.parts);
  registerNodeFigures(figures, age, infrastructure);
  const money = createMoneyReport({
    ...{ system, store, clock, log },
    heldHere: settlement.heldCosts.bind(settlement),
  });
  const localReason = createReadinessCheck({
    ...{ placement, health, connected: bus.connected, leaving: front.isLeaving },
  });
  const parts = applicationParts({
    ...{ ...core, gateway, placement, localReason, money, counts, accessLog },
    movableClock: movable && movableClock(offset, movable),
    addresses: front.addresses,
    consoleFiles: openConsole(consoleSource, machine),
  });
  const applications = applicationsOf(parts, settings);

  // The last step that may fail but for the shared ports, where a process listens when it serves and not before.
  const founding = createRootAccount({ system, store, clock, random, chosen: settings.rootKey });
  const rootKey = await ended(retry, "Root is being founded", founding);
  closing.defer(startBackgroundJobs({ ...core, gateway, operations: parts.auditLog, figures }));
  const isIsolated = () => health?.isIsolated() ?? false;
  keepingRootKey(rootKey, () => front.open(applications, isIsolated));

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

/** Creates the applications of the listeners, one for both where administration has no address of its own. */
function applicationsOf(parts: AppParts, { adminPort }: Settings): Applications {
  const administration = createApp(parts, "all");
  return { administration, service: adminPort === null ? administration : createApp(parts, "public") };
}

/** Does a step of a start that founded Root with `rootKey`; null when Root was there before. */
function keepingRootKey(rootKey: string | null, step: () => void): void {
  try {
    step();
  } catch (error) {
    throw rootKey === null ? error : new FailedWithRootKey(rootKey, error);
  }
}

/**
 * Begins to trace where traces are configured, and ends that with the process; else null. OpenTelemetry's packages are loaded
 * only then. What was opened before the actors ends after them: a collector that is away takes no time from charges.
 */
async function openTracer(
  { tracing }: Settings,
  parts: TracingParts,
  closing: AsyncDisposableStack,
): Promise<RequestTracer | null> {
  if (tracing === null) return null;
  const { createTracing } = await import("../telemetry/open-telemetry.ts");
  const { tracer, stop } = createTracing(tracing, parts);
  closing.defer(() => stop(TRACES_MS));
  return tracer;
}

/** The clock of tests, as its endpoint moves it. */
const movableClock = (offset: ClockOffset, stores: Parameters<ClockOffset["moveTo"]>[1]) => ({
  totalMs: () => offset.totalMs(),
  moveTo: (totalMs: number) => offset.moveTo(totalMs, stores),
});

/** Registers the figures that the node's own parts know. */
function registerNodeFigures(
  figures: Gauges,
  age: Pick<ReturnType<typeof watermarkAge>, "ms">,
  { tableVersion, health }: Pick<Infrastructure, "tableVersion" | "health">,
): void {
  figures.register("watermarkAgeMs", age.ms);
  figures.register("tableVersion", tableVersion);
  figures.register("clockSkewMs", () => Math.round(health?.skewMs() ?? 0));
}

/** Registers the figures that parts of the gateway know. */
function registerGatewayFigures(
  figures: Gauges,
  { settlement, chooser, requestHistory }: NodeGateway["parts"],
): void {
  figures.register("lateCharges", () => settlement.lateCharges());
  figures.register("lateChargesWaiting", () => settlement.pendingLateCharges().length);
  figures.register("holdsOpen", () => settlement.holdsOpen());
  figures.register("keysInFlight", () => chooser.allInFlight());
  figures.register("requestReportsSkipped", requestHistory.skippedCount);
  figures.register("requestReportsLost", requestHistory.lostCount);
}
