// The gateway's paths: turns a request into a call and an outcome into a response. Everything between is gateway/.

import type { Random } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { readPayload } from "../gateway/body.ts";
import type { GatewayCall, Outcome } from "../gateway/call.ts";
import type { ApiStyle } from "../gateway/codec/key-formats.ts";
import type { GatewayEndpoint } from "../gateway/endpoints.ts";
import type { Gateway } from "../gateway/request.ts";
import type { Context } from "./endpoint.ts";
import { errorResponse, httpError, INTERNAL, messagesError, refusalOf } from "./errors.ts";
import { directStream } from "./gateway/stream-body.ts";
import type { Metrics } from "./operations/health.ts";
import { parseJsonBody } from "./request-body.ts";
import { apiKeyOf, givenRequestId } from "./request-head.ts";

export interface V1Parts {
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly random: Random;
  readonly log: Log;
  readonly maxBodyBytes: number;
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** A path of the gateway's table. */
export const postGateway =
  (parts: V1Parts, surface: GatewayEndpoint) =>
  async (context: Context): Promise<Response> => {
    const { request } = context;
    const { path } = surface;
    const startedAt = performance.now();
    const call: GatewayCall = {
      path,
      key: apiKeyOf(request, true),
      ip: context.clientIp,
      requestId: givenRequestId(request),
      headers: request.headers,
      payload: () =>
        readPayload(request, { takes: surface.takes, most: parts.maxBodyBytes, parse: parseJsonBody }),
      signal: request.signal,
    };
    const outcome = await outcomeOf(parts, parts.gateway(call, surface), call.requestId, path);
    const response = respond(outcome, surface.dialect.name);
    parts.metrics.request(
      { path, status: response.status, stream: outcome.kind === "stream" },
      performance.now() - startedAt,
    );
    return response;
  };

/** An outcome, whatever breaks. */
export const outcomeOf = (
  { random, log }: Pick<V1Parts, "random" | "log">,
  work: Promise<Outcome>,
  given: string | null,
  path: string,
): Promise<Outcome> =>
  work.catch((error): Outcome => {
    const requestId = given ?? random.id();
    const refusal = refusalOf(error);
    if (refusal === null) {
      log("error", "request_failed", {
        requestId,
        path,
        error: error instanceof Error ? error.stack : String(error),
      });
    }
    return { kind: "refused", refusal: refusal ?? INTERNAL, headers: { "x-request-id": requestId } };
  });

export function respond(outcome: Outcome, style: ApiStyle): Response {
  switch (outcome.kind) {
    case "whole":
      return new Response(outcome.body, {
        headers: { "content-type": "application/json", ...outcome.headers },
      });
    case "stream": {
      const { body } = outcome;
      return new Response(body instanceof Uint8Array ? body : directStream(body), {
        headers: { ...STREAM_HEADERS, ...outcome.headers },
      });
    }
    case "rejected":
      return ERRORS[style]({ ...outcome.rejection, headers: {} }, outcome.headers);
    case "refused":
      return ERRORS[style](httpError(outcome.refusal), outcome.headers);
  }
}

/** How an error is said to each family of SDKs. */
const ERRORS = { chat: errorResponse, messages: messagesError } as const;
