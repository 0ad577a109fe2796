// `serve` for one process or several: with PROCESSES this process only supervises, and each of the others is a node.

import { realClock, realRandom } from "../base/clock.ts";
import { createLog } from "../node/logging.ts";
import { ownName } from "../node/own-name.ts";
import { stopMs } from "../node/stop-times.ts";
import { shownAddress } from "../settings/connection-url.ts";
import type { Settings } from "../settings/settings.ts";
import { assertCanShare, readPortShare, settingsOfShare } from "../supervisor/port-share.ts";
import { type ProcessListener, type Serving, supervise } from "../supervisor/supervise.ts";

/**
 * Serves until a signal ends it. `share` is what the parent passed to this process, when it is one of several. Throws BadSetting when
 * it cannot start.
 */
export async function serveProcesses(settings: Settings, share: string | null): Promise<void> {
  assertCanShare(settings, process.platform);
  if (share !== null) return serveAlone(settingsOfShare(settings, readPortShare(share)));
  return settings.processes === 1 ? serveAlone(settings) : serveAll(settings);
}

/** The parent of several processes must not load what only nodes need. */
async function serveAlone(settings: Settings): Promise<void> {
  await (await import("./serve.ts")).serve(settings);
}

async function serveAll(settings: Settings): Promise<void> {
  const log = await createLog(settings);
  const clock = realClock();
  const random = realRandom(clock);
  const code = await supervise({
    ...{ settings, log, clock, spawn, stopMs: stopMs(settings) },
    below: random.below,
    node: settings.nodeName ?? ownName(random),
    onSignal(stop) {
      for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop(signal));
    },
    serves(serving) {
      for (const line of startupLines(settings, serving)) console.log(line);
    },
  });
  process.exit(code);
}

function spawn(args: readonly string[], listener: ProcessListener): Bun.Subprocess {
  return Bun.spawn([process.execPath, ...process.execArgv, Bun.main, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (message: Serving) => listener.serving(message),
    onExit: ({ signalCode }, code) => listener.ended(code, signalCode === null ? null : String(signalCode)),
  });
}

function startupLines({ processes, storeUrl, natsUrl }: Settings, { url, adminUrl }: Serving): string[] {
  const lines = [`arborgate serves on ${url}`];
  if (adminUrl !== url) lines.push(`administration on ${adminUrl}`);
  return [
    ...lines,
    `${processes} processes of the cluster on ${shownAddress(natsUrl!)}`,
    `console at ${adminUrl}/console`,
    `data in ${shownAddress(storeUrl)}`,
  ];
}
