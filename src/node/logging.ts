// The log as pino writes it: one JSON object a line, or readable lines on a terminal. Fields are plain and never hold
// a secret: whoever logs names what he logs, nothing is dumped.

import { pino } from "pino";
import pretty from "pino-pretty";
import type { Log } from "../base/log.ts";
import type { Settings } from "../settings/settings.ts";

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
