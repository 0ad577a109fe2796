// What the stages of a request share: the services they use (`GatewayParts`) and the context of one admitted
// request (`RunningRequest`). Types only.

import type { Idempotency } from "../../actors/account/state.ts";
import type { ProviderKeyId } from "../../actors/ids.ts";
import type { Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import type { Refusal } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { ModelRequest } from "../dialect/dialect.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { ConfigCache } from "./account/config-cache.ts";
import type { Identify } from "./account/identify.ts";
import type { Admission } from "./admission/admission.ts";
import type { Settlement } from "./admission/settlement.ts";
import type { FailedRequestLog } from "./answer/failed-request-log.ts";
import type { AttemptParts } from "./attempt/attempt.ts";
import type { LevelReporter } from "./attempt/level-reports.ts";
import type { GatewayCall, GatewayLimits } from "./call.ts";
import type { StreamShape } from "./codec/stream-shape.ts";
import type { GatewayEndpoint } from "./endpoints.ts";
import type { IdempotencyRecords } from "./idempotency/idempotency-records.ts";
import type { TokenCounter } from "./metering/token-counter.ts";
import type { RequestLifetime } from "./request-lifetime.ts";
import type { CandidateTable } from "./routing/failover-plan.ts";
import type { RouteCandidate } from "./routing/route.ts";
import type { StoredObjectIndex } from "./stored-objects/object-index.ts";

/** The services of the gateway on this node. */
export interface GatewayParts extends AttemptParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly replicas: ConfigCache;
  readonly reports: LevelReporter;
  readonly settle: Settlement;
  readonly recent: FailedRequestLog;
  readonly objects: StoredObjectIndex;
  readonly repeats: IdempotencyRecords;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: GatewayLimits;
  /** Commit lag in ms above which new requests are refused. */
  readonly lagMostMs: number;
  /** Returns a refusal in the form of an error event of a stream. */
  describe(refusal: Refusal): { readonly message: string; readonly type: string; readonly code: string };
}

/** The context of a request that was admitted and has not ended. */
export interface RunningRequest {
  readonly id: string;
  readonly requestId: string;
  readonly call: GatewayCall;
  readonly surface: GatewayEndpoint;
  readonly request: ModelRequest;
  /** The first admission. A backup model has another one, see `retake`. */
  readonly admission: Admission;
  /** Wall-clock milliseconds. */
  readonly startedAt: number;
  readonly leash: RequestLifetime;
  /** The hashed Idempotency-Key and body; null when the client sent no key. */
  readonly idempotency: Idempotency | null;
  /**
   * The only provider key that can answer, because it stores what the request refers to; null when any key
   * can.
   */
  readonly keeper: ProviderKeyId | null;
  /** The shape of stream events that the client asked for. */
  readonly shape: StreamShape;
  /** The client's headers that are forwarded to a provider. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Returns all candidates, for when the route does not answer. See `failoverCandidates`. */
  legs(admission: Admission): Promise<CandidateTable>;
  /** Takes the hold again for another candidate; null when the account refuses it. See `retakeHold`. */
  retake(admission: Admission, leg: RouteCandidate): Promise<Admission | null>;
}
