// Answers that are not answers: statuses and bodies as real providers send them, one row each.
// A name is the status, then a dot and the cause where one status has several.

import type { Clock } from "../../src/runtime/clock.ts";
import type { Script } from "./script.ts";

export interface Refusal {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const openai = (
  status: number,
  message: string,
  type: string,
  code: string | number | null = null,
  param: string | null = null,
): Refusal => ({ status, body: { error: { message, type, param, code } } });

const claude = (status: number, type: string, message: string): Refusal => ({
  status,
  body: { type: "error", error: { type, message }, request_id: "req_standin" },
});

const google = (status: number, code: string, message: string, reason?: string): Refusal => ({
  status,
  body: {
    error: {
      code: status,
      message,
      status: code,
      ...(reason !== undefined && {
        details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason }],
      }),
    },
  },
});

const html = (status: number, title: string): Refusal => ({
  status,
  headers: { "content-type": "text/html; charset=UTF-8", server: "cloudflare" },
  body: `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body>\r\n<center><h1>${status} ${title}</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n`,
});

const RATE = "Rate limit reached for standin in organization org-standin on";

export const REFUSALS: Readonly<Record<string, Refusal>> = {
  "200.error": openai(
    200,
    "The server had an error while processing your request.",
    "server_error",
    "server_error",
  ),
  "200.string": { status: 200, body: { error: "upstream connect error" } },
  "200.code": { status: 200, body: { code: 1113, msg: "Insufficient balance or no resource package." } },
  "200.base_resp": {
    status: 200,
    body: { base_resp: { status_code: 1008, status_msg: "insufficient balance" } },
  },
  "302": { status: 302, body: "", headers: { location: "http://127.0.0.1:9/elsewhere" } },
  "400": openai(
    400,
    "Invalid type for 'temperature': expected a decimal, but got a string instead.",
    "invalid_request_error",
    "invalid_type",
    "temperature",
  ),
  "400.context": openai(
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "invalid_request_error",
    "context_length_exceeded",
    "messages",
  ),
  "400.filter": openai(
    400,
    "Your request was rejected as a result of our safety system.",
    "invalid_request_error",
    "content_policy_violation",
  ),
  "400.stream_options": openai(
    400,
    "Unknown parameter: 'stream_options'.",
    "invalid_request_error",
    "unknown_parameter",
    "stream_options",
  ),
  "400.billing": openai(
    400,
    "Billing hard limit has been reached.",
    "invalid_request_error",
    "billing_hard_limit_reached",
  ),
  "400.claude_credit": claude(
    400,
    "invalid_request_error",
    "Your credit balance is too low to access the API.",
  ),
  "400.google_key": google(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    "API_KEY_INVALID",
  ),
  "401": openai(
    401,
    "Incorrect API key provided: sk-stand*********gone. You can find your API key at https://platform.openai.com/account/api-keys.",
    "invalid_request_error",
    "invalid_api_key",
  ),
  "401.azure": {
    status: 401,
    body: {
      statusCode: 401,
      message: "Access denied due to invalid subscription key or wrong API endpoint.",
    },
  },
  "401.claude": claude(401, "authentication_error", "invalid x-api-key"),
  "402": openai(402, "Insufficient Balance", "unknown_error", "invalid_request_error"),
  "402.number": { status: 402, body: { error: { message: "Insufficient credits", code: 402 } } },
  "403": openai(403, "You are not allowed to sample from this model.", "permission_error"),
  "403.region": openai(
    403,
    "Country, region, or territory not supported",
    "request_forbidden",
    "unsupported_country_region_territory",
  ),
  "403.account": openai(
    403,
    "The organization org-standin has been deactivated.",
    "invalid_request_error",
    "account_deactivated",
  ),
  "404": openai(
    404,
    "The model `standin` does not exist or you do not have access to it.",
    "invalid_request_error",
    "model_not_found",
  ),
  "404.deployment": {
    status: 404,
    body: {
      error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
    },
  },
  "404.claude": claude(404, "not_found_error", "model: standin"),
  "408": { status: 408, body: { error: { code: "Timeout", message: "The operation was timeout." } } },
  "409": openai(
    409,
    "Another request is already using this resource; try again.",
    "invalid_request_error",
    "conflict",
  ),
  "413": openai(413, "Request exceeds the maximum size", "invalid_request_error", "request_too_large"),
  "422": openai(422, "Input should be a valid list", "invalid_request_error", null, "messages"),
  "429": openai(
    429,
    `${RATE} requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.`,
    "requests",
    "rate_limit_exceeded",
  ),
  "429.tokens": openai(
    429,
    `${RATE} tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.`,
    "tokens",
    "rate_limit_exceeded",
  ),
  "429.too_big": openai(
    429,
    "Request too large for standin in organization org-standin on tokens per min (TPM): Limit 30000, Requested 40000.",
    "tokens",
    "rate_limit_exceeded",
  ),
  "429.quota": openai(
    429,
    "You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota",
    "insufficient_quota",
  ),
  "429.moonshot": openai(
    429,
    "Your account is suspended, please check your plan and billing details",
    "exceeded_current_quota_error",
  ),
  "429.overloaded": openai(
    429,
    "The engine is currently overloaded, please try again later",
    "engine_overloaded_error",
  ),
  "429.google": google(
    429,
    "RESOURCE_EXHAUSTED",
    "Quota exceeded for quota metric 'GenerateContentRequestsPerDayPerProject-FreeTier'.",
  ),
  "429.azure": {
    status: 429,
    body: {
      error: {
        code: "RateLimitReached",
        message: "Requests have exceeded the call rate limit of your current pricing tier.",
      },
    },
  },
  "500": openai(
    500,
    "The server had an error while processing your request. Sorry about that!",
    "server_error",
  ),
  "502": html(502, "Bad Gateway"),
  "503": openai(
    503,
    "The engine is currently overloaded, please try again later",
    "service_unavailable_error",
    "server_is_overloaded",
  ),
  "504": html(504, "Gateway Time-out"),
  "520": html(520, "Web server is returning an unknown error"),
  "529": claude(529, "overloaded_error", "Overloaded"),
};

/** The headers that say when to come back, as the script has them; none unless it asks. */
export function retryHeaders(script: Script, clock: Clock): Record<string, string> {
  const retry = script.retry === "date" ? new Date(clock.wall() + 3000).toUTCString() : script.retry;
  return {
    ...(retry !== undefined && { "retry-after": retry }),
    ...(script.retry_ms !== undefined && { "retry-after-ms": script.retry_ms }),
  };
}

export const invalidUrl = (method: string, path: string): Refusal =>
  openai(404, `Invalid URL (${method} ${path})`, "invalid_request_error");

export const badRequest = (
  message: string,
  param: string | null = null,
  code: string | null = null,
): Refusal => openai(400, message, "invalid_request_error", code, param);

export const NO_KEY: Refusal = openai(
  401,
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
  "invalid_request_error",
);
