// One of several processes with the same output: writes lines of the access log and of the log, as fast as they are taken.

import { realClock } from "../../src/base/clock.ts";
import { accessLineOf } from "../../src/gateway/traffic/access-line.ts";
import { openAccessLog } from "../../src/node/access-log.ts";
import { createLog } from "../../src/node/logging.ts";
import { endedRequest } from "../gateway/traffic/ended.ts";

/** Lines that it writes of each kind. */
export const LINES_OF_WRITER = 4_000;

if (import.meta.main) {
  const settings = { accessLog: true, nodeName: process.argv[2]!, share: { process: 1, ownPort: null } };
  await using closing = new AsyncDisposableStack();
  const accessLog = openAccessLog(settings, realClock(), closing)!;
  const log = await createLog({ ...settings, logLevel: "info", logFormat: "json" });
  for (let nth = 0; nth < LINES_OF_WRITER; nth++) {
    accessLog.write({ ...accessLineOf(endedRequest(), 1_100), request_id: `request-${nth}` });
    log("info", "told", { nth, text: "x".repeat(nth % 500) });
  }
}
