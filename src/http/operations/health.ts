// Readiness of a node, and the plain text in which machines read it. No account is involved.

import type { Protocol } from "../../../actors/index.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { Store } from "../../store/store.ts";
import { StoreLostError } from "../../store/store-errors.ts";
import type { ServerResponse } from "../server/server-response.ts";

/** Returns a response of one line of text. */
export const textResponse = (line: string, status = 200): ServerResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: `${line}\n`,
});

/** Whether a node can take requests. */
export interface Readiness {
  /** Resolves to why the node is not ready; null when it is. Asks the store, for up to a second. */
  reason(): Promise<string | null>;
}

/** The commit lag above which new work is refused. */
export const LAG_MS_MAX = 1_000;
/** The wait for the store's answer. */
const STORE_MS = 1_000;

/** Creates the readiness of a node. */
export function createReadiness(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  /** Returns why this node should get no requests, as far as it knows by itself; null when it may get some. */
  localReason: () => string | null;
}): Readiness {
  return {
    async reason() {
      const reason = parts.localReason();
      if (reason !== null) return reason;
      if (parts.system.lagMs() > LAG_MS_MAX)
        return "the store is slow or full: commits wait longer than a second";
      const late = new Promise<string>((resolve) =>
        setTimeout(resolve, STORE_MS, "the store does not answer").unref(),
      );
      const answered = parts.store.now().then(
        () => null,
        (error) => (error instanceof StoreLostError ? error.message : "the store cannot be reached"),
      );
      return Promise.race([answered, late]);
    },
  };
}
