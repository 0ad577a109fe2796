// `serve`: runs the service until SIGTERM or SIGINT, then drains it; a start that still waits for something
// is cancelled. A second signal ends the process at once.

import type { Log } from "../base/log.ts";
import { createLog } from "../node/logging.ts";
import { type Service, startService } from "../node/service.ts";
import { StartCancelledError } from "../node/startup-retry.ts";
import { shownAddress } from "../settings/connection-url.ts";
import type { Settings } from "../settings/settings.ts";
import { consoleUpdate } from "./console-build.ts";

/** Starts the service, prints its addresses, and installs the signal handlers that end the process. */
export async function serve(settings: Settings): Promise<void> {
  const log = createLog(settings);
  const start = new AbortController();
  const consoleSource = consoleUpdate(log);
  let service: Service | null = null;
  const stop = async (signal: string) => {
    if (start.signal.aborted) process.exit(1);
    log("info", "stopping", { signal });
    start.abort();
    if (service !== null) await end(service, log);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));

  try {
    service = await startService(settings, log, start.signal, consoleSource);
  } catch (error) {
    if (error instanceof StartCancelledError) process.exit(0);
    throw error;
  }
  if (start.signal.aborted) await end(service, log);
  // Not before, since it would take time from the start.
  consoleSource.start();
  for (const line of startupLines(settings, service)) console.log(line);
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

function startupLines({ storeUrl, natsUrl, rootKey }: Settings, service: Service): string[] {
  const lines = [`arborgate serves on ${service.url}`];
  if (service.adminUrl !== service.url) lines.push(`administration on ${service.adminUrl}`);
  if (natsUrl !== null) lines.push(`node ${service.name} of the cluster on ${shownAddress(natsUrl)}`);
  lines.push(`console at ${service.adminUrl}/console`, `data in ${shownAddress(storeUrl)}`);
  if (service.rootKey === null) return lines;
  const shown = `Root's API key, shown only now: ${service.rootKey}`;
  return [...lines, rootKey === null ? shown : "Root's API key is ROOT_KEY."];
}
