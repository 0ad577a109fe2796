// Errors in the other dialect's words: the table, one row at a time, and what is not in it.

import { describe, expect, test } from "bun:test";
import { chatErrorOf, messagesErrorOf } from "../../../src/dialect/translate/error-translation.ts";

type Words = readonly [type: string, code: string, status: number];
const words = ([type, code, status]: Words) => ({ type, code, status, message: "as it was" });

describe("towards a chat client", () => {
  // biome-ignore format: a table
  const ROWS: readonly (readonly [from: Words, to: Words])[] = [
    [["invalid_request_error", "", 400], ["invalid_request_error", "", 400]],
    [["invalid_request_error", "context_length", 413], ["invalid_request_error", "context_length", 413]],
    [["invalid_request_error", "", 404], ["invalid_request_error", "", 404]],
    [["invalid_request_error", "", 422], ["invalid_request_error", "", 422]],
    [["authentication_error", "", 401], ["authentication_error", "invalid_api_key", 401]],
    [["billing_error", "", 402], ["insufficient_quota", "insufficient_quota", 429]],
    [["permission_error", "", 403], ["permission_error", "", 403]],
    [["not_found_error", "", 404], ["not_found_error", "model_not_found", 404]],
    [["request_too_large", "", 413], ["invalid_request_error", "request_too_large", 413]],
    [["rate_limit_error", "", 429], ["rate_limit_error", "rate_limit_exceeded", 429]],
    [["api_error", "", 500], ["server_error", "", 500]],
    [["timeout_error", "", 504], ["server_error", "timeout", 504]],
    [["overloaded_error", "", 529], ["service_unavailable_error", "overloaded", 503]],
    [["", "", 529], ["service_unavailable_error", "overloaded", 503]],
    [["new_error", "", 418], ["invalid_request_error", "", 400]],
    [["new_error", "", 599], ["server_error", "", 500]],
    [["__proto__", "", 200], ["server_error", "", 500]],
  ];
  test.each(ROWS)("%j is %j", (from, to) => expect(chatErrorOf(words(from))).toEqual(words(to)));

  // biome-ignore format: a table
  const FAILURES: readonly (readonly [message: string, type: string, code: string])[] = [
    ["prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error", "context_length_exceeded"],
    ["input length and `max_tokens` exceed context limit: 1 + 2 > 2", "invalid_request_error", "context_length_exceeded"],
    ["messages: at least one message is required", "invalid_request_error", "upstream_rejected"],
    ["prompt is too long", "rate_limit_error", "rate_limit_exceeded"],
  ];
  test.each(FAILURES)("%s (%s) has the code %s", (message, type, code) => {
    const failure = { ...words([type, "upstream_rejected", 400]), message };
    expect(chatErrorOf(failure).code).toBe(code);
  });
});

describe("towards a messages client", () => {
  // biome-ignore format: a table
  const ROWS: readonly (readonly [from: Words, to: Words])[] = [
    [["invalid_request_error", "", 400], ["invalid_request_error", "", 400]],
    [["invalid_request_error", "context_length_exceeded", 400], ["invalid_request_error", "context_length_exceeded", 400]],
    [["invalid_request_error", "", 422], ["invalid_request_error", "", 422]],
    [["invalid_request_error", "invalid_api_key", 401], ["authentication_error", "invalid_api_key", 401]],
    [["authentication_error", "", 401], ["authentication_error", "", 401]],
    [["insufficient_quota", "insufficient_quota", 429], ["billing_error", "insufficient_quota", 402]],
    [["permission_error", "", 403], ["permission_error", "", 403]],
    [["not_found_error", "", 404], ["not_found_error", "", 404]],
    [["invalid_request_error", "model_not_found", 404], ["not_found_error", "model_not_found", 404]],
    [["invalid_request_error", "upstream_rejected", 404], ["not_found_error", "upstream_rejected", 404]],
    [["invalid_request_error", "", 413], ["request_too_large", "", 413]],
    [["invalid_request_error", "", 409], ["conflict_error", "", 409]],
    [["rate_limit_error", "rate_limit_exceeded", 429], ["rate_limit_error", "rate_limit_exceeded", 429]],
    [["tokens", "", 429], ["rate_limit_error", "", 429]],
    [["requests", "", 429], ["rate_limit_error", "", 429]],
    [["server_error", "", 500], ["api_error", "", 500]],
    [["server_error", "timeout", 504], ["timeout_error", "timeout", 504]],
    [["service_unavailable_error", "", 503], ["overloaded_error", "", 503]],
    [["", "", 502], ["api_error", "", 502]],
    [["new_error", "", 418], ["invalid_request_error", "", 400]],
  ];
  test.each(ROWS)("%j is %j", (from, to) => expect(messagesErrorOf(words(from))).toEqual(words(to)));
});
