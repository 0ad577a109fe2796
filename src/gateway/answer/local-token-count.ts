// Counts tokens locally for a model whose providers offer no token count. It is free, as theirs would be.

import { formatUsd, ZERO } from "../../../actors/money.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import type { KeyAvailability } from "../attempt/client-error.ts";
import type { Outcome } from "../call.ts";
import type { ParsedContext } from "../context.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { promptOf } from "../large-body/outlined-payload.ts";
import { estimateTokens, type TokenCounter } from "../metering/token-counter.ts";

/** Returns whether the request is a token count that no key's provider offers. */
export const isLocalTokenCount = (
  { path }: Pick<GatewayEndpoint, "path">,
  { fit, otherStyle, otherPath }: KeyAvailability,
): boolean => path === "/v1/messages/count_tokens" && fit === 0 && otherStyle + otherPath > 0;

/**
 * Returns the token count of the prompt: texts are counted, images and files estimated. `headers` are those
 * of the response.
 */
export async function localTokenCount(
  { counter }: { readonly counter: TokenCounter },
  { endpoint, request }: Pick<ParsedContext, "endpoint" | "request">,
  headers: HeaderRecord,
): Promise<Outcome> {
  const { images, files } = request;
  const prompt = promptOf(endpoint, request);
  const words = await (prompt instanceof Promise ? prompt : counter.count(prompt));
  const tokens = words + estimateTokens({ bytes: 0, images, files });
  return {
    kind: "whole",
    body: JSON.stringify({ input_tokens: tokens }),
    headers: { ...headers, "x-arbor-cost": formatUsd(ZERO) },
  };
}
