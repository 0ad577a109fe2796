// The log, written by pino to standard error: one JSON object per line, or readable lines on a terminal.
// Fields are plain values and must never hold a secret: every caller names its fields, and no object is
// logged whole.

import { pino } from "pino";
import pretty from "pino-pretty";
import type { Log } from "../base/log.ts";
import type { Settings } from "../settings/settings.ts";
import { WHOLE_BYTES_MAX } from "./access-log.ts";

type Logging = Pick<Settings, "logLevel" | "logFormat" | "nodeName" | "share">;

/**
 * Creates the log with the level and format of the settings. Processes that share ports share standard error too: each of their
 * lines has the field `node`, and several are written together only where no other process can write between them.
 */
export function createLog({ logLevel, logFormat, nodeName, share }: Logging): Log {
  const options = { level: logLevel, base: share === null ? null : { node: nodeName } };
  const logger =
    logFormat === "pretty"
      ? pino(
          options,
          pretty({ colorize: process.stderr.isTTY, destination: 2, sync: true, ignore: "pid,hostname" }),
        )
      : pino(options, pino.destination({ dest: 2, sync: false, maxWrite: WHOLE_BYTES_MAX }));
  return (level, event, fields) => logger[level](fields ?? {}, event);
}
