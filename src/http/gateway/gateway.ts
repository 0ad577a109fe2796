// `/v1/*`: turns a request into a `GatewayCall` and an outcome into a response. Everything between is in src/gateway; nothing
// here reads the content of a request or an answer.

import { type AnyElysia, Elysia } from "elysia";
import type { CancelSignal } from "../../base/cancellation.ts";
import type { Clock, Random } from "../../base/clock.ts";
import { assert, stackOf } from "../../base/errors.ts";
import type { HeaderReader, HeaderRecord } from "../../base/header-reader.ts";
import type { Log } from "../../base/log.ts";
import { TurnEnd } from "../../base/turn-queue.ts";
import { readPayload } from "../../gateway/body.ts";
import type { GatewayCall, Outcome } from "../../gateway/call.ts";
import type { ApiStyle } from "../../gateway/codec/key-formats.ts";
import { GATEWAY_ENDPOINTS, type GatewayEndpoint } from "../../gateway/endpoints.ts";
import type { LargeBodies } from "../../gateway/large-body/worker-pool.ts";
import type { Gateway } from "../../gateway/request.ts";
import type { StoredResponse, StoredResponseRequest } from "../../gateway/stored-response.ts";
import { errorResponse, httpError, INTERNAL, messagesError, refusalOf } from "../errors.ts";
import type { ListenerParts } from "../management.ts";
import type { Metrics } from "../operations/metrics.ts";
import { apiKeyOf, clientIpOf, emptyUndecodedParts, givenRequestId } from "../request-head.ts";
import type { ServerRequest } from "../server/server-request.ts";
import type { ServerResponse } from "../server/server-response.ts";
import { CONVERSATION_ENDPOINTS } from "./endpoint-table.ts";
import { MEDIA_ENDPOINTS, STORED_RESPONSE_ENDPOINTS } from "./media-endpoint-table.ts";
import { type ModelsParts, models } from "./models.ts";
import { type QuoteParts, quotes } from "./quote.ts";

/** What requests that go to a provider need at the edge. */
export interface ForwardingParts extends Pick<ListenerParts, "routed"> {
  readonly gateway: Gateway;
  readonly recall: StoredResponse;
  readonly metrics: Metrics;
  readonly largeBodies: LargeBodies;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly maxBodyBytes: number;
  readonly trustProxy: readonly string[];
}

/** What the endpoints of this family need. */
export interface GatewayFamilyParts extends ForwardingParts, ModelsParts, QuoteParts {}

/** Answers a request to a model. */
type Forward = (request: ServerRequest) => Promise<ServerResponse>;

/** All endpoints below `/v1`. Source: contract section 2. */
export const gateway = (parts: GatewayFamilyParts) =>
  new Elysia({ normalize: false })
    .use(forwarding(parts))
    .use(models(parts) as AnyElysia)
    .use(quotes(parts) as AnyElysia);

/** The endpoints whose requests go to a provider. They identify the caller themselves, so they have no `access`. */
function forwarding(parts: ForwardingParts): AnyElysia {
  const app = new Elysia({ normalize: false }).onTransform(({ params }) => emptyUndecodedParts(params));
  for (const [path, forward] of forwardingHandlers(parts)) {
    const declaration = CONVERSATION_ENDPOINTS[path] ?? MEDIA_ENDPOINTS[path];
    assert(declaration !== undefined, `the endpoint ${path} is declared`);
    const respond = async ({ request }: { request: Request }) =>
      parts.routed.forwarded(request, await forward(sourceOf(parts, request)));
    app.route("POST", path, respond, { ...declaration });
  }
  for (const { method, suffix, declaration } of STORED_RESPONSE_ENDPOINTS) {
    const respond = async ({ request, params }: { request: Request; params: { id: string } }) => {
      const target = { method, behind: suffix, id: params.id };
      return parts.routed.forwarded(request, await storedResponse(parts, sourceOf(parts, request), target));
    };
    app.route(method, `/v1/responses/:id${suffix}`, respond as never, { ...declaration });
  }
  return app;
}

function sourceOf({ routed }: ForwardingParts, request: Request): ServerRequest {
  const source = routed.sourceOf(request);
  assert(source !== undefined, "the request came to the server");
  return source;
}

/**
 * Returns the handlers of the gateway's table by path, all of them for POST. The application calls them without Elysia, whose
 * requests and responses would cost a fifth of our own work on the busiest paths; Elysia's routes serve other spellings of the
 * path, such as one with a slash behind it.
 */
