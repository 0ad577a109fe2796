// `serve`: runs the service until SIGTERM or SIGINT, then drains. A second signal ends it at once.

import { createLog } from "../logging.ts";
import { startService } from "../service.ts";
import type { Settings } from "../settings.ts";

export async function serve(settings: Settings): Promise<void> {
  const log = createLog(settings);
  const service = await startService(settings, log);
  console.log(`arborgate serves on ${service.url}`);
  if (service.adminUrl !== service.url) console.log(`administration on ${service.adminUrl}`);
  console.log(`data in ${settings.storeUrl}`);
  if (service.rootKey !== null) {
    console.log(
      settings.rootKey === null
        ? `Root's API key, shown only now: ${service.rootKey}`
        : "Root's API key is ROOT_KEY.",
    );
  }

  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log("info", "stopping", { signal });
    await service.stop();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop("SIGTERM"));
  process.on("SIGINT", () => void stop("SIGINT"));
}
