// The HTTP front of a node: its listeners, and the answers while it starts, serves, is isolated, or stops. It
// must know nothing of what the application answers.

import type { Clock, Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { allowOrigins } from "../http/cors.ts";
import { createReadinessGate } from "../http/readiness-gate.ts";
import type { Handler } from "../http/server/http-server.ts";
import type { Settings } from "../settings/settings.ts";
import { type Address, createListeners, urlOf } from "./listeners.ts";

/** The handlers at the service's address, and at administration's own address. */
export interface Applications {
  readonly service: Handler;
  readonly administration: Handler;
}

/** The front of a node through its life: listen, open, leave, close. */
export interface Front {
  addresses(): readonly Address[];
  /**
   * Starts to listen, unless it does already, where no other process does: the others must not lose requests to one that is
   * not ready. Throws BadSetting when the address is in use.
   */
  listen(): void;
  /** Sets what the start waits for, which not-ready answers name; null means nothing in particular. */
  waits(reason: string | null): void;
  /**
   * Starts to serve with these applications, except while `isCutOff` returns true, at the addresses that processes share too.
   * Throws BadSetting when one of them is in use.
   */
  open(apps: Applications, isCutOff: () => boolean): void;
  /** From now on every response closes its connection. */
  leave(): void;
  isLeaving(): boolean;
  /**
   * Accepts no further connections, and resolves when every request is answered; after `ms` the remaining
   * ones are aborted.
   */
  close(ms: number): Promise<void>;
}

const STARTING = "the node is starting";
const CUT_OFF = "neither its store nor another node can be reached";

/** Creates the front of a node, which does not listen yet. */
export function createFront(parts: {
  readonly settings: Pick<Settings, "host" | "port" | "adminHost" | "adminPort" | "share" | "corsOrigins">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}): Front {
  const { random, log, settings } = parts;
  let apps: Applications | null = null;
  let closed: () => string | null = () => STARTING;
  let leaving = false;

  const cors = settings.corsOrigins.length === 0 ? null : allowOrigins(settings.corsOrigins, random);
  const doorTo = (which: keyof Applications): Handler =>
    createReadinessGate({
      random,
      app: () => apps?.[which] ?? null,
      closed: () => closed(),
      // The administration's own address must not be open to pages of other origins.
      around: which === "service" ? cors : null,
      leaving: () => leaving,
    });
  const listeners = createListeners({
    ...parts,
    service: doorTo("service"),
    administration: doorTo("administration"),
  });

  const listens = () => {
    const at = listeners.addresses().map(urlOf);
    if (at.length > 0) log("info", "listens", { at });
  };

  return {
    addresses: listeners.addresses,
    listen() {
      if (listeners.addresses().length > 0) return;
      listeners.open();
      listens();
    },
    waits(reason) {
      const answer = reason === null ? STARTING : `${STARTING}: ${reason}`;
      closed = () => answer;
    },
    open(given, isCutOff) {
      apps = given;
      closed = () => (isCutOff() ? CUT_OFF : null);
      if (settings.share === null) return;
      listeners.openShared();
      listens();
    },
    leave() {
      leaving = true;
    },
    isLeaving: () => leaving,
    close: listeners.close,
  };
}