export function forwardingHandlers(parts: ForwardingParts): ReadonlyMap<string, Forward> {
  const turnEnd = new TurnEnd(parts.clock);
  return new Map(
    GATEWAY_ENDPOINTS.map((endpoint) => [endpoint.path, forwardTo({ ...parts, turnEnd }, endpoint)]),
  );
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const forwardTo =
  (parts: ForwardingParts & { readonly turnEnd: TurnEnd }, endpoint: GatewayEndpoint): Forward =>
  async (request) => {
    const { path } = endpoint;
    const startedAt = performance.now();
    // Requests that arrive in one turn take each of their steps together. One at a time, each would begin with code that the
    // reading of the next one has pushed out of the processor's caches.
    await parts.turnEnd.reached();
    const call = new HttpCall(parts, endpoint, request);
    let outcome: Outcome;
    try {
      outcome = await parts.gateway(call, endpoint);
    } catch (error) {
      outcome = failedOutcome(parts, error, call.requestId, path);
    }
    const response = responseOf(outcome, endpoint.dialect.name);
    const status = isUnheard(outcome, request) ? null : response.status;
    parts.metrics.request({ path, status, stream: outcome.kind === "stream" }, performance.now() - startedAt);
    return response;
  };

/** A call that came as a request to a listener. */
class HttpCall implements GatewayCall {
  readonly path: string;
  readonly key: string | null;
  readonly requestId: string | null;
  readonly headers: HeaderReader;
  readonly signal: CancelSignal;

  constructor(
    private readonly parts: ForwardingParts,
    private readonly endpoint: GatewayEndpoint,
    private readonly request: ServerRequest,
  ) {
    this.path = endpoint.path;
    this.key = apiKeyOf(request, true);
    this.requestId = givenRequestId(request);
    this.headers = request.headers;
    this.signal = request.signal;
  }

  ip(): string {
    return clientIpOf(this.request, this.request.clientAddress, this.parts.trustProxy);
  }

  payload(): ReturnType<GatewayCall["payload"]> {
    const { path, takes } = this.endpoint;
    const { maxBodyBytes: most, largeBodies: large } = this.parts;
    return readPayload(this.request, { path, takes, most, large });
  }
}

async function storedResponse(
  parts: ForwardingParts,
  request: ServerRequest,
  target: Pick<StoredResponseRequest, "method" | "behind" | "id">,
): Promise<ServerResponse> {
  const startedAt = performance.now();
  const stored: StoredResponseRequest = {
    ...target,
    query: request.query,
    key: apiKeyOf(request, true),
    ip: () => clientIpOf(request, request.clientAddress, parts.trustProxy),
    requestId: givenRequestId(request),
    headers: request.headers,
    signal: request.signal,
  };
  const path = `/v1/responses/{id}${target.behind}`;
  const outcome = await parts
    .recall(stored)
    .catch((error) => failedOutcome(parts, error, stored.requestId, path));
  const response = responseOf(outcome, "chat");
  const status = isUnheard(outcome, request) ? null : response.status;
  parts.metrics.request({ path, status, stream: false }, performance.now() - startedAt);
  return response;
}

/** Whether this is an error that its client does not get, because it has disconnected. */
const isUnheard = ({ kind }: Outcome, { signal }: ServerRequest): boolean =>
  signal.aborted && (kind === "refused" || kind === "rejected");

/** Returns the refusal that answers an error. Logs a bug. */
function failedOutcome(
  { random, log }: Pick<ForwardingParts, "random" | "log">,
  error: unknown,
  givenId: string | null,
  path: string,
): Outcome {
  const requestId = givenId ?? random.id();
  const refusal = refusalOf(error);
  if (refusal === null) {
    log("error", "request_failed", {
      requestId,
      path,
      error: stackOf(error),
    });
  }
  return { kind: "refused", refusal: refusal ?? INTERNAL, headers: { "x-request-id": requestId } };
}

function responseOf(outcome: Outcome, style: ApiStyle): ServerResponse {
  switch (outcome.kind) {
    case "whole":
      return { status: 200, headers: typed(outcome.headers), body: outcome.body };
    case "stream":
      return { status: 200, headers: { ...STREAM_HEADERS, ...outcome.headers }, body: outcome.body };
    case "rejected":
      return ERROR_RESPONSES[style]({ ...outcome.rejection, headers: {} }, outcome.headers);
    case "refused":
      return ERROR_RESPONSES[style](httpError(outcome.refusal), outcome.headers);
  }
}

const typed = (headers: HeaderRecord): Record<string, string> => ({
  "content-type": "application/json",
  ...headers,
});

/** The shape of errors that SDKs of each style read. */
const ERROR_RESPONSES = { chat: errorResponse, messages: messagesError } as const;
