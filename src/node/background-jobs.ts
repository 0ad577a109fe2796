// Starts the background jobs of a node: sweeps, due mails, notices of Levels without a usable key, and lines
// of the operation log about what accounts did by themselves. Each job is done once in a cluster, by the node
// that owns the actor concerned.

import { every, startSweeps } from "../admin/periodic-sweeps.ts";
import type { AuditLog } from "../http/audit-log.ts";
import { startLevelNotices } from "../mail/level-alerts.ts";
import { createMailOutbox } from "../mail/mail-outbox.ts";
import { senders } from "../mail/senders.ts";
import { smtpMailer } from "../mail/smtp.ts";
import { logQuotaMoves } from "./auto-quota-log.ts";
import type { Core, NodeGateway } from "./create-gateway.ts";
import type { Gauges } from "./gauges.ts";

/** Milliseconds between two sweeps of the mail outbox. */
const OUTBOX_MS = 2_000;

/** What the background jobs need of a node. */
export interface BackgroundJobsParts extends Core {
  readonly gateway: NodeGateway;
  readonly operations: AuditLog;
  readonly figures: Gauges;
}

/** Starts all background jobs. Returns a function that stops the sweeps and notices. */
export function startBackgroundJobs(parts: BackgroundJobsParts): () => void {
  const { settings, system, store, clock, random, log } = parts;
  const { guard, vault } = parts.gateway;
  const { write } = parts.operations;
  const mail = {
    ...{ system, clock, log },
    mailer: smtpMailer({ judge: guard.check, clock }),
    senderFor: senders({ system, open: vault.open }),
  };
  const outbox = createMailOutbox({ ...mail, store, write });
  logQuotaMoves(system, write);
  let swept = 0;
  parts.figures.register("claimsSwept", () => swept);
  const claimsSwept = (count: number) => {
    swept += count;
  };
  const stops = [
    startSweeps({ system, store, clock, random, log, logDays: settings.logDays, claimsSwept }),
    every({ clock, log }, OUTBOX_MS, "mail_sweep", () => outbox.sweep()),
    startLevelNotices(mail),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
