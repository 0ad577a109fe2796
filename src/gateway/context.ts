// What the steps of a request share: the parts they work with, and the request that was admitted and is under way.

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
  /** Commit lag above which new work is refused at the door. */
  readonly lagMostMs: number;
  /** A refusal as it stands inside a stream. */
  describe(refusal: Refusal): { readonly message: string; readonly type: string; readonly code: string };
}

/** A request that was admitted and is under way. */
export interface RunningRequest {
  readonly id: string;
  readonly requestId: string;
  readonly call: GatewayCall;
  readonly surface: GatewayEndpoint;
  readonly request: ModelRequest;
  /** As first admitted; a backup model has one of its own. */
  readonly admission: Admission;
  /** Wall ms. */
  readonly startedAt: number;
  readonly leash: RequestLifetime;
  /** The client named this request, so that a repeat is not a second one; null: it did not. */
  readonly idempotency: Idempotency | null;
  /** The one key that can answer it, since it keeps what the request refers to; null: any. */
  readonly keeper: ProviderKeyId | null;
  /** Of a stream's events, as the client asked. */
  readonly shape: StreamShape;
  /** The client's headers that go on to a provider. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Everywhere it may go, when its route does not answer. */
  legs(admission: Admission): Promise<CandidateTable>;
  /** The hold taken anew for another leg; null: refused for it. */
  retake(admission: Admission, leg: RouteCandidate): Promise<Admission | null>;
}
