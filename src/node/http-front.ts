// The front of a node: its addresses, and what is answered there while it starts, serves, is cut off, or leaves. What the
// application answers is not its business.

import type { Clock, Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Fetch } from "../http/app.ts";
import { allowOrigins } from "../http/cors.ts";
import { createReadinessGate } from "../http/readiness-gate.ts";
import type { Settings } from "../settings/settings.ts";
import { type Address, createListeners, urlOf } from "./listeners.ts";

/** What answers at the service's address, and at the administration's own. */
export interface Applications {
  readonly service: Fetch;
  readonly administration: Fetch;
}

export interface Front {
  addresses(): readonly Address[];
  /** Is heard from here on, if it is not yet. Throws BadSetting when somebody else listens there. */
  listen(): void;
  /** What the start waits for; null: nothing in particular. */
  waits(reason: string | null): void;
  /** Serves from here on, whenever `isCutOff` does not say that nobody can be served. */
  open(apps: Applications, isCutOff: () => boolean): void;
  /** Every answer closes its connection from here on. */
  leave(): void;
  isLeaving(): boolean;
  /** Takes no further connection, and resolves when every request is answered; after `ms` the others are cut. */
  close(ms: number): Promise<void>;
}

const STARTING = "the node is starting";
const CUT_OFF = "neither its store nor another node can be reached";

export function createFront(parts: {
  readonly settings: Pick<Settings, "host" | "port" | "adminHost" | "adminPort" | "corsOrigins">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}): Front {
  const { random, log, settings } = parts;
  let apps: Applications | null = null;
  let closed: () => string | null = () => STARTING;
  let leaving = false;

  const cors = settings.corsOrigins.length === 0 ? null : allowOrigins(settings.corsOrigins, random);
  const doorTo = (which: keyof Applications): Fetch =>
    createReadinessGate({
      random,
      app: () => apps?.[which] ?? null,
      closed: () => closed(),
      // Pages of other origins have no business at the administration's own address.
      around: which === "service" ? cors : null,
      leaving: () => leaving,
    });
  const listeners = createListeners({
    ...parts,
    service: doorTo("service"),
    administration: doorTo("administration"),
  });

  return {
    addresses: listeners.addresses,
    listen() {
      if (listeners.addresses().length > 0) return;
      listeners.open();
      log("info", "listens", { at: listeners.addresses().map(urlOf) });
    },
    waits(reason) {
      const told = reason === null ? STARTING : `${STARTING}: ${reason}`;
      closed = () => told;
    },
    open(given, isCutOff) {
      apps = given;
      closed = () => (isCutOff() ? CUT_OFF : null);
    },
    leave() {
      leaving = true;
    },
    isLeaving: () => leaving,
    close: listeners.close,
  };
}
