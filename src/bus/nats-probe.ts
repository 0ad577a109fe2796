// What a NATS server says of itself: for whoever wants to know before a start whether it can be reached. It sends nothing
// and hears nothing.

import { openLine } from "./nats-connection.ts";

export interface NatsFacts {
  /** Of the server that answered, one of those that the address names. */
  readonly version: string;
  /** Largest message it takes, bytes. */
  readonly maxPayload: number;
}

const LIMITS = { pingMs: 2_000, reconnectMs: 200, unsentBytes: 1 };

/** Throws a line fit to be shown when none of them can be reached. */
export async function natsFacts(url: string): Promise<NatsFacts> {
  const line = await openLine(url, LIMITS, () => {});
  const { version = "unknown", max_payload = 0 } = line.nats.info ?? {};
  await line.close();
  return { version, maxPayload: max_payload };
}
