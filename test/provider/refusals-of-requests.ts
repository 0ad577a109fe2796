// Refusals that a request brings on itself, in both styles, one row each: it lacks sense, fits nowhere, names nothing known.
// Those that the key or the provider is to blame for are in refusals.ts, which has them all.

import { either, type Refusal, refusal } from "./refusal.ts";

export const REFUSALS_OF_REQUESTS: Readonly<Record<string, Refusal>> = {
  "400": refusal(
    400,
    [
      "Invalid type for 'temperature': expected a decimal, but got a string instead.",
      "invalid_request_error",
      "invalid_type",
      "temperature",
    ],
    ["invalid_request_error", "temperature: Input should be a valid number"],
  ),
  "400.context": refusal(
    400,
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      "invalid_request_error",
      "context_length_exceeded",
      "messages",
    ],
    ["invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"],
  ),
  "400.filter": refusal(
    400,
    [
      "Your request was rejected as a result of our safety system.",
      "invalid_request_error",
      "content_policy_violation",
    ],
    ["invalid_request_error", "Output blocked by content filtering policy"],
  ),
  "400.encrypted": refusal(
    400,
    [
      "The encrypted content gAAA...orth could not be verified.",
      "invalid_request_error",
      "invalid_encrypted_content",
    ],
    ["invalid_request_error", "messages.1.content.0: Invalid `data` in `redacted_thinking` block"],
  ),
  "400.stream_options": refusal(
    400,
    ["Unknown parameter: 'stream_options'.", "invalid_request_error", "unknown_parameter", "stream_options"],
    ["invalid_request_error", "stream_options: Extra inputs are not permitted"],
  ),
  "404": refusal(
    404,
    [
      "The model `standin` does not exist or you do not have access to it.",
      "invalid_request_error",
      "model_not_found",
    ],
    ["not_found_error", "model: standin"],
  ),
  "404.deployment": either(404, {
    body: {
      error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
    },
  }),
  "409": refusal(
    409,
    ["Another request is already using this resource; try again.", "invalid_request_error", "conflict"],
    ["conflict_error", "Another request is already using this resource; try again."],
  ),
  "413": refusal(
    413,
    ["Request exceeds the maximum size", "invalid_request_error", "request_too_large"],
    ["request_too_large", "Request exceeds the maximum size"],
  ),
  "422": refusal(
    422,
    ["Input should be a valid list", "invalid_request_error", null, "messages"],
    ["invalid_request_error", "messages: Input should be a valid list"],
  ),
};
