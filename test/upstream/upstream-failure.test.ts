// The signal table, one test a line: what a provider's answer means for the key, and what the client may see of it.

import { describe, expect, test } from "bun:test";
import { clean } from "../../src/upstream/provider-error.ts";
import { classify, FAILURE_RULES, type FailureKind, fromError } from "../../src/upstream/upstream-failure.ts";
import { workOf } from "../work-counter/work-counter.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
/** The most steps of all patterns together for the 4,000 characters that are read of a message. */
const STEPS_MAX = 250 * 4_000;

const judge = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  classify({
    status,
    headers: new Headers(headers),
    bodyText: typeof body === "string" ? body : JSON.stringify(body),
    model: "gpt-x",
    nowMs: NOW_MS,
  });

const err = (error: unknown) => ({ error });

// biome-ignore format: a table
const TABLE: readonly (readonly [rule: string, status: number, body: unknown, name: FailureKind])[] = [
  ["a 401 is the key's", 401, err({ message: "Incorrect API key", type: "invalid_request_error", code: "invalid_api_key" }), "invalid_key"],
  [
    "a 401 authentication_error is the key's",
    401,
    { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
    "invalid_key",
  ],
  ["a 401 for the address is the key's", 401, err({ message: "IP not authorized" }), "invalid_key"],
  ["a 401 without JSON is the key's", 401, "Unauthorized", "invalid_key"],
  [
    "Google's invalid key comes as a 400",
    400,
    [
      err({
        code: 400,
        message: "API key not valid. Please pass a valid API key.",
        status: "INVALID_ARGUMENT",
        details: [{ reason: "API_KEY_INVALID" }],
      }),
    ],
    "invalid_key",
  ],
  [
    "Google's invalid key by its details alone",
    400,
    err({
      code: 400,
      message: "Bad",
      status: "INVALID_ARGUMENT",
      details: [{ "@type": "x" }, { reason: "API_KEY_INVALID" }],
    }),
    "invalid_key",
  ],
  ["a deactivated account comes as a 403", 403, err({ code: "account_deactivated", message: "gone" }), "invalid_key"],
  ["UNAUTHENTICATED is the key's", 401, err({ code: 401, status: "UNAUTHENTICATED", message: "no" }), "invalid_key"],
  ["a 403 permission_error", 403, err({ type: "permission_error", message: "no" }), "no_permission"],
  ["an unsupported region", 403, err({ code: "unsupported_country_region_territory", message: "no" }), "no_permission"],
  [
    "reasoning that another organization has encrypted",
    400,
    err({
      message: "The encrypted content gAAA...DQ== could not be verified.",
      type: "invalid_request_error",
      param: null,
      code: "invalid_encrypted_content",
    }),
    "foreign_reasoning",
  ],
  ["PERMISSION_DENIED", 403, err({ code: 403, status: "PERMISSION_DENIED", message: "no" }), "no_permission"],
  ["a bare 403", 403, "<html>", "no_permission"],
  [
    "model_not_found at 404",
    404,
    err({
      code: "model_not_found",
      type: "invalid_request_error",
      message: "The model `gpt-x` does not exist or you do not have access to it.",
    }),
    "model_unavailable",
  ],
  [
    "model_not_found at 403",
    403,
    err({ code: "model_not_found", message: "Project `proj_a` does not have access to model `gpt-x`" }),
    "model_unavailable",
  ],
  ["not_found_error naming a model", 404, { type: "error", error: { type: "not_found_error", message: "model: gpt-x" } }, "model_unavailable"],
  [
    "DeploymentNotFound",
    404,
    err({ code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." }),
    "model_unavailable",
  ],
  [
    "Google's NOT_FOUND of a model",
    404,
    err({ code: 404, status: "NOT_FOUND", message: "models/gpt-x is not found for API version v1beta" }),
    "model_unavailable",
  ],
  [
    "a model that does not exist at 400",
    400,
    err({ message: "Model Not Exist", type: "invalid_request_error", code: "invalid_request_error" }),
    "model_unavailable",
  ],
  [
    "a model that makes no embeddings",
    403,
    err({ message: "You are not allowed to generate embeddings from this model", type: "invalid_request_error" }),
    "model_unavailable",
  ],
  ["a 404 that names the model in other words", 404, err({ message: "no endpoint serves gpt-x" }), "model_unavailable"],
  [
    "reasoning that the key does not keep",
    404,
    err({ message: "Item with id 'rs_68af0' not found. Items are not persisted when `store` is set to false.", type: "invalid_request_error" }),
    "foreign_reasoning",
  ],
  ["a 404 without an error object is no such path", 404, "<html>404</html>", "model_unavailable"],
  ["a 404 of a router is no such path", 404, { detail: "Not Found" }, "model_unavailable"],
  [
    "a 404 of another object is the client's",
    404,
    err({ message: "Response with id 'resp_1' not found.", type: "invalid_request_error" }),
    "rejected",
  ],
  [
    "insufficient_quota",
    429,
    err({
      type: "insufficient_quota",
      code: "insufficient_quota",
      message: "You exceeded your current quota",
    }),
    "quota_gone",
  ],
  ["insufficient_quota with another code", 429, err({ type: "insufficient_quota", code: "something_new", message: "m" }), "quota_gone"],
  ["credit_balance_exhausted", 429, err({ code: "credit_balance_exhausted", message: "m" }), "quota_gone"],
  ["organization_spend_limit_exceeded", 429, err({ code: "organization_spend_limit_exceeded", message: "m" }), "quota_gone"],
  ["project_spend_limit_exceeded", 429, err({ code: "project_spend_limit_exceeded", message: "m" }), "quota_gone"],
  ["organization_usage_limit_exceeded", 429, err({ code: "organization_usage_limit_exceeded", message: "m" }), "quota_gone"],
  [
    "billing_hard_limit_reached comes as a 400",
    400,
    err({ code: "billing_hard_limit_reached", message: "m", type: "invalid_request_error" }),
    "quota_gone",
  ],
  [
    "a low credit balance comes as a 400",
    400,
    err({
      type: "invalid_request_error",
      message: "Your credit balance is too low to access the API. Please go to Plans & Billing.",
    }),
    "quota_gone",
  ],
  [
    "reached usage limits come as a 400",
    400,
    err({
      type: "invalid_request_error",
      message: "You have reached your specified API usage limits. You will regain access on 2026-12-01.",
    }),
    "quota_gone",
  ],
  ["a 402 billing_error", 402, err({ type: "billing_error", message: "m" }), "quota_gone"],
  ["a 402 Insufficient Balance", 402, err({ message: "Insufficient Balance", type: "unknown_error" }), "quota_gone"],
  ["a bare 402", 402, "", "quota_gone"],
  [
    "a spend limit in the details of a rate limit",
    429,
    err({ type: "rate_limit_error", message: "m", details: { error_code: "enforced_spend_limit_reached" } }),
    "quota_gone",
  ],
  [
    "a contract's spend limit",
    429,
    err({ type: "rate_limit_error", message: "m", details: { error_code: "contract_spend_limit_reached" } }),
    "quota_gone",
  ],
  ["exceeded_current_quota_error", 429, err({ type: "exceeded_current_quota_error", message: "m" }), "quota_gone"],
  ["GLM's 1113", 429, err({ code: "1113", message: "m" }), "quota_gone"],
  ["Google's daily quota", 429, err({ code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded: requests per day" }), "quota_gone"],
  ["Google's free tier", 429, err({ code: 429, status: "RESOURCE_EXHAUSTED", message: "free_tier_requests, limit: 20" }), "quota_gone"],
  ["Google's quota of a minute only limits", 429, err({ code: 429, status: "RESOURCE_EXHAUSTED", message: "free_tier per minute" }), "rate_limited"],
  ["rate_limit_exceeded", 429, err({ code: "rate_limit_exceeded", type: "requests", message: "Limit 3, Used 3, Requested 1." }), "rate_limited"],
  ["a rate limit of tokens", 429, err({ type: "tokens", code: null, message: "m" }), "rate_limited"],
  ["rate_limit_error", 429, err({ type: "rate_limit_error", message: "m" }), "rate_limited"],
  ["slow_down", 429, err({ code: "slow_down", message: "m" }), "rate_limited"],
  ["RESOURCE_EXHAUSTED", 429, err({ code: 429, status: "RESOURCE_EXHAUSTED", message: "Resource exhausted" }), "rate_limited"],
  ["a bare 429", 429, "Too Many Requests", "rate_limited"],
  [
    "a request too large for the key's TPM",
    429,
    err({
      code: "rate_limit_exceeded",
      type: "tokens",
      message: "Request too large for gpt-x on tokens per min (TPM): Limit 10000, Requested 20000.",
    }),
    "too_big_for_tpm",
  ],
  [
    "the same as a 413",
    413,
    err({
      code: "rate_limit_exceeded",
      type: "tokens",
      message: "Request too large for model `gpt-x`: Limit 6000, Requested 8000",
    }),
    "too_big_for_tpm",
  ],
  ["a 529", 529, err({ type: "overloaded_error", message: "Overloaded" }), "overloaded"],
  ["a bare 503", 503, "upstream connect error", "overloaded"],
  ["a 503 server_is_overloaded", 503, err({ code: "server_is_overloaded", type: "server_error", message: "m" }), "overloaded"],
  ["UNAVAILABLE", 503, err({ code: 503, status: "UNAVAILABLE", message: "m" }), "overloaded"],
  ["engine_overloaded_error as a 429", 429, err({ type: "engine_overloaded_error", message: "m" }), "overloaded"],
  ["an overloaded engine by its message", 429, err({ message: "The engine is currently overloaded, please try again later" }), "overloaded"],
  ["overloaded_error inside a 200", 200, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, "overloaded"],
  ["a 500", 500, err({ type: "server_error", message: "m" }), "server_error"],
  ["a 502 page", 502, "<html>", "server_error"],
  ["a 504", 504, "", "server_error"],
  ["a 520 page", 520, "<html>", "server_error"],
  ["a 526 page", 526, "<html>", "server_error"],
  ["a status that nobody explained", 418, "", "server_error"],
  ["a 408", 408, "", "timeout"],
  ["a 302", 302, "", "redirect"],
  ["a 307 with a body", 307, err({ message: "m" }), "redirect"],
  ["a 409", 409, err({ message: "m" }), "conflict"],
  ["a 200 with an error object", 200, err({ message: "boom" }), "error_body"],
  ["a 200 with an error string", 200, { error: "boom" }, "error_body"],
  ["a 200 with code and msg", 200, { code: 9999, msg: "boom", success: false }, "error_body"],
  ["a 200 with a status as its code", 200, err({ code: 402, message: "More credits are required" }), "quota_gone"],
  ["a 200 with code 502", 200, err({ code: 502, message: "m" }), "server_error"],
  ["MiniMax's balance in base_resp", 200, { base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, "quota_gone"],
  ["MiniMax's limit in base_resp", 200, { base_resp: { status_code: 1002, status_msg: "rate limit" } }, "rate_limited"],
  ["MiniMax's unknown base_resp", 200, { base_resp: { status_code: 7777, status_msg: "?" } }, "error_body"],
  ["a 200 that is not JSON", 200, "<html>", "server_error"],
  ["a bad request inside a 200", 200, err({ type: "invalid_request_error", message: "the image cannot be read" }), "rejected"],
  [
    "a bad request inside a stream of the messages style",
    200,
    { type: "error", error: { type: "invalid_request_error", message: "Could not process image" } },
    "rejected",
  ],
  ["a missing object inside a 200", 200, err({ type: "not_found_error", message: "m" }), "model_unavailable"],
  ["a conflict inside a 200", 200, err({ type: "conflict_error", message: "m" }), "conflict"],
  ["an invalid key inside a 200", 200, err({ type: "invalid_request_error", code: "invalid_api_key", message: "m" }), "invalid_key"],
  ["a quota inside a 200", 200, err({ type: "invalid_request_error", code: "billing_hard_limit_reached", message: "m" }), "quota_gone"],
  ["a balance that the 403 explains", 403, err({ message: "Your account has insufficient balance" }), "quota_gone"],
  [
    "context_length_exceeded",
    400,
    err({
      code: "context_length_exceeded",
      type: "invalid_request_error",
      message: "This model's maximum context length is 8 tokens.",
    }),
    "rejected",
  ],
  ["a prompt that is too long", 400, err({ type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" }), "rejected"],
  [
    "Google's too many tokens",
    400,
    err({
      code: 400,
      status: "INVALID_ARGUMENT",
      message: "The input exceeds the maximum number of tokens allowed",
    }),
    "rejected",
  ],
  ["a long prompt as a 403", 403, err({ message: "maximum context length is 8" }), "rejected"],
  ["a body too large", 413, err({ type: "request_too_large", message: "m" }), "rejected"],
  ["a 413 page", 413, "<html>", "rejected"],
  ["headers too large", 431, "<html>", "rejected"],
  ["a form of sound that the provider does not make", 406, "", "rejected"],
  ["a content type with a boundary it cannot read", 415, "", "rejected"],
  ["a server of tools that it cannot reach", 424, err({ type: "external_connector_error", message: "m" }), "rejected"],
  ["a content filter", 400, err({ code: "content_filter", message: "m" }), "rejected"],
  ["a content policy", 400, err({ code: "content_policy_violation", message: "m" }), "rejected"],
  ["GLM's sensitive content", 400, err({ code: "1301", message: "m" }), "rejected"],
  ["Qwen's inspection", 400, err({ code: "data_inspection_failed", message: "m" }), "rejected"],
  ["a bad parameter", 400, err({ type: "invalid_request_error", code: "unsupported_parameter", message: "m" }), "rejected"],
  ["a 422 of a validator", 422, { detail: [{ loc: ["body"], msg: "field required" }] }, "rejected"],
];

describe("the signal of", () => {
  for (const [rule, status, body, name] of TABLE) {
    test(`${rule} is ${name}`, () => {
      const signal = judge(status, body);
      expect(signal.name).toBe(name);
      expect(signal.status).toBe(status);
      expect(FAILURE_RULES[signal.name]).toBeDefined();
    });
  }
});

describe("a client cannot harm a key by what it sends", () => {
  const QUOTES: readonly (readonly [string, string])[] = [
    ["a quoted value", "Invalid value: 'Your credit balance is too low'. Supported values are: 'text'."],
    ["an own field's name", "Your credit balance is too low: Extra inputs are not permitted"],
    ["a quoted key message", "Invalid JSON: API key not valid"],
    ["an image it cannot fetch", "The model could not read the image: file not found"],
    ["an insufficient balance it asks about", "Unknown tool 'insufficient balance'"],
  ];
  for (const [rule, message] of QUOTES) {
    test(rule, () =>
      expect(judge(400, err({ type: "invalid_request_error", message })).name).toBe("rejected"),
    );
  }
});

describe("nor by a word that is quoted with another status", () => {
  const invalid = "invalid params, unknown role 'insufficient balance'";
  // biome-ignore format: a table
  const QUOTES: readonly (readonly [what: string, status: number, body: unknown, name: string])[] = [
    ["in base_resp", 200, { base_resp: { status_code: 2013, status_msg: invalid } }, "rejected"],
    ["in a stream", 200, err({ type: "invalid_request_error", message: invalid }), "rejected"],
    ["without marks", 200, err({ type: "invalid_request_error", message: "unknown role insufficient balance" }), "rejected"],
    ["in a 403", 403, err({ message: "not allowed: 'insufficient credits'" }), "no_permission"],
  ];
  test.each(QUOTES)("%s", (_, status, body, name) => expect(judge(status, body).name).toBe(name as never));
});

describe("the wait of a limited key", () => {
  const limited = err({ type: "rate_limit_error", message: "m" });
  const WAITS: readonly (readonly [string, Record<string, string>, number | undefined])[] = [
    ["milliseconds win", { "retry-after-ms": "1500.5", "retry-after": "9" }, 1_500.5],
    ["whole seconds", { "retry-after": "2" }, 2_000],
    ["parts of seconds", { "retry-after": " 0.25 " }, 250],
    ["seconds with a unit", { "retry-after": "3s" }, 3_000],
    ["a date", { "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" }, 30_000],
    ["a date gone by", { "retry-after": "Sat, 21 Nov 2026 11:00:00 GMT" }, undefined],
    ["no time at all", { "retry-after": "0" }, undefined],
    ["at most a day", { "retry-after": "99999999" }, 86_400_000],
    ["nothing readable", { "retry-after": "soon" }, undefined],
    ["a negative one", { "retry-after": "-5" }, undefined],
    ["none", {}, undefined],
  ];
  for (const [rule, headers, waitMs] of WAITS) {
    test(rule, () => expect(judge(429, limited, headers).retryAfterMs).toBe(waitMs as number));
  }
  test("Google states it in the body", () => {
    const body = err({
      code: 429,
      status: "RESOURCE_EXHAUSTED",
      message: "m",
      details: [{ retryDelay: "34.5s" }],
    });
    expect(judge(429, body).retryAfterMs).toBe(34_500);
  });
  test("a bad key has none", () =>
    expect(judge(401, "", { "retry-after": "2" })).not.toHaveProperty("retryAfterMs"));
});

describe("what a client sees", () => {
  test("of its own fault: status, message, type, code and param", () => {
    const body = err({
      message: "Bad temperature",
      type: "invalid_request_error",
      code: "unsupported_value",
      param: "temperature",
    });
    expect(judge(400, body).pass).toEqual({
      status: 400,
      message: "Bad temperature",
      type: "invalid_request_error",
      code: "unsupported_value",
      param: "temperature",
    });
  });
  test("defaults where the provider gave no words", () => {
    expect(judge(422, { message: "nope" }).pass).toEqual({
      status: 422,
      message: "nope",
      type: "invalid_request_error",
      code: "upstream_rejected",
    });
    expect(judge(400, "<html>").pass?.message).toBe("The provider rejected the request.");
  });
  test("a 403 for a long prompt and an error inside a 200 become a 400", () => {
    expect(judge(403, err({ message: "maximum context length is 8" })).pass?.status).toBe(400);
    expect(judge(200, err({ code: "content_filter", message: "m" })).pass?.status).toBe(400);
  });
  test("an unknown model is a 404 whatever the provider said", () => {
    expect(judge(400, err({ message: "Model Not Exist" })).pass?.status).toBe(404);
  });
  test("nothing of a failure of the key", () => {
    for (const status of [401, 402, 403, 429, 500, 529])
      expect(judge(status, err({ message: "x" })).pass).toBeUndefined();
  });
});

describe("the parameter of a passed error", () => {
  const paramOf = (param: unknown) => judge(400, err({ message: "m", param })).pass?.param;

  test.each(["model", "input[2].content[0].image_url", "messages.0.content", "tools[0].function.name"])(
    "comes to the client: %s",
    (param) => expect(paramOf(param)).toBe(param),
  );

  test.each([null, 7, "", "sk-abcdefgh", "two words", "https://x.example", "a".repeat(70), "input[", {}])(
    "is left out where it is no path of a field: %p",
    (param) => expect(paramOf(param)).toBeUndefined(),
  );

  test("stands with a status of 400 for a response that the provider has lost", () => {
    const error = { message: "m", code: "previous_response_not_found", param: "previous_response_id" };
    for (const status of [400, 404]) {
      expect(judge(status, err(error)).pass).toMatchObject({ ...error, status: 400 });
    }
  });
});

describe("a passed message loses", () => {
  const CLEANED: readonly (readonly [string, string, string])[] = [
    ["key fragments", "key sk-proj-abc***wxyz bad", "key [removed] bad"],
    ["organisations", "in organization org-AbC123def on", "in organization [removed] on"],
    ["projects", "Project `proj_a1B2` has", "Project [removed] has"],
    ["addresses", "see https://platform.example.com/keys. Done", "see [address] Done"],
    ["host names", "host api.internal.example.com:8443/v1 down", "host [address] down"],
    ["IP addresses", "at 10.2.3.4:8000 refused", "at [address] refused"],
    ["deployment names", "deployment 'prod-west-7' gone", "deployment [removed] gone"],
    ["resource paths", "projects/acme-1/locations/x failed", "[removed] failed"],
    ["bearer tokens", "Bearer ya29.abcdef is expired", "Bearer [removed] is expired"],
    ["line breaks", "one\r\n\ttwo", "one two"],
  ];
  for (const [rule, given, kept] of CLEANED) test(rule, () => expect(clean(given)).toBe(kept));
  test.each(["a-", "a."])("everything after 1,000 characters, in few steps: %s", (again) => {
    let cleaned = "";
    const { matching } = workOf(() => {
      cleaned = clean(again.repeat(50_000));
    });
    expect(cleaned.length).toBeLessThanOrEqual(1_000);
    expect(matching).toBeLessThan(STEPS_MAX);
  });
});

test("the note for the log holds no message that may quote a prompt", () => {
  expect(judge(400, err({ message: "my secret prompt", code: "x" })).note).toBe("status 400 x");
  expect(judge(401, err({ message: "bad key sk-abcdefgh" })).note).toBe("status 401 bad key [removed]");
});

test("any body gives a signal", () => {
  for (const body of [
    "",
    "null",
    "[]",
    "1",
    '"x"',
    "[null]",
    '{"error":[]}',
    '{"error":{"code":{}}}',
    "{",
    '{"error":{"details":[null,1]}}',
  ]) {
    for (const status of [200, 400, 404, 429, 500])
      expect(FAILURE_RULES[judge(status, body).name]).toBeDefined();
  }
});

describe("an error is read in few steps, however it is made:", () => {
  test.each([
    "model",
    "model ",
    "model/",
    "model :/",
    "model x, ",
    "the ",
    "limit 1,",
    "a.",
    "deployment: `",
    "project ",
  ])("%j again and again", (words) => {
    const body = {
      error: {
        message: `${words[0] === "m" ? "model" : ""}${words.slice(words[0] === "m" ? 5 : 0).repeat(4_000)}`,
      },
    };
    const { matching } = workOf(() => void judge(400, JSON.stringify(body)));
    expect(matching).toBeLessThan(STEPS_MAX);
  });
});

describe("an error of the network", () => {
  const thrown = (name: string, code?: string) =>
    Object.assign(new Error("https://10.0.0.1 sk-secret"), { name, code });
  const ERRORS: readonly (readonly [string, unknown, FailureKind])[] = [
    ["refused", thrown("TypeError", "ECONNREFUSED"), "unreachable"],
    ["reset", thrown("TypeError", "ECONNRESET"), "unreachable"],
    ["no such name", thrown("TypeError", "ENOTFOUND"), "unreachable"],
    ["a wrong certificate", thrown("TypeError", "ERR_TLS_CERT_ALTNAME_INVALID"), "unreachable"],
    ["a timeout", new DOMException("late", "TimeoutError"), "timeout"],
    ["an abort", new DOMException("gone", "AbortError"), "client_gone"],
    ["a broken encoding", thrown("TypeError", "ZlibError"), "server_error"],
    ["anything else", "thrown text", "unreachable"],
  ];
  for (const [rule, error, name] of ERRORS) {
    test(`${rule} is ${name}, and its note has no address`, () => {
      const signal = fromError(error);
      expect(signal.name).toBe(name);
      expect(signal.note).not.toMatch(/10\.0|sk-/);
    });
  }
});
