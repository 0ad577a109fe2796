// `serve`: runs the service until SIGTERM or SIGINT, then drains it; a start that still waits for something
// is cancelled. A second signal ends the process at once, unless it is one of several on the same ports: its parent
// decides that, since signals to a group of processes reach each of them beside those that the parent sends.

import type { Log } from "../base/log.ts";
import { createLog } from "../node/logging.ts";
import { FailedWithRootKey, type Service, startService } from "../node/service.ts";
import { StartCancelledError } from "../node/startup-retry.ts";
import { shownAddress } from "../settings/connection-url.ts";
import type { Settings } from "../settings/settings.ts";
import type { Serving } from "../supervisor/supervise.ts";
import { consoleUpdate } from "./console-build.ts";

/** Starts the service, prints its addresses, and installs the signal handlers that end the process. */
export async function serve(settings: Settings): Promise<void> {
  const log = await createLog(settings);
  const start = new AbortController();
  const consoleSource = consoleUpdate(log);
  let service: Service | null = null;
  const stop = async (signal: string) => {
    if (start.signal.aborted) {
      if (settings.share === null) process.exit(1);
      return;
    }
    log("info", "stopping", { signal });
    start.abort();
    if (service !== null) await end(service, log);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
  // The parent is gone, however it ended: a process without it would keep its successor from the ports.
  if (settings.share !== null) process.on("disconnect", () => void stop("disconnect"));

  try {
    service = await startService(settings, log, start.signal, consoleSource);
  } catch (error) {
    if (error instanceof StartCancelledError) process.exit(0);
    if (!(error instanceof FailedWithRootKey)) throw error;
    console.log(rootKeyLine(settings, error));
    throw error.cause;
  }
  if (start.signal.aborted) await end(service, log);
  // Not before, since it would take time from the start; of several processes one does it for all.
  if ((settings.share?.process ?? 1) === 1) consoleSource.start();
  if (settings.share === null) for (const line of startupLines(settings, service)) console.log(line);
  else tellParent(settings, service);
}

function tellParent(settings: Settings, service: Service): void {
  const shown = rootKeyLine(settings, service);
  if (shown !== null) console.log(shown);
  process.send?.({ url: service.url, adminUrl: service.adminUrl } satisfies Serving);
}

async function end(service: Service, log: Log): Promise<never> {
  try {
    await service.stop();
  } catch (error) {
    // The process must exit, because the kernel then frees the lock: no other server can start while a write
    // of this one may still land.
    log("error", "stopped_unclean", { error: String(error) });
    process.exit(1);
  }
  process.exit(0);
}

function startupLines(settings: Settings, service: Service): string[] {
  const { storeUrl, natsUrl } = settings;
  const lines = [`arborgate serves on ${service.url}`];
  if (service.adminUrl !== service.url) lines.push(`administration on ${service.adminUrl}`);
  if (natsUrl !== null) lines.push(`node ${service.name} of the cluster on ${shownAddress(natsUrl)}`);
  lines.push(`console at ${service.adminUrl}/console`, `data in ${shownAddress(storeUrl)}`);
  const shown = rootKeyLine(settings, service);
  return shown === null ? lines : [...lines, shown];
}

/** The line that shows Root's key at the very first start; null at later ones. */
function rootKeyLine({ rootKey }: Settings, service: Pick<Service, "rootKey">): string | null {
  if (service.rootKey === null) return null;
  return rootKey === null
    ? `Root's API key, shown only now: ${service.rootKey}`
    : "Root's API key is ROOT_KEY.";
}
