// The listening sockets of a node: opened once, and closed without breaking requests in flight. It must know
// nothing of what is answered.

import { atMost, type Clock, type Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Fetch } from "../http/app.ts";
import { errorResponse, httpError, INTERNAL } from "../http/errors.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";

/** An address that the node listens at. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The listeners of a node. */
export interface Listeners {
  /** The addresses listened at; administration's own address comes last. Empty before `open`. */
  addresses(): readonly Address[];
  /** Starts to listen; a second call does nothing. Throws BadSetting when an address is in use. */
  open(): void;
  /**
   * Accepts no further connections, and resolves when every request is answered; after `ms` the remaining
   * ones are aborted.
   */
  close(ms: number): Promise<void>;
}

type Listening = Pick<Settings, "host" | "port" | "adminHost" | "adminPort">;

/** Creates the listeners, which do not listen yet. */
export function createListeners(parts: {
  readonly settings: Listening;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Handlers of the service's address, and of administration's own. */
  readonly service: Fetch;
  readonly administration: Fetch;
}): Listeners {
  const { settings, clock, random, log } = parts;
  const servers: Bun.Server<undefined>[] = [];

  function serve(fetch: Fetch, hostname: string, port: number, names: string): void {
    const open = () =>
      Bun.serve({
        hostname,
        port,
        fetch,
        idleTimeout: 0,
        // Bodies are bounded where they are read, with the service's own error; Bun's bound would answer a
        // bare 413.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        // Bun's error page would show paths of the program.
        development: false,
        error(error: Error) {
          const requestId = random.id();
          log("error", "request_failed", { requestId, error: error.stack ?? String(error) });
          return errorResponse(httpError(INTERNAL), { "x-request-id": requestId });
        },
      });
    try {
      servers.push(open());
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
      throw new BadSetting(`${names}: nothing can listen at ${hostname}:${port} (${error.code})`);
    }
  }

  return {
    addresses: () => servers.map(({ hostname, port }) => ({ host: hostname!, port: port! })),
    open() {
      if (servers.length > 0) return;
      serve(parts.service, settings.host, settings.port, "HOST and PORT");
      if (settings.adminPort === null) return;
      serve(parts.administration, settings.adminHost, settings.adminPort, "ADMIN_HOST and ADMIN_PORT");
    },
    async close(ms) {
      await atMost(clock, ms, Promise.all(servers.map((one) => one.stop())));
      await Promise.all(servers.map((one) => one.stop(true)));
    },
  };
}

/** The base URL of an address. */
export const urlOf = ({ host, port }: Address): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
