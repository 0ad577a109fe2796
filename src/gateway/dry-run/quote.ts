// Quotes what a request would cost before it is sent, without a call, a charge or a hold.

import type { AccountId } from "../../../actors/ids.ts";
import { least, type Nano, ZERO } from "../../../actors/money.ts";
import { cost } from "../../../actors/pricing/cost.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { certain } from "../metering/hold-estimate.ts";
import { unitOf } from "../metering/meter-kinds.ts";
import { sizeOf } from "../metering/request-size.ts";
import type { Route } from "../routing/route.ts";
import { keyPinOf } from "../stored-objects/key-pin.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";
import { type DryRunParts, dryRun, type SampleRequest, sampleRequest } from "./dry-run.ts";

/** The quote of one request; amounts are in nano-dollars. */
export interface Quote {
  /** Why it would be refused; null when it would be tried. */
  readonly refusal: Refusal | null;
  /** The model after the mappers that ran; null when the request itself is invalid. */
  readonly model: string | null;
  /** The route where it would be tried first; null when there is none. */
  readonly route: Route | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** The amount that it would hold, or that was refused. */
  readonly hold: Nano;
  /** The certain cost, which is that of the estimated prompt where tokens are counted, and the worst case. */
  readonly least: Nano;
  readonly most: Nano;
}

/** The services that a quote reads. */
export interface QuoteEndpointParts extends DryRunParts {
  readonly storedObjects: Pick<StoredObjectIndex, "find">;
}

/**
 * Returns the quote of a request. `body` is what would be sent to the endpoint `endpoint`. Throws
 * `RefusedError` for endpoints that accept only forms, and when the account does not exist.
 */
export async function quote(
  parts: QuoteEndpointParts,
  endpoint: GatewayEndpoint,
  who: Pick<SampleRequest, "caller" | "ip">,
  body: object,
): Promise<Quote> {
  if (endpoint.takes === "form") throw new RefusedError(NEEDS_JSON);
  const asking = await readAsking(parts, endpoint, who.caller.account, body);
  const size = "size" in asking.requested ? asking.requested.size : null;
  const { refusal, at, model } = await dryRun(parts, endpoint, { ...who, ...asking });
  const promptTokens = size?.promptTokens ?? 0;
  if (at === null || size === null) return { ...NOTHING, refusal, model, promptTokens };
  const { route, estimate } = at;
  const terms = { ...route.multipliers, tier: size.serviceTier, image: size.measured.image };
  const used = certain(unitOf(endpoint.meter, route.priced, route.model), size);
  const sure = endpoint.meter.free ? ZERO : cost(route.priced, used, terms).amount;
  return {
    refusal,
    model,
    route,
    promptTokens,
    completionTokens: estimate.outputTokens,
    hold: at.preview.cost,
    least: least(sure, estimate.cost),
    most: estimate.cost,
  };
}

/**
 * Reads the body as a request: the requested model and the key that its objects are pinned to, or what is
 * wrong with it.
 */
async function readAsking(
  { storedObjects }: QuoteEndpointParts,
  endpoint: GatewayEndpoint,
  account: AccountId,
  body: object,
): Promise<Pick<SampleRequest, "requested" | "pinnedKey" | "request">> {
  const parsed = sampleRequest(endpoint, body);
  if (!parsed.ok) {
    const { code, message } = parsed.refusal;
    return { requested: { refusal: { code, message: `${message}.` } } };
  }
  const { request } = parsed;
  try {
    const pinnedKey = await keyPinOf(storedObjects, account, endpoint.dialect, request.payload);
    const size = sizeOf(request, pinnedKey?.tokens);
    return { requested: { model: request.model, size }, pinnedKey, request };
  } catch (error) {
    if (error instanceof RefusedError) return { requested: { refusal: error.refusal } };
    throw error;
  }
}

const NEEDS_JSON: Refusal = {
  code: "invalid_parameter",
  message: "Quotes need JSON: this path takes forms alone, whose files decide what they cost.",
};

const NOTHING = { route: null, completionTokens: 0, hold: ZERO, least: ZERO, most: ZERO };
