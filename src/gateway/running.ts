// What the steps of a request share: the parts they work with, and the request that was admitted and is under way.

import type { Protocol } from "../../actors/index.ts";
import type { Refusal } from "../runtime/actor.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Admission } from "./admission.ts";
import type { Call, Limits } from "./call.ts";
import type { ForwardParts } from "./forward.ts";
import type { Identify } from "./identify.ts";
import type { Replicas } from "./replicas.ts";
import type { Settle } from "./settle.ts";
import type { TokenCounter } from "./tokens.ts";

export interface GatewayParts extends ForwardParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly replicas: Replicas;
  readonly settle: Settle;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: Limits;
  /** Commit lag above which new work is refused at the door. */
  readonly lagMostMs: number;
  parseJson(text: string): unknown;
  /** A refusal as it stands inside a stream. */
  describe(refusal: Refusal): { readonly message: string; readonly type: string; readonly code: string };
}

/** A request that was admitted and is under way. */
export interface Running {
  readonly id: string;
  readonly requestId: string;
  readonly call: Call;
  readonly admission: Admission;
  /** Ends when the client goes or the request's time is over. */
  readonly abort: AbortController;
  readonly headers: Readonly<Record<string, string>>;
  readonly asked: string;
  readonly includeUsage: boolean;
  readonly prompt: () => readonly string[];
}
