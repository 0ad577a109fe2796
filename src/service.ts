// The whole service, built from its settings: the only place that knows every part. Parts know each other by contract.
// `start` opens the store, founds Root and listens; `stop` drains: no request that ends in time is lost.

import { hostname } from "node:os";
import { providerAt } from "../actors/catalogue.ts";
import { ROOT } from "../actors/ids.ts";
import { behaviors, type Protocol, to } from "../actors/index.ts";
import { addKeys } from "./admin/add-key.ts";
import { changeKeys } from "./admin/change-key.ts";
import { createAccounts } from "./admin/create-account.ts";
import { foundRoot } from "./admin/root.ts";
import { every, startSweeps } from "./admin/sweeps.ts";
import { testKeys } from "./admin/test-key.ts";
import type { Bus } from "./bus/bus.ts";
import { memoryBus } from "./bus/memory.ts";
import { createRecent } from "./gateway/foresight/recent.ts";
import { createIdentify } from "./gateway/identify.ts";
import { createKeyChooser } from "./gateway/keys.ts";
import { logQuotaMoves } from "./gateway/money/quota-moves.ts";
import { createSettle } from "./gateway/money/settle.ts";
import { fileSpool } from "./gateway/money/spool.ts";
import { counterApart } from "./gateway/money/tokens-apart.ts";
import { createObjects } from "./gateway/objects/objects.ts";
import { createRecall } from "./gateway/objects/recall.ts";
import { createRepeats } from "./gateway/repeats/repeats.ts";
import { createReplicas } from "./gateway/replicas.ts";
import { createReports } from "./gateway/reports.ts";
import { createGateway } from "./gateway/request.ts";
import type { GatewayParts } from "./gateway/running.ts";
import { type AppParts, createApp } from "./http/app.ts";
import { callLimiter } from "./http/call-limiter.ts";
import { apiKeyOf } from "./http/endpoint.ts";
import { errorOf, errorResponse, INTERNAL, problem } from "./http/errors.ts";
import { createMetrics, createReadiness, LAG_MOST_MS } from "./http/health.ts";
import { createOperationLog } from "./http/journal.ts";
import { createRepeats as createWriteRepeats } from "./http/repeats.ts";
import { startLevelNotices } from "./mail/level-notices.ts";
import { createOutbox } from "./mail/outbox.ts";
import { senders } from "./mail/senders.ts";
import { smtpMailer } from "./mail/smtp.ts";
import { atMost, type Clock, type Random, realClock, realRandom, sleep } from "./runtime/clock.ts";
import type { Log } from "./runtime/log.ts";
import { soloPlacement } from "./runtime/solo.ts";
import { createSystem } from "./runtime/system.ts";
import { secretsKey } from "./secrets-key.ts";
import type { Settings } from "./settings.ts";
import { numbers } from "./store/numbers.ts";
import { openStore } from "./store/open.ts";
import { createGuard } from "./upstream/guard.ts";
import type { HostFacts } from "./upstream/standard.ts";
import { createUpstreams } from "./upstream/upstreams.ts";
import { createVault } from "./upstream/vault.ts";

export interface Service {
  /** Base addresses of the listeners: the service, and the administration when it has one of its own. */
  readonly url: string;
  readonly adminUrl: string;
  /** Root's key, the first time only. */
  readonly rootKey: string | null;
  stop(): Promise<void>;
}

/** What cut requests need to be charged. */
const ENDING_MS = 5_000;
/** Between two looks at the mails that are due. */
const OUTBOX_MS = 2_000;

