// What one request carries from stage to stage. Types only.

import type { Admitted } from "../../actors/account/admit.ts";
import type { Idempotency } from "../../actors/account/state.ts";
import type { ProviderKeyId } from "../../actors/ids.ts";
import type { ModelRequest } from "../dialect/dialect.ts";
import type { AccountContext } from "./account/config-cache.ts";
import type { Caller } from "./account/identify.ts";
import type { GatewayCall } from "./call.ts";
import type { StreamShape } from "./codec/stream-shape.ts";
import type { GatewayEndpoint } from "./endpoints.ts";
import type { HoldEstimate } from "./metering/hold-estimate.ts";
import type { RequestSize } from "./metering/request-size.ts";
import type { RequestLifetime } from "./request-lifetime.ts";
import type { CandidateTable } from "./routing/failover-plan.ts";
import type { Route, RouteCandidate } from "./routing/route.ts";

/** An admitted request: its account, route, estimate and hold. */
export interface Admission {
  readonly caller: Caller;
  readonly accountContext: AccountContext;
  readonly route: Route;
  readonly estimate: HoldEstimate;
  readonly admitted: Admitted;
  readonly size: RequestSize;
}

/** The context of a request that was admitted and has not ended. */
export interface RunningRequest {
  readonly id: string;
  readonly requestId: string;
  readonly call: GatewayCall;
  readonly endpoint: GatewayEndpoint;
  readonly request: ModelRequest;
  /** The first admission. A backup model has another one, see `retake`. */
  readonly admission: Admission;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly lifetime: RequestLifetime;
  /** The hashed Idempotency-Key and body; null when the client sent no key. */
  readonly idempotency: Idempotency | null;
  /**
   * The only provider key that can answer, because it stores what the request refers to; null when any key
   * can.
   */
  readonly pinnedKey: ProviderKeyId | null;
  /** The shape of stream events that the client asked for. */
  readonly shape: StreamShape;
  /** The client's headers that are forwarded to a provider. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Returns all candidates, for when the route does not answer. See `failoverCandidates`. */
  candidates(admission: Admission): Promise<CandidateTable>;
  /** Takes the hold again for another candidate; null when the account refuses it. See `retakeHold`. */
  retake(admission: Admission, candidate: RouteCandidate): Promise<Admission | null>;
}
