// What the errors of the two clouds mean: one row per kind, with codes as words, numbers and digits, and with bodies that
// hold no error object.

import { describe, expect, test } from "bun:test";
import { classify, type FailureKind } from "../../src/upstream/upstream-failure.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const read = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  classify({
    status,
    bodyText: typeof body === "string" ? body : JSON.stringify(body),
    headers: new Headers(headers),
    model: "gpt-4o",
    nowMs: NOW_MS,
  });
const error = (code: string | number, message: string, more: object = {}) => ({
  error: { code, message, ...more },
});

type Row = readonly [what: string, status: number, body: unknown, signal: FailureKind];

describe("cloud_a says", () => {
  const FILTERED = {
    innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: { hate: { filtered: true } } },
  };
  const ACCESS = "Access denied due to invalid subscription key or wrong API endpoint.";
  // biome-ignore format: a table
  const ROWS: readonly Row[] = [
    ["a prompt was blocked", 400, error("content_filter", "The response was filtered", FILTERED), "rejected"],
    [
      "a prompt was blocked, with a status inside",
      400,
      error("content_filter", "The response was filtered", { status: 400, param: "prompt", ...FILTERED }),
      "rejected",
    ],
    ["the context is too long", 400, error("context_length_exceeded", "This model's maximum context length is 8192 tokens."), "rejected"],
    ["a parameter is not supported", 400, error("unsupported_parameter", "Unsupported parameter: 'max_tokens'."), "rejected"],
    [
      "the deployment's model cannot do this",
      400,
      error(
        "OperationNotSupported",
        "The chatCompletion operation does not work with the specified model, m.",
      ),
      "model_unavailable",
    ],
    ["the key is wrong, without an error object", 401, { statusCode: 401, message: ACCESS }, "invalid_key"],
    ["the key is wrong, the code as digits", 401, error("401", ACCESS), "invalid_key"],
    ["the key is wrong, the code as a number", 401, error(401, ACCESS), "invalid_key"],
    ["the key is wrong, in no words", 401, "", "invalid_key"],
    ["the network is closed", 403, error("AccessDenied", "Access denied due to Virtual Network/Firewall rules."), "no_permission"],
    ["the network is closed, as digits", 403, error("403", "Public access is disabled."), "no_permission"],
    ["there is no such deployment", 404, error("DeploymentNotFound", "The API deployment for this resource does not exist."), "model_unavailable"],
    ["there is no such path", 404, error("404", "Resource not found"), "model_unavailable"],
    ["there is no such path, as a number", 404, error(404, "Resource not found"), "model_unavailable"],
    ["there is no such path, without an error object", 404, { statusCode: 404, message: "Resource not found" }, "model_unavailable"],
    ["it took too long", 408, error("Timeout", "The operation was timeout."), "timeout"],
    ["too many requests, as digits", 429, error("429", "Requests have exceeded the call rate limit."), "rate_limited"],
    ["too many requests, as a number", 429, error(429, "Requests have exceeded the limit."), "rate_limited"],
    ["too many requests, as a word", 429, error("RateLimitReached", "Rate limit is exceeded."), "rate_limited"],
    ["too many requests, without an error object", 429, { statusCode: 429, message: "Rate limit" }, "rate_limited"],
    ["there is no capacity", 429, error("NoCapacity", "The system is experiencing high demand."), "rate_limited"],
    ["the quota is gone", 429, error("insufficient_quota", "You exceeded your current quota."), "quota_gone"],
    ["it broke", 500, error("InternalServerError", "Backend returned unexpected response."), "server_error"],
    ["it broke, in no words", 500, "", "server_error"],
    ["it is not there", 503, error("ServiceUnavailable", "Service Unavailable"), "overloaded"],
    ["it is not there, without an error object", 503, { statusCode: 503, message: "Service Unavailable" }, "overloaded"],
    ["a limit inside a stream", 200, error("429", "Rate limit is exceeded."), "rate_limited"],
  ];
  test.each(ROWS)("%s", (_, status, body, signal) => expect(read(status, body).name).toBe(signal));

  test("how long to rest", () => {
    const limited = error("429", "Rate limit is exceeded.");
    expect(read(429, limited, { "retry-after": "7" }).retryAfterMs).toBe(7_000);
    expect(read(429, limited, { "retry-after": "7", "retry-after-ms": "6500" }).retryAfterMs).toBe(6_500);
  });
  test("the client's own fault, in the client's words", () => {
    const passed = read(400, error("content_filter", "The response was filtered", FILTERED)).pass;
    expect(passed).toMatchObject({
      status: 400,
      code: "content_filter",
      message: "The response was filtered",
    });
  });
});

describe("cloud_b says", () => {
  const google = (code: number, status: string, message: string, details: object[] = []) =>
    error(code, message, { status, details });
  const PLACE = "projects/p-1/locations/us-east5/publishers/anthropic/models/claude-opus-5";
  // biome-ignore format: a table
  const ROWS: readonly Row[] = [
    [
      "the token is refused",
      401,
      google(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", [
        { reason: "ACCESS_TOKEN_TYPE_UNSUPPORTED" },
      ]),
      "invalid_key",
    ],
    [
      "the account may not",
      403,
      google(403, "PERMISSION_DENIED", `Permission 'aiplatform.endpoints.predict' denied on '//${PLACE}'.`),
      "no_permission",
    ],
    [
      "the account may not, in a list as streams have it",
      403,
      [google(403, "PERMISSION_DENIED", "Vertex AI API has not been used in project 1 before.")],
      "no_permission",
    ],
    [
      "there is no such model here",
      404,
      google(
        404,
        "NOT_FOUND",
        `Publisher Model \`${PLACE}\` was not found or your project does not have access to it.`,
      ),
      "model_unavailable",
    ],
    [
      "the model is not served here",
      400,
      google(400, "FAILED_PRECONDITION", `Publisher Model \`${PLACE}\` is not servable in region us-east5.`),
      "model_unavailable",
    ],
    ["too many requests", 429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded for online_prediction_requests_per_base_model."), "rate_limited"],
    ["too many requests, in a list", 429, [google(429, "RESOURCE_EXHAUSTED", "Resource exhausted.")], "rate_limited"],
    [
      "a beta feature is not known",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "Unexpected value(s) `x` for the `anthropic-beta` header.",
        },
      },
      "rejected",
    ],
    [
      "the prompt is too long, in the model's own words",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 300000 tokens > 200000 maximum",
        },
      },
      "rejected",
    ],
    ["an argument is wrong", 400, google(400, "INVALID_ARGUMENT", "Unable to submit request."), "rejected"],
    ["it is overloaded", 529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded"],
    ["it is not there", 503, google(503, "UNAVAILABLE", "The service is currently unavailable."), "overloaded"],
    ["it took too long", 504, google(504, "DEADLINE_EXCEEDED", "Deadline exceeded."), "timeout"],
    ["it broke", 500, google(500, "INTERNAL", "Internal error encountered."), "server_error"],
  ];
  test.each(ROWS)("%s", (_, status, body, signal) => expect(read(status, body).name).toBe(signal));

  test("nothing of its projects to a client", () => {
    const { pass } = read(404, google(404, "NOT_FOUND", `Publisher Model \`${PLACE}\` was not found.`));
    expect(pass?.message).toContain("[removed]");
    expect(pass?.message).not.toContain("p-1");
  });
});
