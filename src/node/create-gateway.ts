// Builds the gateway of a node: everything that a request needs from the check of its key to its charge. Only
// this file knows all these parts; each part knows the others by interfaces.

import { findProvider } from "../../actors/catalog/catalog.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { atMost, type Clock, type Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createConfigCache } from "../gateway/account/config-cache.ts";
import { createIdentify } from "../gateway/account/identify.ts";
import { createFileSpool } from "../gateway/admission/charge-spool.ts";
import { createSettlement } from "../gateway/admission/settlement.ts";
import { createFailedRequestLog } from "../gateway/answer/failed-request-log.ts";
import { KeyActivityCounter } from "../gateway/attempt/key-activity.ts";
import { createKeyChooser } from "../gateway/attempt/key-chooser.ts";
import { createLevelReporter } from "../gateway/attempt/level-reports.ts";
import { createIdempotencyRecords } from "../gateway/idempotency/idempotency-records.ts";
import { LargeBodyPool } from "../gateway/large-body/worker-pool.ts";
import { createTokenWorkerPool } from "../gateway/metering/token-worker-pool.ts";
import type { GatewayParts } from "../gateway/request.ts";
import type { RecentRequests } from "../gateway/request-history/recent-requests.ts";
import { createRequestHistory } from "../gateway/request-history/request-history.ts";
import type { RequestTracer } from "../gateway/request-trace.ts";
import { createStoredObjectIndex } from "../gateway/stored-objects/object-index.ts";
import { type AccessLog, accessLineOf } from "../gateway/traffic/access-line.ts";
import type { GatewayCounts } from "../gateway/traffic/gateway-counts.ts";
import type { RequestObserver } from "../gateway/traffic/request-observer.ts";
import { errorOf, httpError, INTERNAL, refusalOf } from "../http/errors.ts";
import { LAG_MS_MAX } from "../http/operations/health.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/store.ts";
import { createFetchTransport } from "../upstream/fetch-transport.ts";
import { Http1Transport } from "../upstream/http1/http1-transport.ts";
import { createSecretVault, type SecretVault } from "../upstream/secret-vault.ts";
import { createSsrfGuard, type SsrfGuard } from "../upstream/ssrf-guard.ts";
import type { HostFacts } from "../upstream/standard.ts";
import { createUpstreams } from "../upstream/upstream-by-type.ts";
import { takeLeftSpools } from "./left-spools.ts";
import { withFilesOf } from "./own-files.ts";
import { CHARGE_MS } from "./stop-times.ts";

/** What all parts above the actors are made of. */
export interface Core {
  readonly settings: Settings;
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  /** Business time as of this turn of the event loop, and the exact monotonic time. */
  readonly clock: Clock;
  /** Both times as of this turn. */
  readonly turnClock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The key that encrypts provider secrets: 32 bytes in base64. */
  readonly secretsKey: string;
}

/** What the gateway is made of besides: the list that the observer of the actor system fills. */
export interface GatewayCore extends Core {
  readonly recentRequests: RecentRequests;
  readonly counts: GatewayCounts;
  /** Null unless ACCESS_LOG is set. */
  readonly accessLog: AccessLog | null;
  /** Begins traces of requests; null where they are not traced. */
  readonly tracer: RequestTracer | null;
}

/** The gateway's parts, and how to end them. */
export interface NodeGateway {
  readonly parts: GatewayParts;
  readonly guard: SsrfGuard;
  readonly vault: SecretVault;
  readonly keyActivity: KeyActivityCounter;
  /**
   * Resolves when running requests are charged, or their time is over. No new requests may arrive any more.
   */
  finish(): Promise<void>;
}

/** Builds the gateway, once the ports and the name are this node's. Reads the charge spool and sends what an earlier process of this node left there. */
export async function createNodeGateway(core: GatewayCore): Promise<NodeGateway> {
  const { settings, system, store, clock, turnClock, random, log } = core;
  const { counts } = core;
  const configs = createConfigCache({ system, clock: turnClock });
  const guard = createSsrfGuard({ allowCidrs: settings.providerAllowCidrs, clock: turnClock });
  const vault = createSecretVault(core.secretsKey, settings.secretsKeyOld);
  const counter = createTokenWorkerPool({ clock, log });
  const largeBodies = new LargeBodyPool(log);
  const { chargeWaitMs, keyFailures } = settings;
  const settlement = createSettlement({
    system,
    spool: createFileSpool(settings.spoolDir),
    clock,
    log,
    chargeWaitMs,
  });
  await withFilesOf("SPOOL_DIR", () => takeLeftCharges(settings, log));
  await settlement.replay();
  const chooser = createKeyChooser(turnClock);
  const keyActivity = new KeyActivityCounter();
  const transport =
    settings.upstreamClient === "fetch" ? createFetchTransport() : new Http1Transport(turnClock);
  const requestHistory = createRequestHistory({ system, clock, log, recent: core.recentRequests });
  return {
    ...{ guard, vault, keyActivity },
    parts: {
      ...{ system, configs, settlement, counter, largeBodies, clock, random, log, vault, chooser },
      requestHistory,
      observer: observerOf(core),
      tracer: core.tracer,
      nodeOfAccount: settings.lbNodeHeader
        ? (account) => system.ownerNameOf(actorRef.account(account))
        : null,
      identify: createIdentify({ store, clock: turnClock }),
      levelReporter: createLevelReporter({
        system,
        clock,
        log,
        chooser,
        activity: keyActivity,
        attempts: counts.attempts,
        level: (owner, level) => configs.level(owner, level),
        keyFailures,
      }),
      failedRequests: createFailedRequestLog(),
      storedObjects: createStoredObjectIndex({ store, clock: turnClock, log, waitMs: chargeWaitMs }),
      idempotencyRecords: createIdempotencyRecords({ store, vault, clock, log }),
      upstream: createUpstreams({ ...settings, guard, transport, clock, hostFacts }),
      limits: settings,
      lagMostMs: LAG_MS_MAX,
      describe: (refusal) => errorOf(httpError(refusal)),
      refusalFor: (error) => refusalOf(error) ?? INTERNAL,
    },
    async finish() {
      // An aborted request is charged for what its client got, which must be counted first.
      await atMost(clock, CHARGE_MS, settlement.idle());
      counter.stop();
      largeBodies.stop();
      transport.close();
      settlement.flushNow();
      await atMost(clock, CHARGE_MS, settlement.idle());
    },
  };
}

/**
 * Takes the charges of processes that are no longer started. Not before the ports and the name are this node's, so that a mistaken
 * start beside a service that runs leaves that service's spools alone.
 */
function takeLeftCharges({ share, spoolDir, processes }: Settings, log: Log): void {
  if (share !== null && share.process !== 1) return;
  const charges = takeLeftSpools(spoolDir, processes);
  if (charges > 0) log("info", "left_spools_taken", { charges });
}

/** Returns what counts the ends of requests, and logs them if ACCESS_LOG is set. */
function observerOf({ counts: { requests }, accessLog }: GatewayCore): RequestObserver {
  if (accessLog === null) return requests;
  return {
    ended(context, endedMs) {
      requests.ended(context, endedMs);
      accessLog.write(accessLineOf(context, endedMs));
    },
  };
}

/**
 * Returns what the catalog knows about a provider's host; undefined for unknown hosts and for clouds, which
 * have their own adapters.
 */
function hostFacts(hostname: string): HostFacts | undefined {
  const known = findProvider(hostname);
  if (known === null || (known.auth !== "bearer" && known.auth !== "x-api-key")) return undefined;
  return { ...known, auth: known.auth };
}
