// The log, written by pino to standard error: one JSON object per line, or readable lines on a terminal.
// Fields are plain values and must never hold a secret: every caller names its fields, and no object is
// logged whole.

import { pino } from "pino";
import { realClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Settings } from "../settings/settings.ts";
import { LogOutput, standardError, writeWhole } from "./log-output.ts";

type Logging = Pick<Settings, "logLevel" | "logFormat" | "nodeName" | "share">;

/**
 * Creates the log with the level and format of the settings. Processes that share ports share standard error too: each of their
 * lines has the field `node`, and several are written together only where no other process can write between them.
 */
export async function createLog({ logLevel, logFormat, nodeName, share }: Logging): Promise<Log> {
  const options = { level: logLevel, base: share === null ? null : { node: nodeName } };
  const logger = pino(options, logFormat === "pretty" ? await terminal() : buffered());
  const log: Log = (level, event, fields) => logger[level](fields ?? {}, event);
  return log;

  function buffered() {
    const output = new LogOutput(realClock(), standardError, (lines) =>
      log("warn", "log_lines_dropped", { lines }),
    );
    process.on("exit", () => output.flushSync());
    return output;
  }
}

/** Each line is written at once, since other lines of the process appear on the same terminal. */
async function terminal() {
  const { prettyFactory } = await import("pino-pretty");
  const format = prettyFactory({ colorize: process.stderr.isTTY, ignore: "pid,hostname" });
  return { write: (line: string) => void writeWhole(standardError, Buffer.from(format(line))) };
}
