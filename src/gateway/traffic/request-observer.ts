// What watches the requests to models of a node as they end: counts, and the access log.

import type { EndedContext } from "../ended-context.ts";

/** Watches ended requests. It must not throw or wait: the response is on its way. */
export interface RequestObserver {
  /** Called once for each request when its work is done, `endedMs` in monotonic ms. */
  ended(context: EndedContext, endedMs: number): void;
}
