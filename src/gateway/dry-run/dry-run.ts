// Predicts what would happen to a request, with the functions that decide it: its route, its hold estimate,
// the account's answer, and the walk through its candidates to the first usable key. It takes no hold and sends
// nothing. `quote` and `explain` are written from its result.

import type { StaleProfile } from "../../../actors/account/admit.ts";
import type { AdmitDryRun, DryRunRequest } from "../../../actors/account/admit-dry-run.ts";
import { actorRef } from "../../../actors/index.ts";
import { healthOf, type LevelKey, type LevelView, usability } from "../../../actors/level/view.ts";
import type { Nano } from "../../../actors/money.ts";
import type { Clock } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { ModelRequest, ParsedRequest } from "../../dialect/dialect.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext } from "../account/account-context.ts";
import { acceptFreshProfile } from "../admission/admission.ts";
import {
  buildAdmissionRequest,
  buildRequestAt,
  type RoutingParts,
  type UnnamedAdmission,
} from "../admission/admission-request.ts";
import { ParentReadings } from "../admission/parent-funds.ts";
import { isLocalTokenCount } from "../answer/local-token-count.ts";
import { clientErrorFor, keyAvailability } from "../attempt/client-error.ts";
import { FailoverWalk, type Move, type Visit } from "../attempt/failover-walk.ts";
import { modelAtPath } from "../codec/key-formats.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { HoldEstimate } from "../metering/hold-estimate.ts";
import type { RequestSize } from "../metering/request-size.ts";
import type { CandidateTable } from "../routing/failover-plan.ts";
import { planOf } from "../routing/resolve-route.ts";
import type { Route, RouteCandidate, RoutingStep } from "../routing/route.ts";
import { restrictToKey, upstreamFor, withoutKeyPin } from "../stored-objects/key-pin.ts";

/** The hold that a request would take at one of its candidates. */
interface ForeseenHold {
  readonly route: Route;
  readonly estimate: HoldEstimate;
  readonly preview: AdmitDryRun;
}

/** What would happen to a request. */
export interface DryRunResult {
  /** Why it would be refused, or fail before any attempt; null when it would be tried. */
  readonly refusal: Refusal | null;
  /** Where it would be tried first, or where it would take its last hold; null when it has no route. */
  readonly at: ForeseenHold | null;
  /** The model after the mappers that ran; null when the request itself is invalid. */
  readonly model: string | null;
  readonly steps: readonly RoutingStep[];
  /** All candidates, its route first. */
  readonly candidates: CandidateTable;
  /** The account's answer for the route, before any failover. */
  readonly preview: AdmitDryRun;
}

/** The services that a dry run reads. */
export interface DryRunParts extends RoutingParts {
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, "address" | "lacks">;
}

/** A request that no client has sent. */
export interface SampleRequest extends Pick<UnnamedAdmission, "caller" | "ip" | "requested" | "pinnedKey"> {
  /** The parsed request; omitted when any request for the model is meant. */
  readonly request?: ModelRequest;
}

/** Returns a JSON body as the endpoint would parse it. */
export const sampleRequest = ({ dialect }: Pick<GatewayEndpoint, "dialect">, body: object): ParsedRequest =>
  dialect.parse(jsonPayload(JSON.stringify(body)));

/** Returns what would happen to a request. Throws `RefusedError` only when the account does not exist. */
export async function dryRun(
  parts: DryRunParts,
  endpoint: GatewayEndpoint,
  sample: SampleRequest,
): Promise<DryRunResult> {
  const { account } = sample.caller;
  const input = { ...sample, endpoint, idempotency: null };
  for (let tries = 1; ; tries++) {
    const accountContext = await parts.configs.accountContext(account);
    const found = await dryRunOnce(parts, input, accountContext);
    if (!("stale" in found)) return found;
    acceptFreshProfile(parts.configs, account, found, tries);
  }
}

type DryRunInput = UnnamedAdmission & Pick<SampleRequest, "request"> & { readonly endpoint: GatewayEndpoint };

