// The gateway of a node, put together: what a request needs on its way from its key to its charge. The only place that
// knows all these parts; each knows the others by contract.

import { findProvider } from "../../actors/catalog/catalog.ts";
import type { Protocol } from "../../actors/index.ts";
import { atMost, type Clock, type Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createConfigCache } from "../gateway/account/config-cache.ts";
import { createIdentify } from "../gateway/account/identify.ts";
import { createFileSpool } from "../gateway/admission/charge-spool.ts";
import { createSettlement } from "../gateway/admission/settlement.ts";
import { createFailedRequestLog } from "../gateway/answer/failed-request-log.ts";
import { createKeyChooser } from "../gateway/attempt/key-chooser.ts";
import { createLevelReporter } from "../gateway/attempt/level-reports.ts";
import type { GatewayParts } from "../gateway/context.ts";
import { createIdempotencyRecords } from "../gateway/idempotency/idempotency-records.ts";
import { createTokenWorkerPool } from "../gateway/metering/token-worker-pool.ts";
import { createStoredObjectIndex } from "../gateway/stored-objects/object-index.ts";
import { errorOf, httpError } from "../http/errors.ts";
import { LAG_MOST_MS } from "../http/operations/health.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/store.ts";
import { createSecretVault, type SecretVault } from "../upstream/secret-vault.ts";
import { createSsrfGuard, type SsrfGuard } from "../upstream/ssrf-guard.ts";
import type { HostFacts } from "../upstream/standard.ts";
import { createUpstreams } from "../upstream/upstream-by-type.ts";

/** What everything above the actors is made of. */
export interface Core {
  readonly settings: Settings;
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Seals provider secrets. */
  readonly secretsKey: string;
}

export interface NodeGateway {
  readonly parts: GatewayParts;
  readonly guard: SsrfGuard;
  readonly vault: SecretVault;
  /** Resolves when what was under way is charged, or its time is over. Nothing may come in any more. */
  finish(): Promise<void>;
}

/** What cut requests need to be charged. */
const ENDING_MS = 5_000;

/** Also sends what an earlier process of this node left in its spool. */
export async function createNodeGateway(core: Core): Promise<NodeGateway> {
  const { settings, system, store, clock, random, log } = core;
  const replicas = createConfigCache({ system, clock });
  const guard = createSsrfGuard({ allowCidrs: settings.providerAllowCidrs, clock });
  const vault = createSecretVault(core.secretsKey, settings.secretsKeyOld);
  const counter = createTokenWorkerPool({ clock, log });
  const { chargeWaitMs, keyFailures } = settings;
  const settle = createSettlement({
    system,
    spool: createFileSpool(settings.spoolDir),
    clock,
    log,
    chargeWaitMs,
  });
  await settle.replay();
  const chooser = createKeyChooser();
  return {
    guard,
    vault,
    parts: {
      ...{ system, replicas, settle, counter, clock, random, log, vault, chooser },
      identify: createIdentify({ store, clock }),
      reports: createLevelReporter({ system, clock, log, chooser, level: replicas.level, keyFailures }),
      recent: createFailedRequestLog(),
      objects: createStoredObjectIndex({ store, clock, log, waitMs: chargeWaitMs }),
      repeats: createIdempotencyRecords({ store, vault, clock, log }),
      upstream: createUpstreams({ ...settings, guard, clock, hostFacts }),
      limits: settings,
      lagMostMs: LAG_MOST_MS,
      describe: (refusal) => errorOf(httpError(refusal)),
    },
    async finish() {
      // What was cut is charged for what its client got, and counted for that.
      await atMost(clock, ENDING_MS, settle.idle());
      counter.stop();
      settle.flushNow();
      await atMost(clock, ENDING_MS, settle.idle());
    },
  };
}

/** What the catalogue knows of a provider's host; the clouds are reached in ways of their own. */
function hostFacts(hostname: string): HostFacts | undefined {
  const known = findProvider(hostname);
  if (known === null || (known.auth !== "bearer" && known.auth !== "x-api-key")) return undefined;
  return { ...known, auth: known.auth };
}
