// The listening sockets of a node: opened once, and closed without breaking requests in flight. It must know
// nothing of what is answered.

import { atMost, type Clock, type Random } from "../base/clock.ts";
import { RefusedError, stackOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { errorResponse, httpError, INTERNAL } from "../http/errors.ts";
import { type Handler, HttpServer, type ServerParts } from "../http/server/http-server.ts";
import { ProtocolError } from "../http1/header-fields.ts";
import { listenFault } from "../settings/listen-fault.ts";
import type { Settings } from "../settings/settings.ts";

/** An address that the node listens at. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The listeners of a node. */
export interface Listeners {
  /** The addresses listened at; the service's comes first, administration's last. Empty before `open`. */
  addresses(): readonly Address[];
  /**
   * Starts to listen at addresses that are this process's alone; a second call does nothing. Throws BadSetting when an address
   * is in use, or none of this machine's.
   */
  open(): void;
  /**
   * Starts to listen at addresses that it shares with other processes, where the kernel hands it a part of the connections: it
   * must serve by then. Throws BadSetting when an address is in use, or none of this machine's.
   */
  openShared(): void;
  /**
   * Accepts no further connections, and resolves when every request is answered; after `ms` the remaining
   * ones are aborted.
   */
  close(ms: number): Promise<void>;
}

type Listening = Pick<Settings, "host" | "port" | "adminHost" | "adminPort" | "share">;

/** An address to listen at, and the server there once there is one. */
interface Listener extends Address {
  readonly answer: Handler;
  /** The settings that make it, for the operator. */
  readonly names: string;
  readonly isShared: boolean;
  server: HttpServer | null;
}

/** Creates the listeners, which do not listen yet. */
export function createListeners(parts: {
  readonly settings: Listening;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Handlers of the service's address, and of administration's own. */
  readonly service: Handler;
  readonly administration: Handler;
}): Listeners {
  const { clock } = parts;
  const listeners = listenersOf(parts);
  const errors = errorAnswers(parts);
  const opened = () => listeners.flatMap(({ server }) => (server === null ? [] : [server]));

  function open(listener: Listener): void {
    const { host: hostname, port, answer, names, isShared } = listener;
    try {
      listener.server ??= new HttpServer({ clock, answer, ...errors }, { hostname, port, isShared });
    } catch (error) {
      throw listenFault({ names, hostname, port }, error);
    }
  }

  return {
    addresses: () => opened().map(({ hostname, port }) => ({ host: hostname, port })),
    open: () => listeners.filter(({ isShared }) => !isShared).forEach(open),
    openShared: () => listeners.filter(({ isShared }) => isShared).forEach(open),
    async close(ms) {
      await atMost(clock, ms, Promise.all(opened().map((one) => one.stop())));
      for (const one of opened()) one.terminate();
    },
  };
}

/** Returns what a server answers where no handler does: to a bug, and to bytes that are no request. */
function errorAnswers({
  random,
  log,
}: {
  readonly random: Random;
  readonly log: Log;
}): Omit<ServerParts, "clock" | "answer"> {
  const malformed = (error: unknown) => {
    if (!(error instanceof ProtocolError)) return null;
    const message = `The request is not well-formed: ${error.message}.`;
    return { code: "invalid_parameter", message } as const;
  };
  const failed = (error: unknown) => {
    const requestId = random.id();
    log("error", "request_failed", { requestId, error: stackOf(error) });
    return errorResponse(httpError(INTERNAL), { "x-request-id": requestId });
  };
  return {
    failed,
    refused(error) {
      const refusal = malformed(error);
      return refusal === null
        ? failed(error)
        : errorResponse(httpError(refusal), { "x-request-id": random.id() });
    },
    bodyError(error) {
      const refusal = malformed(error);
      return refusal === null ? (error as Error) : new RefusedError(refusal);
    },
  };
}

interface Handlers {
  readonly settings: Listening;
  readonly service: Handler;
  readonly administration: Handler;
}

function listenersOf({ settings, service, administration }: Handlers): readonly Listener[] {
  const { host, port, adminHost, adminPort, share } = settings;
  const isShared = share !== null;
  const own = share?.ownPort ?? null;
  const listener = { isShared, server: null };
  const all: Listener[] = [{ ...listener, host, port, answer: service, names: "HOST and PORT" }];
  const admin = { ...listener, host: adminHost, answer: administration, names: "ADMIN_HOST and ADMIN_PORT" };
  if (own !== null) all.push({ ...admin, port: own, isShared: false });
  if (adminPort !== null) all.push({ ...admin, port: adminPort });
  return all;
}

/** The base URL of an address. */
export const urlOf = ({ host, port }: Address): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