export async function startService(settings: Settings, log: Log): Promise<Service> {
  const clock: Clock = realClock(() => settings.clockOffsetMs);
  const random: Random = realRandom(clock);
  const store = await openStore(settings.storeUrl, {
    clock,
    onError: (error) => log("error", "store_failed", { error: String(error) }),
  });
  const bus: Bus = memoryBus();
  const node = settings.nodeName ?? `${hostname()}-${random.id().slice(-6)}`;
  const placement = soloPlacement({ registry: store, node });
  const system = createSystem<Protocol>({
    store,
    bus,
    clock,
    random,
    placement,
    behaviors,
    log,
    saved: (watermark) => {
      placement
        .advance(watermark)
        .catch((error) => log("warn", "watermark_failed", { error: String(error) }));
    },
  });
  await system.start();
  const rootKey = await foundRoot({ system, store, clock, random, chosen: settings.rootKey });

  const identify = createIdentify({ store, clock });
  const replicas = createReplicas({ system, clock });
  const guard = createGuard({ allowCidrs: settings.providerAllowCidrs, clock });
  const vault = createVault(secretsKey(settings), settings.secretsKeyOld);
  const upstream = createUpstreams({ ...settings, guard, clock, hostFacts });
  const counter = counterApart({ clock, log });
  const spool = fileSpool(settings.spoolDir);
  const settle = createSettle({ system, spool, clock, log, chargeWaitMs: settings.chargeWaitMs });
  await settle.replay();
  const chooser = createKeyChooser();
  const recent = createRecent();
  const objects = createObjects({ store, clock, log, waitMs: settings.chargeWaitMs });

  const listeners: { host: string; port: number }[] = [];
  let leaving = false;
  const metrics = createMetrics(system, () => ({
    lateCharges: settle.lateCharges(),
    keysInFlight: chooser.allInFlight(),
  }));
  const { publicUrls } = settings;
  const keyParts = { system, guard, vault, upstream, listeners: () => listeners, publicUrls };
  const gatewayParts: GatewayParts = {
    system,
    identify,
    replicas,
    settle,
    counter,
    clock,
    random,
    log,
    vault,
    chooser,
    reports: createReports({
      system,
      clock,
      log,
      chooser,
      level: replicas.level,
      keyFailures: settings.keyFailures,
    }),
    recent,
    objects,
    repeats: createRepeats({ store, vault, clock, log }),
    upstream,
    limits: settings,
    lagMostMs: LAG_MOST_MS,
    describe: (refusal) => errorOf(problem(refusal)),
  };
  const parts: AppParts = {
    system,
    identify,
    replicas,
    upstream,
    recent,
    objects,
    limits: settings,
    store,
    clock,
    random,
    log,
    metrics,
    limiter: callLimiter({ clock, perMinute: settings.apiRpm }),
    operations: createOperationLog({
      ...{ store, clock, log, nextId: numbers(store, "log") },
      enabled: async () => (await replicas.config(ROOT)).config.logEnable,
    }),
    repeats: createWriteRepeats({ store, vault, clock, random, log }),
    maxBodyBytes: settings.maxBodyBytes,
    trustProxy: settings.trustProxy,
    readiness: createReadiness({ system, store, leaving: () => leaving }),
    createAccount: createAccounts({ system, store, clock, random, nextId: numbers(store, "account") }),
    addKey: addKeys({ ...keyParts, nextId: numbers(store, "key") }),
    changeKey: changeKeys(keyParts),
    testKey: testKeys({ system, replicas, vault, upstream, clock }),
    nextNewsId: numbers(store, "news"),
    seal: vault.seal,
    gateway: createGateway(gatewayParts),
    recall: createRecall(gatewayParts),
    async mayReadMetrics(request, ip) {
      if (settings.adminPort !== null) return true;
      const key = apiKeyOf(request, false);
      if (key === null) return false;
      if (settings.metricsToken !== null && key === settings.metricsToken) return true;
      const holder = await identify(key, ip);
      if (holder?.account !== ROOT) return false;
      // Whose it was a minute ago; whether it still is, and may come from there, Root's account says.
      const asking = { keyHash: holder.keyHash, ip: ip(), suspendedToo: true };
      return system.ask(to.account(ROOT), "identify", asking).then(
        () => true,
        () => false,
      );
    },
  };

  // Bodies are bounded where they are read, with an answer of ours; Bun's own bound would answer a bare 413.
  const serve = {
    idleTimeout: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    // Its error page would show where the program lies.
    development: false,
    error(error: Error) {
      const requestId = random.id();
      log("error", "request_failed", { requestId, error: error.stack ?? String(error) });
      return errorResponse(problem(INTERNAL), { "x-request-id": requestId });
    },
  };
  const servers = [
    Bun.serve({
      hostname: settings.host,
      port: settings.port,
      fetch: createApp(parts, settings.adminPort === null ? "all" : "public"),
      ...serve,
    }),
  ];
  if (settings.adminPort !== null) {
    const fetch = createApp(parts, "all");
    servers.push(Bun.serve({ hostname: settings.adminHost, port: settings.adminPort, fetch, ...serve }));
  }
  for (const one of servers) listeners.push({ host: one.hostname!, port: one.port! });
  const { write } = parts.operations;
  const post = { system, clock, log, mailer: smtpMailer({ judge: guard.check, clock }) };
  const mail = { ...post, senderFor: senders({ system, open: vault.open }) };
  const outbox = createOutbox({ ...mail, store, write });
  logQuotaMoves(system, write);
  const stops = [
    startSweeps({ system, store, clock, random, log, logDays: settings.logDays }),
    every({ clock, log }, OUTBOX_MS, "mail_sweep", outbox.sweep),
    startLevelNotices(mail),
  ];

  return {
    url: urlOf(listeners[0]!),
    adminUrl: urlOf(listeners.at(-1)!),
    rootKey,
    async stop() {
      leaving = true;
      if (settings.lbWaitMs > 0) await sleep(clock, settings.lbWaitMs);
      const finished = Promise.all(servers.map((one) => one.stop()));
      await atMost(clock, settings.drainMs, finished);
      await Promise.all(servers.map((one) => one.stop(true)));
      // What was cut is charged for what its client got, and counted for that.
      await atMost(clock, ENDING_MS, settle.allEnded());
      counter.stop();
      await atMost(clock, ENDING_MS, settle.allEnded());
      for (const stop of stops) stop();
      await system.drain(5_000);
      await bus.close();
      await store.close();
    },
  };
}

const urlOf = ({ host, port }: { host: string; port: number }): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** What the catalogue knows of a provider's host; the clouds are reached in ways of their own. */
function hostFacts(hostname: string): HostFacts | undefined {
  const known = providerAt(hostname);
  if (known === null || (known.auth !== "bearer" && known.auth !== "x-api-key")) return undefined;
  return { ...known, auth: known.auth };
}
