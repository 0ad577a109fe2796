// Answers that are not answers: statuses and bodies as real providers send them, one row each.
// A name is the status, then a dot and the cause where one status has several. A row that names a vendor is in that
// vendor's form whatever the dialect.

import { claude, either, google, html, type Refusal, refusal } from "./refusal.ts";
import { REFUSALS_OF_REQUESTS } from "./refusals-of-requests.ts";

const RATE = "Rate limit reached for standin in organization org-standin on";
const CLAUDE_RATE = "This request would exceed the rate limit for your organization (org-standin) of";

export const REFUSALS: Readonly<Record<string, Refusal>> = {
  ...REFUSALS_OF_REQUESTS,
  "200.error": refusal(
    200,
    ["The server had an error while processing your request.", "server_error", "server_error"],
    ["api_error", "Internal server error"],
  ),
  "200.invalid": refusal(
    200,
    ["Failed to call a function.", "invalid_request_error", "tool_use_failed"],
    ["invalid_request_error", "Could not process image"],
  ),
  "200.string": either(200, { body: { error: "upstream connect error" } }),
  "200.code": either(200, { body: { code: 1113, msg: "Insufficient balance or no resource package." } }),
  "200.base_resp": either(200, {
    body: { base_resp: { status_code: 1008, status_msg: "insufficient balance" } },
  }),
  "302": either(302, { body: "", headers: { location: "http://127.0.0.1:9/elsewhere" } }),
  "400.billing": refusal(
    400,
    ["Billing hard limit has been reached.", "invalid_request_error", "billing_hard_limit_reached"],
    [
      "invalid_request_error",
      "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
    ],
  ),
  "400.claude_credit": either(
    400,
    claude("invalid_request_error", "Your credit balance is too low to access the API."),
  ),
  "400.google_key": google(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    "API_KEY_INVALID",
  ),
  "401": refusal(
    401,
    [
      "Incorrect API key provided: sk-stand*********gone. You can find your API key at https://platform.openai.com/account/api-keys.",
      "invalid_request_error",
      "invalid_api_key",
    ],
    ["authentication_error", "invalid x-api-key"],
  ),
  "401.azure": either(401, {
    body: {
      statusCode: 401,
      message: "Access denied due to invalid subscription key or wrong API endpoint.",
    },
  }),
  "401.claude": either(401, claude("authentication_error", "invalid x-api-key")),
  "402": refusal(
    402,
    ["Insufficient Balance", "unknown_error", "invalid_request_error"],
    ["billing_error", "Your organization org-standin has a problem with its payment."],
  ),
  "402.number": either(402, { body: { error: { message: "Insufficient credits", code: 402 } } }),
  "403": refusal(
    403,
    ["You are not allowed to sample from this model.", "permission_error"],
    ["permission_error", "Your API key does not have permission to use the specified resource."],
  ),
  "403.region": refusal(
    403,
    [
      "Country, region, or territory not supported",
      "request_forbidden",
      "unsupported_country_region_territory",
    ],
    ["forbidden", "Request not allowed"],
  ),
  "403.account": refusal(
    403,
    ["The organization org-standin has been deactivated.", "invalid_request_error", "account_deactivated"],
    ["permission_error", "This organization has been disabled."],
  ),
  "404.claude": either(404, claude("not_found_error", "model: standin")),
  "408": {
    status: 408,
    chat: { body: { error: { code: "Timeout", message: "The operation was timeout." } } },
    messages: claude("timeout_error", "Request timed out"),
  },
  "429": refusal(
    429,
    [
      `${RATE} requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.`,
      "requests",
      "rate_limit_exceeded",
    ],
    ["rate_limit_error", `${CLAUDE_RATE} 3 requests per minute.`],
  ),
  "429.tokens": refusal(
    429,
    [
      `${RATE} tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.`,
      "tokens",
      "rate_limit_exceeded",
    ],
    ["rate_limit_error", `${CLAUDE_RATE} 30,000 input tokens per minute.`],
  ),
  "429.too_big": refusal(
    429,
    [
      "Request too large for standin in organization org-standin on tokens per min (TPM): Limit 30000, Requested 40000.",
      "tokens",
      "rate_limit_exceeded",
    ],
    [
      "rate_limit_error",
      "Request too large for the rate limit of your organization (org-standin): Limit 30000 input tokens per minute, Requested 40000.",
    ],
  ),
  "429.quota": refusal(
    429,
    [
      "You exceeded your current quota, please check your plan and billing details.",
      "insufficient_quota",
      "insufficient_quota",
    ],
    [
      "rate_limit_error",
      "Your organization has reached its spend limit.",
      { error_code: "enforced_spend_limit_reached" },
    ],
  ),
  "429.moonshot": refusal(
    429,
    ["Your account is suspended, please check your plan and billing details", "exceeded_current_quota_error"],
    ["exceeded_current_quota_error", "Your account is suspended, please check your plan and billing details"],
  ),
  "429.overloaded": refusal(
    429,
    ["The engine is currently overloaded, please try again later", "engine_overloaded_error"],
    ["engine_overloaded_error", "The engine is currently overloaded, please try again later"],
  ),
  "429.google": google(
    429,
    "RESOURCE_EXHAUSTED",
    "Quota exceeded for quota metric 'GenerateContentRequestsPerDayPerProject-FreeTier'.",
  ),
  "429.azure": either(429, {
    body: {
      error: {
        code: "RateLimitReached",
        message: "Requests have exceeded the call rate limit of your current pricing tier.",
      },
    },
  }),
  "500": refusal(
    500,
    ["The server had an error while processing your request. Sorry about that!", "server_error"],
    ["api_error", "Internal server error"],
  ),
  "502": either(502, html(502, "Bad Gateway")),
  "503": refusal(
    503,
    [
      "The engine is currently overloaded, please try again later",
      "service_unavailable_error",
      "server_is_overloaded",
    ],
    ["api_error", "Service temporarily unavailable"],
  ),
  "504": {
    status: 504,
    chat: html(504, "Gateway Time-out"),
    messages: claude("timeout_error", "Request timed out"),
  },
  "520": either(520, html(520, "Web server is returning an unknown error")),
  "529": either(529, claude("overloaded_error", "Overloaded")),
};
