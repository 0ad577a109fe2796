// What the gateway's paths are asked for by an id: kept responses, read again or deleted. Everything between is gateway/.

import type { Outcome } from "../gateway/call.ts";
import type { StoredResponse, StoredResponseRequest } from "../gateway/stored-response.ts";
import type { Context } from "./endpoint.ts";
import { apiKeyOf, givenRequestId } from "./request-head.ts";
import { outcomeOf, respond, type V1Parts } from "./v1.ts";

export interface KeptParts extends Pick<V1Parts, "metrics" | "random" | "log"> {
  readonly recall: StoredResponse;
}

/** `behind`: what follows the id. */
export const recallResponse =
  (parts: KeptParts, method: StoredResponseRequest["method"], behind = "") =>
  async ({ request, params, clientIp }: Context): Promise<Response> => {
    const startedAt = performance.now();
    const asked: StoredResponseRequest = {
      ...{ method, behind },
      id: params.id ?? "",
      query: new URL(request.url).search,
      key: apiKeyOf(request, true),
      ip: clientIp,
      requestId: givenRequestId(request),
      headers: request.headers,
      signal: request.signal,
    };
    const path = `/v1/responses/{id}${behind}`;
    const outcome: Outcome = await outcomeOf(parts, parts.recall(asked), asked.requestId, path);
    const response = respond(outcome, "chat");
    parts.metrics.request({ path, status: response.status, stream: false }, performance.now() - startedAt);
    return response;
  };
