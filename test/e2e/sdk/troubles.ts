// What can go wrong with a request, a row each, in a form that every SDK can be put through: the account it happens to,
// what is asked, and the status, type and code that the client must see. None of them may cost anything.

import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import { type Bench, MODEL } from "../harness.ts";
import { customerOf, WITHDRAWN } from "./customers.ts";

/** The provider's own word in each style, which stays when it is translated. */
interface Codes extends Readonly<Record<ApiStyle, string>> {
  /** The code of a provider in the messages style for a client in the chat style, where it is not the provider's. */
  readonly translated?: string;
}

export interface Trouble {
  readonly name: string;
  readonly status: number;
  /** One for both styles, or what a client of each receives. */
  readonly type: string | Readonly<Record<ApiStyle, string>>;
  readonly code: string | Codes;
  /** Fields of the account. */
  readonly account?: Readonly<Record<string, unknown>>;
  /** Requests that went well before. */
  readonly spent?: number;
  /** What was said in them. */
  readonly spending?: string;
  /** Instead of the account's own. */
  readonly key?: string;
  readonly model?: string;
  readonly said?: string;
  /** No message at all. */
  readonly silent?: true;
  /** Everybody meets it: it is tried with every client, on every route. */
  readonly common?: true;
}

const INVALID = "invalid_request_error";
const REJECTED = "upstream_rejected";

// biome-ignore format: a table
export const TROUBLES: readonly Trouble[] = [
  { name: "no message", status: 400, type: INVALID, code: "invalid_parameter", silent: true },
  { name: "the provider finds a parameter wrong", status: 400, type: INVALID, code: { chat: "invalid_type", messages: REJECTED }, said: "[[fault=400]]" },
  { name: "a prompt too long", status: 400, type: INVALID, code: { chat: "context_length_exceeded", messages: REJECTED, translated: "context_length_exceeded" }, said: "[[fault=400.context]]" },
  { name: "an unknown key", status: 401, type: "authentication_error", code: "invalid_api_key", key: "sk-nobody-has-this-key", common: true },
  { name: "a foreign address", status: 403, type: "permission_error", code: "ip_not_allowed", account: { AllowIPs: "203.0.113.7" } },
  { name: "a model not allowed", status: 403, type: "permission_error", code: "model_not_allowed", account: { AllowModels: "another-model" } },
  { name: "a path not allowed", status: 403, type: "permission_error", code: "path_not_allowed", account: { Resources: "/v1/embeddings" } },
  { name: "a model without a price", status: 404, type: "not_found_error", code: "model_not_priced", model: "unpriced-model", common: true },
  { name: "a model that no key has", status: 404, type: "not_found_error", code: "model_not_found", model: WITHDRAWN, said: "[[fault=404]]" },
  { name: "a conflict at the provider", status: 409, type: { chat: INVALID, messages: "conflict_error" }, code: { chat: "conflict", messages: REJECTED, translated: "conflict" }, said: "[[fault=409]]" },
  { name: "a body too large for the provider", status: 413, type: { chat: INVALID, messages: "request_too_large" }, code: { chat: "request_too_large", messages: REJECTED, translated: "request_too_large" }, said: "[[fault=413]]" },
  { name: "a body that the provider cannot process", status: 422, type: INVALID, code: REJECTED, said: "[[fault=422]]" },
  { name: "too many requests", status: 429, type: "rate_limit_error", code: "rph_exceeded", account: { RPH: 1 }, spent: 1 },
  { name: "too many tokens", status: 429, type: "rate_limit_error", code: "tpm_exceeded", account: { TPM: 1 } },
  { name: "a spending limit", status: 429, type: "insufficient_quota", code: "hard_limit_reached", account: { HardLimit: 0.000001 } },
  { name: "no balance", status: 429, type: "insufficient_quota", code: "insufficient_balance", account: { CreditGranted: 2 }, spent: 1, spending: "[[prompt=2000000 output=1]]", common: true },
  { name: "a provider that limits us", status: 429, type: "rate_limit_error", code: "upstream_rate_limited", said: "[[fault=429 retry=20]]" },
  { name: "a provider that fails", status: 502, type: "upstream_error", code: "upstream_failed", said: "[[fault=500]]" },
  { name: "a provider's key that is void", status: 502, type: "upstream_error", code: "upstream_failed", said: "[[fault=401]]" },
  { name: "a provider that is overloaded", status: 503, type: "upstream_error", code: "no_available_key", said: "[[fault=529]]" },
  { name: "a provider that wants to be paid", status: 503, type: "upstream_error", code: "no_available_key", said: "[[fault=429.quota]]" },
  { name: "a provider that takes too long", status: 504, type: "upstream_error", code: "upstream_timeout", said: "[[fault=408]]" },
];

/** Everything an SDK needs to run into it. */
export interface Arranged {
  readonly key: string;
  readonly model: string;
  /** Null for no message at all. */
  readonly said: string | null;
  readonly type: string;
  readonly code: string;
  /** What it has cost since, in dollars, as the Owner sees it: the account itself may be shut out. */
  cost(): Promise<number>;
}

/**
 * An Owner, a key and an account that nobody else uses: a trouble may put the key to sleep. `style`: of the client;
 * `keyStyle`: of the provider's key.
 */
export async function arrange(
  bench: Bench,
  style: ApiStyle,
  trouble: Trouble,
  keyStyle: ApiStyle = style,
): Promise<Arranged> {
  const { user, owner } = await customerOf(bench, keyStyle, trouble.account);
  const { spent = 0, spending = "hello", silent, model = MODEL, said = "hello", key = user.key } = trouble;
  const path = style === "chat" ? "/v1/chat/completions" : "/v1/messages";
  const asked = { model, max_tokens: 5, messages: [{ role: "user", content: spending }] };
  for (let i = 0; i < spent; i++) {
    const answer = await bench.call(user.key, "POST", path, asked);
    if (answer.status !== 200) throw new Error(`${owner.name}: ${answer.status} ${answer.text}`);
  }
  const balance = async (): Promise<number> =>
    (await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body[0].Balance;
  const before = await balance();
  return {
    key,
    model,
    said: silent ? null : said,
    type: typeof trouble.type === "string" ? trouble.type : trouble.type[style],
    code: codeFor(style, keyStyle, trouble.code),
    cost: async () => before - (await balance()),
  };
}

function codeFor(style: ApiStyle, keyStyle: ApiStyle, code: Trouble["code"]): string {
  if (typeof code === "string") return code;
  return style === "chat" && keyStyle === "messages" ? (code.translated ?? code.messages) : code[keyStyle];
}
