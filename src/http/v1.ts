// The gateway's paths: turns a request into a call and an outcome into a response. Everything between is gateway/.

import type { Call, Outcome } from "../gateway/call.ts";
import type { Gateway } from "../gateway/request.ts";
import type { Random } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import { apiKeyOf, type Context, givenRequestId } from "./endpoint.ts";
import { errorResponse, INTERNAL, problem, refusalOf } from "./errors.ts";
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

export const postGateway =
  (parts: V1Parts, path: string) =>
  async (context: Context): Promise<Response> => {
    const { request } = context;
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
    const outcome = await parts.gateway(call).catch((error): Outcome => {
      const headers = { "x-request-id": call.requestId ?? parts.random.id() };
      const refusal = refusalOf(error);
      if (refusal === null) {
        const stack = error instanceof Error ? error.stack : String(error);
        parts.log("error", "request_failed", { requestId: headers["x-request-id"], path, error: stack });
      }
      return { kind: "refused", refusal: refusal ?? INTERNAL, headers };
    });
    const response = respond(outcome);
    parts.metrics.request(
      { path, status: response.status, stream: outcome.kind === "stream" },
      performance.now() - startedAt,
    );
    return response;
  };

function respond(outcome: Outcome): Response {
  switch (outcome.kind) {
    case "whole":
      return new Response(outcome.body, {
        headers: { "content-type": "application/json", ...outcome.headers },
      });
    case "stream":
      return new Response(outcome.body, { headers: { ...STREAM_HEADERS, ...outcome.headers } });
    case "rejected":
      return errorResponse({ ...outcome.rejection, headers: {} }, outcome.headers);
    case "refused":
      return errorResponse(problem(outcome.refusal), outcome.headers);
  }
}