const askAccount = (
  { system }: DryRunParts,
  { caller }: DryRunInput,
  question: DryRunRequest,
): Promise<AdmitDryRun | StaleProfile> =>
  system.ask(actorRef.account(caller.account), "admitDryRun", question);

/**
 * Returns the credit that the request would wait for: the account's AutoQuota, where its balance does not suffice and its parent
 * can give that. Undefined where it would not.
 */
async function topUpFor(
  { system, clock }: DryRunParts,
  { account: { profile }, config: { config } }: AccountContext,
  refusal: Refusal | null,
): Promise<Nano | undefined> {
  const { parent, autoQuota } = profile;
  if (refusal?.code !== "insufficient_balance" || autoQuota === 0 || parent === null) return undefined;
  const readings = new ParentReadings({ system, clock });
  return (await readings.affords(parent, autoQuota, config.userMinBalance)) ? autoQuota : undefined;
}

async function dryRunOnce(
  given: DryRunParts,
  input: DryRunInput,
  accountContext: AccountContext,
): Promise<DryRunResult | StaleProfile> {
  const { endpoint, requested, pinnedKey = null } = input;
  const parts = { ...given, upstream: upstreamFor(pinnedKey, given.upstream) };
  const { question, routed, route, estimate, size } = await buildAdmissionRequest(
    parts,
    input,
    accountContext,
  );
  const alone = await askAccount(parts, input, question);
  if ("stale" in alone) return alone;
  const topUp = await topUpFor(parts, accountContext, alone.refusal);
  const preview = topUp === undefined ? alone : await askAccount(parts, input, { ...question, topUp });
  if ("stale" in preview) return preview;
  const { refusal } = preview;
  const steps = routed?.steps ?? [];
  if (route === null || estimate === null || size === null || "refusal" in requested) {
    return { refusal, at: null, model: routed?.model ?? null, steps, candidates: [], preview };
  }
  const plan =
    pinnedKey === null
      ? await planOf(parts.configs, accountContext, route, endpoint, requested.model)
      : { rows: [[{ ...route, view: restrictToKey(pinnedKey, route.view) }]], steps: [] };
  const hold: ForeseenHold = { route, estimate, preview };
  const seen = { candidates: plan.rows, preview };
  if (refusal !== null) {
    return { ...seen, refusal, at: hold, model: route.model, steps: [...steps, ...plan.steps] };
  }
  const walk = new DryRunWalk(parts, { input, accountContext, size, hold, topUp, candidates: plan.rows });
  const found = await walk.follow();
  if ("stale" in found) return found;
  const { at } = found;
  return { ...seen, ...found, model: at.route.model, steps: [...steps, ...plan.steps, ...found.steps] };
}

/** What a dry run knows when its walk begins. */
interface WalkInput {
  readonly input: DryRunInput;
  readonly accountContext: AccountContext;
  readonly size: RequestSize;
  readonly hold: ForeseenHold;
  /** Credit that AutoQuota would have brought by then; undefined when none. */
  readonly topUp: Nano | undefined;
  readonly candidates: CandidateTable;
}

/** The walk of one request that sends nothing: a usable key is its answer. */
class DryRunWalk extends FailoverWalk<LevelKey, null> {
  private readonly steps: RoutingStep[] = [];
  private readonly startedAt: number;
  private hold: ForeseenHold;
  /** The account's profile changed during the walk; everything must be routed again. */
  private stale: StaleProfile | null = null;
  /** Why the account refused the hold of the last candidate. */
  private refused: Refusal | null = null;

  constructor(
    private readonly parts: DryRunParts,
    private readonly given: WalkInput,
  ) {
    const { endpoint } = given.input;
    super(given.candidates[0]![0]!, { endpoint, upstream: parts.upstream, demands: given.size.demands });
    this.startedAt = parts.clock.wall();
    this.hold = given.hold;
  }

  /** Walks. Returns where the request would be tried, or why it would fail. */
  async follow(): Promise<
    | { readonly refusal: Refusal | null; readonly at: ForeseenHold; readonly steps: readonly RoutingStep[] }
    | StaleProfile
  > {
    const key = await this.run();
    if (this.stale !== null) return this.stale;
    return { refusal: key === null ? this.refusal() : null, at: this.hold, steps: this.steps };
  }

