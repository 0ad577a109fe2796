// The gateway's paths: turns a request into a call and an outcome into a response. Everything between is gateway/.

import type { Call, Outcome } from "../gateway/call.ts";
import type { Gateway } from "../gateway/request.ts";
import type { Style } from "../gateway/styles.ts";
import type { Surface } from "../gateway/surfaces.ts";
import type { Random } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { apiKeyOf, type Context, givenRequestId } from "./endpoint.ts";
import { errorResponse, INTERNAL, messagesError, problem, refusalOf } from "./errors.ts";
import type { Metrics } from "./health.ts";
import { readText } from "./json.ts";

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
  (parts: V1Parts, surface: Surface) =>
  async (context: Context): Promise<Response> => {
    const { request } = context;
    const { path } = surface;
    const startedAt = performance.now();
    const call: Call = {
      path,
      key: apiKeyOf(request, true),
      ip: context.clientIp,
      requestId: givenRequestId(request),
      headers: request.headers,
      text: () => readText(request, parts.maxBodyBytes),
      signal: request.signal,
    };
    const outcome = await parts.gateway(call, surface).catch((error): Outcome => {
      const headers = { "x-request-id": call.requestId ?? parts.random.id() };
      const refusal = refusalOf(error);
      if (refusal === null) {
        const stack = error instanceof Error ? error.stack : String(error);
        parts.log("error", "request_failed", { requestId: headers["x-request-id"], path, error: stack });
      }
      return { kind: "refused", refusal: refusal ?? INTERNAL, headers };
    });
    const response = respond(outcome, surface.dialect.name);
    parts.metrics.request(
      { path, status: response.status, stream: outcome.kind === "stream" },
      performance.now() - startedAt,
    );
    return response;
  };

function respond(outcome: Outcome, style: Style): Response {
  switch (outcome.kind) {
    case "whole":
      return new Response(outcome.body, {
        headers: { "content-type": "application/json", ...outcome.headers },
      });
    case "stream":
      return new Response(outcome.body, { headers: { ...STREAM_HEADERS, ...outcome.headers } });
    case "rejected":
      return ERRORS[style]({ ...outcome.rejection, headers: {} }, outcome.headers);
    case "refused":
      return ERRORS[style](problem(outcome.refusal), outcome.headers);
  }
}

/** How an error is said to each family of SDKs. */
const ERRORS = { chat: errorResponse, messages: messagesError } as const;
