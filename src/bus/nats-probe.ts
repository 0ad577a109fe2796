// Reads what a NATS server says about itself, to check before a start whether it can be reached. It publishes
// nothing and subscribes to nothing.

import { openNatsLink } from "./nats-connection.ts";

export interface NatsFacts {
  /** Version of the server that answered, one of those in the address. */
  readonly version: string;
  /** Largest message that the server takes, in bytes. */
  readonly maxPayload: number;
}

const LIMITS = { pingMs: 2_000, reconnectMs: 200, unsentBytes: 1 };

/**
 * Connects, reads the facts and disconnects. Throws an error whose message is one line that may be shown when
 * no server can be reached.
 */
export async function natsFacts(url: string): Promise<NatsFacts> {
  const link = await openNatsLink(url, LIMITS, () => {});
  const { version = "unknown", max_payload = 0 } = link.nats.info ?? {};
  await link.close();
  return { version, maxPayload: max_payload };
}
