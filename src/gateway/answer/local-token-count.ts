// Counting tokens for a model whose providers do not count: our own tokenizer answers, free as theirs would be.

import { formatUsd, ZERO } from "../../../actors/money.ts";
import type { KeyAvailability } from "../attempt/client-error.ts";
import type { Outcome } from "../call.ts";
import type { GatewayParts, RunningRequest } from "../context.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { estimateTokens } from "../metering/token-counter.ts";

/** Whether the question is answered here: all keys there are belong to providers that do not know it. */
export const isLocalTokenCount = (
  { path }: Pick<GatewayEndpoint, "path">,
  { fit, otherStyle }: KeyAvailability,
): boolean => path === "/v1/messages/count_tokens" && fit === 0 && otherStyle > 0;

/** What is no text is estimated. `headers`: of an answer that nobody else was asked for. */
export async function localTokenCount(
  { counter }: Pick<GatewayParts, "counter">,
  { surface, request }: Pick<RunningRequest, "surface" | "request">,
  headers: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const { images, files } = request;
  const words = await counter.count(surface.dialect.promptTexts(request));
  const tokens = words + estimateTokens({ bytes: 0, images, files });
  return {
    kind: "whole",
    body: JSON.stringify({ input_tokens: tokens }),
    headers: { ...headers, "x-arbor-cost": formatUsd(ZERO) },
  };
}
