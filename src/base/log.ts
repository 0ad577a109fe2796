// The log of a node: one structured line per lifecycle change. It never contains the body of a command.

export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Writes one line. `event` is a stable word such as `activation_broken`; fields are plain data without
 * secrets.
 */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** A log that drops every line. */
export const silent: Log = () => {};
