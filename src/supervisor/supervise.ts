// Runs the processes that share one machine's ports: starts them, hands on signals, and does what the supervision decides. It
// must import nothing of a node: the parent is to stay small.

import type { Subprocess } from "bun";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { listenFault } from "../settings/listen-fault.ts";
import type { Settings } from "../settings/settings.ts";
import type { PortShare } from "./port-share.ts";
import { Supervision, type SupervisionAction, type SupervisionEvent } from "./supervision.ts";

/** What a process tells its parent once it serves: the addresses that all of them share. */
export interface Serving {
  readonly url: string;
  readonly adminUrl: string;
}

/** What runs processes besides their settings. */
export interface Supervising {
  readonly settings: Settings;
  /** Name of the machine's nodes. */
  readonly node: string;
  readonly log: Log;
  readonly clock: Clock;
  /** How long a process may take to stop, ms. */
  readonly stopMs: number;
  readonly below: (n: number) => number;
  /** Starts one of this program with these arguments. */
  readonly spawn: (args: readonly string[], listener: ProcessListener) => Pick<Subprocess, "pid" | "kill">;
  /** Calls back for each signal that is to stop the service. */
  readonly onSignal: (stop: (signal: string) => void) => void;
  /** Called when the first process serves. */
  readonly serves: (serving: Serving) => void;
}

/** Takes what a process reports, and its end. */
export interface ProcessListener {
  serving(message: Serving): void;
  ended(code: number | null, signal: string | null): void;
}

/** Starts the processes, and resolves with the exit code when all have ended. Throws BadSetting when a port is in use. */
export function supervise(parts: Supervising): Promise<number> {
  const { settings, log, clock, below, stopMs } = parts;
  const ports = { node: parts.node, ...choosePorts(settings) };
  const supervision = new Supervision({ processes: settings.processes, below, stopMs });
  const children = new Map<number, Pick<Subprocess, "pid" | "kill">>();
  const over = Promise.withResolvers<number>();
  let cancelTimer = () => {};
  let isServing = false;

  function step(event: SupervisionEvent): void {
    for (const action of supervision.step(event, clock.mono())) perform(action);
    cancelTimer();
    const nextMs = supervision.nextMs();
    if (nextMs === null) return;
    cancelTimer = clock.after(nextMs - clock.mono(), () => step({ kind: "time" }));
  }

  function perform(action: SupervisionAction): void {
    switch (action.kind) {
      case "start":
        start(action.process);
        break;
      case "signal":
        children.get(action.process)?.kill(action.signal);
        break;
      case "log":
        log(action.level, action.event, action.fields);
        break;
      case "exit":
        over.resolve(action.code);
        break;
    }
  }

  function start(process: number): void {
    const share: PortShare = { process, ...ports };
    const ended = (code: number | null, signal: string | null) => {
      children.delete(process);
      step({ kind: "ended", process, code, signal });
    };
    try {
      const child = parts.spawn(["serve", "--process", JSON.stringify(share)], {
        serving(message) {
          step({ kind: "serving", process });
          if (!isServing) parts.serves(message);
          isServing = true;
        },
        ended,
      });
      children.set(process, child);
      log("info", "process_starts", { process, pid: child.pid });
    } catch (error) {
      log("error", "process_not_started", { process, error: String(error) });
      // Not at once: the step that starts it is not over.
      clock.after(0, () => ended(null, null));
    }
  }

  parts.onSignal((signal) => {
    log("info", "stopping", { signal });
    step({ kind: "stop" });
  });
  step({ kind: "begin" });
  return over.promise;
}

/**
 * Returns the ports to share. Each is opened for this process alone and closed again, since a port that other programs share
 * would be taken without an error. Throws BadSetting when one is in use, or its host is none of this machine's.
 */
function choosePorts({ host, port, adminHost, adminPort }: Settings): Pick<PortShare, "port" | "adminPort"> {
  const service = freePort(host, port, "HOST and PORT");
  const admin = adminPort === null ? null : freePort(adminHost, adminPort, "ADMIN_HOST and ADMIN_PORT");
  try {
    return { port: service.port!, adminPort: admin?.port ?? null };
  } finally {
    service.stop(true);
    admin?.stop(true);
  }
}

function freePort(hostname: string, port: number, names: string): Bun.TCPSocketListener {
  try {
    return Bun.listen({ hostname, port, exclusive: true, socket: { data() {} } });
  } catch (error) {
    throw listenFault({ names, hostname, port }, error);
  }
}
