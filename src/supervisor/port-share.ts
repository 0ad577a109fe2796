// What one of several processes on the same ports gets from its parent at its start, and what the settings mean for it. It
// must start nothing.

import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { BadSetting, checkedNodeName, type Settings } from "../settings/settings.ts";

const PortShareSchema = Type.Object({
  /** Which of the processes it is, from 1. */
  process: Type.Integer({ minimum: 1 }),
  /** Name of the machine's nodes; that of each ends with its number. */
  node: Type.String(),
  /** The ports that the parent has chosen, which are never 0. */
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  adminPort: Type.Union([Type.Integer({ minimum: 1, maximum: 65_535 }), Type.Null()]),
});

/** What one of several processes on the same ports gets from its parent. */
export type PortShare = Static<typeof PortShareSchema>;

/** Reads what the parent wrote. Throws BadSetting for anything else. */
export function readPortShare(text: string): PortShare {
  const share = jsonOf(text);
  if (!Value.Check(PortShareSchema, share)) {
    throw new BadSetting("--process is for processes that PROCESSES starts: set PROCESSES instead");
  }
  return share;
}

/** The settings of one process: a name, a spool and, with ADMIN_PORT, a port of its own, and the ports that all have. */
export function settingsOfShare(settings: Settings, share: PortShare): Settings {
  const { process, node, port, adminPort } = share;
  return {
    ...settings,
    ...{ port, adminPort },
    nodeName: checkedNodeName(`${node}-${process}`),
    spoolDir: spoolDirOf(settings.spoolDir, process),
    share: { process, ownPort: ownPort(settings.adminPort, process) },
  };
}

/** The neighbours of a port that was chosen for ADMIN_PORT=0 may belong to others, so these are chosen too. */
function ownPort(adminPort: number | null, process: number): number | null {
  if (adminPort === null) return null;
  return adminPort === 0 ? 0 : adminPort + process;
}

/** The spool of a process. The first one has that of a process alone, so that nothing is left behind in it. */
const spoolDirOf = (directory: string, process: number): string =>
  process === 1 ? directory : join(directory, `process-${process}`);

/** Throws BadSetting when several processes cannot share the ports of these settings on this platform. */
export function assertCanShare(settings: Settings, platform: string): void {
  const { processes, port, adminPort } = settings;
  if (processes === 1) return;
  if (platform !== "linux") {
    throw new BadSetting(
      `PROCESSES over 1 needs Linux, which spreads the connections to one port over processes; this is ${platform}`,
    );
  }
  if (adminPort === null || adminPort === 0) return;
  if (adminPort + processes > 65_535) {
    throw new BadSetting(
      `ADMIN_PORT must leave room for the ports of ${processes} processes after it, up to 65535`,
    );
  }
  if (port >= adminPort && port <= adminPort + processes) {
    throw new BadSetting(
      `PORT must not be among ADMIN_PORT and the ports of the processes, ${adminPort} to ${adminPort + processes}`,
    );
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