  protected async candidates(): Promise<CandidateTable> {
    return this.given.candidates;
  }

  protected viewOf({ view }: RouteCandidate): LevelView {
    return view;
  }

  protected now(): number {
    return this.startedAt;
  }

  protected hasKeyLeft(candidate: RouteCandidate): boolean {
    return this.keyAt(candidate) !== null;
  }

  protected visit(candidate: RouteCandidate): Visit<LevelKey> {
    if (this.stale !== null) return "final";
    const key = this.keyAt(candidate);
    if (key === null) return "no_key";
    const refusal = untranslatable(this.parts, this.given.input, key, candidate.model);
    if (refusal === null) return { answer: key };
    this.narrow(refusal);
    return "failed";
  }

  protected async moveTo({ from, to, step, reason, isAway }: Move): Promise<boolean> {
    const kind = step === "level" ? "switch_over" : "model_failover";
    const note = this.noteOf(from, reason === "refused", isAway);
    this.steps.push({ step: kind, in: placeOf(from), out: placeOf(to), note });
    const { route } = this.hold;
    if (to.model === route.model) {
      this.hold = { ...this.hold, route: { ...route, ...to } };
      return true;
    }
    const { input, accountContext, size, topUp } = this.given;
    const { question, ...moved } = buildRequestAt(this.parts, input, { accountContext, size, route }, to);
    const asked = topUp === undefined ? question : { ...question, topUp };
    const preview = await askAccount(this.parts, input, asked);
    if ("stale" in preview) {
      this.stale = preview;
      return true;
    }
    this.refused = preview.refusal;
    if (preview.refusal !== null) return false;
    this.hold = { ...moved, preview };
    return true;
  }

  protected async lastResort(): Promise<null> {
    return null;
  }

  protected failure(): null {
    return null;
  }

  private noteOf({ model, level, view }: RouteCandidate, isRefused: boolean, isAway: boolean): string {
    if (isRefused) return `${model} is refused: ${this.refused?.code}`;
    return isAway
      ? `Level ${level} is switched over until ${new Date(view.switchedUntil).toISOString()}`
      : `no key of Level ${level} can be used now`;
  }

  /** Returns a key that could be tried, or null when there is none. */
  private keyAt({ view, model }: RouteCandidate): LevelKey | null {
    const lacked = modelAtPath(this.given.input.endpoint.path, model);
    const health = healthOf(view);
    const isReady = (key: LevelKey) =>
      this.serves(key, model) === "served" &&
      !("until" in usability(key, health?.get(key.id), lacked, this.startedAt));
    return view.keys.find(isReady) ?? null;
  }

  /** Returns the error of a request for which no key can be used; null when it is answered locally. */
  private refusal(): Refusal | null {
    const { input, size } = this.given;
    const { endpoint, pinnedKey = null } = input;
    const keys = keyAvailability(endpoint.path, this.visited, this.serves, this.startedAt);
    if (isLocalTokenCount(endpoint, keys)) return null;
    const { model } = this.hold.route;
    const request = { path: endpoint.path, model, untranslated: this.untranslated, demands: size.demands };
    const error = clientErrorFor([], request, keys);
    if ("rejection" in error) throw new Error("a provider's error without an attempt");
    return pinnedKey === null ? error.refusal : withoutKeyPin(error.refusal);
  }
}

const placeOf = ({ model, level }: RouteCandidate): string => `${model} at ${level}`;

/** Returns why the request cannot be translated into the key's style, or null when it can or need not be. */
function untranslatable(
  { upstream }: Pick<DryRunParts, "upstream">,
  { endpoint, request }: DryRunInput,
  key: LevelKey,
  model: string,
): Refusal | null {
  const codec = codecFor(endpoint, key, model, upstream);
  if (request === undefined || codec === null || !codec.translates) return null;
  const naming = { model, add: {} };
  const opened = codec.open(request, { model, naming, headers: {}, id: "", now: 0, promptTokens: 0 });
  return "refusal" in opened ? opened.refusal : null;
}
