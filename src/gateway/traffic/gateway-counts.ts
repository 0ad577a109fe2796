// Everything that a node counts of its gateway, in one object that lives as long as the process. Parts of the gateway
// count, /metrics reads.

import { AttemptCounts } from "./attempt-counts.ts";
import { LevelEventCounts } from "./level-event-counts.ts";
import { LevelStates } from "./level-states.ts";
import { RequestTraffic } from "./request-traffic.ts";

/** The counts of a node. */
export class GatewayCounts {
  readonly requests = new RequestTraffic();
  readonly attempts = new AttemptCounts();
  readonly levels = new LevelStates();
  readonly levelEvents = new LevelEventCounts();
}
