// The log, written by pino to standard error: one JSON object per line, or readable lines on a terminal.
// Fields are plain values and must never hold a secret: every caller names its fields, and no object is
// logged whole.

import { pino } from "pino";
import pretty from "pino-pretty";
import type { Log } from "../base/log.ts";
import type { Settings } from "../settings/settings.ts";

/** Creates the log with the level and format of the settings. */
export function createLog(settings: Pick<Settings, "logLevel" | "logFormat">): Log {
  const options = { level: settings.logLevel, base: null };
  const logger =
    settings.logFormat === "pretty"
      ? pino(
          options,
          pretty({ colorize: process.stderr.isTTY, destination: 2, sync: true, ignore: "pid,hostname" }),
        )
      : pino(options, pino.destination({ dest: 2, sync: false }));
  return (level, event, fields) => logger[level](fields ?? {}, event);
}
