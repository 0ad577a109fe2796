// Builds the parts of a node's HTTP application from the gateway and the management operations. Only this
// file knows the parts of all endpoints.

import { INVALID_KEY } from "../../actors/account/authenticate.ts";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { addKeys } from "../admin/add-key.ts";
import { changeKeys } from "../admin/change-key.ts";
import { createAccounts } from "../admin/create-account.ts";
import { testKeys } from "../admin/test-key.ts";
import type { Refusal } from "../base/errors.ts";
import { MISSING_KEY, wrongKey } from "../gateway/account/identify.ts";
import { createGateway } from "../gateway/request.ts";
import { createStoredResponse } from "../gateway/stored-response.ts";
import type { AccessLog } from "../gateway/traffic/access-line.ts";
import type { GatewayCounts } from "../gateway/traffic/gateway-counts.ts";
import type { AppParts } from "../http/app.ts";
import { createAuditLog } from "../http/audit-log.ts";
import { callLimiter } from "../http/call-limiter.ts";
import { INTERNAL, refusalOf } from "../http/errors.ts";
import { createAdminIdempotency } from "../http/idempotency.ts";
import { createReadiness } from "../http/operations/health.ts";
import { createMetrics } from "../http/operations/metrics.ts";
import { apiKeyOf } from "../http/request-head.ts";
import { createWriteLocks } from "../http/write-lock.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { createTestMails } from "../mail/test-mail.ts";
import type { MoneyReport } from "../report/money-statement.ts";
import type { Placement } from "../runtime/placement/placement.ts";
import { withFreshDocuments } from "../store/fresh-documents.ts";
import { numbers } from "../store/id-allocator.ts";
import type { Core, NodeGateway } from "./create-gateway.ts";
import type { Address } from "./listeners.ts";
import { upByNow } from "./readiness.ts";

/** What the application is built from. */
export interface ApplicationParts extends Core {
  readonly gateway: NodeGateway;
  readonly placement: Placement;
  /** The node's listeners, to which no provider URL may point. */
  readonly addresses: () => readonly Address[];
  /** The movable business clock; null when the settings do not allow it to move. */
  readonly movableClock: AppParts["movableClock"];
  /** Returns why this node should get no requests; null when it should. */
  readonly localReason: () => string | null;
  readonly money: MoneyReport;
  readonly consoleFiles: AppParts["consoleFiles"];
  readonly counts: GatewayCounts;
  /** Null unless ACCESS_LOG is set. */
  readonly accessLog: AccessLog | null;
}

/** Milliseconds that one address of a mail server may take for a test mail. */
const TEST_MAIL_MS = 15_000;

/** Builds the parts that `createApp` needs. */
export function applicationParts(given: ApplicationParts): AppParts {
  const { settings, system, clock, random, log, placement, localReason, accessLog } = given;
  const store = withFreshDocuments(given.store, { clock, save: system.save });
  const { parts: gateway, guard, vault } = given.gateway;
  const { identify, configs, chooser, upstream, failedRequests, storedObjects } = gateway;
  const { largeBodies, requestHistory } = gateway;
  const { publicUrls, maxBodyBytes, trustProxy } = settings;
  const readiness = createReadiness({ system, store, localReason });
  const nodes = { node: placement.node, isUp: upByNow(placement) };
  const keyParts = { system, guard, vault, upstream, listeners: given.addresses, publicUrls };
  return {
    ...{ system, identify, configs, upstream, storedObjects, store, clock, random, log, placement },
    ...{
      configs,
      chooser,
      failedRequests,
      requestHistory,
      largeBodies,
      money: given.money,
      consoleFiles: given.consoleFiles,
    },
    ...{
      maxBodyBytes,
      trustProxy,
      adminUrl: settings.adminUrl,
      limits: settings,
      seal: vault.seal,
      movableClock: given.movableClock,
    },
    accessLog,
    readiness,
    metrics: createMetrics({
      ...{ system, placement, readiness, clock },
      counts: given.counts,
      accessLinesDropped: () => accessLog?.dropped() ?? 0,
    }),
    limiter: callLimiter({ clock, perMinute: settings.apiRpm }),
    refusalLimiter: callLimiter({ clock, perMinute: settings.apiRpm }),
    auditLog: createAuditLog({
      ...{ store, clock, log, nextId: numbers(store, "log") },
      enabled: async () => (await configs.config(ROOT)).config.logEnable,
    }),
    idempotency: createAdminIdempotency({
      store,
      vault,
      clock,
      random,
      log,
      nodes,
    }),
    locks: createWriteLocks({ store, clock, random, ...nodes }),
    createAccount: createAccounts({ system, store, clock, random, log, nextId: numbers(store, "account") }),
    addKey: addKeys({ ...keyParts, nextId: numbers(store, "key") }),
    changeKey: changeKeys(keyParts),
    testKey: testKeys({ system, configs, vault, upstream, clock }),
    sendTestMail: createTestMails({
      ...{ system, registry: store, clock, open: vault.open },
      mailer: smtpMailer({ judge: guard.check, clock, deadlineMs: TEST_MAIL_MS }),
    }),
    nextNewsId: numbers(store, "news"),
    gateway: createGateway(gateway),
    recall: createStoredResponse(gateway),
    metricsRefusal: metricsReaders({ settings, system, identify }),
  };
}

const NOT_ROOT: Refusal = { code: "not_root", message: "Metrics need Root's key or METRICS_TOKEN." };

/**
 * Decides who may read metrics: everybody if administration has its own address, otherwise the holder of
 * Root's key or of METRICS_TOKEN.
 */
function metricsReaders({
  settings,
  system,
  identify,
}: Pick<Core, "settings" | "system"> & Pick<AppParts, "identify">): AppParts["metricsRefusal"] {
  return async (request, ip) => {
    if (settings.adminPort !== null) return null;
    const key = apiKeyOf(request, false);
    if (key === null) return MISSING_KEY;
    if (settings.metricsToken !== null && key === settings.metricsToken) return null;
    try {
      const holder = await identify(key, { ip });
      if (holder === null) return INVALID_KEY;
      // The key's owner is cached for up to a minute; only the account knows whether the key is still valid
      // and its IP rules allow the caller.
      const asking = { keyHash: holder.keyHash, ip: ip(), scope: "admin", suspendedToo: true } as const;
      await system.ask(actorRef.account(holder.account), "identify", asking).catch((error) => {
        throw wrongKey(identify, holder, error);
      });
      return holder.account === ROOT ? null : NOT_ROOT;
    } catch (error) {
      return refusalOf(error) ?? INTERNAL;
    }
  };
}
